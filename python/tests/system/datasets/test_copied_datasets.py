"""Datasets that `stoker copy` has copied: Python reads them as their sources."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest
from stoker_processes import LIMIT_S, REPOSITORY

import stoker
from images import image_tree
from stoker import Feed
from stoker.errors import StokerError


def samples(dataset: Path, version: int | str | None = None) -> dict[str, dict]:
    return {sample["key"]: dict(sample) for sample in stoker.open(dataset, version)}


def batches(dataset: Path) -> list[list[str]]:
    with Feed(dataset, split="train", batch_size=12, lanes=3, epochs=1) as feed:
        return [list(batch.keys) for batch in feed]


@pytest.fixture(scope="module")
def source(cli, photos, tmp_path_factory):
    path = tmp_path_factory.mktemp("source") / "data"
    # Feeds of other tests write there meanwhile.
    shutil.copytree(photos.path, path, ignore=shutil.ignore_patterns("feeds", "uses"))
    cli.run("tag", path, "first", "1")
    return path


def test_a_copy_gives_the_same_samples_batches_and_tags(cli, source, tmp_path):
    cli.run("copy", source, tmp_path / "copy")
    assert samples(tmp_path / "copy") == samples(source)
    assert samples(tmp_path / "copy", version="first") == samples(source, version=1)
    assert batches(tmp_path / "copy") == batches(source)
    assert "nothing was copied" in cli.run("copy", source, tmp_path / "copy")


@pytest.mark.full("stores")
def test_a_reader_opens_the_newest_version_while_expired_ones_are_published(cli, source, tmp_path):
    shutil.copytree(source, tmp_path / "source")
    cli.run("tag", tmp_path / "source", "first", "--delete")
    cli.run("compact", tmp_path / "source", "--chunk-size", "64kb", "--below", "16kb")
    cli.run("expire", tmp_path / "source", "--keep-last", "1", "--yes")
    cli.run("gc", tmp_path / "source", "--older-than", "0", "--yes")
    copy = tmp_path / "copy"
    cli.run("copy", tmp_path / "source", copy)
    expected = samples(source)
    assert samples(copy) == expected
    # The entries before the one that has expired others are written last.
    for version in (3, 2, 1):
        (copy / f"_stoker/log/{version:020d}.avro").unlink()
        assert samples(copy) == expected
    with pytest.raises(StokerError):
        samples(copy, version=2)
    cli.run("copy", tmp_path / "source", copy)
    with pytest.raises(StokerError, match="expired"):
        samples(copy, version=2)
    cli.run("verify", copy)


def commands() -> list[str]:
    text = (REPOSITORY / "docs" / "copying.md").read_text("utf-8")
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", text, re.M | re.S)
    return [line.split("#")[0].strip() for block in blocks for line in block.splitlines()]


@pytest.mark.full("stores")
def test_the_commands_of_the_page_run(cli, tmp_path):
    image_tree(tmp_path / "photos")
    cli.run("ingest", tmp_path / "photos", tmp_path / "data" / "photos", "--label-from", "parent-dir")
    lines = commands()
    assert len(lines) == 8
    for line in lines:
        process = cli.start(*shlex.split(line)[1:], cwd=tmp_path)
        out, err = process.communicate(timeout=LIMIT_S)
        assert process.returncode == 0, f"{line}\n{out}{err}"
    expected = samples(tmp_path / "data" / "photos")
    for copy in ("backup/photos", "backup/first", "mirror/photos", "restored/photos"):
        assert samples(tmp_path / copy) == expected
