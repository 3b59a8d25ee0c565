"""Writers of the first version: one that failed binds nothing, and of several at once one writes it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import stoker
from stoker._commit import lease
from stoker._commit.lease import Leases
from stoker._dataset.log import read_info
from stoker._dataset.versions import newest_version
from stoker.errors import CommitRefusedError
from written import Writer, chunk_files, contents


def fail(path: Path, schema: dict[str, str], sample: dict[str, Any], **options: Any) -> None:
    with pytest.raises(ZeroDivisionError), Writer(path, schema, chunk_size=1, **options) as w:  # noqa: PT012
        for n in range(3):
            w.write({"key": f"{n}", **sample})
        1 / 0  # noqa: B018
    assert read_info(path).options["begun_by"] == "ingest"
    assert newest_version(path) == 0


def write(path: Path, schema: dict[str, str] | None, sample: dict[str, Any], **options: Any) -> stoker.Writer:
    with Writer(path, schema, **options) as w:
        w.write({"key": "a", **sample})
    return w


@pytest.mark.parametrize(
    ("schema", "sample", "options"),
    [
        ({"n": "int64"}, {"n": 300}, {}),
        ({"n": "int8?"}, {"n": None}, {}),
        ({"n": "int8", "text": "utf8"}, {"n": 1, "text": "x"}, {}),
        ({"n": "int8", "text": "utf8"}, {"n": 1, "text": "x"}, {"payload": ["text"]}),
        ({"n": "int8"}, {"n": 1}, {"chunk_size": 1 << 20}),
        ({"n": "int64"}, {"n": 300}, {"part": True}),
    ],
)
def test_a_failed_first_writer_binds_nothing(
    tmp_path: Path, schema: dict[str, str], sample: dict[str, Any], options: dict[str, Any]
) -> None:
    fail(tmp_path / "x", {"n": "int8"}, {"n": 1})
    before = read_info(tmp_path / "x")

    w = write(tmp_path / "x", schema, sample, **options)

    if w.part is not None:
        assert stoker.commit(tmp_path / "x", [w.part]) == 1
    info = read_info(tmp_path / "x")
    assert info.id != before.id
    assert {f.name: f.type for f in info.fields} == {n: t.rstrip("?") for n, t in schema.items()}
    assert [f.name for f in info.fields if f.payload] == options.get("payload", [])
    assert info.options["chunk_size"] == options.get("chunk_size", 8 << 20)
    assert contents(tmp_path / "x") == {"a": sample}
    stored = tmp_path / "x/_stoker"
    assert (stored / "dataset-copy.json").read_bytes() == (stored / "dataset.json").read_bytes()
    assert list((stored / "leases").iterdir()) == []


def test_the_same_arguments_keep_the_description(tmp_path: Path) -> None:
    fail(tmp_path / "x", {"n": "int8"}, {"n": 1})
    before = read_info(tmp_path / "x")
    write(tmp_path / "x", {"n": "int8"}, {"n": 1}, chunk_size=1)
    assert read_info(tmp_path / "x") == before


def test_a_writer_without_a_schema_takes_the_fields_that_are_there(tmp_path: Path) -> None:
    fail(tmp_path / "x", {"n": "int8"}, {"n": 1})
    write(tmp_path / "x", None, {"n": 1})
    assert [f.type for f in read_info(tmp_path / "x").fields] == ["int8"]


def test_a_live_writer_a_part_and_a_version_bind(tmp_path: Path) -> None:
    fail(tmp_path / "x", {"n": "int8"}, {"n": 1})
    with Writer(tmp_path / "x", {"n": "int8"}, chunk_size=1) as w:
        w.write({"n": 1})
        w.write({"n": 2})
        with pytest.raises(ValueError, match=r"'n' is int8 in the dataset .* write without append=True, or delete"):
            Writer(tmp_path / "x", {"n": "int64"})
        w.abort()
    part = write(tmp_path / "x", {"n": "int8"}, {"n": 1}, part=True).part
    with pytest.raises(ValueError, match="'n' is int8 in the dataset"):
        Writer(tmp_path / "x", {"n": "int64"}, part=True)
    assert stoker.commit(tmp_path / "x", [part]) == 1
    with pytest.raises(CommitRefusedError, match="already has version 1"):
        Writer(tmp_path / "x", {"n": "int64"})
    with pytest.raises(ValueError, match="leave the schema out"):
        Writer(tmp_path / "x", {"n": "int64"}, append=True)


def test_a_writer_of_the_old_fields_that_begins_late_is_refused(tmp_path: Path) -> None:
    fail(tmp_path / "x", {"n": "int8"}, {"n": 1})
    late = Writer(tmp_path / "x", None)
    late.write({"n": 1})
    write(tmp_path / "x", {"n": "int64"}, {"n": 300})
    with pytest.raises(CommitRefusedError):
        late.close()
    assert contents(tmp_path / "x") == {"a": {"n": 300}}
    assert len(chunk_files(tmp_path / "x")) == 1


@pytest.mark.parametrize("begun", [False, True])
def test_of_writers_that_begin_at_the_same_time_one_writes(
    tmp_path: Path, begun: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes its lease before one of them looks for others."""
    if begun:
        fail(tmp_path / "x", {"n": "int8"}, {"n": 1})
    writers = [Writer(tmp_path / "x", {"n": "int64"}) for _ in range(6)]
    together = threading.Barrier(6)
    original = Leases.take
    waited = threading.local()

    def take(self: Leases, *args: Any) -> None:
        original(self, *args)
        if not getattr(waited, "done", False):
            waited.done = True
            together.wait(60)

    monkeypatch.setattr(Leases, "take", take)

    def one(writer: stoker.Writer) -> str:
        try:
            with writer:
                writer.write({"n": 300})
        except CommitRefusedError as e:
            return str(e)
        return "written"

    with ThreadPoolExecutor(6) as threads:
        results = list(threads.map(one, writers))
    assert results.count("written") == 1, results
    assert all("another writer is at work" in r or "version 1" in r for r in results if r != "written"), results
    assert len(contents(tmp_path / "x")) == 1
    assert len(chunk_files(tmp_path / "x")) == 1


def test_a_writer_waits_only_for_leases_that_are_as_new_as_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(lease.time, "sleep", pauses.append)
    first = Writer(tmp_path / "x", {"n": "int8"}, chunk_size=1, ingest_id="z")
    first.write({"n": 1})
    first.write({"n": 2})
    with pytest.raises(CommitRefusedError, match=r"another writer is at work .* ingest z of"):
        write(tmp_path / "x", {"n": "int8"}, {"n": 1}, ingest_id="a")
    assert pauses, "it may be about to release its lease"
    pauses.clear()
    with pytest.raises(CommitRefusedError, match=r"another writer is at work .* ingest z of"):
        write(tmp_path / "x", {"n": "int8"}, {"n": 1}, ingest_id="zz")
    monkeypatch.setattr("stoker._writer.writer._now_ms", lambda: 0)
    with pytest.raises(CommitRefusedError, match=r"another writer is at work .* ingest z of"):
        write(tmp_path / "x", {"n": "int8"}, {"n": 1}, ingest_id="a")
    assert not pauses
    first.close()
    assert first.version == 1
