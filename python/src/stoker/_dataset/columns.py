"""Single columns of a chunk, read and verified without its whole head: docs/formats/chunk.md, "Single columns"."""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._dataset.chunk import ChunkReader, ColumnData, PayloadPlaces
from stoker._dataset.overlay import read_overlay
from stoker._format.checksum import crc32c, shift
from stoker._format.dictionaries import Dictionary, read_dictionary
from stoker._format.flatbuffer import opening
from stoker._format.footer import ENDING, Footer, read_footer, tail_length
from stoker._format.message import Buffers, Column
from stoker._memory.file_reads import read_fully
from stoker.errors import CorruptDataError


class _Part(NamedTuple):
    """A part of a head that has its own checksum."""

    start: int
    length: int
    crc: int


class ColumnBytes(NamedTuple):
    """Verified bytes of a column in the file."""

    data: npt.NDArray[np.uint8]
    """From the validity to the last buffer in the head."""
    places: Buffers
    """Where the buffers are in `data`."""
    dictionary: Dictionary | None
    """The class names of a categorical column."""
    at: int
    """Where `data` is in the file of the chunk; 0 for a column of an overlay."""


class ColumnReader:
    """Reads columns of one chunk, with the values of the version: those of the chunk's overlay, if it has one.

    The checksums in the footer combine to the head's checksum in the log.
    """

    def __init__(self, chunks: ChunkReader, fd: int, index: int) -> None:
        """Reads the footer and the metadata of the record batch, and verifies both. `fd`: from `ChunkReader.open`."""
        self._chunks, self._fd, self._index = chunks, fd, index
        self._what = chunks.describe(index)
        columns = chunks.snapshot.chunks.columns
        self._length, self._rows = int(columns["length"][index]), int(columns["rows"][index])
        head_length = int(columns["head_length"][index])
        try:
            footer = self._footer()
            self._file = chunks.file_columns(footer.names)
            layout, schema = self._file
            categorical = [number for number, column in enumerate(schema) if column.type == "categorical"]
            at = footer.batch.message_at
            if footer.batch.head_length != layout.body_start:
                raise ValueError(f"metadata of {footer.batch.head_length} bytes, expected {layout.body_start}")
            message = self._read(at, layout.body_start)
            self._buffers = self._places(message, at)
            places = [b.with_checksum(c) for c, b in zip(layout.columns, self._buffers, strict=True)]
            crcs = iter(footer.crcs(len(categorical) + 1 + sum(map(len, places))))
            if len(footer.dictionaries) != len(categorical):
                raise ValueError(f"{len(footer.dictionaries)} dictionaries, expected {len(categorical)}")
            self._dictionaries = {
                number: _Part(block.message_at, block.head_length + block.body_length, next(crcs))
                for number, block in zip(categorical, footer.dictionaries, strict=True)
            }
            self._message = _Part(at, len(message), next(crcs))
            self._parts = [[_Part(at + start, length, next(crcs)) for start, length in own] for own in places]
            first = opening(schema, footer.schema_metadata)
        except (ValueError, IndexError, struct.error, OverflowError) as e:
            raise CorruptDataError(f"{self._what}: the footer is damaged: {e}") from e
        self._check_sum(first, head_length, int(columns["head_crc32c"][index]))
        self._check(message, self._message)
        chunks.check_identity(footer.schema_metadata, index, self._what)
        self._overlay = read_overlay(chunks.snapshot, index, self._what, chunks.far)
        self._numbers = {column.name: number for number, column in enumerate(layout.columns)}
        """The numbers of the columns in the file."""

    def column(self, number: int) -> ColumnData:
        """A column by its number in the version: 0 is the key, and the small fields follow it."""
        column, own = self._chunks.layout.columns[number], self.stored(number)
        return self._chunks.column_data(column, own.data, own.places, own.dictionary, self._rows, self._what)

    def stored(self, number: int) -> ColumnBytes:
        """The bytes of a column that is not payload, compared with their checksums. The structure is not checked."""
        column = self._chunks.layout.columns[number]
        if column.payload:
            raise ValueError(f"{column.name} is payload; its samples have checksums")
        if column.name in self._overlay:
            own = self._overlay[column.name]
            return ColumnBytes(own.message, own.places, own.dictionary, 0)
        if column.name not in self._numbers:
            return _nulls(column, self._rows)
        at = self._numbers[column.name]
        return self._stored(at, self._buffers[at].data)

    def payload(self, number: int) -> PayloadPlaces:
        """Where the rows of a payload column are, with their checksums. The rows themselves are not read."""
        layout = self._chunks.layout.columns
        column = layout[number]
        at = self._numbers[column.name]
        places = self._buffers[at]
        crcs = self.column(number - sum(c.payload for c in layout)).data
        own = self._stored(at, places.offsets if column.has_offsets else places.validity)
        return self._chunks.payload_places(column, own.data, own.at, own.places, crcs, self._index)

    def _stored(self, number: int, last: tuple[int, int]) -> ColumnBytes:
        """Reads the buffers up to `last`, and the dictionary, of a column of the file."""
        name, buffers = self._file.layout.columns[number].name, self._buffers[number]
        start = buffers.validity[0]
        at = self._message.start + start
        data = self._read(at, last[0] + last[1] - start)
        for part in self._parts[number]:
            if part.length:
                self._check(data[part.start - at : part.start - at + part.length], part, name)
        dictionary = None
        if number in self._dictionaries:
            part = self._dictionaries[number]
            batch = self._read(part.start, part.length)
            self._check(batch, part, name)
            dictionary = read_dictionary(batch, number, self._what.of(name))
        return ColumnBytes(data, buffers.moved(-start), dictionary, at)

    def _footer(self) -> Footer:
        ending = self._read(self._length - ENDING, ENDING).tobytes()
        length = tail_length(ending, self._length)
        return read_footer(self._read(self._length - length, length).tobytes())

    def _places(self, message: npt.NDArray[np.uint8], at: int) -> list[Buffers]:
        layout = self._file.layout
        rows, end = layout.head(message, self._what)
        if rows != self._rows or at + end > self._length:
            raise ValueError(f"{rows} rows in {end} bytes at {at}, expected {self._rows} rows")
        return [layout.column(message, i, rows, end, self._what) for i in range(len(layout.columns))]

    def _check_sum(self, first: bytes, head_length: int, expected: int) -> None:
        """Checks that the parts are in order, and that their checksums combine to the head's checksum in the log."""
        crc, at = crc32c(first), len(first)
        parts = [*self._dictionaries.values(), self._message, *(part for own in self._parts for part in own)]
        if any(part.length == 0 and part.crc for part in parts):
            raise CorruptDataError(f"{self._what}: the footer is damaged: an empty buffer has a checksum")
        for start, length, part in (*(p for p in parts if p.length), _Part(head_length, 0, 0)):
            if start < at or length < 0 or start + length > head_length:
                raise CorruptDataError(f"{self._what}: the footer is damaged: a part of {length} bytes at {start}")
            crc = shift(crc, start - at) ^ crc32c(bytes(start - at))
            crc = shift(crc, length) ^ part
            at = start + length
        if crc != expected:
            raise CorruptDataError(
                f"{self._what}: the footer's checksums combine to {crc:08x}, expected {expected:08x} of the head"
            )

    def _check(self, data: npt.NDArray[np.uint8], part: _Part, column: str = "") -> None:
        found = crc32c(data)
        if found != part.crc:
            raise self._chunks.corrupt(
                f"{self._what.of(column) if column else self._what}: bytes {part.start} to {part.start + part.length}: "
                f"checksum {found:08x}, expected {part.crc:08x}"
            )

    def _read(self, start: int, length: int) -> npt.NDArray[np.uint8]:
        if not 0 <= start <= start + length <= self._length:
            raise ValueError(f"bytes {start} to {start + length} of {self._length}")
        data = np.empty(-(-length // 64) * 64, np.uint8)[:length]
        if read_fully(self._fd, data, start) != length:
            raise CorruptDataError(f"{self._what}: the file is shorter than {start + length} bytes")
        return data


def _nulls(column: Column, rows: int) -> ColumnBytes:
    """A column that is null in all rows. All of its buffers are zeros, so they are the same bytes."""
    values = (
        0 if column.has_offsets else -(-rows // 8) if column.kind == "bool" else rows * column.itemsize * column.width
    )
    offsets = (0, 4 * (rows + 1)) if column.has_offsets else (0, 0)
    item_offsets = (0, 4) if column.has_item_offsets else (0, 0)
    elements = rows if not column.has_child else 0 if column.has_offsets else rows * column.width
    places = Buffers(rows, elements, (0, -(-rows // 8)), offsets, (0, values), item_offsets)
    length = max(values, 4 * (rows + 1))
    return ColumnBytes(np.zeros(-(-length // 64) * 64, np.uint8)[:length], places, None, 0)
