"""Null structs of tables: each of their fields is null, in every format."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import fastavro
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

import stoker

pytestmark = pytest.mark.full("stores")

ROWS: list[dict[str, Any]] = [
    {"id": "a", "s": {"n": 1, "in": {"t": "x"}, "l": [1, 2]}, "boxes": [{"x": 1, "name": "b"}, {"x": 2, "name": "c"}]},
    {"id": "b", "s": None, "boxes": [{"x": 1, "name": "b"}, None]},
    {"id": "c", "s": {"n": 3, "in": None, "l": []}, "boxes": []},
]
INNER = pa.struct([pa.field("t", pa.string(), nullable=False)])
OUTER = pa.struct(
    [
        pa.field("n", pa.int64(), nullable=False),
        pa.field("in", INNER),
        pa.field("l", pa.list_(pa.int64()), nullable=False),
    ]
)
BOX = pa.struct([pa.field("x", pa.int64(), nullable=False), pa.field("name", pa.string(), nullable=False)])
TABLE = pa.Table.from_pylist(ROWS, pa.schema([("id", pa.string()), ("s", OUTER), ("boxes", pa.list_(BOX))]))
AVRO = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "id", "type": "string"},
        {
            "name": "s",
            "type": [
                "null",
                {
                    "type": "record",
                    "name": "outer",
                    "fields": [
                        {"name": "n", "type": "long"},
                        {
                            "name": "in",
                            "type": [
                                "null",
                                {"type": "record", "name": "inner", "fields": [{"name": "t", "type": "string"}]},
                            ],
                        },
                        {"name": "l", "type": {"type": "array", "items": "long"}},
                    ],
                },
            ],
        },
        {
            "name": "boxes",
            "type": {
                "type": "array",
                "items": [
                    "null",
                    {
                        "type": "record",
                        "name": "box",
                        "fields": [{"name": "x", "type": "long"}, {"name": "name", "type": "string"}],
                    },
                ],
            },
        },
    ],
}
KINDS = ("parquet", "arrow", "avro", "jsonl")
KEEP = ("--type", "boxes.x=int64?[]", "--type", "boxes.name=utf8?[]")


def write(folder: Path, kind: str) -> Path:
    path = folder / f"rows.{kind}"
    if kind == "parquet":
        pq.write_table(TABLE, path)
    elif kind == "arrow":
        with pyarrow.ipc.new_file(path, TABLE.schema) as out:
            out.write_table(TABLE)
    elif kind == "avro":
        with path.open("wb") as out:
            fastavro.writer(out, AVRO, ROWS)
    else:
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return path


def plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else value


@pytest.mark.parametrize("kind", KINDS)
def test_the_fields_of_a_null_struct_are_null(cli: Any, tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, kind)
    cli.run("ingest", path, tmp_path / "x", "--key", "id", *KEEP)

    rows = {s.pop("key"): {n: plain(v) for n, v in s.items()} for s in stoker.open(tmp_path / "x")}
    assert rows == {
        "a": {"s.n": 1, "s.in.t": "x", "s.l": [1, 2], "boxes.x": [1, 2], "boxes.name": ["b", "c"]},
        "b": {"s.n": None, "s.in.t": None, "s.l": None, "boxes.x": [1, None], "boxes.name": ["b", None]},
        "c": {"s.n": 3, "s.in.t": None, "s.l": [], "boxes.x": [], "boxes.name": []},
    }
    cli.run("ingest", path, tmp_path / "y", "--key", "id", "--where", "s.n IS NULL", *KEEP)
    assert list(stoker.open(tmp_path / "y").keys()) == ["b"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_null_struct_in_a_list_is_a_null_item(cli: Any, tmp_path: Path, kind: str) -> None:
    said = cli.fails("ingest", write(tmp_path, kind), tmp_path / "x", "--key", "id")
    assert "boxes.x" in said
    assert "boxes.x=int64?[]" in said
    assert "boxes.name=utf8?[]" in said


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_that_requires_a_value_refuses_the_row(cli: Any, tmp_path: Path, kind: str) -> None:
    with stoker.Writer(tmp_path / "x", {"s.n": "int64"}) as writer:
        writer.write({"key": "z", "s.n": 1})
    arguments = ("ingest", write(tmp_path, kind), tmp_path / "x", "--key", "id", "--columns", "s.n", "--append")
    said = cli.fails(*arguments)
    assert "column s.n: there is no value, but the dataset's field s.n requires one" in said
    assert "leave such rows out with --on-error skip, or select the others with --where" in said
    cli.run(*arguments, "--on-error", "skip")
    assert sorted(stoker.open(tmp_path / "x").keys()) == ["a", "c", "z"]
