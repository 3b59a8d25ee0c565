"""Ingests that run at the same time, and ingests that are killed at any moment, as real processes."""

import json
import uuid

import pytest
from stoker_processes import LIMIT_S, make_tree, until

from stoker import Feed
from stoker._dataset.versions import newest_version
from stoker.errors import StokerError

LABELS = ["--label-from", "parent-dir", "--payload", "data"]


def samples(path, version=None):
    """Key -> (bytes, class name) of a version, through a feed."""
    found = {}
    with Feed(path, version=version, tail="keep", epochs=1) as feed:
        names = feed.classes["label"]
        for batch in feed:
            for row, key in enumerate(batch.keys):
                assert key not in found
                found[key] = (bytes(batch["data"][row]), names[batch["label"][row]])
    return found


def labelled(content):
    return {key: (data, key.split("/")[0]) for key, data in content.items()}


def chunk_files(path):
    return {file.name for file in path.glob("chunks/*/*.arrow")}


def known_chunks(path):
    from stoker._dataset.snapshot import open_snapshot

    table = open_snapshot(path).chunks
    return {f"{table.id_of(index)}.arrow" for index in range(len(table))}


def test_an_ingest_says_what_it_did_as_json(cli, tmp_path):
    make_tree(tmp_path / "files", {"a": 30, "b": 12}, lambda n: 60, salt="0")
    said = json.loads(cli.run("ingest", tmp_path / "files", tmp_path / "data", *LABELS, "--json"))
    assert (said["version"], said["samples"], said["outcome"]) == (1, 42, "committed")
    again = cli.run(
        "ingest", tmp_path / "files", tmp_path / "data", "--json", "--ingest-id", said["ingest_id"], *LABELS
    )
    assert json.loads(again)["outcome"] == "committed_before"


@pytest.mark.full("stores")
def test_labels_of_concurrent_ingests_with_different_new_classes_name_their_directories(cli, tmp_path):
    path = tmp_path / "data"
    trees = [
        make_tree(tmp_path / "t0", {"m": 40, "q": 30}, lambda n: 60, salt="0"),
        make_tree(tmp_path / "t1", {"a": 30, "q": 20, "z": 30}, lambda n: 60, salt="1"),
        make_tree(tmp_path / "t2", {"a": 20, "b": 30, "m": 20}, lambda n: 60, salt="2"),
        make_tree(tmp_path / "t3", {"c": 10, "b": 10, "q": 10, "z": 10}, lambda n: 60, salt="3"),
    ]
    cli.run("ingest", tmp_path / "t0", path, *LABELS, "--chunk-size", "6kb")
    both = [cli.start("ingest", tmp_path / t, path, "--append", "--label-from", "parent-dir") for t in ("t1", "t2")]
    for process in both:
        out, err = process.communicate(timeout=2 * LIMIT_S)
        assert process.returncode == 0, out + err
    assert newest_version(path) == 3
    cli.run("ingest", tmp_path / "t3", path, "--append", "--label-from", "parent-dir")
    assert newest_version(path) == 4
    assert samples(path, 1) == labelled(trees[0])
    third = samples(path, 3)
    assert third == labelled(trees[0] | trees[1] | trees[2])
    assert samples(path, 2).items() < third.items()
    assert samples(path) == labelled(trees[0] | trees[1] | trees[2] | trees[3])
    with Feed(path, version=1) as first, Feed(path) as last:
        names = last.classes["label"]
        assert first.classes["label"] == names[:2], "no class is ever renumbered"
        assert sorted(names) == ["a", "b", "c", "m", "q", "z"]


MOMENTS = (1, 0, 10, 130, 165, 168)
"""Chunks that there are when it is killed: while the JVM still starts, at work, and when the commit may have begun."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    root = tmp_path_factory.mktemp("tree")
    return root, make_tree(root, {"up": 700, "down": 700}, lambda n: 700)


def visible(path):
    try:
        return newest_version(path)
    except StokerError:
        return 0


@pytest.mark.full("stores")
def test_an_ingest_killed_at_any_moment_commits_nothing_or_one_version(cli, tree, tmp_path):
    root, content = tree
    path = tmp_path / "data"
    ingest = str(uuid.uuid4())
    arguments = ["ingest", root, path, *LABELS, "--chunk-size", "8kb", "--ingest-id", ingest]
    moments = []
    for moment in MOMENTS:
        before = len(chunk_files(path))
        wanted = before + moment
        process = cli.start(*arguments)
        until(
            lambda n=wanted, p=process: len(chunk_files(path)) >= n or visible(path) or p.poll() is not None,
            f"{wanted} chunk files",
        )
        process.kill()
        process.communicate()
        moments.append(len(chunk_files(path)) - before)
        assert visible(path) in (0, 1)
        if visible(path):
            assert samples(path) == labelled(content)
            break
    assert max(moments) > 0, "some were killed at work"
    cli.run(*arguments)
    assert newest_version(path) == 1
    assert samples(path) == labelled(content)
    cli.run("verify", path)
    left_over = chunk_files(path) - known_chunks(path)
    assert left_over, "what the killed ones had written"
    said = cli.run("gc", path, "--older-than", "0s")
    assert "would delete" in said
    assert chunk_files(path) - known_chunks(path) == left_over
    assert "deleted" in cli.run("gc", path, "--older-than", "0s", "--yes")
    assert chunk_files(path) == known_chunks(path)
    assert "nothing to delete" in cli.run("gc", path, "--older-than", "0s")
    cli.run("verify", path)
    assert samples(path) == labelled(content)
