# ruff: noqa: ANN, C408, D212, E501, I001
"""Writes the Parquet files of the tests: pip install pyarrow pandas duckdb datasets pillow, then run this here."""

import datetime as dt
import os
import uuid
from decimal import Decimal
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from values import write

HERE = Path(__file__).parent / "parquet"
HERE.mkdir(exist_ok=True)


def put(name, table, columns, refused=(), bad=(), **options):
    pq.write_table(table, HERE / name, **options)
    write(HERE / name, columns, refused, bad)


def us(*args):
    return int(dt.datetime(*args, tzinfo=dt.timezone.utc).timestamp()) * 1_000_000


def scalars():
    """Every type with one value per row: extremes and nulls."""
    half = [1.5, None, -0.0, float("inf")]
    ints = {k: [lo, None, hi, 1] for k, lo, hi in (
        ("int8", -128, 127), ("int16", -(1 << 15), (1 << 15) - 1), ("int32", -(1 << 31), (1 << 31) - 1),
        ("int64", -(1 << 63), (1 << 63) - 1), ("uint8", 0, 255), ("uint16", 0, 65535),
        ("uint32", 0, (1 << 32) - 1), ("uint64", 0, (1 << 64) - 1))}  # fmt: skip
    day = [dt.date(1969, 12, 31), None, dt.date(9999, 12, 31), dt.date(2024, 2, 29)]
    days = [None if d is None else (d - dt.date(1970, 1, 1)).days for d in day]
    stamp = [0, None, -1, us(2024, 2, 29, 12)]
    dec = [Decimal("-1.50"), None, Decimal("12345.67"), Decimal("0.00")]
    big = [Decimal("-9999999999999999999999999999.9999999999"), None, Decimal("0.0000000001"), Decimal("1.0000000000")]
    clock = [0, None, 86_399_999_999, 1]
    arrays, columns = {}, []
    for k, v in ints.items():
        arrays[k] = pa.array(v, getattr(pa, k)())
        columns.append((k, k, True, v))

    def add(name, kind, array, values):
        arrays[name] = array
        columns.append((name, kind, True, values))

    add("bool", "bool", pa.array([True, None, False, True]), [True, None, False, True])
    add("half", "float16", pa.array([None if x is None else np.float16(x) for x in half], pa.float16()), half)
    add("float", "float32", pa.array(half, pa.float32()), half)
    add("double", "float64", pa.array(half, pa.float64()), half)
    add("text", "utf8", pa.array(["", None, "zażółć 🦊", "x" * 50]), ["", None, "zażółć 🦊", "x" * 50])
    add("bytes", "binary", pa.array([b"", None, b"\xff\0", b"abc"]), [b"", None, b"\xff\0", b"abc"])
    fixed = [b"abc", None, b"\0\1\2", b"xyz"]
    add("fixed", "binary", pa.array(fixed, pa.binary(3)), fixed)
    add("date", "date", pa.array(day), days)
    add("time_ms", "time[ms]", pa.array([None if x is None else x // 1000 for x in clock], pa.time32("ms")),
        [None if x is None else x // 1000 for x in clock])  # fmt: skip
    add("time_us", "time[us]", pa.array(clock, pa.time64("us")), clock)
    add("time_ns", "time[ns]", pa.array(clock, pa.time64("ns")), clock)
    add("at_ms", "timestamp[ms]", pa.array(stamp, pa.timestamp("ms")), stamp)
    add("at_us", "timestamp[us]", pa.array(stamp, pa.timestamp("us")), stamp)
    add("at_ns", "timestamp[ns]", pa.array(stamp, pa.timestamp("ns")), stamp)
    add("at_utc", "timestamp[us,UTC]", pa.array(stamp, pa.timestamp("us", "UTC")), stamp)
    add("at_zone", "timestamp[us,Europe/Berlin]", pa.array(stamp, pa.timestamp("us", "Europe/Berlin")), stamp)
    add("dec9", "decimal(7,2)", pa.array(dec, pa.decimal128(7, 2)), dec)
    add("dec18", "decimal(18,2)", pa.array(dec, pa.decimal128(18, 2)), dec)
    add("dec38", "decimal(38,10)", pa.array(big, pa.decimal128(38, 10)), big)
    table = pa.table(arrays)
    for codec in ("none", "snappy", "gzip", "zstd", "lz4"):
        put(f"scalars-{codec}.parquet", table, columns, compression=codec)
    put("scalars-v2.parquet", table, columns, data_page_version="2.0", compression="zstd", version="2.6")
    put("scalars-plain.parquet", table, columns, use_dictionary=False, write_page_checksum=True)
    put("scalars-brotli.parquet", pa.table({"a": [1, 2]}), [("a", "int64", True, [1, 2])], compression="brotli")
    put("decimal-ints.parquet", pa.table({"d9": arrays["dec9"], "d18": arrays["dec18"]}),
        [("d9", "decimal(7,2)", True, dec), ("d18", "decimal(18,2)", True, dec)],
        store_decimal_as_integer=True)  # fmt: skip
    put("int96.parquet", pa.table({"at": arrays["at_us"]}), [("at", "timestamp[ns]", True,
        [None if x is None else x * 1000 for x in stamp])], use_deprecated_int96_timestamps=True)  # fmt: skip


def encodings():
    n = 700
    numbers = [(i * i * 7919) % 100_003 - 50_000 for i in range(n)]
    small = [i // 10 for i in range(n)]
    words = [f"pre-{i // 7:05d}-{'x' * (i % 5)}" for i in range(n)]
    reals = [i / 8 for i in range(n)]
    flags = [i % 3 == 0 for i in range(n)]
    sparse = [None if i % 5 else i for i in range(n)]
    lists = [list(range(i % 4)) if i % 11 else None for i in range(n)]
    table = pa.table({
        "i64": numbers, "i32": pa.array(small, pa.int32()), "text": words, "fixed": pa.array(
            [w[:8].encode() for w in words], pa.binary(8)), "f64": reals, "f32": pa.array(reals, pa.float32()),
        "flag": flags, "sparse": sparse, "lists": pa.array(lists, pa.list_(pa.int32())),
    })  # fmt: skip
    columns = [
        ("i64", "int64", True, numbers), ("i32", "int32", True, small), ("text", "utf8", True, words),
        ("fixed", "binary", True, [w[:8] for w in words]), ("f64", "float64", True, reals),
        ("f32", "float32", True, reals), ("flag", "bool", True, flags), ("sparse", "int64", True, sparse),
        ("lists", "int32[]", True, lists),
    ]  # fmt: skip
    every = {
        "dictionary": dict(use_dictionary=True),
        "delta": dict(use_dictionary=False, column_encoding={
            "i64": "DELTA_BINARY_PACKED", "i32": "DELTA_BINARY_PACKED", "text": "DELTA_BYTE_ARRAY",
            "fixed": "DELTA_BYTE_ARRAY", "f64": "BYTE_STREAM_SPLIT", "f32": "BYTE_STREAM_SPLIT", "flag": "RLE",
            "sparse": "DELTA_BINARY_PACKED", "lists.list.element": "DELTA_BINARY_PACKED"}),
        "delta2": dict(use_dictionary=False, data_page_version="2.0", column_encoding={
            "text": "DELTA_LENGTH_BYTE_ARRAY", "fixed": "BYTE_STREAM_SPLIT", "i32": "BYTE_STREAM_SPLIT",
            "i64": "BYTE_STREAM_SPLIT"}),
    }  # fmt: skip
    write(HERE / "encodings", columns)
    for name, options in every.items():
        pq.write_table(table, HERE / f"encodings-{name}.parquet", compression="zstd", compression_level=19,
                       data_page_size=500, row_group_size=400, write_page_checksum=True, **options)  # fmt: skip


def nested():
    point = pa.struct([("x", pa.int32()), ("y", pa.struct([("z", pa.string())]))])
    box = pa.struct([("box", pa.list_(pa.float32())), ("name", pa.string()), ("score", pa.float64())])
    points = [{"x": 1, "y": {"z": "a"}}, {"x": None, "y": {"z": None}}, {"x": 3, "y": None}, None]
    boxes = [
        [{"box": [1.0, 2.0], "name": "cat", "score": 0.5}, {"box": [], "name": "dog", "score": 1.0}],
        [],
        None,
        [None],
    ]
    numbers = [[1, 2], [], None, [3, None]]
    table = pa.table({
        "point": pa.array(points, point),
        "numbers": pa.array(numbers, pa.list_(pa.int64())),
        "texts": pa.array([["a", ""], [], None, ["b", None]]),
        "datas": pa.array([[b"a", b""], [], None, [b"\xff"]]),
        "flags": pa.array([[True, False], [], None, [True]]),
        "matrix": pa.array([[[1, 2], []], [], None, [[3], None]], pa.list_(pa.list_(pa.int16()))),
        "boxes": pa.array(boxes, pa.list_(box)),
        "map": pa.array([[("a", 1)], [], None, [("b", 2), ("c", 3)]], pa.map_(pa.string(), pa.int32())),
        "dates": pa.array([[1]] * 4, pa.list_(pa.date32())),
        "cube": pa.array([[[[1]]]] * 4, pa.list_(pa.list_(pa.list_(pa.int8())))),
        "nothing": pa.nulls(4),
        "large": pa.array([[1], [], None, [2, 3]], pa.large_list(pa.uint8())),
        "pair": pa.array([[1, 2], [3, 4], None, [5, 6]], pa.list_(pa.float32(), 2)),
    })  # fmt: skip
    columns = [
        ("point.x", "int32", True, [1, None, 3, None]),
        ("point.y.z", "utf8", True, ["a", None, None, None]),
        ("numbers", "int64[]", True, [[1, 2], [], None, None]),
        ("texts", "utf8[]", True, [["a", ""], [], None, None]),
        ("datas", "binary[]", True, [[b"a", b""], [], None, [b"\xff"]]),
        ("flags", "uint8[]", True, [[1, 0], [], None, [1]]),
        ("matrix", "int16[][]", True, [[[1, 2], []], [], None, None]),
        ("boxes.box", "float32[][]", True, [[[1.0, 2.0], []], [], None, None]),
        ("boxes.name", "utf8[]", True, [["cat", "dog"], [], None, None]),
        ("boxes.score", "float64[]", True, [[0.5, 1.0], [], None, None]),
        ("map.key", "utf8[]", True, [["a"], [], None, ["b", "c"]]),
        ("map.value", "int32[]", True, [[1], [], None, [2, 3]]),
        ("large", "uint8[]", True, [[1], [], None, [2, 3]]),
        ("pair", "float32[2]", True, [[1, 2], [3, 4], None, [5, 6]]),
    ]
    bad = [
        (3, "numbers", "an item of list 'numbers' is null"),
        (3, "texts", "an item of list 'texts' is null"), (3, "matrix", "a list inside 'matrix' is null"),
        (3, "boxes.box", "an item of list 'boxes' is null"), (3, "boxes.name", "an item of list 'boxes' is null"),
        (3, "boxes.score", "an item of list 'boxes' is null"),
    ]  # fmt: skip
    refused = ["dates", "cube", "nothing"]
    put("nested.parquet", table, columns, refused, bad, compression="snappy")
    put("nested-v2.parquet", table, columns, refused, bad, compression="zstd", data_page_version="2.0")
    put("nested-rows.parquet", table, columns, refused, bad, row_group_size=1)


def shapes():
    put("empty.parquet", pa.table({"a": pa.array([], pa.int32()), "b": pa.array([], pa.list_(pa.string()))}),
        [("a", "int32", True, []), ("b", "utf8[]", True, [])])  # fmt: skip
    double = pa.Table.from_arrays([pa.array([1, 2]), pa.array(["x", "y"]), pa.array([1.5, 2.5])], ["a", "a", "ż.ó"])
    put("duplicates.parquet", double, [
        ("a", "int64", True, [1, 2]), ("a", "utf8", True, ["x", "y"]),
        ("ż.ó", "float64", True, [1.5, 2.5])])  # fmt: skip
    required = pa.table([pa.array([1, 2]), pa.array([[1], []])], schema=pa.schema([
        pa.field("id", pa.int64(), nullable=False),
        pa.field("list", pa.list_(pa.field("element", pa.int64(), nullable=False)), nullable=False)]))  # fmt: skip
    put("required.parquet", required, [("id", "int64", False, [1, 2]), ("list", "int64[]", False, [[1], []])])
    wide = {f"c{i}": pa.array([i], pa.int16()) for i in range(30)}
    put("wide.parquet", pa.table(wide), [(n, "int16", True, [i]) for i, n in enumerate(wide)], compression="none")
    small = pa.table({"id": pa.array(range(1, 5)), "t": ["a", "bb", None, "dddd"], "l": [[1], [], [2, 3], None]})
    put("small.parquet", small, [
        ("id", "int64", True, [1, 2, 3, 4]), ("t", "utf8", True, ["a", "bb", None, "dddd"]),
        ("l", "int64[]", True, [[1], [], [2, 3], None])], write_page_checksum=True, store_schema=False)  # fmt: skip


def pandas():
    frame = pd.DataFrame({
        "n": [1, 2, 3], "s": ["a", None, "c"], "c": pd.Categorical(["x", "y", "x"]),
        "t": pd.to_datetime(["2024-01-01", None, "2024-01-03"]).astype("datetime64[ns]"),
        "z": pd.to_datetime(["2024-01-01", None, "2024-01-03"], utc=True).astype("datetime64[us, UTC]"),
        "v": [np.array([1.0, 2.0]), None, np.array([])],
    })  # fmt: skip
    frame.to_parquet(HERE / "pandas.parquet", index=False)
    day = us(2024, 1, 1)
    later = us(2024, 1, 3)
    write(HERE / "pandas.parquet", [
        ("n", "int64", True, [1, 2, 3]), ("s", "utf8", True, ["a", None, "c"]),
        ("c", "categorical", True, ["x", "y", "x"]),
        ("t", "timestamp[ns]", True, [day * 1000, None, later * 1000]),
        ("z", "timestamp[us,UTC]", True, [day, None, later]),
        ("v", "float64[]", True, [[1.0, 2.0], None, []])])  # fmt: skip


def duck():
    ident = uuid.UUID("00112233-4455-6677-8899-aabbccddeeff")
    duckdb.sql(f"""COPY (SELECT 1::TINYINT t, 2::UBIGINT u, '{ident}'::UUID id, 1.5::DECIMAL(9,2) d,
        18446744073709551615::DECIMAL(30,0) big, TIMESTAMP '2024-01-01' ts, TIMESTAMPTZ '2024-01-01 00:00:00+00' tz,
        [1, 2]::INT[] l, {{'a': 1, 'b': 'x'}} s, '{{"k": 1}}'::JSON j, TIME '00:00:01' tm, 'b'::ENUM('a','b') e,
        MAP {{'k': 1}} m, INTERVAL 1 DAY iv)
        TO '{HERE / "duckdb.parquet"}' (FORMAT parquet)""")
    day = us(2024, 1, 1)
    write(HERE / "duckdb.parquet", [
        ("t", "int8", False, [1]), ("u", "uint64", False, [2]), ("id", "utf8", False, [str(ident)]),
        ("d", "decimal(9,2)", False, [Decimal("1.50")]), ("big", "decimal(30,0)", False, [Decimal((1 << 64) - 1)]),
        ("ts", "timestamp[us]", False, [day]), ("tz", "timestamp[us,UTC]", False, [day]),
        ("l", "int32[]", False, [[1, 2]]),
        ("s.a", "int32", True, [1]), ("s.b", "utf8", True, ["x"]), ("j", "utf8", False, ['{"k": 1}']),
        ("tm", "time[us]", False, [1_000_000]), ("e", "utf8", False, ["b"]), ("m.key", "utf8[]", False, [["k"]]),
        ("m.value", "int32[]", False, [[1]])], refused=["iv"])  # fmt: skip


def huggingface():
    from datasets import Dataset, Features, Image, List, Value, ClassLabel, Array2D

    png = bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010800000000"
        "3a7e9b550000000a49444154789c63600000000200014"
        "8afa4710000000049454e44ae426082"
    )
    features = Features({
        "image": Image(), "label": ClassLabel(names=["cat", "dog"]), "text": Value("string"),
        "tokens": List(Value("int32")), "grid": Array2D((2, 2), "float32"), "pages": List(Image()),
    })  # fmt: skip
    rows = {
        "image": [{"bytes": png, "path": None}, {"bytes": png, "path": "a.png"}, None],
        "label": [0, 1, -1], "text": ["a", "b", None], "tokens": [[1], [], [2, 3]],
        "grid": [[[1, 2], [3, 4]]] * 3, "pages": [[{"bytes": png, "path": None}], [], None],
    }  # fmt: skip
    data = Dataset.from_dict(rows, features=features)
    data.to_parquet(HERE / "huggingface.parquet")
    columns = [
        ("image", "binary", True, [png, png, None]), ("image.path", "utf8", True, [None, "a.png", None]),
        ("label", "categorical", True, ["cat", "dog", None]), ("text", "utf8", True, ["a", "b", None]),
        ("tokens", "int32[]", True, [[1], [], [2, 3]]), ("grid", "float32[][]", True, [[[1, 2], [3, 4]]] * 3),
        ("pages", "binary[]", True, [[png], [], None]), ("pages.path", "utf8[]", True, [[""], [], None]),
    ]  # fmt: skip
    write(HERE / "huggingface.parquet", columns)
    return data, columns


def encrypted():
    import base64

    import pyarrow.parquet.encryption as pe

    class Keys(pe.KmsClient):
        def __init__(self, config):
            pe.KmsClient.__init__(self)

        def wrap_key(self, key, name):
            return base64.b64encode(key)

        def unwrap_key(self, wrapped, name):
            return base64.b64decode(wrapped)

    table = pa.table({"a": [1], "b": [2]})
    for name, plain in (("footer", False), ("column", True)):
        config = pe.EncryptionConfiguration(footer_key="f", column_keys={"c": ["a"]}, plaintext_footer=plain)
        factory = pe.CryptoFactory(Keys)
        path = HERE / f"encrypted-{name}.parquet"
        properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), config)
        with pq.ParquetWriter(path, table.schema, encryption_properties=properties) as out:
            out.write_table(table)


def bomb():
    zeros = pa.table({"id": [1], "z": [bytes(40 << 20)]})
    pq.write_table(zeros, HERE / "bomb.parquet", compression="zstd", use_dictionary=False, write_statistics=False)
    words = pa.array(["x" * 1000] * 60_000).dictionary_encode()
    lists = pa.ListArray.from_arrays(pa.array([0, len(words)], pa.int32()), words.cast(pa.string()))
    pq.write_table(pa.table({"id": [1], "l": lists}), HERE / "repeats.parquet", write_statistics=False,
                   dictionary_pagesize_limit=1 << 20, store_schema=False)  # fmt: skip


def null_lists():
    """Lists without a value, whose items are of type null."""
    nothing = pa.list_(pa.null())
    struct = pa.struct([("a", pa.int32()), ("l", nothing)])
    table = pa.table({
        "id": [1, 2, 3], "v": pa.array([[], [], None], nothing), "w": pa.array([[None, None], [], None], nothing),
        "s": pa.array([{"a": 1, "l": []}, {"a": 2, "l": None}, None], struct), "last": [7, 8, 9],
    })  # fmt: skip
    columns = [("id", "int64", True, [1, 2, 3]), ("s.a", "int32", True, [1, 2, None]),
               ("last", "int64", True, [7, 8, 9])]  # fmt: skip
    return table, columns, ["v", "w", "s.l"]


if __name__ == "__main__":
    put("null-lists.parquet", *null_lists())
    for step in (scalars, encodings, nested, shapes, pandas, duck, huggingface, encrypted, bomb):
        step()
    print(sum(os.path.getsize(f) for f in HERE.iterdir()), "bytes")
