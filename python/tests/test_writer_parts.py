"""Several writers of one dataset: creators, appenders and parts."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

import stoker
from stoker._dataset.versions import newest_version
from stoker.errors import CommitRefusedError, DuplicateKeyError, StokerError
from written import Writer, chunk_files, contents


def test_the_first_of_two_creators_wins(tmp_path: Path) -> None:
    one, other = Writer(tmp_path / "x", {"n": "int64"}), Writer(tmp_path / "x", {"n": "int64"})
    for w in (one, other):
        w.write({"n": 1})
    one.close()
    with pytest.raises(CommitRefusedError, match="already has version 1; add to it with append"):
        other.close()
    assert len(chunk_files(tmp_path / "x")) == 1
    stoker.open(tmp_path / "x")[0]


def test_the_second_creator_is_refused_before_it_packs(tmp_path: Path) -> None:
    one, other = (Writer(tmp_path / "x", {"data": "binary"}, chunk_size=1000) for _ in range(2))
    for _ in range(2):
        one.write({"data": bytes(1000)})
    description = (tmp_path / "x/_stoker/dataset.json").read_bytes()
    other.write({"data": bytes(1000)})
    with pytest.raises(CommitRefusedError, match=r"another writer is at work .*Nothing was packed.*append=True"):
        other.write({"data": bytes(1000)})
    other.abort()
    one.close()
    assert len(chunk_files(tmp_path / "x")) == 2
    assert (tmp_path / "x/_stoker/dataset.json").read_bytes() == description
    assert list((tmp_path / "x/_stoker/leases").iterdir()) == []


@pytest.mark.parametrize("mode", ["append", "replace"])
def test_writers_of_different_chunk_sizes_share_a_new_dataset(tmp_path: Path, mode: str) -> None:
    writers = [Writer(tmp_path / "x", {"data": "binary"}, chunk_size=1000 + n, **{mode: True}) for n in range(4)]
    for _ in range(3):
        for n, w in enumerate(writers):
            w.write({"data": bytes(1000) + bytes([n])})
    for w in reversed(writers):
        w.close()
    assert sorted(w.version or 0 for w in writers) == [1, 2, 3, 4]
    assert len(stoker.open(tmp_path / "x")) == (12 if mode == "append" else 3)


def test_who_appends_beside_the_first_writer_takes_nothing_from_it(tmp_path: Path) -> None:
    first = Writer(tmp_path / "x", {"data": "binary"}, chunk_size=1000)
    for n in range(2):
        first.write({"key": f"f{n}", "data": bytes(1000)})
    with Writer(tmp_path / "x", append=True) as w:
        w.write({"key": "a", "data": bytes(1000)})
    first.close()
    assert (w.version, first.version) == (1, 2)
    assert {s["key"] for s in stoker.open(tmp_path / "x")} == {"f0", "f1", "a"}


def test_parts_become_one_version_in_their_order(tmp_path: Path) -> None:
    parts = []
    for label in ("b", "a", "c"):
        w = Writer(tmp_path / "x", {"label": "categorical", "data": "binary"}, part=True, chunk_size=3000)
        for n in range(5):
            w.write({"key": f"{label}{n}", "label": label, "data": bytes(2000)})
        w.close()
        parts.append(json.loads(json.dumps(pickle.loads(pickle.dumps(w.part)))))
        assert newest_version(tmp_path / "x") == 0
    assert stoker.commit(tmp_path / "x", parts) == 1
    assert stoker.commit(tmp_path / "x", parts) == 1, "the same parts are committed once"
    assert newest_version(tmp_path / "x") == 1
    assert list(contents(tmp_path / "x")) == [f"{label}{n}" for label in "bac" for n in range(5)]
    assert stoker.open(tmp_path / "x").classes["label"] == ("a", "b", "c")


def test_parts_without_keys_do_not_meet(tmp_path: Path) -> None:
    parts = []
    for _ in range(3):
        with Writer(tmp_path / "x", {"n": "int64"}, part=True, ingest_id="run") as w:
            w.write({"n": 1})
        parts.append(w.part)
    stoker.commit(tmp_path / "x", parts)
    assert len(contents(tmp_path / "x")) == 3


def test_parts_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    def part(path: str, key: str, kind: str = "int64") -> Any:
        with Writer(tmp_path / path, {"n": kind}, part=True) as w:
            w.write({"key": key, "n": 1})
        return w.part

    a, b = part("x", "a"), part("x", "a")
    with pytest.raises(DuplicateKeyError, match="key 'a' occurs twice"):
        stoker.commit(tmp_path / "x", [a, b])
    with pytest.raises(CommitRefusedError, match="given twice"):
        stoker.commit(tmp_path / "x", [a, a])
    with pytest.raises(CommitRefusedError, match="was written for dataset"):
        stoker.commit(tmp_path / "x", [a, part("y", "b")])
    with pytest.raises(ValueError, match="field 'n' is int64 in the dataset"):
        part("x", "c", "int32")
    with pytest.raises(ValueError, match="expected the `part` of a writer"):
        stoker.commit(tmp_path / "x", [{}])
    next(iter((tmp_path / "x").glob(f"chunks/*/{b['chunks'][0]['id']}.arrow"))).unlink()
    with pytest.raises(StokerError, match="no longer exists"):
        stoker.commit(tmp_path / "x", [b])
    assert stoker.commit(tmp_path / "x", [a]) == 1
