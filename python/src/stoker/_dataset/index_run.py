"""Runs of the sample index (docs/formats/index.md): sorted keys with their places, and a hash table over the keys."""

from __future__ import annotations

import mmap
import os
import re
import struct
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from stoker._dataset.log import check_format
from stoker._format.batched_footer import BatchedFooter, read_batched_footer, tail_length
from stoker._format.checksum import check_self, crc32c
from stoker._format.flatbuffer import SchemaColumn, opening
from stoker._format.footer import ENDING
from stoker._format.requires import check_metadata_requires
from stoker._store.remote_path import AnyPath, RemotePath
from stoker.errors import CorruptDataError

_COLUMNS = [
    SchemaColumn("key", "utf8"),
    SchemaColumn("ordinal", "int32"),
    SchemaColumn("row", "int32"),
    SchemaColumn("length", "int32"),
    SchemaColumn("crc32c", "uint32"),
]
_HEAD = 384
"""Bytes of the head of a record batch message: 5 nodes and 11 buffers."""
_BATCH_ROWS = 8192
_LINE = 64
_SLOTS = 12
_BLOCK_LINES = 1024
_MASK = 0xFFFFFFFFFFFFFFFF
_GOLDEN, _M1, _M2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_WORD = struct.Struct("<Q")


def _mix(z: int) -> int:
    z = (z ^ (z >> 30)) * _M1 & _MASK
    z = (z ^ (z >> 27)) * _M2 & _MASK
    return z ^ (z >> 31)


def key_hash(key: bytes) -> int:
    """The upper 32 bits of the key hash with seed 0."""
    h = _mix(_GOLDEN * (len(key) + 1) & _MASK)
    whole = len(key) & ~7
    for at in range(0, whole, 8):
        h = _mix(h ^ _WORD.unpack_from(key, at)[0]) + _GOLDEN & _MASK
    if whole < len(key):
        h = _mix(h ^ int.from_bytes(key[whole:], "little")) + _GOLDEN & _MASK
    return _mix(h) >> 32


class IndexRow(NamedTuple):
    """The place of a sample, and what `stat` reports."""

    ordinal: int
    row: int
    length: int
    crc32c: int


class RunIdentity(NamedTuple):
    """The chunks whose samples a run has."""

    dataset: str
    first: int
    last: int
    chunks: int
    """Checksum of ordinals and ids."""


class IndexRun:
    """A run, mapped. Each part is verified when it is used for the first time. Safe for several threads.

    Reads raise `CorruptDataError` if a part is damaged, and `FileNotFoundError` if the run was deleted from a store:
    other runs supersede it.
    """

    def __init__(self, path: AnyPath) -> None:
        """Opens a run and verifies its end and its beginning.

        Raises `CorruptDataError`, `FormatTooNewError`, or `FileNotFoundError` if the file was deleted.
        """
        self.path = path
        self._far: RemotePath | None = None
        """Where parts are read from when they are used for the first time."""
        if isinstance(path, RemotePath):
            size = path.stat().st_size
            self._map = mmap.mmap(-1, size) if size else None
            self._far = path
        else:
            with path.open("rb") as file:
                size = os.fstat(file.fileno()).st_size
                self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else None
        try:
            footer, tail = self._footer(size)
            self._read(footer, size - tail)
        except (ValueError, IndexError, KeyError, struct.error) as e:
            raise self._corrupt(e) from e

    def _corrupt(self, problem: object) -> CorruptDataError:
        return CorruptDataError(f"{self.path}: {problem}; build the index again with: stoker index DATASET --rebuild")

    def _load(self, begin: int, end: int) -> None:
        """Reads a part of a run in a store into its place."""
        if self._far is None:
            return
        data = self._far.objects.get_range(self._far.key, begin, end - begin)
        if len(data) != end - begin or self._map is None:
            raise self._corrupt(f"it ends before byte {end}")
        self._map[begin:end] = data

    def _footer(self, size: int) -> tuple[BatchedFooter, int]:
        data = self._map
        if data is None or size < ENDING:
            raise ValueError(f"it has {size} bytes")
        self._load(size - ENDING, size)
        tail = tail_length(data[size - ENDING : size], size)
        self._load(size - tail, size)
        content = data[size - tail : size]
        check_self(content, str(self.path))
        return read_batched_footer(content), tail

    def _read(self, footer: BatchedFooter, end: int) -> None:
        schema, metadata = footer.schema_metadata, footer.metadata
        check_format(_number(schema, "stoker.format"), str(self.path))
        check_metadata_requires(schema, self.path)
        self.identity = RunIdentity(
            schema["stoker.dataset"],
            _number(schema, "stoker.first"),
            _number(schema, "stoker.last"),
            _hexadecimal(schema, "stoker.chunks"),
        )
        self.rows, keys = _number(metadata, "stoker.rows"), _number(metadata, "stoker.keys")
        self._lines = _number(metadata, "stoker.lines")
        self._buckets = max(1, -(-5 * keys // 48))
        if not 1 <= keys <= self.rows or not self._buckets <= self._lines <= self.rows + self._buckets:
            raise ValueError(f"{self.rows} rows, {keys} keys and {self._lines} lines")
        self._batches = footer.batches
        if len(self._batches) != -(-self.rows // _BATCH_ROWS):
            raise ValueError(f"{len(self._batches)} batches of {self.rows} rows")
        begin = at = self._batches[0].message_at
        if begin < 64 or begin % 64:
            raise ValueError(f"its first batch begins at {begin}")
        for batch in self._batches:
            if batch.message_at != at or batch.head_length != _HEAD or batch.body_length < 1 or batch.body_length % 64:
                raise ValueError(f"a batch at {batch}")
            at += batch.head_length + batch.body_length
        self._lines_at = at
        blocks = (self._lines + _BLOCK_LINES) // _BLOCK_LINES
        sums = 1 + len(self._batches) + blocks
        sums_at = at + _LINE * (self._lines + 1)
        if sums_at + -(-4 * sums // 64) * 64 != end:
            raise ValueError(f"its footer begins at {end}")
        assert self._map is not None
        self._bytes: memoryview = memoryview(self._map)
        self._data = np.frombuffer(self._map, np.uint8)
        self._load(sums_at, end)
        if crc32c(self._data[sums_at:end]) != _hexadecimal(metadata, "stoker.checksums_crc32c"):
            raise ValueError("wrong checksum of its checksums")
        self._sums: list[int] = self._data[sums_at : sums_at + 4 * sums].view("<u4").tolist()
        self._check(0, 0, begin, "opening")
        if self._map[:begin] != opening(_COLUMNS, schema):
            raise ValueError("its schema is another one")
        self._verified = bytearray(sums)

    def _check(self, number: int, begin: int, end: int, what: str) -> None:
        self._load(begin, end)
        found = crc32c(self._data[begin:end])
        if found != self._sums[number]:
            raise self._corrupt(f"checksum {found:08x} of its {what}, expected {self._sums[number]:08x}")

    def _batch(self, number: int) -> int:
        """Where the message of a batch begins."""
        batch = self._batches[number]
        if not self._verified[1 + number]:
            end = batch.message_at + batch.head_length + batch.body_length
            self._check(1 + number, batch.message_at, end, f"batch {number}")
            count = self._count(number)
            offsets = self._data[batch.message_at + _HEAD :][: 4 * (count + 1)].view("<i4")
            room = end - batch.message_at - _positions(count)[-1]
            if offsets[0] != 0 or np.any(np.diff(offsets) < 1) or not 0 <= room - int(offsets[-1]) < 64:
                raise self._corrupt(f"the keys of batch {number} do not follow each other")
            self._verified[1 + number] = 1
        return batch.message_at

    def _count(self, batch: int) -> int:
        return min(_BATCH_ROWS, self.rows - batch * _BATCH_ROWS)

    def _line(self, line: int) -> int:
        """Where a line begins."""
        block = line // _BLOCK_LINES
        number = 1 + len(self._batches) + block
        if not self._verified[number]:
            begin = self._lines_at + block * _BLOCK_LINES * _LINE
            end = min(begin + _BLOCK_LINES * _LINE, self._lines_at + (self._lines + 1) * _LINE)
            self._check(number, begin, end, "hash table")
            self._verified[number] = 1
        return self._lines_at + line * _LINE

    def verify_all(self) -> None:
        """Verifies every part."""
        for batch in range(len(self._batches)):
            self._batch(batch)
        for line in range(0, self._lines + 1, _BLOCK_LINES):
            self._line(line)

    def find(self, key: bytes) -> int:
        """The first row with this key, or -1. Further rows with this key follow it."""
        h = key_hash(key)
        line = 1 + (h * self._buckets >> 32)
        while True:
            at = self._line(line)
            count, is_continued = self._bytes[at + 60], self._bytes[at + 61]
            if count > _SLOTS or (is_continued and (count != _SLOTS or line >= self._lines)):
                raise self._corrupt(f"line {line} of its hash table has {count} rows")
            tags = bytes(self._bytes[at + 48 : at + 48 + count])
            slot = tags.find(h & 0xFF)
            while slot >= 0:
                (row,) = struct.unpack_from("<I", self._bytes, at + 4 * slot)
                if row >= self.rows:
                    raise self._corrupt(f"its hash table has the row {row} of {self.rows}")
                if self.key(row) == key:
                    return int(row)
                slot = tags.find(h & 0xFF, slot + 1)
            if not is_continued:
                return -1
            line += 1

    def key(self, row: int) -> bytes:
        """The key of a row."""
        number, index = divmod(row, _BATCH_ROWS)
        at = self._batch(number)
        begin, end = struct.unpack_from("<ii", self._bytes, at + _HEAD + 4 * index)
        keys = at + _positions(self._count(number))[-1]
        return bytes(self._bytes[keys + begin : keys + end])

    def row(self, row: int) -> IndexRow:
        """Everything about a row but its key."""
        number, index = divmod(row, _BATCH_ROWS)
        at = self._batch(number) + 4 * index
        ordinals, rows, lengths, crcs, _ = _positions(self._count(number))
        read = struct.unpack_from
        return IndexRow(
            read("<i", self._bytes, at + ordinals)[0],
            read("<i", self._bytes, at + rows)[0],
            read("<i", self._bytes, at + lengths)[0],
            read("<I", self._bytes, at + crcs)[0],
        )

    def ceiling(self, key: bytes, low: int = 0) -> int:
        """The first row from `low` on whose key is at least this one; the number of rows if none is."""
        high = self.rows
        while low < high:
            middle = (low + high) // 2
            if self.key(middle) < key:
                low = middle + 1
            else:
                high = middle
        return low


_FULL: tuple[int, ...] = ()


def _positions(count: int) -> tuple[int, ...]:
    """Where the columns of a batch are, from the beginning of its message: ordinal, row, length, crc32c, keys."""
    if count == _BATCH_ROWS and _FULL:
        return _FULL
    at = _HEAD + -(-4 * (count + 1) // 64) * 64
    width = -(-4 * count // 64) * 64
    return at, at + width, at + 2 * width, at + 3 * width, at + 4 * width


_FULL = _positions(_BATCH_ROWS)


def _number(metadata: Mapping[str, Any], key: str) -> int:
    if not re.fullmatch("0|[1-9][0-9]{0,17}", metadata[key]):
        raise ValueError(f"{key} is {metadata[key]!r}")
    return int(metadata[key])


def _hexadecimal(metadata: Mapping[str, Any], key: str) -> int:
    if not re.fullmatch("[0-9a-f]{8}", metadata[key]):
        raise ValueError(f"{key} is {metadata[key]!r}")
    return int(metadata[key], 16)
