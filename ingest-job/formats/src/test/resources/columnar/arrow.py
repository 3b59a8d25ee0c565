# ruff: noqa: ANN, C408, D212, E501, I001
"""Writes the Arrow files of the tests: pip install pyarrow datasets pillow, then run this here."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc as ipc
import parquet as others
from values import write

HERE = Path(__file__).parent / "arrow"
HERE.mkdir(exist_ok=True)


def put(name, table, columns, refused=(), bad=(), stream=False, batch=None, **options):
    new = ipc.new_stream if stream else ipc.new_file
    with new(str(HERE / name), table.schema, options=ipc.IpcWriteOptions(**options)) as out:
        out.write_table(table, max_chunksize=batch)
    write(HERE / name, columns, refused, bad)


def scalars():
    half = [1.5, None, -0.0]
    stamp = [0, None, -1]
    dec = [Decimal("-1.50"), None, Decimal("12345.67")]
    texts = ["", None, "zażółć 🦊, longer than twelve bytes"]
    datas = [b"", None, b"\xff\0"]
    arrays, columns = {}, []

    def add(name, kind, array, values):
        arrays[name] = array
        columns.append((name, kind, True, values))

    for k, lo, hi in (("int8", -128, 127), ("int16", -(1 << 15), 32767), ("int32", -(1 << 31), (1 << 31) - 1),
                      ("int64", -(1 << 63), (1 << 63) - 1), ("uint8", 0, 255), ("uint16", 0, 65535),
                      ("uint32", 0, (1 << 32) - 1), ("uint64", 0, (1 << 64) - 1)):  # fmt: skip
        add(k, k, pa.array([lo, None, hi], getattr(pa, k)()), [lo, None, hi])
    add("bool", "bool", pa.array([True, None, False]), [True, None, False])
    add("half", "float16", pa.array([None if x is None else np.float16(x) for x in half], pa.float16()), half)
    add("float", "float32", pa.array(half, pa.float32()), half)
    add("double", "float64", pa.array(half, pa.float64()), half)
    for kind in ("string", "large_string", "string_view"):
        add(kind, "utf8", pa.array(texts, getattr(pa, kind)()), texts)
    for kind in ("binary", "large_binary", "binary_view"):
        add(kind, "binary", pa.array(datas, getattr(pa, kind)()), datas)
    add("fixed", "binary", pa.array([b"abc", None, b"xyz"], pa.binary(3)), [b"abc", None, b"xyz"])
    add("uuid", "utf8", pa.array([bytes(range(16)), None, bytes(16)], pa.uuid()),
        ["00010203-0405-0607-0809-0a0b0c0d0e0f", None, "00000000-0000-0000-0000-000000000000"])  # fmt: skip
    days = [0, None, -1]
    add("date32", "date", pa.array(days, pa.date32()), days)
    add("date64", "date", pa.array([None if d is None else dt.date(1970, 1, 1) + dt.timedelta(d) for d in days],
        pa.date64()), days)  # fmt: skip
    clock = [0, None, 86_399]
    for unit, kind in (("s", pa.time32), ("ms", pa.time32), ("us", pa.time64), ("ns", pa.time64)):
        add(f"time_{unit}", f"time[{unit}]", pa.array(clock, kind(unit)), clock)
        add(f"at_{unit}", f"timestamp[{unit}]", pa.array(stamp, pa.timestamp(unit)), stamp)
    add("berlin", "timestamp[us,Europe/Berlin]", pa.array(stamp, pa.timestamp("us", "Europe/Berlin")), stamp)
    for kind in ("decimal32", "decimal64", "decimal128", "decimal256"):
        add(kind, "decimal(7,2)", pa.array(dec, getattr(pa, kind)(7, 2)), dec)
    add("category", "categorical", pa.array(["x", None, "y"]).dictionary_encode(), ["x", None, "y"])
    add("coded", "int64", pa.array([7, None, 9]).dictionary_encode(), [7, None, 9])
    table = pa.table({**arrays, "wait": pa.array([1] * 3, pa.duration("s")), "none": pa.nulls(3),
                      "last": pa.array([1, 2, 3])})  # fmt: skip
    columns += [("last", "int64", True, [1, 2, 3])]
    refused = ["wait", "none"]
    put("scalars.arrow", table, columns, refused)
    put("scalars.arrows", table, columns, refused, stream=True)
    put("scalars-lz4.arrow", table, columns, refused, compression="lz4")
    put("scalars-zstd.arrow", table, columns, refused, compression="zstd", batch=2)
    periodic = pa.table({"a": pa.array([i * 7919 % 1000 for i in range(60_000)], pa.int32())})
    with ipc.new_file(str(HERE / "periodic-lz4.arrow"), periodic.schema,
                      options=ipc.IpcWriteOptions(compression="lz4")) as out:  # fmt: skip
        out.write_table(periodic)
    runs = pa.table({"r": pa.RunEndEncodedArray.from_arrays([2, 3], [1, 2]), "a": pa.array([1, 2, 3])})
    put("runs.arrow", runs, [("a", "int64", True, [1, 2, 3])], ["r"])


def nested():
    point = pa.struct([("x", pa.int32()), ("y", pa.struct([("z", pa.string())]))])
    box = pa.struct([("box", pa.list_(pa.float32())), ("name", pa.string()), ("score", pa.float64())])
    points = [{"x": 1, "y": {"z": "a"}}, {"x": None, "y": {"z": None}}, {"x": 3, "y": None}, None]
    boxes = [[{"box": [1.0, 2.0], "name": "cat", "score": 0.5}, {"box": [], "name": "dog", "score": 1.0}], [], None,
             [None]]  # fmt: skip
    tensor = pa.fixed_shape_tensor(pa.float32(), (2, 2))
    storage = pa.array([[1, 2, 3, 4], [5, 6, 7, 8], None, [0, 0, 0, 0]], tensor.storage_type)
    fixed = pa.list_(pa.list_(pa.int16(), 2), 1)
    table = pa.table({
        "point": pa.array(points, point),
        "numbers": pa.array([[1, 2], [], None, [3, None]], pa.list_(pa.int64())),
        "views": pa.array([[1, 2], [], None, [3, None]], pa.list_view(pa.int64())),
        "texts": pa.array([["a", ""], [], None, ["b", None]]),
        "flags": pa.array([[True, False], [], None, [True]]),
        "matrix": pa.array([[[1, 2], []], [], None, [[3], None]], pa.list_(pa.large_list(pa.int16()))),
        "boxes": pa.array(boxes, pa.list_(box)),
        "map": pa.array([[("a", 1)], [], None, [("b", 2), ("c", 3)]], pa.map_(pa.string(), pa.int32())),
        "dates": pa.array([[1]] * 4, pa.list_(pa.date32())),
        "tensor": pa.ExtensionArray.from_storage(tensor, storage),
        "grid": pa.array([[[1, 2]], [[3, 4]], None, [[5, 6]]], fixed),
        "words": pa.array([["a", "b"], [], None, ["a"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    })  # fmt: skip
    columns = [
        ("point.x", "int32", True, [1, None, 3, None]), ("point.y.z", "utf8", True, ["a", None, None, None]),
        ("numbers", "int64[]", True, [[1, 2], [], None, None]), ("views", "int64[]", True, [[1, 2], [], None, None]),
        ("texts", "utf8[]", True, [["a", ""], [], None, None]), ("flags", "uint8[]", True, [[1, 0], [], None, [1]]),
        ("matrix", "int16[][]", True, [[[1, 2], []], [], None, None]),
        ("boxes.box", "float32[][]", True, [[[1.0, 2.0], []], [], None, None]),
        ("boxes.name", "utf8[]", True, [["cat", "dog"], [], None, None]),
        ("boxes.score", "float64[]", True, [[0.5, 1.0], [], None, None]),
        ("map.key", "utf8[]", True, [["a"], [], None, ["b", "c"]]),
        ("map.value", "int32[]", True, [[1], [], None, [2, 3]]),
        ("tensor", "float32[2,2]", True, [[1, 2, 3, 4], [5, 6, 7, 8], None, [0] * 4]),
        ("grid", "int16[1,2]", True, [[1, 2], [3, 4], None, [5, 6]]),
        ("words", "utf8[]", True, [["a", "b"], [], None, ["a"]]),
    ]  # fmt: skip
    bad = [
        (3, "numbers", "an item of list 'numbers' is null"),
        (3, "views", "an item of list 'views' is null"), (3, "texts", "an item of list 'texts' is null"),
        (3, "matrix", "a list inside 'matrix' is null"), (3, "boxes.box", "an item of list 'boxes' is null"),
        (3, "boxes.name", "an item of list 'boxes' is null"), (3, "boxes.score", "an item of list 'boxes' is null"),
    ]  # fmt: skip
    put("nested.arrow", table, columns, ["dates"], bad)
    put("nested-zstd.arrows", table, columns, ["dates"], bad, stream=True, compression="zstd", batch=1)


def dictionaries():
    first = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), ["a", "b"])
    second = pa.DictionaryArray.from_arrays(pa.array([2, None, 0], pa.int8()), ["a", "b", "c"])
    third = pa.DictionaryArray.from_arrays(pa.array([0], pa.int8()), ["z"])
    values = [("d", "categorical", True, ["a", "b", "c", None, "a"])]
    table = pa.table({"d": pa.chunked_array([first, second])})
    put("delta.arrow", table, values, emit_dictionary_deltas=True)
    put("delta.arrows", table, values, stream=True, emit_dictionary_deltas=True)
    table = pa.table({"d": pa.chunked_array([first, second, third])})
    put("replaced.arrows", table, [("d", "categorical", True, ["a", "b", "c", None, "a", "z"])], stream=True)


def shapes():
    put("empty.arrow", pa.table({"a": pa.array([], pa.int32())}), [("a", "int32", True, [])])
    put("empty.arrows", pa.table({"a": pa.array([], pa.int32())}), [("a", "int32", True, [])], stream=True)
    double = pa.Table.from_arrays([pa.array([1, 2]), pa.array(["x", "y"]), pa.array([1.5, 2.5])], ["a", "a", "ż.ó"])
    put("duplicates.arrow", double.slice(1), [
        ("a", "int64", True, [2]), ("a", "utf8", True, ["y"]), ("ż.ó", "float64", True, [2.5])])  # fmt: skip
    small = pa.table({"id": pa.array(range(1, 5)), "t": ["a", "bb", None, "dddd"], "l": [[1], [], [2, 3], None]})
    columns = [("id", "int64", True, [1, 2, 3, 4]), ("t", "utf8", True, ["a", "bb", None, "dddd"]),
               ("l", "int64[]", True, [[1], [], [2, 3], None])]  # fmt: skip
    put("small.arrow", small, columns)
    put("small.arrows", small, columns, stream=True)
    put("small-lz4.arrow", small, columns, compression="lz4")


def huggingface():
    data, columns = others.huggingface()
    data.save_to_disk(HERE / "dataset")
    write(HERE / "dataset" / "data-00000-of-00001.arrow", columns)


def bomb():
    zeros = pa.table({"id": [1], "z": [bytes(40 << 20)]})
    for codec in ("zstd",):
        options = ipc.IpcWriteOptions(compression=codec)
        with ipc.new_file(HERE / f"bomb-{codec}.arrow", zeros.schema, options=options) as out:
            out.write_table(zeros)


put("null-lists.arrow", *others.null_lists())
for step in (scalars, nested, dictionaries, shapes, huggingface, bomb):
    step()
