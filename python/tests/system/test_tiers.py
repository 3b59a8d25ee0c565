"""What feeders keep on disks: shared, killed, started again, and full."""

import json
import subprocess
from pathlib import Path

import pytest
from stoker_processes import until, views

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


def tier_of(cli, name):
    """How a feed's disk tier stands, and what is wrong."""
    feed = json.loads(cli.run("top", name, "--once", "--json"))[0]
    (tier,) = [tier for tier in feed["tiers"] if tier["name"].startswith("disk:")]
    return tier, feed["problems"]


def kept(directory):
    return sorted(Path(directory).rglob("*.arrow"))


def start(start_feeder, photos, name, tier, *more):
    return start_feeder(name, f"train={photos.path}@2", *OPTIONS, "--tier", tier, *more).ready()


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


def test_feeds_of_a_machine_share_chunks_and_leave_no_locks(cli, photos, start_feeder, expected, tmp_path):
    options = ["--cache-lifetime", "node"]
    tier = f"disk:{tmp_path}:1g"
    feeders = [start(start_feeder, photos, f"sweep{seed}", tier, "--seed", seed, *options) for seed in (1, 2)]
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
