"""Datasets as Arrow tables: the right values and types of exactly one version, from the named columns only."""

from __future__ import annotations

import builtins
import datetime as dt
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import stoker
from datasets import MANY, sample
from removals import remove
from stoker._dataset.chunk import ChunkReader
from stoker._dataset.columns import ColumnReader
from stoker._dataset.snapshot import open_snapshot
from stoker._memory import file_reads
from stoker.errors import CorruptDataError, MissingDependencyError, UnknownSplitError
from test_special_types import SCHEMA, row
from written import Writer

MANY_FIELDS = {f["name"]: f["type"] + "?" * bool(f.get("nullable")) for f in MANY} | {"label": "categorical?"}
MANY_PAYLOAD = [f["name"] for f in MANY if f.get("payload")]
LABELS = [["zebra", "ant"], ["bee", None], ["ant", "cat", "zebra"]]
"""Labels by chunk: each chunk has other ones, in another order."""


def many(count: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(7)
    return [sample(rng, n, MANY) for n in range(count)]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    path, samples = tmp_path_factory.mktemp("many") / "d", many(90)
    with Writer(path, MANY_FIELDS, payload=MANY_PAYLOAD, chunk_size=15_000) as w:
        for one in samples:
            w.write(one)
    assert len(open_snapshot(path).chunks) > 2
    return path, samples


def labelled(path: Path, chunks: Sequence[Sequence[str | None]] = LABELS, rows: int = 12, **options: Any) -> None:
    """A dataset with one chunk for each list of labels, which repeat."""
    for number, labels in enumerate(chunks):
        fields = {"label": "categorical?", "n": "int64", "data": "binary"}
        with Writer(path, fields, payload=["data"], append=number > 0, **options) as w:
            for i in range(rows):
                n = number * rows + i
                w.write({"key": f"k{n:03d}", "label": labels[i % len(labels)], "n": n, "data": bytes([n]) * (n % 5)})


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def bfloat16(value: int | None) -> int | None:
    """The bits of a number, rounded to the nearest one."""
    if value is None:
        return None
    bits = int(np.float32(value).view(np.uint32))
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


def files(path: Path) -> list[Path]:
    snapshot = open_snapshot(path)
    return [Path(snapshot.chunk_path(i)) for i in range(len(snapshot.chunks))]


def test_every_type_has_the_written_values(everything: tuple[Path, list[dict[str, Any]]]) -> None:
    path, samples = everything
    table = stoker.open(path).to_arrow()
    table.validate(full=True)
    assert table.column_names == ["key", *(f.name for f in stoker.open(path).fields)]
    for name in table.column_names:
        found = table.column(name)
        if isinstance(found.type, pa.BaseExtensionType):
            shape = found.type.shape
            values = [v if v is None else np.reshape(v.as_py() if hasattr(v, "as_py") else v, shape) for v in found]
            values = [plain(v) for v in values]
        else:
            values = found.to_pylist()
        written = bfloat16 if name == "half" else plain
        assert values == [written(one[name]) for one in samples], name


def test_times_decimals_and_nested_lists_have_the_values_that_arrow_reads_from_the_files(tmp_path: Path) -> None:
    with Writer(tmp_path / "d", SCHEMA, payload=["image"], chunk_size=40_000) as w:
        for n in range(60):
            w.write(row(n))
    samples = stoker.open(tmp_path / "d")
    table = samples.to_arrow()
    table.validate(full=True)
    expected = pa.Table.from_batches([pa.ipc.open_file(f).get_batch(0) for f in map(str, files(tmp_path / "d"))])
    assert expected.column("key").num_chunks > 2
    assert table.equals(expected.select(table.column_names))
    for n in (3, 17):  # and those are the written ones
        for name in ("day", "small", "large", "words", "words_maybe", "blobs", "spans", "curves", "image"):
            assert table.column(name)[n].as_py() == row(n)[name]
        at = row(n)["us"]
        assert table.column("us")[n].value == (at - dt.datetime(1970, 1, 1, tzinfo=dt.timezone.utc)) // dt.timedelta(
            microseconds=1
        )


def test_types_and_nullability_are_those_of_the_files(
    tmp_path: Path, everything: tuple[Path, list[dict[str, Any]]]
) -> None:
    with Writer(tmp_path / "d", SCHEMA, payload=["image"]) as w:
        w.write(row(1))
    for path in (tmp_path / "d", everything[0]):
        schema = stoker.open(path).to_arrow().schema
        with pa.ipc.open_file(str(files(path)[0])) as file:
            for field in schema:
                assert field.equals(file.schema.field(field.name), check_metadata=True), field
    assert isinstance(stoker.open(everything[0]).to_arrow().schema.field("pixels").type, pa.FixedShapeTensorType)


def test_rows_that_pass_a_filter_have_their_values(everything: tuple[Path, list[dict[str, Any]]]) -> None:
    path, _ = everything
    samples = stoker.open(path)
    whole = samples.to_arrow()
    for where in (
        pc.field("label") == "cat",
        pc.field("label").is_null(),
        pc.match_substring(pc.field("label"), "nd"),
        pc.field("label").isin(["cat", "ant"]) & (pc.field("score") > 0.5),
        (pc.field("key") > "dir/00050") & ~pc.field("flag"),
        pc.field("text") == "",
        pc.field("pixels").is_valid() & (pc.field("stoker.row") == 2),
        pc.scalar(True),
        pc.scalar(False),
    ):
        mask = [
            bool(ok)
            for batch in samples.reader([*whole.column_names, "stoker.row"])
            for ok in _mask(pa.Table.from_batches([batch]), where)
        ]
        found = samples.to_arrow(filter=where)
        assert found.num_rows == sum(mask), where
        expected = {
            name: [v for v, ok in zip(whole.column(name).to_pylist(), mask, strict=True) if ok]
            for name in ("key", "label", "image", "text", "tokens", "caption")
        }
        assert found.select(list(expected)).to_pydict() == expected, where
        pixels = [v for v, ok in zip(_storage(whole.column("pixels")), mask, strict=True) if ok]
        assert _storage(found.column("pixels")) == pixels
        assert samples.to_arrow(["tokens"], where).column("tokens").to_pylist() == expected["tokens"]
    assert samples.to_arrow(filter=pc.scalar(True)).equals(whole)


def _mask(table: pa.Table, where: pc.Expression) -> list[bool]:
    """Which rows of a table pass, by Arrow alone."""
    at = table.column_names.index("label")
    table = table.set_column(at, "label", table.column("label").cast(pa.utf8()))
    table = table.drop_columns(["box", "half"]).append_column("at", pa.array(np.arange(table.num_rows)))
    kept = set(table.filter(where).column("at").to_pylist())
    return [n in kept for n in range(table.num_rows)]


def _storage(column: pa.ChunkedArray) -> list[Any]:
    return [value for chunk in column.chunks for value in chunk.storage.to_pylist()]


def test_all_chunks_share_one_dictionary_with_the_class_ids_of_the_version(tmp_path: Path) -> None:
    labelled(tmp_path / "d")
    samples = stoker.open(tmp_path / "d")
    expected = Counter(labels[i % len(labels)] for labels in LABELS for i in range(12))
    table = samples.to_arrow(["label"])
    assert table.column("label").num_chunks == 3
    for chunk in table.column("label").chunks:
        assert tuple(chunk.dictionary.to_pylist()) == samples.classes["label"]
    groups = table.group_by("label").aggregate([([], "count_all")]).to_pylist()
    assert {g["label"]: g["count_all"] for g in groups} == expected
    counts = table.column("label").value_counts().to_pylist()
    assert {c["values"]: c["counts"] for c in counts} == expected
    scanned = samples.scanner(["label"]).to_table()
    assert scanned.group_by("label").aggregate([([], "count_all")]).num_rows == len(expected)


def test_removed_rows_and_removed_chunks_are_left_out(tmp_path: Path) -> None:
    labelled(tmp_path / "d")
    remove(tmp_path / "d", {0: [0, 5, 11], 1: None})
    samples = stoker.open(tmp_path / "d")
    kept = [n for n in range(36) if n not in (0, 5, 11) and not 12 <= n < 24]
    table = samples.to_arrow(["n", "data", "stoker.chunk", "stoker.row"])
    assert table.column("n").to_pylist() == kept == [s["n"] for s in samples]
    assert table.column("data").to_pylist() == [bytes([n]) * (n % 5) for n in kept]
    assert table.column("stoker.chunk").to_pylist() == [n // 12 for n in kept]
    assert table.column("stoker.row").to_pylist() == [n % 12 for n in kept]
    assert samples.to_arrow(["n"], pc.field("n") <= 6).column("n").to_pylist() == [1, 2, 3, 4, 6]
    assert stoker.open(tmp_path / "d", version=3).to_arrow(["n"]).num_rows == 36


def test_a_compacted_dataset_has_each_sample_once(tmp_path: Path) -> None:
    labelled(tmp_path / "d", LABELS[:2])
    expected = sorted(stoker.open(tmp_path / "d").to_arrow().to_pylist(), key=lambda r: r["key"])
    remove(tmp_path / "d", {0: None, 1: None})
    assert stoker.open(tmp_path / "d").to_arrow().num_rows == 0
    with Writer(tmp_path / "d", append=True) as w:
        for one in expected:
            w.write(one)
    found = sorted(stoker.open(tmp_path / "d").to_arrow().to_pylist(), key=lambda r: r["key"])
    assert found == expected
    assert len(files(tmp_path / "d")) == 3


def test_a_version_or_split_without_samples_gives_an_empty_table_with_all_columns(tmp_path: Path) -> None:
    path = tmp_path / "d"
    labelled(path, LABELS[:1])
    with Writer(path, append=True) as w:
        w.write({"label": "cat", "n": 99, "data": b"x", "key": "v0"}, split="val")
    whole = stoker.open(path)
    assert whole.to_arrow(["stoker.split"]).column(0).to_pylist() == ["train"] * 12 + ["val"]
    assert stoker.open(path, split="val").to_arrow(["n"]).to_pydict() == {"n": [99]}
    remove(path, {1: None})
    empty = stoker.open(path, split="val")
    for table in (empty.to_arrow(), empty.scanner().to_table(), empty.reader().read_all()):
        assert table.num_rows == 0
        assert table.schema == whole.to_arrow().schema
    assert empty.to_arrow(filter=pc.field("label") == "cat").num_rows == 0
    assert empty.to_arrow(["label"]).group_by("label").aggregate([([], "count_all")]).num_rows == 0
    with pytest.raises(UnknownSplitError, match="no split 'test'"):
        stoker.open(path, split="test")


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
    for file in map(str, files(path)):
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
    assert len(files(path)) > 1
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


def test_damage_is_named_by_file_and_column_and_other_columns_stay_readable(
    everything: tuple[Path, list[dict[str, Any]]],
) -> None:
    path, _ = everything
    reader = ChunkReader(open_snapshot(path))
    fd = reader.open(1)
    columns = ColumnReader(reader, fd, 1)
    parts = {column.name: columns._parts[n][-1] for n, column in enumerate(reader.layout.columns)}
    image = columns.payload([c.name for c in reader.layout.columns].index("image"))
    os.close(fd)
    places = {name: parts[name].start for name in ("key", "score", "caption", "tokens", "box")}
    longest = int(np.argmax(image.lengths))
    places["image"] = int(image.starts[longest])
    file = files(path)[1]
    good = file.read_bytes()
    samples = stoker.open(path)
    names = [f.name for f in samples.fields]
    for name, at in places.items():
        file.write_bytes(good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
        try:
            for read in (samples.to_arrow, lambda c: samples.scanner(c).to_table(), samples.to_pandas):
                with pytest.raises(CorruptDataError) as caught:
                    read([name])
                assert str(file) in str(caught.value)
                assert f", {name}" in str(caught.value)
                assert "run: stoker verify" in str(caught.value)
            others = [n for n in names if n != name]
            assert samples.to_arrow(others).num_rows == len(samples)
        finally:
            file.write_bytes(good)


def test_mistakes_in_names_and_filters_are_named(everything: tuple[Path, list[dict[str, Any]]]) -> None:
    samples = stoker.open(everything[0])
    cases: list[tuple[Any, Any, type[Exception], str]] = [
        (["lable"], None, ValueError, "columns: .* has no column 'lable'; did you mean 'label'"),
        (["qqqqqq"], None, ValueError, "has no column 'qqqqqq'; it has: key, label, flag"),
        ([3], None, ValueError, "has no column 3"),
        (["key", "key"], None, ValueError, "'key' is in the list twice"),
        ([], None, ValueError, "expected at least one name"),
        ("label", None, TypeError, r"expected a list of names, such as \['label'\]"),
        (["key"], pc.field("scor") > 1, ValueError, "filter .*has no column 'scor'; did you mean 'score'"),
        (["key"], pc.field("score") == "x", ValueError, "filter .*no kernel"),
        (["key"], pc.field("score"), ValueError, "filter .*must evaluate to bool"),
        (["key"], pc.field(0) == "x", ValueError, "name the columns"),
        (["key"], "score > 1", TypeError, "expected a pyarrow.compute.Expression"),
        (["key"], pc.field("\0position") == 1, ValueError, "has no column"),
    ]
    for columns, where, kind, message in cases:
        for read in (samples.to_arrow, samples.scanner, samples.reader, samples.to_pandas):
            with pytest.raises(kind, match=f"(?s){message}"):
                read(columns, where)


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


def test_to_pandas_without_pandas_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    labelled(tmp_path / "d", LABELS[:1])
    imported = builtins.__import__

    def without(name: str, *args: Any, **kwargs: Any) -> Any:
        if name == "pandas":
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    samples = stoker.open(tmp_path / "d")
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingDependencyError, match="pip install pandas"):
        samples.to_pandas()
