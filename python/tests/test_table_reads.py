"""What tables of a dataset read: the bytes of the named columns only, and a bounded number of chunks ahead."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import stoker
from stoker._dataset.chunk import ChunkReader
from stoker._memory import file_reads
from written import LABELS, Writer, labelled, snapshot_files


@pytest.fixture
def reads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The bytes of each read of a file."""
    counts: list[int] = []
    before = file_reads.preadv

    def counted(fd: int, views: tuple[memoryview], offset: int) -> int:
        got = before(fd, views, offset)
        counts.append(got)
        return got

    monkeypatch.setattr(file_reads, "preadv", counted)
    return counts


def buffers(path: Path, *names: str) -> int:
    """Bytes of the buffers of these columns in all chunk files."""
    total = 0
    for file in map(str, snapshot_files(path)):
        batch = pa.ipc.open_file(pa.memory_map(file)).get_batch(0)
        for name in names:
            column = batch.column(name)
            total += column.nbytes if isinstance(column.type, pa.DictionaryType) else _sizes(column)
    return total


def _sizes(column: pa.Array) -> int:
    return sum(b.size for b in column.buffers() if b is not None)


def test_only_the_named_columns_are_read(tmp_path: Path, reads: list[int]) -> None:
    path, rows = tmp_path / "d", 40_000
    fields = {"label": "categorical", "name": "utf8?"} | {f"c{i}": "int64" for i in range(10)} | {"image": "binary"}
    with Writer(path, fields, payload=["image"], chunk_size=3 << 20) as w:
        for n in range(rows):
            numbers = {f"c{i}": n * i for i in range(10)}
            w.write({"key": f"k{n}", "label": f"l{n % 7}", "name": f"n{n}", "image": bytes(20), **numbers})
    samples = stoker.open(path)
    assert len(snapshot_files(path)) > 1
    for columns, where, used in (
        (["label"], None, ["label"]),
        (["c3", "name"], None, ["c3", "name"]),
        (["key"], pc.field("c2") > 0, ["key", "c2"]),
        (["key", "c9"], pc.field("label") == "no such class", ["label"]),
        (["image"], None, ["image", "crc32c:image"]),
        (["image", "key"], pc.field("c1") < 0, ["c1"]),
        (["crc32c:image"], None, ["crc32c:image"]),
    ):
        for read in (samples.to_arrow, lambda c, f: samples.scanner(c, f).to_table()):
            reads.clear()
            read(columns, where)
            assert buffers(path, *used) * 0.99 < sum(reads) <= buffers(path, *used) * 1.05, (columns, where)


def test_of_payload_only_the_rows_that_pass_are_read(tmp_path: Path, reads: list[int]) -> None:
    with Writer(tmp_path / "d", {"n": "int32", "image": "binary"}, payload=["image"]) as w:
        for n in range(50):
            w.write({"n": n, "image": bytes([n]) * 10_000})
    samples = stoker.open(tmp_path / "d")
    found = samples.to_arrow(["image"], pc.field("n").isin([3, 4, 20]))
    assert found.column("image").to_pylist() == [bytes([n]) * 10_000 for n in (3, 4, 20)]
    assert sum(reads) < 30_000 + 5_000


def test_a_reader_holds_one_chunk_and_a_scanner_reads_a_bounded_number_ahead(tmp_path: Path) -> None:
    labelled(tmp_path / "d", LABELS * 40, rows=2)
    samples = stoker.open(tmp_path / "d")
    opened: list[int] = []
    before = ChunkReader.open

    def counted(self: ChunkReader, index: int) -> int:
        opened.append(index)
        return before(self, index)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ChunkReader, "open", counted)
        batches = samples.reader(["n"])
        assert opened == []
        assert next(batches).num_rows == 2
        assert opened == [0]
        scanned = samples.scanner(["n"]).to_reader()
        opened.clear()
        scanned.read_next_batch()
        assert len(opened) < 100
    assert sum(batch.num_rows for batch in batches) == 2 * 119
    assert sum(batch.num_rows for batch in scanned) == 2 * 119


def test_batches_have_at_most_the_given_rows(tmp_path: Path) -> None:
    labelled(tmp_path / "d")
    samples = stoker.open(tmp_path / "d")
    assert [b.num_rows for b in samples.reader(["n"], batch_size=5)] == [5, 5, 2] * 3
    assert max(b.num_rows for b in samples.scanner(["n"], batch_size=5).to_batches()) == 5
    with pytest.raises(ValueError, match="batch_size=0: expected at least 1"):
        samples.reader(batch_size=0)


def test_a_scanner_cannot_be_read_twice(tmp_path: Path) -> None:
    labelled(tmp_path / "d", LABELS[:1])
    scanner = stoker.open(tmp_path / "d").scanner()
    assert scanner.to_table().num_rows == 12
    with pytest.raises(pa.ArrowInvalid, match="already scanned"):
        scanner.to_table()


def test_a_filter_reads_the_columns_it_names_among_thousands(tmp_path: Path, reads: list[int]) -> None:
    fields = {f"c{i}": "int64" for i in range(3000)}
    with Writer(tmp_path / "d", fields) as w:
        for n in range(20):
            w.write({f"c{i}": n + i for i in range(3000)})
    samples = stoker.open(tmp_path / "d")
    where = (pc.field("c7") > 10) & (pc.field("c2999") < 3015) & (pc.field("c1500") != 1512)
    found = samples.to_arrow(["c0"], where)
    assert found.column("c0").to_pylist() == [n for n in range(20) if n > 3 and n < 16 and n != 12]
    assert len(reads) == 3 + 4  # the ending, the footer and the metadata, then the columns
