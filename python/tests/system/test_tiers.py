"""What feeders keep in memory and on disks: shared, killed, started again, full, read-only, warmed."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest
from stoker_processes import until, views
from test_java_client import JavaTrainer

from stoker import Feed

ORDER = {"batch_size": 10, "lanes": 6, "shuffle_window": 96 << 10}
OPTIONS = ["--batch-size", 10, "--lanes", 6, "--shuffle-window", "96kb"]


@pytest.fixture(scope="module")
def expected(photos):
    """The first three epochs by seed."""

    def of(seed):
        with Feed(photos.path, **ORDER, seed=seed, tail="keep") as feed:
            return [views(feed) for _ in range(3)]

    return {seed: of(seed) for seed in (1, 2)}


@pytest.fixture(scope="module")
def chunks(cli, photos):
    """Of the stream."""
    return json.loads(cli.run("info", f"{photos.path}@2", "--json"))["splits"]["train"]["chunks"]


def tier_of(cli, name, kind="disk:"):
    """How a feed's tier of a kind stands, and what is wrong."""
    feed = json.loads(cli.run("top", name, "--once", "--json"))[0]
    (tier,) = [tier for tier in feed["tiers"] if tier["name"].startswith(kind)]
    return tier, feed["problems"]


def kept(directory):
    return sorted(Path(directory).rglob("*.arrow"))


def start(start_feeder, photos, name, tier, *more, **options):
    return begin(start_feeder, photos, name, tier, *more, **options).ready()


def begin(start_feeder, photos, name, tier, *more, **options):
    """Without waiting until it is ready."""
    return start_feeder(name, f"train={photos.path}@2", *OPTIONS, "--tier", tier, *more, **options)


def test_a_killed_feed_finds_its_chunks_again(cli, photos, start_feeder, expected, tmp_path, chunks):
    tier = f"disk:{tmp_path}/cache:1g"
    feeder = start(start_feeder, photos, "again", tier, "--seed", 1)
    with Feed("again", tail="keep", buffer_bytes=1) as feed:
        running = iter(feed)
        first = [next(running) for _ in range(3)]
        assert [batch.number for batch in first] == [0, 1, 2]
        until(lambda: kept(tmp_path), "a chunk is placed")
        feeder.kill()
    feeder = start(start_feeder, photos, "again", tier, "--seed", 1)
    with Feed("again", group="second", tail="keep", epochs=1) as feed:
        assert views(feed) == expected[1][0]
    until(lambda: len(kept(tmp_path)) == chunks, "the chunks of the stream are placed")
    feeder.kill()
    feeder = start(start_feeder, photos, "again", tier, "--seed", 1)
    with Feed("again", group="third", tail="keep", epochs=1) as feed:
        assert views(feed) == expected[1][0]
    found, problems = tier_of(cli, "again")
    assert found["misses"] == 0
    assert found["hits"] > 0
    assert problems == []
    feeder.stop()
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["cache.lock"]


@pytest.mark.full("feeds")
def test_feeds_of_a_machine_share_chunks_and_leave_no_locks(cli, photos, start_feeder, expected, tmp_path):
    options = ["--cache-lifetime", "node"]
    tier = f"disk:{tmp_path}:1g"
    feeders = [begin(start_feeder, photos, f"sweep{seed}", tier, "--seed", seed, *options) for seed in (1, 2)]
    for feeder in feeders:
        feeder.ready()
    feeds = [Feed(f"sweep{seed}", tail="keep", epochs=1) for seed in (1, 2)]
    running = [iter(feed) for feed in feeds]
    got = [[], []]
    for batches in zip(*running, strict=True):
        for views_of_feed, batch in zip(got, batches, strict=True):
            views_of_feed.append(batch)
    for feed in feeds:
        feed.close()
    assert [len(batches) for batches in got] == [len(expected[seed][0]) for seed in (1, 2)]
    both = [tier_of(cli, f"sweep{seed}")[0] for seed in (1, 2)]
    until(lambda: len(kept(tmp_path)) == sum(t["misses"] for t in both), "what was read once is placed once")
    used = cli.run("cache", "clear", tmp_path, "--yes")
    assert "in use" in used
    assert kept(tmp_path)
    for feeder in feeders:
        feeder.kill()
    feeder = start(start_feeder, photos, "sweep3", tier, "--seed", 2, *options)
    with Feed("sweep3", tail="keep", epochs=1) as feed:
        assert views(feed) == expected[2][0]
    assert tier_of(cli, "sweep3")[0]["misses"] == 0
    feeder.kill()
    assert "removed" in cli.run("cache", "clear", tmp_path, "--yes")
    assert not kept(tmp_path)


@pytest.mark.full("feeds")
def test_a_full_disk_is_told_and_the_feed_goes_on(cli, photos, start_feeder, expected, tmp_path):
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", tmp_path], capture_output=True)
    if mounted.returncode:
        return  # Only root can make a small disk; the same is tested with one that fails as told.
    try:
        feeder = start(start_feeder, photos, "full", f"disk:{tmp_path}/cache:1g", "--seed", 1)
        with Feed("full", tail="keep", epochs=3) as feed:
            assert [views(feed) for _ in range(3)] == expected[1]
        found, problems = tier_of(cli, "full")
        assert len(problems) == 1
        assert "the disk is full" in problems[0]
        assert 0 < found["used"] < 65536
        feeder.stop()
    finally:
        subprocess.run(["umount", "--lazy", tmp_path], check=True)


def in_mounts(script):
    """Returns a command that first runs a script in a new mount namespace; None if this user may not create one."""
    for words in (["unshare", "-m"], ["unshare", "-r", "-m"]):
        if subprocess.run([*words, "true"], capture_output=True).returncode == 0:
            return [*words, "sh", "-ec", script + '\nexec "$@"', "sh"]
    return None


def memory_of(feeder):
    """The directory in memory that a feeder has."""
    links = [os.readlink(link) for link in Path(f"/proc/{feeder.process.pid}/fd").iterdir() if link.is_symlink()]
    (found,) = {match[0] for link in links if (match := re.match(r"/dev/shm/stoker-tier-[^/]+", link))}
    return Path(found)


def handed(feed):
    stats = feed._reading.ready()[0].stats()
    return stats["local_read_bytes"], stats["bytes"]


@pytest.mark.full("feeds")
def test_trainers_read_files_in_memory_that_go_with_the_feeder(
    cli, photos, start_feeder, expected, chunks, monkeypatch, tmp_path
):
    monkeypatch.setenv("STOKER_TRANSPORT", "local-reads")
    options = ["--seed", 1, "--warm", "--parallelism", 4]
    feeder = start(start_feeder, photos, "shm", "memory:64m", *options)
    directory = memory_of(feeder)
    until(lambda: len(kept(directory)) == chunks, "the tier is warm")
    with Feed("shm", tail="keep", epochs=3) as feed:
        assert [views(feed) for _ in range(3)] == expected[1]
        assert handed(feed)[0] == handed(feed)[1] > 0
    variables = {"STOKER_TRANSPORT": "local-reads"}
    java = JavaTrainer(cli, tmp_path / "notes", "shm", 2, variables=variables, group="java", tail="keep")
    assert java.end() == [view for epoch in expected[1][:2] for view in epoch]
    assert java.said["local_read_bytes"] == java.said["bytes"] > 0
    found, problems = tier_of(cli, "shm", "memory")
    assert found["misses"] == chunks
    assert found["used"] == sum(path.stat().st_size for path in kept(directory))
    assert problems == []
    feeder.kill()
    feeder = start(start_feeder, photos, "shm", "memory:64m", *options)
    assert not directory.exists()
    directory = memory_of(feeder)
    with Feed("shm", group="second", tail="keep", epochs=1) as feed:
        assert views(feed) == expected[1][0]
    assert kept(directory)
    feeder.stop()
    assert not directory.exists()


@pytest.mark.full("feeds")
def test_memory_that_is_too_small_for_files_is_told_and_the_feed_goes_on(
    cli, photos, start_feeder, expected, monkeypatch
):
    within = in_mounts("mount -t tmpfs -o size=1m tmpfs /dev/shm")
    if within is None:
        return  # The same is tested with a quota above what any machine has.
    monkeypatch.setenv("STOKER_TRANSPORT", "local-reads")
    feeder = start(start_feeder, photos, "small", "memory:64m", "--seed", 1, within=within)
    said = re.compile(r"tier memory: .*direct memory.*over the socket: /dev/shm has room for 1 MiB, not for 64")
    until(lambda: said.search(feeder.text), "it says why there are no files")
    with Feed("small", tail="keep", epochs=3) as feed:
        assert [views(feed) for _ in range(3)] == expected[1]
        assert handed(feed)[0] == 0
    found, problems = tier_of(cli, "small", "memory")
    assert found["used"] > 0
    assert found["hits"] > 0
    assert problems == []
    feeder.stop()


@pytest.mark.full("feeds")
def test_a_disk_that_is_read_only_from_the_start_is_told_and_the_feed_goes_on(
    cli, photos, start_feeder, expected, tmp_path
):
    disk = tmp_path / "disk"
    disk.mkdir()
    within = in_mounts(f"mount -t tmpfs -o ro tmpfs '{disk}'")
    if within is None:
        return  # Only who may mount has such a disk; the same is tested with one that fails as told.
    feeder = start(start_feeder, photos, "readonly", f"disk:{disk}:1g", "--seed", 1, within=within)
    with Feed("readonly", tail="keep", epochs=2) as feed:
        assert [views(feed) for _ in range(2)] == expected[1][:2]
    found, problems = tier_of(cli, "readonly")
    assert found["used"] == 0
    assert len(problems) == 1
    assert "cannot be set up" in problems[0]
    assert "Read-only file system" in problems[0]
    feeder.stop()


@pytest.mark.full("feeds")
def test_a_disk_that_becomes_read_only_is_told_and_the_feed_goes_on(cli, photos, start_feeder, expected, tmp_path):
    within = in_mounts("true")
    if within is None or within[:2] != ["unshare", "-m"] or within[2] == "-r":
        return
    disk = tmp_path / "disk"
    # Slow enough that most chunks are still to be placed when the first one is.
    options = ["--seed", 1, "--origin-bandwidth", "40kb"]
    feeder = start(start_feeder, photos, "turned", f"disk:{disk}:1g", *options, within=within)
    with Feed("turned", tail="keep", epochs=2) as feed:
        running = iter(feed)
        first = [next(running)]
        (space,) = [path for path in disk.iterdir() if path.is_dir()]
        inside = ["nsenter", "-t", str(feeder.process.pid), "-m", "mount"]
        subprocess.run([*inside, "--bind", space, space], check=True)
        subprocess.run([*inside, "-o", "remount,bind,ro", space], check=True)
        placed = len(kept(disk))
        assert views([*first, *running]) == expected[1][0]
        assert views(feed) == expected[1][1]
    assert len(kept(disk)) <= placed
    _, problems = tier_of(cli, "turned")
    assert len(problems) == 1
    assert "cannot be written" in problems[0]
    assert "Read-only file system" in problems[0]
    feeder.kill()


@pytest.mark.full("feeds")
def test_feeders_that_warm_one_directory_read_each_chunk_once(cli, photos, start_feeder, expected, tmp_path, chunks):
    tier = f"disk:{tmp_path}:1g"
    options = ["--cache-lifetime", "node", "--warm", "--parallelism", 2]
    names = ["warm1", "warm2"]
    feeders = [begin(start_feeder, photos, name, tier, *options, "--seed", seed) for seed, name in enumerate(names, 1)]
    for feeder in feeders:
        feeder.ready()
    until(lambda: len(kept(tmp_path)) == chunks, "the directory is warm")
    for seed, name in enumerate(names, 1):
        with Feed(name, tail="keep", epochs=1) as feed:
            assert views(feed) == expected[seed][0]
    assert sum(tier_of(cli, name)[0]["misses"] for name in names) == chunks
    for feeder in feeders:
        feeder.stop()
