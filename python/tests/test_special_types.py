"""Timestamps, dates, times, decimals and nested lists, from the writer to the trainer and to other programs."""

from __future__ import annotations

import datetime as dt
import functools
import json
import os
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import stoker
from stoker import Feed, testing
from stoker._batch.batch import Batch
from stoker._batch.piece import Form
from stoker._format.fields import Field
from stoker._source.batch_source import DeliveredBatch, PieceData
from stoker.errors import CorruptDataError, InvalidSampleError

Writer = functools.partial(stoker.Writer, shuffle=False)
GOLDEN = Path(__file__).parents[2] / "schemas" / "src" / "test" / "resources" / "golden"
UTC = dt.timezone.utc
NINES = Decimal("0." + "9" * 38)
SCHEMA = {
    "s": "timestamp[s]",
    "ms": "timestamp[ms,UTC]?",
    "us": "timestamp[us,Europe/Berlin]",
    "ns": "timestamp[ns]?",
    "day": "date?",
    "t_s": "time[s]",
    "t_ms": "time[ms]?",
    "t_us": "time[us]",
    "t_ns": "time[ns]?",
    "small": "decimal(10,2)",
    "large": "decimal(38,38)?",
    "words": "utf8[]",
    "words_maybe": "utf8[]?",
    "blobs": "binary[]?",
    "spans": "int32[][]",
    "curves": "float32[][]?",
    "counts": "int32?[]",
    "scores": "float32?[]?",
    "tags": "utf8?[]?",
    "parts": "binary?[]",
    "image": "binary",
}


def row(n: int) -> dict[str, Any]:
    """A sample as it is written; the first ones have the borders of the types."""
    last = dt.datetime(9999, 12, 31, 23, 59, 59)
    instants = [dt.datetime(1, 1, 1), last, dt.datetime(1970, 1, 1), dt.datetime(2026, 3, 29, 1, 30)]
    at = instants[n % 4] + dt.timedelta(days=n // 4) * (0 if n % 4 == 1 else 1)
    return {
        "key": f"k{n:03d}",
        "s": at,
        "ms": None if n % 3 == 0 else at.replace(tzinfo=UTC),
        "us": (at.replace(tzinfo=UTC) + dt.timedelta(microseconds=999_999)),
        "ns": None if n % 5 == 0 else np.datetime64([1 - 2**63, 2**63 - 1, -1][n % 3], "ns"),
        "day": None if n % 4 == 0 else [dt.date(1, 1, 1), dt.date(9999, 12, 31), dt.date(1969, 12, 31)][n % 3],
        "t_s": [dt.time(0), dt.time(23, 59, 59)][n % 2],
        "t_ms": None if n % 7 == 0 else [dt.time(0), dt.time(23, 59, 59, 999_000)][n % 2],
        "t_us": [dt.time(0), dt.time(23, 59, 59, 999_999)][n % 2],
        "t_ns": None if n % 2 else np.timedelta64(86_400 * 10**9 - 1 - n, "ns"),
        "small": [Decimal("99999999.99"), Decimal("-99999999.99"), Decimal("0.00"), Decimal("-0.01")][n % 4],
        "large": [NINES, NINES.copy_negate(), None, Decimal("-1E-38"), Decimal("0E-38")][n % 5],
        "words": [["ä", "", "😀"], [], [""], ["one"]][n % 4],
        "words_maybe": [None, [], ["x", "yz"]][n % 3],
        "blobs": [[b"", b"\0\xff"], None, []][n % 3],
        "spans": [[[1, -2], [], [2**31 - 1]], [], [[]], [[-(2**31)]]][n % 4],
        "curves": [None, [[0.5], [1.5, -2.0]], []][n % 3],
        "counts": [[1, None, -3], [], [None], [7, *[None] * 8, 2**31 - 1]][n % 4],
        "scores": [[None, 0.5], None, [], [-1.25]][n % 4],
        "tags": [[None, "", "ä"], None, [], [None], ["one"]][n % 5],
        "parts": [[b"", None, b"\0\xff"], [None, None], []][n % 3],
        "image": bytes([n % 256]) * (2000 + n),
    }


def plain(value: Any) -> Any:
    """A delivered value in the form that `row` has."""
    if value is None or value is np.ma.masked:
        return None
    if isinstance(value, np.ma.MaskedArray):
        return value.tolist()
    if isinstance(value, list):
        return [item.tolist() if isinstance(item, np.ndarray) else item for item in value]
    return value


def delivered(batch: stoker.Batch, name: str, i: int) -> Any:
    """A value of a batch in the form that `row` has."""
    value = batch[name][i]
    if name not in ("counts", "scores"):
        return plain(value)
    rows, items = batch.validity(name), batch.item_validity(name)
    if rows is not None and not rows[i]:
        assert len(value) == 0
        return None
    mask = np.zeros(len(value), np.bool_) if items is None else ~items[i]
    assert not value[mask].any(), "null items are zeros"
    return np.ma.MaskedArray(value, mask).tolist()


def expected(name: str, value: Any) -> Any:
    """A written value in the form in which it is delivered."""
    if isinstance(value, dt.datetime):
        utc = value.replace(tzinfo=None)
        return np.datetime64(utc, name)
    if isinstance(value, dt.date):
        return np.datetime64(value, "D")
    if isinstance(value, dt.time):
        since = (value.hour * 60 + value.minute) * 60 + value.second
        return np.timedelta64(since * 1_000_000 + value.microsecond, "us").astype(f"timedelta64[{name[2:]}]")
    return value


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("special") / "d"
    with Writer(path, SCHEMA, payload=["image"], chunk_size=40_000) as w:
        for n in range(60):
            w.write(row(n))
    return path


def test_samples_come_back(dataset: Path) -> None:
    samples = stoker.open(dataset)
    for n in range(60):
        found = samples[f"k{n:03d}"]
        for name, value in row(n).items():
            assert plain(found[name]) == expected(name, value), f"{name} of {n}"
    assert samples["k000"]["us"].dtype == np.dtype("datetime64[us]")
    assert [f.type for f in samples.fields if f.name == "us"] == ["timestamp[us,Europe/Berlin]"]


@pytest.mark.parametrize("batch_size", [1, 7, 16])
def test_a_feed_delivers_them(dataset: Path, batch_size: int) -> None:
    seen = 0
    with Feed(dataset, batch_size=batch_size, seed=3, tail="keep") as feed:
        for batch in feed:
            for i, key in enumerate(batch.keys):
                seen += 1
                for name, value in row(int(key[1:])).items():
                    if name not in ("key", "image"):
                        assert delivered(batch, name, i) == expected(name, value), f"{name} of {key}"
            arrow = batch.arrow
            arrow.validate(full=True)
            assert arrow.column("spans").to_pylist() == [plain(spans) for spans in batch.spans]
            for name in ("counts", "scores", "tags", "parts"):
                assert arrow.column(name).to_pylist() == [delivered(batch, name, i) for i in range(len(batch))]
            again = pickle.loads(pickle.dumps(batch))
            assert again.words == batch.words
    assert seen == 60


@pytest.mark.parametrize("lanes", [1, 3])
def test_columns_of_fixed_width_are_delivered_in_blocks(dataset: Path, lanes: int) -> None:
    """Without nulls and nested lists, the path lays out several batches together."""
    names = ["s", "us", "t_s", "t_us", "small", "image"]
    seen = 0
    with Feed(dataset, batch_size=4, lanes=lanes, seed=2, tail="keep", columns=["key", *names]) as feed:
        for batch in feed:
            batch.arrow.validate(full=True)
            for i, key in enumerate(batch.keys):
                seen += 1
                for name in names[:-1]:
                    assert batch[name][i] == expected(name, row(int(key[1:]))[name]), f"{name} of {key}"
    assert seen == 60


def test_columns_have_the_types_of_numpy(dataset: Path) -> None:
    with Feed(dataset, batch_size=8, seed=1) as feed:
        batch = next(iter(feed))
    assert batch.s.dtype == np.dtype("datetime64[s]")
    assert batch.us.dtype == np.dtype("datetime64[us]")
    assert batch.us.flags.writeable
    assert batch.day.dtype == np.dtype("datetime64[D]")
    assert isinstance(batch.day, np.ma.MaskedArray)
    assert batch.t_s.dtype == np.dtype("timedelta64[s]")
    assert batch.t_us.dtype == np.dtype("timedelta64[us]")
    assert batch.small.dtype == np.dtype(object)
    assert isinstance(batch.small[0], Decimal)
    assert batch.spans[0] == [] or batch.spans[0][0].dtype == np.int32
    assert isinstance(batch.words, list)


def test_rows_in_memory_may_have_them() -> None:
    stream = {"t": np.zeros(4, "datetime64[us]"), "words": [["a"], [], ["b", "c"], [""]]}
    with testing.serve(stream) as served, Feed(served.target, batch_size=4) as feed:
        batch = next(iter(feed))
        assert sorted(map(tuple, batch.words)) == [(), ("",), ("a",), ("b", "c")]
        assert batch.t.tolist() == [dt.datetime(1970, 1, 1)] * 4


def test_rows_in_memory_have_no_null_items() -> None:
    with pytest.raises(ValueError, match="column words: an item is None"), testing.serve({"words": [["a"], [None]]}):
        pass


def test_other_programs_read_equal_values(dataset: Path) -> None:
    for file in dataset.glob("chunks/*/*.arrow"):
        table = pa.ipc.open_file(file).read_all()
        table.validate(full=True)
        polars = pl.read_ipc(file.read_bytes()).to_arrow()
        duck = duckdb.from_arrow(table).to_arrow_table()
        for name in SCHEMA:
            own = table.column(name)
            assert polars.column(name).cast(own.type).equals(own), name
            if name != "t_ns":  # DuckDB reads times in microseconds
                assert duck.column(name).cast(own.type).equals(own), name
        for key, *values in zip(*(table.column(name).to_pylist() for name in ("key", *_PLAIN)), strict=True):
            written = row(int(key[1:]))
            assert dict(zip(_PLAIN, values, strict=True)) == {name: written[name] for name in _PLAIN}


_PLAIN = ("s", "ms", "day", "t_s", "t_ms", "t_us", "small", "large", "words", "words_maybe", "blobs", "spans", "curves",
          "counts", "scores", "tags", "parts")  # fmt: skip
"""Columns whose values Python can express as they were written."""


def test_arrow_columns_are_written_as_rows_are(tmp_path: Path) -> None:
    samples = [row(n) for n in range(30)]
    types = {name: Field(name, text.removesuffix("?")).arrow().type for name, text in SCHEMA.items()}
    types |= {"words": pa.large_list(pa.large_utf8()), "large": pa.decimal128(38, 38), "day": pa.date64()}
    types |= {"curves": pa.list_(pa.list_(pa.float64()))}
    types |= {"counts": pa.large_list(pa.int64()), "scores": pa.list_(pa.float64()), "tags": pa.list_(pa.large_utf8())}
    arrays = {"key": pa.array([s["key"] for s in samples])}
    for name, kind in types.items():
        values = [s[name] for s in samples]
        if name in ("ns", "t_ns"):
            arrays[name] = pa.array([None if v is None else v.astype(np.int64) for v in values], pa.int64()).view(kind)
        else:
            arrays[name] = pa.array(values, kind)
    table = pa.table(arrays)
    for at, (path, batches) in enumerate({"a": [table], "b": [table.slice(0, 11), table.slice(11)]}.items()):
        with Writer(tmp_path / path, SCHEMA, payload=["image"]) as w:
            for batch in batches:
                w.write_batch(batch)
        found = stoker.open(tmp_path / path)
        for n, sample in enumerate(samples):
            for name, value in sample.items():
                assert plain(found[f"k{n:03d}"][name]) == expected(name, value), f"{at}: {name} of {n}"


def test_an_arrow_schema_gives_the_types(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            pa.field("t", pa.timestamp("us", "+02:00"), False),
            pa.field("d", pa.date64(), False),
            pa.field("n", pa.time64("ns")),
            pa.field("p", pa.decimal128(5, 2)),
            pa.field("w", pa.large_list(pa.large_utf8()), False),
            pa.field("b", pa.list_(pa.binary())),
            pa.field("s", pa.list_(pa.list_(pa.uint8()))),
        ]
    )
    with Writer(tmp_path / "x", schema) as w:
        w.write({"key": "a", "t": dt.datetime(2026, 1, 1, tzinfo=UTC), "d": dt.date(2026, 1, 1), "w": []})
    fields = {f.name: (f.type, f.nullable, f.payload) for f in stoker.open(tmp_path / "x").fields}
    assert fields == {
        "t": ("timestamp[us,+02:00]", False, False),
        "d": ("date", False, False),
        "n": ("time[ns]", True, False),
        "p": ("decimal(5,2)", True, False),
        "w": ("utf8[]", False, False),
        "b": ("binary[]", True, False),
        "s": ("uint8[][]", True, False),
    }
    for kind, why in (
        (pa.decimal256(50, 2), "decimal256.* is not supported; cast it to decimal128"),
        (pa.list_(pa.date32()), "no type for date32"),
        (pa.decimal128(5, -2), "unknown type 'decimal\\(5,-2\\)'"),
    ):
        with pytest.raises(ValueError, match=why):
            Writer(tmp_path / "y", pa.schema([pa.field("f", kind)]))


@pytest.mark.parametrize(
    ("kind", "value", "why"),
    [
        ("timestamp[s]", dt.datetime(2026, 1, 1, 0, 0, 0, 1), "has fractions that timestamp"),
        ("timestamp[s]", dt.datetime(2026, 1, 1, tzinfo=UTC), "has a time zone, but the field has none"),
        ("timestamp[s,UTC]", dt.datetime(2026, 1, 1), "has no time zone, but the field has UTC"),
        ("timestamp[ns]", dt.datetime(9999, 1, 1), "outside of the range of timestamp"),
        ("timestamp[ns]", np.datetime64("9999-01-01", "s"), "without rounding or overflow"),
        ("timestamp[ms]", np.datetime64(1, "us"), "without rounding or overflow"),
        ("timestamp[ms]", np.datetime64("NaT"), "NaT is not a value"),
        ("timestamp[ms]", 5, "expected a datetime or a numpy.datetime64, not int 5"),
        ("date", dt.datetime(2026, 1, 1), "expected a date or a numpy.datetime64 in days, not datetime"),
        ("date", np.datetime64("2026-01-01T01", "h"), "without rounding or overflow"),
        ("date", np.datetime64(2**31, "D"), "outside of the range of date"),
        ("time[ms]", dt.time(0, 0, 0, 1), "has fractions that time"),
        ("time[us]", dt.time(0, tzinfo=UTC), "which a time of day cannot have"),
        ("time[us]", np.timedelta64(86400, "s"), "is not a time of day"),
        ("time[us]", np.timedelta64(-1, "us"), "is not a time of day"),
        ("time[us]", "12:00", "expected a time or a numpy.timedelta64, not str"),
        ("decimal(5,2)", Decimal("1000"), "at most 3 digits before and 2 behind the decimal point"),
        ("decimal(5,2)", Decimal("0.001"), "at most 3 digits before and 2 behind the decimal point"),
        ("decimal(5,2)", Decimal("1e999999"), "at most 3 digits before"),
        ("decimal(5,2)", Decimal("1e-999999"), "at most 3 digits before"),
        ("decimal(5,2)", Decimal("NaN"), "NaN is not a number"),
        ("decimal(5,2)", 0.5, "expected a Decimal or a whole number, not float"),
        ("decimal(38,0)", 10**38, "at most 38 digits before and 0 behind"),
        ("utf8[]", "text", "expected a list of utf8, not str 'text'"),
        ("utf8[]", ["a", None], "item 1 is missing; items of utf8\\[\\] cannot be null"),
        ("utf8[]", ["a", b"b"], "item 1: expected str, not bytes"),
        ("binary[]", [b"a", "b"], "item 1: expected bytes, not str"),
        ("int8[][]", [[1], [128]], "item 1: 128 is not between -128 and 127"),
        ("int8[][]", [1, 2], "item 0: expected one dimension"),
        ("int8[][]", 7, "expected a list of int8\\[\\], not int 7"),
    ],
)
def test_wrong_values_are_named(tmp_path: Path, kind: str, value: Any, why: str) -> None:
    wrong = pytest.raises(InvalidSampleError, match=rf"sample 'a', field 'f': .*{why}")
    with wrong, Writer(tmp_path / "x", {"f": kind}) as w:
        w.write({"key": "a", "f": value})


@pytest.mark.parametrize(
    ("kind", "array", "why"),
    [
        ("timestamp[s]", pa.array([1], pa.timestamp("s", "UTC")), "one of them has a time zone"),
        ("timestamp[s]", pa.array([1500], pa.timestamp("ms")), "a value of timestamp.* does not fit timestamp"),
        ("timestamp[s]", pa.array([1], pa.int64()), "expected a column of timestamp"),
        ("time[s]", pa.array([86_400], pa.int32()).view(pa.time32("s")), "86400 is not a time of day"),
        ("decimal(3,1)", pa.array([Decimal("123.4")]), "does not fit decimal"),
        ("utf8[]", pa.array([["a", None]]), "an item is missing"),
        ("int8[][]", pa.array([[[1, 300]]]), "300 is not between"),
        ("int8[][]", pa.array([[1]]), "expected a column of lists"),
        ("utf8[]", pa.array(["a"]), "expected a column of lists of utf8"),
    ],
)
def test_wrong_columns_are_named(tmp_path: Path, kind: str, array: pa.Array, why: str) -> None:
    wrong = pytest.raises(InvalidSampleError, match=rf"field 'f'.*{why}|column 'f'.*{why}")
    with wrong, Writer(tmp_path / "x", {"f": kind}) as w:
        w.write_batch(pa.table({"key": ["a"], "f": array}))


def test_values_of_other_forms_are_taken(tmp_path: Path) -> None:
    schema = {"t": "timestamp[us,UTC]", "n": "decimal(38,0)", "p": "decimal(5,2)", "s": "int16[][]", "w": "utf8[]"}
    berlin = dt.datetime(2026, 7, 1, 12, tzinfo=ZoneInfo("Europe/Berlin"))
    late = dt.datetime(9999, 12, 31, 23, 59, tzinfo=dt.timezone(dt.timedelta(hours=-5)))
    hours = np.datetime64("2026-07-01T10", "h")
    with Writer(tmp_path / "x", schema) as w:
        w.write({"key": "a", "t": berlin, "n": 10**38 - 1, "p": np.int64(-7), "s": np.ones((2, 2), int), "w": ()})
        w.write({"key": "b", "t": hours, "n": 0, "p": Decimal("1.2"), "s": [], "w": ["x"]})
        w.write({"key": "c", "t": late, "n": -1, "p": 0, "s": [], "w": []})
    a, b, c = stoker.open(tmp_path / "x")
    assert a["t"] == b["t"] == np.datetime64("2026-07-01T10:00")
    assert c["t"] == np.datetime64("9999-12-31T23:59") + np.timedelta64(5, "h")
    assert (a["n"], a["p"], b["p"]) == (10**38 - 1, Decimal("-7.00"), Decimal("1.20"))
    assert [x.tolist() for x in a["s"]] == [[1, 1], [1, 1]]
    assert a["w"] == []


@pytest.mark.parametrize("kind", ["utf8[]", "binary[]", "int32[][]"])
def test_nested_lists_cannot_be_payload(tmp_path: Path, kind: str) -> None:
    with pytest.raises(ValueError, match="a row of it is not one run of bytes; make it a small field"):
        Field("f", kind, payload=True)
    with pytest.raises(ValueError, match="'f' cannot be a payload field"):
        Writer(tmp_path / "x", {"f": kind}, payload=["f"])
    with Writer(tmp_path / "x", {"f": kind}) as w:
        w.write(
            {"key": "a", "f": [[1] * 5000] if kind == "int32[][]" else ["x" * 5000] if kind == "utf8[]" else [b"x"]}
        )
    assert not stoker.open(tmp_path / "x").fields[0].payload


@pytest.mark.parametrize(
    "kind",
    [
        "timestamp[m]", "timestamp[us,]", "timestamp[us,+24:00]", "date[]", "time", "decimal(0,0)", "decimal(39,0)",
        "decimal(3,4)", "decimal256(3,1)", "utf8[][]", "int32[][][]", "utf8?[][]", "int32?[][]", "bool?[]",
        "int32?[][2]",
    ],
)  # fmt: skip
def test_types_that_do_not_exist_are_refused(tmp_path: Path, kind: str) -> None:
    why = "unknown type|not supported|cannot be null|time zone|a decimal has|the scale of"
    with pytest.raises(ValueError, match=why):
        Field("f", kind)
    with pytest.raises(ValueError, match=why):
        Writer(tmp_path / "x", {"f": kind})


def test_damaged_messages_are_refused_or_read() -> None:
    """Whatever bytes a message has, its columns are values or a `CorruptDataError`."""
    fields = tuple(Field.from_json(f, "golden") for f in json.loads((GOLDEN / "chunk-1a.json").read_text())["fields"])
    form = Form(fields)
    good = np.frombuffer((GOLDEN / "batch-1-all.bin").read_bytes(), np.uint8)
    rows, _ = form.layout.head(good, "golden")
    names = [f.name for f in fields if f.special is not None or f.item is not None]
    seed = int(os.environ.get("TEST_SEED", "5"))
    rng = np.random.default_rng(seed)
    refused = 0
    for _ in range(200):
        bad = good.copy()
        for _ in range(int(rng.integers(1, 4))):
            bad[rng.integers(0, len(bad))] = rng.integers(0, 256)
        try:
            batch = Batch(form, DeliveredBatch(0, 0, [PieceData(0, rows, False, 0, bad)]), dict)
            for name in names:
                assert len(batch[name]) == rows, f"seed {seed}"
        except CorruptDataError:
            refused += 1
    assert 0 < refused < 200, f"seed {seed}"


def test_a_batch_without_rows_has_empty_columns() -> None:
    fields = tuple(Field.from_json(f, "golden") for f in json.loads((GOLDEN / "chunk-1a.json").read_text())["fields"])
    message = np.frombuffer((GOLDEN / "batch-1-none.bin").read_bytes(), np.uint8)
    batch = Batch(Form(fields), DeliveredBatch(0, 0, [PieceData(0, 0, False, 0, message)]), dict)
    for field in fields:
        assert len(batch[field.name]) == 0, field
    assert batch["date"].dtype == np.dtype("datetime64[D]")
