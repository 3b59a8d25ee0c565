"""Footers of chunks: where the messages are, and the checksums of the head's parts (docs/formats/chunk.md)."""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from typing import NamedTuple

from stoker._format.flatbuffer import Block

ENDING = 10
"""Bytes at the end of a file that hold the footer's length and the magic."""
_BEFORE = 8
_HEAD_LENGTH = "stoker.head_length"
_HEAD_CRC = "stoker.head_crc32c"
_CHECKSUMS = "stoker.buffer_crc32c"
_DIGITS = 8


class Footer(NamedTuple):
    """What a footer says; not verified."""

    schema_metadata: Mapping[str, str]
    dictionaries: tuple[Block, ...]
    batch: Block
    metadata: Mapping[str, str]
    names: tuple[str, ...]
    """The names of the columns."""

    def crcs(self, parts: int) -> list[int]:
        """The checksum of each part of the head; raises `ValueError` if there is not one for each."""
        text = self.metadata.get(_CHECKSUMS, "")
        if len(text) != _DIGITS * parts or not re.fullmatch("[0-9a-f]*", text):
            raise ValueError(f"{_CHECKSUMS} does not contain {parts} checksums")
        return [int(text[at : at + _DIGITS], 16) for at in range(0, len(text), _DIGITS)]


def footer_metadata(head_length: int, head_crc: int, parts: list[int]) -> dict[str, str]:
    """The metadata of a footer, from the checksums of the head and of its parts."""
    return {
        _HEAD_LENGTH: str(head_length),
        _HEAD_CRC: f"{head_crc:08x}",
        _CHECKSUMS: "".join(f"{crc:08x}" for crc in parts),
    }


def tail_length(ending: bytes, file_length: int) -> int:
    """Bytes after the body, from the last bytes of a file; raises `ValueError` if there is no footer."""
    (length,) = struct.unpack_from("<i", ending)
    if ending[4:] != b"ARROW1" or not 8 <= length <= file_length - _BEFORE - ENDING:
        raise ValueError("the file does not end with a footer")
    return int(_BEFORE + length + ENDING)


def read_footer(tail: bytes) -> Footer:
    """Reads the bytes after the body. Raises `ValueError`, `IndexError` or `struct.error` if they are damaged."""
    flat = Flat(tail[_BEFORE:-ENDING])
    root = flat.target(0)
    batches = flat.blocks(flat.slot(root, 3))
    if len(batches) != 1:
        raise ValueError(f"the footer has {len(batches)} record batches")
    schema = flat.slot(root, 1)
    return Footer(
        flat.pairs(flat.slot(schema, 2)),
        flat.blocks(flat.slot(root, 2)),
        batches[0],
        flat.pairs(flat.slot(root, 4)),
        flat.names(flat.slot(schema, 1)),
    )


class Flat:
    """Reads tables of a flatbuffer. Position 0 means absent."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def _number(self, code: str, at: int) -> int:
        if at < 0:
            raise IndexError(at)
        return int(struct.unpack_from("<" + code, self._data, at)[0])

    def target(self, at: int) -> int:
        return at + self._number("I", at)

    def slot(self, table: int, number: int) -> int:
        """Where a reference of a table leads."""
        vtable = table - self._number("i", table)
        if 4 + 2 * number >= self._number("H", vtable):
            return 0
        distance = self._number("H", vtable + 4 + 2 * number)
        return self.target(table + distance) if distance else 0

    def _vector(self, at: int, size: int) -> range:
        count = self._number("I", at) if at else 0
        if count * size > len(self._data):
            raise ValueError(f"a vector of {count} elements")
        return range(at + 4, at + 4 + count * size, size)

    def blocks(self, at: int) -> tuple[Block, ...]:
        return tuple(Block(*struct.unpack_from("<qi4xq", self._data, place)) for place in self._vector(at, 24))

    def pairs(self, at: int) -> dict[str, str]:
        tables = [self.target(place) for place in self._vector(at, 4)]
        return {self._text(self.slot(table, 0)): self._text(self.slot(table, 1)) for table in tables}

    def names(self, at: int) -> tuple[str, ...]:
        """The names of the fields of a schema."""
        tables = [self.target(place) for place in self._vector(at, 4)]
        return tuple(self._text(self.slot(table, 0)) for table in tables)

    def _text(self, at: int) -> str:
        end = at + 4 + self._number("I", at)
        if end > len(self._data):
            raise IndexError(end)
        return self._data[at + 4 : end].decode()
