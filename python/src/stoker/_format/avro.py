"""Reads Avro object container files (codec null) of any schema; the data must have been checksummed before."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from typing import Any

from stoker.errors import CorruptDataError

Decoder = Callable[["_Cursor"], Any]


class _Cursor:
    """A position in bytes; every read is checked against what is left."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        end = self.at + count
        if count < 0 or end > len(self.data):
            raise CorruptDataError(f"{count} bytes wanted at {self.at}, {len(self.data) - self.at} left")
        part = self.data[self.at : end]
        self.at = end
        return part

    def long(self) -> int:
        value = shift = 0
        data, at = self.data, self.at
        while True:
            if at >= len(data) or shift > 63:
                raise CorruptDataError(f"bad number at {self.at}")
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                break
            shift += 7
        self.at = at
        return (value >> 1) ^ -(value & 1)

    def blocks(self) -> list[int]:
        """Item counts are read lazily by the callers; a count never exceeds what is left (no empty items here)."""
        count = self.long()
        if count < 0:
            count = -count
            self.long()
        if count > len(self.data) - self.at:
            raise CorruptDataError(f"{count} items declared at {self.at}, {len(self.data) - self.at} bytes left")
        return [count] if count else []


def _text(c: _Cursor) -> str:
    try:
        return c.take(c.long()).decode()
    except UnicodeDecodeError as e:
        raise CorruptDataError(f"bad text before {c.at}") from e


def _array(item: Decoder) -> Decoder:
    def read(c: _Cursor) -> list[Any]:
        out: list[Any] = []
        while block := c.blocks():
            out.extend(item(c) for _ in range(block[0]))
        return out

    return read


def _map(value: Decoder) -> Decoder:
    def read(c: _Cursor) -> dict[str, Any]:
        out: dict[str, Any] = {}
        while block := c.blocks():
            for _ in range(block[0]):
                name = _text(c)
                out[name] = value(c)
        return out

    return read


def _record(fields: list[tuple[str, Decoder]]) -> Decoder:
    def read(c: _Cursor) -> dict[str, Any]:
        return {name: decode(c) for name, decode in fields}

    return read


def _union(branches: list[Decoder]) -> Decoder:
    def read(c: _Cursor) -> Any:
        index = c.long()
        if not 0 <= index < len(branches):
            raise CorruptDataError(f"union branch {index} of {len(branches)} at {c.at}")
        return branches[index](c)

    return read


_PRIMITIVES: dict[str, Decoder] = {
    "null": lambda c: None,
    "boolean": lambda c: c.take(1) != b"\0",
    "int": _Cursor.long,
    "long": _Cursor.long,
    "float": lambda c: struct.unpack("<f", c.take(4))[0],
    "double": lambda c: struct.unpack("<d", c.take(8))[0],
    "bytes": lambda c: c.take(c.long()),
    "string": _text,
}


def _decoder(schema: Any, names: dict[str, Decoder]) -> Decoder:
    if isinstance(schema, list):
        return _union([_decoder(s, names) for s in schema])
    if isinstance(schema, str):
        known = _PRIMITIVES.get(schema) or names.get(schema) or names.get(schema.rpartition(".")[2])
        if known is None:
            raise CorruptDataError(f"unknown type {schema!r} in the Avro schema")
        return known
    kind = schema["type"]
    if kind == "array":
        return _array(_decoder(schema["items"], names))
    if kind == "map":
        return _map(_decoder(schema["values"], names))
    if kind == "fixed":
        size = int(schema["size"])
        names[schema["name"]] = fixed = lambda c: c.take(size)
        return fixed
    if kind == "enum":
        symbols = schema["symbols"]
        names[schema["name"]] = enum = lambda c: symbols[c.long()]
        return enum
    if kind == "record":
        decoder = _record([(f["name"], _decoder(f["type"], names)) for f in schema["fields"]])
        names[schema["name"]] = decoder
        return decoder
    return _decoder(kind, names)


def read_metadata(data: bytes, what: str) -> dict[str, str]:
    """The metadata of a container file; raises `CorruptDataError` naming `what`."""
    try:
        return {name: value.decode() for name, value in _header(_Cursor(data)).items()}
    except (CorruptDataError, UnicodeDecodeError) as e:
        raise CorruptDataError(f"{what}: {e}") from e


def _header(c: _Cursor) -> dict[str, bytes]:
    if c.take(4) != b"Obj\x01":
        raise CorruptDataError("not an Avro container file")
    return _map(_PRIMITIVES["bytes"])(c)  # type: ignore[no-any-return]


def read_container(data: bytes, what: str) -> list[Any]:
    """All records of a container file, as dicts; raises `CorruptDataError` naming `what`."""
    try:
        c = _Cursor(data)
        header = _header(c)
        if header.get("avro.codec", b"null") != b"null":
            raise CorruptDataError(f"codec {header['avro.codec']!r}; only null is used here")
        sync = c.take(16)
        decode = _decoder(json.loads(header["avro.schema"]), {})
        records: list[Any] = []
        while c.at < len(data):
            count, size = c.long(), c.long()
            if not 0 <= count <= size <= len(data) - c.at:
                raise CorruptDataError(f"block of {count} records, {size} bytes at {c.at}")
            end = c.at + size
            records.extend(decode(c) for _ in range(count))
            if c.at != end or c.take(16) != sync:
                raise CorruptDataError(f"block does not end at {end}")
        return records
    except (CorruptDataError, KeyError, TypeError, ValueError, IndexError, RecursionError) as e:
        raise CorruptDataError(f"{what}: {e}") from e
