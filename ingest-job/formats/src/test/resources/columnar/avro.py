# ruff: noqa: ANN, C408, D212, E501, I001
"""Writes the Avro files of the tests: pip install fastavro cramjam lz4 backports.zstd, then run this here."""

import datetime as dt
import uuid
from decimal import Decimal
from pathlib import Path

import fastavro
from values import write

HERE = Path(__file__).parent / "avro"
HERE.mkdir(exist_ok=True)
IDENT = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")


def put(name, fields, rows, columns, refused=(), bad=(), **options):
    schema = fastavro.parse_schema({"type": "record", "name": "Row", "fields": fields})
    with open(HERE / name, "wb") as out:
        fastavro.writer(out, schema, rows, sync_marker=bytes(range(200, 216)), **options)
    write(HERE / name, columns, refused, bad)


def optional(kind):
    return ["null", kind]


def logical(kind, what, **more):
    return {"type": kind, "logicalType": what, **more}


def scalars():
    at = dt.datetime(2024, 2, 29, 12, tzinfo=dt.timezone.utc)
    us = int(at.timestamp()) * 1_000_000
    spec = [
        ("b", "boolean", "bool", [True, False], [True, False]),
        ("i", "int", "int32", [-(1 << 31), (1 << 31) - 1], None),
        ("l", "long", "int64", [-(1 << 63), (1 << 63) - 1], None),
        ("f", "float", "float32", [1.5, -0.0], None), ("d", "double", "float64", [0.1, float("inf")], None),
        ("s", "string", "utf8", ["", "zażółć 🦊"], None), ("y", "bytes", "binary", [b"", b"\xff\0"], None),
        ("x", {"type": "fixed", "name": "F3", "size": 3}, "binary", [b"abc", b"\0\1\2"], None),
        ("e", {"type": "enum", "name": "E", "symbols": ["cat", "dog"]}, "categorical", ["dog", "cat"], None),
        ("day", logical("int", "date"), "date", [dt.date(1970, 1, 2), dt.date(1969, 12, 31)], [1, -1]),
        ("tm", logical("int", "time-millis"), "time[ms]", [dt.time(0, 0, 1)] * 2, [1000] * 2),
        ("tu", logical("long", "time-micros"), "time[us]", [dt.time(0, 0, 1)] * 2, [1_000_000] * 2),
        ("sm", logical("long", "timestamp-millis"), "timestamp[ms,UTC]", [at] * 2, [us // 1000] * 2),
        ("su", logical("long", "timestamp-micros"), "timestamp[us,UTC]", [at] * 2, [us] * 2),
        ("sn", logical("long", "timestamp-nanos"), "timestamp[ns,UTC]", [us * 1000] * 2, None),
        ("lm", logical("long", "local-timestamp-millis"), "timestamp[ms]", [us // 1000] * 2, None),
        ("lu", logical("long", "local-timestamp-micros"), "timestamp[us]", [us] * 2, None),
        ("dec", logical("bytes", "decimal", precision=9, scale=2), "decimal(9,2)",
         [Decimal("-1.50"), Decimal("0.00")], None),
        ("fix", logical("fixed", "decimal", precision=20, scale=3, name="D9", size=9), "decimal(20,3)",
         [Decimal("-12345678901234567.891"), Decimal("1.000")], None),
        ("id", logical("string", "uuid"), "utf8", [IDENT] * 2, [str(IDENT)] * 2),
    ]  # fmt: skip
    fields = [{"name": n, "type": t} for n, t, _, _, _ in spec] + [
        {"name": n + "_null", "type": optional(t if isinstance(t, str) or "name" not in t else t["name"])}
        for n, t, _, _, _ in spec]  # fmt: skip
    fields += [{"name": "nothing", "type": "null"}, {"name": "last", "type": ["long", "null"]},
               {"name": "mixed", "type": ["null", "string", "long"]}]  # fmt: skip
    rows, columns = [], []
    for i in range(4):
        row = {n: v[i % 2] for n, _, _, v, _ in spec}
        row.update({n + "_null": v[i % 2] if i < 2 else None for n, _, _, v, _ in spec})
        rows.append({**row, "nothing": None, "last": i or None, "mixed": ["a", 1, None, "b"][i]})
    for n, _, t, v, shown in spec:
        columns.append((n, t, False, [(shown or v)[i % 2] for i in range(4)]))
    for n, _, t, v, shown in spec:
        columns.append((n + "_null", t, True, [(shown or v)[i % 2] if i < 2 else None for i in range(4)]))
    columns.append(("last", "int64", True, [None, 1, 2, 3]))
    for codec in ("null", "deflate", "snappy", "zstandard", "bzip2", "xz"):
        put(f"scalars-{codec}.avro", fields, rows, columns, ["nothing", "mixed"], codec=codec)
    put("lz4.avro", [{"name": "a", "type": "long"}], [{"a": 1}], [("a", "int64", False, [1])], codec="lz4")


def nested():
    point = {"type": "record", "name": "P", "fields": [{"name": "x", "type": optional("int")}, {
        "name": "y", "type": optional({
            "type": "record", "name": "Y", "fields": [{"name": "z", "type": "string"}]})}]}  # fmt: skip
    box = {"type": "record", "name": "B", "fields": [
        {"name": "box", "type": {"type": "array", "items": "float"}}, {"name": "name", "type": "string"}]}  # fmt: skip

    def array(items):
        return {"type": "array", "items": items}

    fields = [
        {"name": "point", "type": optional(point)}, {"name": "numbers", "type": optional(array(optional("long")))},
        {"name": "texts", "type": array("string")}, {"name": "flags", "type": array("boolean")},
        {"name": "matrix", "type": optional(array(optional(array("int"))))}, {"name": "boxes", "type": array(box)},
        {"name": "map", "type": {"type": "map", "values": "double"}},
        {"name": "dates", "type": array(logical("int", "date"))}, {"name": "cube", "type": array(array(array("int")))},
        {"name": "last", "type": "long"},
    ]  # fmt: skip
    rows = [
        {"point": {"x": 1, "y": {"z": "a"}}, "numbers": [1, 2], "texts": ["a", ""], "flags": [True],
         "matrix": [[1], []],
         "boxes": [{"box": [1.0, 2.0], "name": "cat"}, {"box": [], "name": "dog"}], "map": {"k": 0.5},
         "dates": [dt.date(2024, 1, 1)], "cube": [[[1]]], "last": 1},
        {"point": {"x": None, "y": None}, "numbers": [], "texts": [], "flags": [], "matrix": None, "boxes": [],
         "map": {}, "dates": [], "cube": [], "last": 2},
        {"point": None, "numbers": [3, None], "texts": ["b"], "flags": [], "matrix": [None], "boxes": [], "map": {},
         "dates": [], "cube": [], "last": 3},
    ]  # fmt: skip
    columns = [
        ("point.x", "int32", True, [1, None, None]), ("point.y.z", "utf8", True, ["a", None, None]),
        ("numbers", "int64[]", True, [[1, 2], [], None]), ("texts", "utf8[]", False, [["a", ""], [], ["b"]]),
        ("flags", "uint8[]", False, [[1], [], []]), ("matrix", "int32[][]", True, [[[1], []], None, None]),
        ("boxes.box", "float32[][]", False, [[[1.0, 2.0], []], [], []]),
        ("boxes.name", "utf8[]", False, [["cat", "dog"], [], []]), ("map.key", "utf8[]", False, [["k"], [], []]),
        ("map.value", "float64[]", False, [[0.5], [], []]), ("last", "int64", False, [1, 2, 3]),
    ]  # fmt: skip
    bad = [(2, "numbers", "an item of list 'numbers' is null"),
           (2, "matrix", "a list inside 'matrix' is null")]  # fmt: skip
    put("nested.avro", fields, rows, columns, ["dates", "cube"], bad, codec="deflate")


def shapes():
    put("empty.avro", [{"name": "a", "type": "long"}], [], [("a", "int64", False, [])])
    rows = [{"id": i, "t": "x" * (i % 4) if i % 3 else None} for i in range(300)]
    fields = [{"name": "id", "type": "long"}, {"name": "t", "type": optional("string")}]
    columns = [("id", "int64", False, [r["id"] for r in rows]), ("t", "utf8", True, [r["t"] for r in rows])]
    put("blocks.avro", fields, rows, columns, sync_interval=100)
    put("small.avro", fields, rows[:3], [(n, t, null, v[:3]) for n, t, null, v in columns], codec="deflate")


def null_lists():
    """Lists without a value, whose items are of type null."""
    nothing = optional({"type": "array", "items": "null"})
    inner = {
        "type": "record",
        "name": "inner",
        "fields": [{"name": "a", "type": "int"}, {"name": "l", "type": nothing}],
    }
    fields = [
        {"name": "id", "type": "long"}, {"name": "v", "type": nothing}, {"name": "w", "type": nothing},
        {"name": "s", "type": optional(inner)}, {"name": "last", "type": "long"},
    ]  # fmt: skip
    rows = [
        {"id": 1, "v": [], "w": [None, None], "s": {"a": 1, "l": []}, "last": 7},
        {"id": 2, "v": [], "w": [], "s": {"a": 2, "l": None}, "last": 8},
        {"id": 3, "v": None, "w": None, "s": None, "last": 9},
    ]  # fmt: skip
    columns = [("id", "int64", False, [1, 2, 3]), ("s.a", "int32", True, [1, 2, None]),
               ("last", "int64", False, [7, 8, 9])]  # fmt: skip
    put("null-lists.avro", fields, rows, columns, ["v", "w", "s.l"])


if __name__ == "__main__":
    null_lists()
    for step in (scalars, nested, shapes):
        step()
