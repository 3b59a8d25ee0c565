"""Timestamps, dates, times, decimals and nested lists, from the writer to the trainer and to other programs."""

from __future__ import annotations

import datetime as dt
import functools
import json
import pickle
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import stoker
from rounds import Round, is_replay, rounds
from stoker import Feed, testing
from stoker._batch.batch import Batch
from stoker._batch.piece import Form
from stoker._format.fields import Field
from stoker._source.batch_source import DeliveredBatch, PieceData
from stoker.errors import CorruptDataError

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


def test_damaged_messages_are_refused_or_read() -> None:
    """Whatever bytes a message has, its columns are values or a `CorruptDataError`."""
    fields = tuple(Field.from_json(f, "golden") for f in json.loads((GOLDEN / "chunk-1a.json").read_text())["fields"])
    form = Form(fields)
    good = np.frombuffer((GOLDEN / "batch-1-all.bin").read_bytes(), np.uint8)
    rows, _ = form.layout.head(good, "golden")
    names = [f.name for f in fields if f.special is not None or f.item is not None]
    refused = 0

    def one(rng: Round) -> None:
        nonlocal refused
        bad = good.copy()
        for _ in range(rng.randrange(1, 4)):
            bad[rng.randrange(len(bad))] = rng.randrange(256)
        try:
            batch = Batch(form, DeliveredBatch(0, 0, [PieceData(0, rows, False, 0, bad)]), dict)
            for name in names:
                assert len(batch[name]) == rows
        except CorruptDataError:
            refused += 1

    done = rounds(one, seconds=0.5, at_least=100)
    assert is_replay() or 0 < refused < done


def test_a_batch_without_rows_has_empty_columns() -> None:
    fields = tuple(Field.from_json(f, "golden") for f in json.loads((GOLDEN / "chunk-1a.json").read_text())["fields"])
    message = np.frombuffer((GOLDEN / "batch-1-none.bin").read_bytes(), np.uint8)
    batch = Batch(Form(fields), DeliveredBatch(0, 0, [PieceData(0, 0, False, 0, message)]), dict)
    for field in fields:
        assert len(batch[field.name]) == 0, field
    assert batch["date"].dtype == np.dtype("datetime64[D]")
