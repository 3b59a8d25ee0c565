"""The log and the chunk tables: which are written, and how few of many are read."""

from __future__ import annotations

import builtins
import os
from dataclasses import replace
from pathlib import Path

import pytest

from commits import assert_whole, put
from stoker._commit import commit as _commit
from stoker._commit import table as _table
from stoker._commit.entry import encode_entry
from stoker._commit.table import encode_table
from stoker._dataset.log import read_entry, read_info
from stoker._dataset.snapshot import open_snapshot
from stoker._dataset.versions import newest_version, table_versions
from stoker.errors import CommitRefusedError, CorruptDataError
from written import Writer


def test_an_entry_that_no_reader_would_take_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path, "first")
    monkeypatch.setattr(_commit, "MAX_ENTRY_BYTES", 1000)
    with pytest.raises(CommitRefusedError, match="the limit is 1000"):
        put(tmp_path, "second")
    assert newest_version(tmp_path) == 1


def test_few_tables_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_table, "COMMITS", 1)
    for n in range(24):
        put(tmp_path, f"k{n}")
        tables = table_versions(tmp_path)
        assert len(tables) < 8
        assert {max(1, n - 1), max(1, n), n + 1} <= set(tables)
    assert len(open_snapshot(tmp_path, 12).chunks) == 12


def test_opening_and_committing_look_at_few_of_many_log_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_table, "COMMITS", 5)
    for n in range(12):
        put(tmp_path, f"k{n}")
    # So it would look with 100,000 versions of which the last were just made: all other entries are only names.
    shift = 100_000
    log, tables = tmp_path / "_stoker/log", tmp_path / "_stoker/tables"
    info = read_info(tmp_path)
    snapshot = replace(open_snapshot(tmp_path, 10), version=shift + 10)
    (tables / f"{shift + 10:020d}.arrow").write_bytes(encode_table(snapshot))
    for version in (11, 12):
        entry = replace(read_entry(tmp_path, version, info.id), version=shift + version)
        (log / f"{shift + version:020d}.avro").write_bytes(encode_entry(entry, info.id))
    (log / f"{shift + 10:020d}.avro").touch()
    names = os.listdir(log) + [f"{v:020d}.avro" for v in range(13, shift + 10)]
    real_list, real_stat, real_open, touched = os.listdir, os.stat, builtins.open, []
    monkeypatch.setattr(
        os, "listdir", lambda path: list({*names, *real_list(path)}) if Path(path) == log else real_list(path)
    )
    monkeypatch.setattr(os, "stat", lambda path, **k: touched.append(path) or real_stat(path, **k))
    monkeypatch.setattr(builtins, "open", lambda path, *a, **k: touched.append(path) or real_open(path, *a, **k))

    assert len(open_snapshot(tmp_path).chunks) == 12
    assert len(touched) < 30
    touched.clear()
    assert newest_version(tmp_path) == shift + 12
    assert not touched
    put(tmp_path, "more")
    assert newest_version(tmp_path) == shift + 13
    assert len(touched) < 150


def test_a_log_that_lacks_an_entry_is_damaged_and_not_shorter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_table, "COMMITS", 2)
    for n in range(5):
        put(tmp_path, f"k{n}")
    assert table_versions(tmp_path)[-1] == 4
    for lost in (4, 5):
        entry = tmp_path / f"_stoker/log/{lost:020d}.avro"
        content = entry.read_bytes()
        entry.unlink()
        if lost == 5:
            assert newest_version(tmp_path) == 4
        else:
            with pytest.raises(CorruptDataError, match=f"{lost:020d}.avro is missing"):
                newest_version(tmp_path)
        entry.write_bytes(content)


@pytest.mark.parametrize(("cut", "problem"), [(-40, "checksum [0-9a-f]{8}, expected"), (20, "it has no checksum")])
@pytest.mark.parametrize("name", ["log/00000000000000000001.avro", "dataset.json"])
def test_a_file_that_was_cut_off_is_named_with_the_next_step(tmp_path: Path, name: str, cut: int, problem: str) -> None:
    put(tmp_path, "a")
    file = tmp_path / "_stoker" / name
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(CorruptDataError, match=f"{name}: {problem}.*; restore it with: stoker recover {tmp_path}$"):
        open_snapshot(tmp_path)


def test_whatever_fails_after_the_publishing_is_no_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise MemoryError("in a table")

    monkeypatch.setattr(_commit, "write_table_if_due", fail)
    with pytest.warns(RuntimeWarning, match="version 1 is committed"):
        put(tmp_path, "first")
    assert newest_version(tmp_path) == 1


def test_a_chunk_table_is_written_when_enough_versions_or_chunks_lie_behind_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (_table.COMMITS, _table.CHUNKS) == (100, 4096)
    monkeypatch.setattr(_table, "COMMITS", 4)
    monkeypatch.setattr(_table, "CHUNKS", 10)
    for n in range(5):
        put(tmp_path, f"k{n}")
    with Writer(tmp_path, append=True, chunk_size=1) as w:
        for n in range(10):
            w.write({"key": f"m{n}", "label": "x", "data": bytes(2000)})
    put(tmp_path, "last")
    assert sorted(int(p.stem) for p in (tmp_path / "_stoker" / "tables").iterdir()) == [4, 6]
    assert_whole(tmp_path, 7, 16)
