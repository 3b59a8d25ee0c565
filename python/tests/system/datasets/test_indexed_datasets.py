"""The sample index that the command builds, as the command and Python read it."""

from __future__ import annotations

import json
import warnings
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stoker_processes import Cli, make_tree

import stoker
from stoker._dataset.chunk import ChunkReader

SCHEMA = {
    "label": "categorical?",
    "flag": "bool?",
    "score": "float32",
    "half": "bfloat16?",
    "caption": "utf8?",
    "day": "date?",
    "price": "decimal(9,2)?",
    "words": "utf8[]?",
    "groups": "int16[][]",
    "tokens": "int32[]?",
    "box": "float64[2,2]?",
    "image": "binary?",
    "text": "utf8",
    "pixels": "uint8[3,4]?",
}


def row(n: int) -> dict[str, Any]:
    rare = n % 5 == 0
    return {
        "key": f"dir/{n % 7}/{n}-é",
        "label": None if rare else f"class {n % 3}",
        "flag": None if n % 4 == 0 else n % 2 == 0,
        "score": n / 3,
        "half": None if rare else n,
        "caption": None if rare else "wörter " * (n % 4),
        "day": None if rare else np.datetime64("2026-01-01") + n,
        "price": None if rare else Decimal(n) / 4,
        "words": None if rare else ["ä" * i for i in range(n % 5)],
        "groups": [list(range(i)) for i in range(n % 4)],
        "tokens": None if rare else list(range(n % 6)),
        "box": None if rare else np.full((2, 2), n / 2),
        "image": None if n % 6 == 0 else bytes(n),
        "text": "ü" * (n % 9),
        "pixels": None if rare else np.full((3, 4), n, np.uint8),
    }


def runs(dataset: Path) -> list[str]:
    return sorted(path.name for path in dataset.glob("_stoker/index/*"))


@pytest.fixture(autouse=True)
def _no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.full("stores")
def test_an_ingest_builds_the_index_unless_told_not_to(cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    content = make_tree(tmp_path / "one", {"ant": 30, "cat": 20}, lambda n: 100 + n)
    cli.run("ingest", tmp_path / "one", tmp_path / "data", "--chunk-size", "4kb", "--no-index")
    assert runs(tmp_path / "data") == []
    more = make_tree(tmp_path / "two", {"bee": 10}, lambda n: 100 + n)
    cli.run("ingest", tmp_path / "two", tmp_path / "data", "--append")
    assert runs(tmp_path / "data") == [f"{1:020d}-{2:020d}.arrow"]

    samples = stoker.open(tmp_path / "data")
    with monkeypatch.context() as patch:
        patch.setattr(ChunkReader, "head", None)
        listed = [entry.name for entry in samples.list()]
        assert listed == sorted(content | more, key=str.encode)
        stats = [samples.stat(key) for key in listed]
        assert [entry.name for entry in samples.list(delimiter="/")] == ["ant/", "bee/", "cat/"]
    assert {s["key"]: s["data"] for s in samples.get(listed) if s} == content | more
    answers = cli.run("stat", tmp_path / "data", *listed, "--json").splitlines()
    for stat, answer in zip(stats, map(json.loads, answers), strict=True):
        assert stat is not None
        assert answer == {
            "key": stat.key,
            "found": True,
            "split": stat.split,
            "bytes": stat.length,
            "chunk": stat.chunk,
            "row": stat.row,
        }
    cli.run("get", tmp_path / "data", "ant/../x", *listed, "--to", tmp_path / "files")
    written = {p.relative_to(tmp_path / "files").as_posix(): p.read_bytes() for p in (tmp_path / "files").rglob("*.*")}
    assert written == content | more


def test_java_and_python_agree_on_every_type_of_field(cli: Cli, tmp_path: Path):
    path = tmp_path / "data"
    with stoker.Writer(path, SCHEMA, payload=["image", "text", "pixels"], chunk_size=4 << 10) as writer:
        for n in range(60):
            writer.write(row(n), split="val" if n % 7 == 0 else None)
    without = stoker.open(path)
    expected = [without.stat(key) for key in sorted(without.keys(), key=str.encode)]
    assert len(expected) == 60
    assert "0 samples compared" in cli.run("index", path, "--check")
    cli.run("index", path)
    assert "60 samples compared, no difference" in cli.run("index", path, "--check")
    assert [entry.sample for entry in stoker.open(path).list()] == expected
