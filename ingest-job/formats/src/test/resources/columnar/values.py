# ruff: noqa: ANN, C408, D212, E501, I001
"""Writes the values that a file has to give, as the Java tests read them."""

import json
import struct
from decimal import Decimal

PACK = {
    "int8": "<b", "int16": "<h", "int32": "<i", "int64": "<q", "uint8": "<B", "uint16": "<H", "uint32": "<I",
    "uint64": "<Q", "float16": "<e", "float32": "<f", "float64": "<d",
}  # fmt: skip


def encode(kind, value):
    """Returns the text of a value: hexadecimal bytes, or a decimal number."""
    if value is None:
        return None
    if kind.endswith("[][]"):
        items = b"".join(struct.pack(PACK[kind[:-4]], x) for inner in value for x in inner)
        return items.hex() + ":" + ",".join(str(len(inner)) for inner in value)
    if kind in ("utf8[]", "binary[]"):
        return "[" + ",".join(data(x).hex() for x in value) + "]"
    if kind.endswith("]") and not kind.startswith("time"):
        return b"".join(struct.pack(PACK[kind[: kind.index("[")]], x) for x in value).hex()
    if kind in ("utf8", "binary", "categorical"):
        return data(value).hex()
    if kind.startswith("float"):
        return struct.pack(">d", value).hex()
    if kind.startswith("decimal"):
        return format(Decimal(value), "f")
    if kind == "uint64" and value >= 1 << 63:
        value -= 1 << 64
    return str(int(value))


def data(value):
    return value.encode() if isinstance(value, str) else bytes(value)


def write(path, columns, refused=(), bad=()):
    """
    Writes the expectation beside a file.

    columns: (name, type, nullable, values) of each column in order
    refused: names of the columns that cannot become fields
    bad: (row, column, words of the message) of values that cannot be given; such a value is None in columns
    """
    rows = len(columns[0][3]) if columns else 0
    assert all(len(c[3]) == rows for c in columns), path
    expected = {
        "columns": [[n, t, null] for n, t, null, _ in columns],
        "refused": list(refused),
        "bad": [list(b) for b in bad],
        "rows": [[encode(t, v[i]) for _, t, _, v in columns] for i in range(rows)],
    }
    with open(str(path) + ".json", "w") as out:
        json.dump(expected, out, ensure_ascii=False, indent=None, separators=(",", ":"))
        out.write("\n")
