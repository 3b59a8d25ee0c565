"""Datasets as Arrow tables: the right values and types of exactly one version, from the named columns only."""

from __future__ import annotations

import builtins
import datetime as dt
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

import stoker
from removals import remove
from small_datasets import MANY, sample
from stoker._dataset.chunk import ChunkReader
from stoker._dataset.columns import ColumnReader
from stoker._dataset.snapshot import open_snapshot
from stoker.errors import CorruptDataError, MissingDependencyError, UnknownSplitError
from test_special_types import SCHEMA, row
from written import LABELS, Writer, labelled, snapshot_files

MANY_FIELDS = {f["name"]: f["type"] + "?" * bool(f.get("nullable")) for f in MANY} | {"label": "categorical?"}
MANY_PAYLOAD = [f["name"] for f in MANY if f.get("payload")]


def many(count: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(7)
    return [sample(rng, n, MANY) for n in range(count)]


@pytest.fixture(scope="module")
def everything(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, Any]]]:
    path, samples = tmp_path_factory.mktemp("many") / "d", many(90)
    with Writer(path, MANY_FIELDS, payload=MANY_PAYLOAD, chunk_size=15_000) as w:
        for one in samples:
            # A whole number that bfloat16 does not hold is refused; a float is rounded.
            w.write(one if one["half"] is None else {**one, "half": float(one["half"])})
    assert len(open_snapshot(path).chunks) > 2
    return path, samples


def plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


def bfloat16(value: int | None) -> int | None:
    """The bits of a number, rounded to the nearest one."""
    if value is None:
        return None
    bits = int(np.float32(value).view(np.uint32))
    return bits + 0x7FFF + (bits >> 16 & 1) >> 16


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
    expected = pa.Table.from_batches(
        [pa.ipc.open_file(f).get_batch(0) for f in map(str, snapshot_files(tmp_path / "d"))]
    )
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
        with pa.ipc.open_file(str(snapshot_files(path)[0])) as file:
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
    assert len(snapshot_files(tmp_path / "d")) == 3


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
    file = snapshot_files(path)[1]
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
