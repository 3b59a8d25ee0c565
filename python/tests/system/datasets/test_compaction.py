"""Datasets of many small chunks before and after `stoker compact`: on paths, from a feeder, and killed on the way."""

import json
import shutil
from pathlib import Path

import pytest
from stoker_processes import until, views

import stoker
from stoker import Feed, Writer
from stoker._dataset.versions import newest_version

ORDER = {"batch_size": 12, "lanes": 6, "shuffle_window": 96 << 10}


@pytest.fixture(scope="module")
def compacted(cli, photos, tmp_path_factory):
    path = tmp_path_factory.mktemp("compacted") / "data"
    # Feeds of other tests write there meanwhile.
    shutil.copytree(photos.path, path, ignore=shutil.ignore_patterns("feeds"))
    told = json.loads(cli.run("compact", path, "--chunk-size", "64kb", "--below", "16kb", "--json"))
    assert told["version"] == 3
    assert told["added_chunks"] < told["removed_chunks"] / 3
    return path


def contents(path, version):
    names, samples = None, {}
    for split in ("train", "val"):
        with Feed(path, split=split, version=version, tail="keep") as feed:
            names = feed.classes["label"]
            for batch in feed:
                for row, key in enumerate(batch.keys):
                    assert key not in samples
                    samples[key] = (split, bytes(batch["data"][row]), names[batch["label"][row]])
    return names, samples


@pytest.mark.full("stores")
def test_samples_splits_and_classes_stay(photos, compacted):
    assert contents(compacted, 3) == contents(compacted, 2) == contents(photos.path, 2)
    assert {key: sample[1] for key, sample in contents(compacted, 3)[1].items()} == photos.content
    dataset = stoker.open(compacted)
    for key, data in photos.content.items():
        assert bytes(dataset[key]["data"]) == data


def test_a_feeder_and_a_path_agree_on_the_new_version_and_on_the_old_one(photos, compacted, start_feeder):
    feeder = start_feeder(
        *("compacted", f"new={compacted}@3", f"old={compacted}@2"),
        *("--batch-size", 12, "--lanes", 6, "--shuffle-window", "96kb"),
    ).ready()
    seen = {}
    for stream, version in (("new", 3), ("old", 2)):
        with Feed(compacted, version=version, **ORDER, tail="keep") as feed:
            seen[stream] = [views(feed) for _ in range(2)]
        with Feed(feeder.address, stream, tail="keep") as feed:
            assert [views(feed) for _ in range(2)] == seen[stream]
    with Feed(photos.path, version=2, **ORDER, tail="keep") as feed:
        assert [views(feed) for _ in range(2)] == seen["old"]
    assert seen["new"] != seen["old"]
    feeder.stop()


@pytest.mark.full("stores")
def test_a_killed_compaction_leaves_nothing_or_one_version(cli, tmp_path):
    path = tmp_path / "data"
    for n in range(6):
        with Writer(path, {"data": "binary"}, append=n > 0, payload=["data"], chunk_size=64 << 10, shuffle=False) as w:
            for row in range(5):
                w.write({"key": f"{n}/{row}", "data": bytes([n]) * 1000})
    samples = {sample["key"]: bytes(sample["data"]) for sample in stoker.open(path)}

    def chunks():
        return {Path(file).name for file in path.glob("chunks/*/*.arrow")}

    before = chunks()
    process = cli.start("compact", path, "--ingest-id", "compact-killed")
    until(lambda: chunks() > before or process.poll() is not None, "a chunk of the compaction")
    process.kill()
    process.communicate()
    assert newest_version(path) in (6, 7)
    assert {sample["key"]: bytes(sample["data"]) for sample in stoker.open(path)} == samples

    cli.run("compact", path, "--ingest-id", "compact-killed")
    assert newest_version(path) == 7
    cli.run("gc", path, "--older-than", "0s", "--yes")
    assert len(chunks()) == len(before) + 1
    assert {sample["key"]: bytes(sample["data"]) for sample in stoker.open(path)} == samples
    cli.run("verify", path)
