"""An erased sample is in no file of its dataset, and Python reads all others."""

from __future__ import annotations

from pathlib import Path

import pytest
from stoker_processes import Cli, make_tree

import stoker
from stoker.errors import UnknownVersionError


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
