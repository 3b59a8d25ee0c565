"""A table with a column of each kind, and how exports of it are compared with it."""

from __future__ import annotations

import datetime as dt
import decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc

ROWS = 700
START = dt.datetime(2020, 1, 1, tzinfo=dt.timezone.utc)


def optional(values, every=5):
    """The same values with some nulls."""
    return [None if i % every == 2 else value for i, value in enumerate(values)]


def table(rows: int = ROWS) -> pa.Table:
    """A column of each kind, with nulls, empty lists and names beyond ASCII."""
    numbers = range(rows)
    moments = [START + dt.timedelta(milliseconds=1500 * i) for i in numbers]
    local = [moment.replace(tzinfo=None) for moment in moments]
    tensors = np.arange(rows * 6, dtype=np.float32).reshape(rows, 6)
    return pa.table({
        "id": [f"dir/s{i:06d}.x" for i in numbers],
        "label": pa.array([("cat", "dog", "öwl")[i % 3] for i in numbers]),
        "kind": pa.array([("A", "B_1")[i % 2] for i in numbers]).dictionary_encode(),
        "flag": pa.array(optional([i % 2 == 0 for i in numbers])),
        "i8": pa.array(optional([i % 200 - 100 for i in numbers]), pa.int8()),
        "u16": pa.array([65535 - i for i in numbers], pa.uint16()),
        "u32": pa.array([2**32 - 1 - i for i in numbers], pa.uint32()),
        "u64": pa.array([2**64 - 1 - i for i in numbers], pa.uint64()),
        "i64": pa.array(optional([i - 2**62 for i in numbers], 3), pa.int64()),
        "f16": pa.array(np.arange(rows, dtype=np.float16)),
        "f32": pa.array([i / 7 for i in numbers], pa.float32()),
        "f64": pa.array(optional([-i / 3 for i in numbers]), pa.float64()),
        "größe": pa.array([f"„{i}“\n" for i in numbers]),
        "day": pa.array(optional([dt.date(1960, 1, 1) + dt.timedelta(days=40 * i) for i in numbers]), pa.date32()),
        "at": pa.array([dt.time(i % 24, i % 60, i % 60, i) for i in numbers], pa.time64("us")),
        "at_s": pa.array([dt.time(i % 24, i % 60, i % 60) for i in numbers], pa.time32("s")),
        "when": pa.array(optional(moments), pa.timestamp("us", tz="Europe/Berlin")),
        "when_ns": pa.array([i * 10**9 + i for i in numbers], pa.timestamp("ns")),
        "when_s": pa.array([value.replace(microsecond=0) for value in local], pa.timestamp("s")),
        "price": pa.array(optional([decimal.Decimal(i - 5) / 100 for i in numbers]), pa.decimal128(7, 2)),
        "huge": pa.array([decimal.Decimal(-(10**30) - i) for i in numbers], pa.decimal128(38, 0)),
        "tokens": pa.array(optional([list(range(i % 5)) for i in numbers]), pa.list_(pa.int32())),
        "scores": pa.array([[i / 4] * (i % 3) for i in numbers], pa.list_(pa.float64())),
        "tags": pa.array(optional([["a", "bü", ""][: i % 4] for i in numbers]), pa.list_(pa.string())),
        "blobs": pa.array([[bytes([i % 256]) * 3][: i % 2] for i in numbers], pa.list_(pa.binary())),
        "boxes": pa.array([[[i, 1], [], [2]][: i % 4] for i in numbers], pa.list_(pa.list_(pa.int16()))),
        "tensor": pa.FixedSizeListArray.from_arrays(
            pa.FixedSizeListArray.from_arrays(pa.array(tensors.ravel()), 3), 2
        ),
        "image": pa.array([i.to_bytes(4, "big") * (300 + i % 100) for i in numbers], pa.binary()),
    })  # fmt: skip


def write_arrow(path: Path, source: pa.Table) -> None:
    with pa.OSFile(str(path), "wb") as file, pyarrow.ipc.new_file(file, source.schema) as writer:
        writer.write_table(source, max_chunksize=100)


def by_key(rows: list[dict]) -> dict[str, dict]:
    found = {row["key"]: row for row in rows}
    assert len(found) == len(rows)
    return found


def expected(source: pa.Table) -> dict[str, dict]:
    rows = source.to_pylist()
    for row in rows:
        row["key"] = row.pop("id")
    return by_key(rows)


def require_equal(found: dict[str, dict], source: pa.Table, leave_out: tuple[str, ...] = ()) -> None:
    wanted = expected(source)
    assert found.keys() == wanted.keys()
    for key, row in wanted.items():
        mine = found[key]
        assert mine.keys() == row.keys() - set(leave_out)
        for name in mine:
            assert mine[name] == row[name], (key, name)


def files(path: Path, ending: str) -> list[Path]:
    found = sorted(path.glob(f"*{ending}"))
    assert {file.name for file in path.iterdir()} == {file.name for file in found} | {"_SUCCESS"}
    return found


def without(*names: str) -> str:
    return ",".join(["key", *(name for name in table(1).column_names if name not in names and name != "id")])


def keys_of(file: Path) -> list[str]:
    return pyarrow.ipc.open_file(file).read_all()["key"].to_pylist()
