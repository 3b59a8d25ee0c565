"""An erased sample is in no file of its dataset, and Python reads all others."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from stoker_processes import Cli, Feeder, make_tree

import stoker
from stoker import Feed
from stoker.errors import UnknownVersionError

ORDER = {"batch_size": 5, "lanes": 1, "shuffle_window": 8 << 10}


def _files_with(root: Path, *parts: bytes) -> list[Path]:
    files = [path for path in root.rglob("*") if path.is_file()]
    return [path for path in files if any(part in path.read_bytes() for part in parts)]


def test_an_erased_sample_is_in_no_file_and_the_others_are_read(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "data"
    content = make_tree(tmp_path / "in", {"ant": 30, "cat": 20}, lambda n: 150 + 37 * n % 400)
    cli.run("ingest", tmp_path / "in", path, "--label-from", "parent-dir", "--chunk-size", "4kb", "--payload", "data")
    key, other = sorted(content)[3], sorted(content)[40]
    cli.run("delete", path, other, "--yes")
    assert _files_with(path, content[key])
    assert _files_with(path, content[other])
    certificate = tmp_path / "certificate.json"

    cli.run("delete", path, key, other, "--erase", "--certificate", certificate, "--yes")

    assert _files_with(path, content[key], content[other], key.encode(), other.encode()) == []
    dataset = stoker.open(path)
    left = {k: v for k, v in content.items() if k not in (key, other)}
    assert set(dataset.keys()) == set(left)
    for name, value in left.items():
        assert dataset[name]["data"] == value
    with pytest.raises(KeyError):
        dataset[key]
    for version in (1, 2):
        with pytest.raises(UnknownVersionError, match="was expired"):
            stoker.open(path, version=version)
    cli.run("verify", path, "--erased", certificate)
    cli.run("verify", path)


def _labels(feed: Iterable[Any]) -> dict[str, int]:
    return {row["key"]: row["label"] for batch in feed for row in batch.arrow.to_pylist()}


def _with_label_of(content: dict[str, bytes], ids: dict[str, int]) -> dict[str, int]:
    return {key: ids[key.split("/")[0]] for key in content}


@pytest.mark.full("stores")
def test_an_erased_class_keeps_its_id_and_no_file_has_its_name(
    cli: Cli, tmp_path: Path, start_feeder: Callable[..., Feeder]
) -> None:
    path = tmp_path / "data"
    content = {}
    for number, classes in enumerate(({"ant": 9, "cat": 8}, {"zorilla": 2}, {"bee": 7})):
        more = make_tree(tmp_path / f"in{number}", classes, lambda n: 150 + 37 * n % 400)
        options = ["--label-from", "parent-dir", "--payload", "data"] if number == 0 else ["--append"]
        cli.run("ingest", tmp_path / f"in{number}", path, *options, *(["--label-from", "parent-dir"] if number else []))
        content |= more
    first = {key: data for key, data in content.items() if key[:3] in ("ant", "cat")}
    left = {key: data for key, data in content.items() if not key.startswith("zorilla")}
    ids = {"ant": 0, "cat": 1, "bee": 3}
    opened = stoker.open(path)
    # A training of a version that the erasure leaves alone.
    running = start_feeder("erasure-1", f"{path}@1", "--batch-size", 5, "--lanes", 1).ready()
    with Feed(running.address, tail="keep") as feed:
        batches = iter(feed)
        started = [next(batches) for _ in range(2)]

        cli.run("delete", path, "--prefix", "zorilla/", "--erase", "--certificate", tmp_path / "c.json", "--yes")

        assert _labels([*started, *batches]) == _with_label_of(first, ids)
    running.stop()
    assert _files_with(path, b"zorilla") == []
    names = stoker.open(path).classes["label"]
    assert [names[0], names[1], names[3]] == ["ant", "cat", "bee"]
    assert re.fullmatch("erased_[0-9a-f]{32}", names[2])
    assert {key: sample["label"] for key, sample in zip(left, stoker.open(path)[list(left)], strict=True)} == {
        key: key[:3] for key in left
    }
    # Opened before: keeps the names and ids that it has read.
    assert opened.classes["label"] == ("ant", "cat", "zorilla", "bee")
    with Feed(path, **ORDER, tail="keep") as feed:
        assert _labels(feed) == _with_label_of(left, ids)
    feeder = start_feeder("erasure-2", path, "--batch-size", 5, "--lanes", 1).ready()
    with Feed(feeder.address, tail="keep") as feed:
        assert _labels(feed) == _with_label_of(left, ids)
        assert feed.classes["label"] == names
    feeder.stop()
    cli.run("verify", path, "--erased", tmp_path / "c.json")
    cli.run("verify", path)
    # The name can be used again, with a new id.
    again = make_tree(tmp_path / "in4", {"zorilla": 1, "yak": 1}, lambda n: 150, salt="again")
    cli.run("ingest", tmp_path / "in4", path, "--append", "--label-from", "parent-dir")
    assert stoker.open(path).classes["label"] == (*names, "yak", "zorilla")
    with Feed(path, **ORDER, tail="keep") as feed:
        assert _labels(feed) == _with_label_of({**left, **again}, {**ids, "yak": 4, "zorilla": 5})
