"""Columns of chunks as Arrow arrays, with the types that they have in the files."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from stoker._dataset.chunk import ChunkReader, PayloadPlaces
from stoker._dataset.columns import ColumnReader
from stoker._format import arrow_arrays
from stoker._format.checksum import crc32c
from stoker._format.fields import Field
from stoker._format.message import Column
from stoker._memory.file_reads import read_fully
from stoker.errors import CorruptDataError

I64 = npt.NDArray[np.int64]
CLASS_TYPE = pa.dictionary(pa.int32(), pa.utf8())


def arrow_field(field: Field) -> pa.Field:
    """The column of a field: as `Field.arrow` has it, but a categorical field is a dictionary of text."""
    return pa.field(field.name, CLASS_TYPE, field.nullable) if field.type == "categorical" else field.arrow()


class ChunkColumns:
    """Reads columns of one chunk. One thread at a time."""

    def __init__(self, chunks: ChunkReader, fd: int, index: int, classes: Mapping[str, pa.Array]) -> None:
        """`classes`: the version's class names of each categorical field. `fd`: from `ChunkReader.open`."""
        self._chunks, self._fd, self._classes = chunks, fd, classes
        self._reader = ColumnReader(chunks, fd, index)
        self._what = chunks.describe(index)
        self._rows = int(chunks.snapshot.chunks.columns["rows"][index])

    def array(self, number: int, field: pa.Field, rows: I64) -> pa.Array:
        """The values of a column in these rows, which ascend. Raises `CorruptDataError`."""
        column = self._chunks.layout.columns[number]
        kind = field.type
        storage = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
        try:
            if column.payload:
                made = self._payload(column, self._reader.payload(number), storage, rows)
            else:
                made = self._small(number, column, storage)
                made = made if len(rows) == self._rows else made.take(arrow_arrays.fixed(rows))
            made.validate(full=True)
        except (pa.ArrowException, ValueError) as e:
            raise self._chunks.corrupt(f"{self._what.of(column.name)}: {e}") from e
        return made if storage is kind else pa.ExtensionArray.from_storage(kind, made)

    def _small(self, number: int, column: Column, kind: pa.DataType) -> pa.Array:
        if pa.types.is_dictionary(kind):
            values = self._reader.column(number)
            ids = arrow_arrays.fixed(values.data, values.validity)
            return pa.DictionaryArray.from_arrays(ids, self._classes[column.name])
        own = self._reader.stored(number)
        places = own.places
        validity, offsets, data, inner, valid = (
            own.data[at : at + length]
            for at, length in (
                places.validity,
                places.offsets,
                places.data,
                places.item_offsets,
                places.item_validity,
            )
        )
        bits = validity if own.places.nulls else None
        if column.kind == "nested":
            if column.null_items:
                own_bits = valid if places.item_nulls else None
                parts = [own_bits, *([inner] if column.has_item_offsets else []), data]
                items = _array(kind.value_type, places.items, places.item_nulls, parts)
            else:
                items = _items(kind.value_type, inner, data, places.items)
            return _array(kind, self._rows, own.places.nulls, [bits, offsets], [items])
        return _plain(column, kind, self._rows, own.places.nulls, bits, offsets, data)

    def _payload(self, column: Column, places: PayloadPlaces, kind: pa.DataType, rows: I64) -> pa.Array:
        """Reads runs of adjacent rows at once, and compares each row with its checksum."""
        ends = np.zeros(len(rows) + 1, np.int64)
        np.cumsum(places.lengths[rows], out=ends[1:])
        data = np.empty(int(ends[-1]), np.uint8)
        starts = [0, *(np.flatnonzero(np.diff(rows) != 1) + 1).tolist(), len(rows)]
        for first, end in pairwise(starts):
            part = data[ends[first] : ends[end]]
            if read_fully(self._fd, part, int(places.starts[rows[first]])) != len(part):
                raise CorruptDataError(f"{self._what.of(column.name)}: the file is too short")
        borders, expected = ends.tolist(), places.crcs[rows].tolist()
        for i, crc in enumerate(expected):
            found = crc32c(data[borders[i] : borders[i + 1]])
            if found != crc:
                raise self._chunks.corrupt(
                    f"{self._what.of(column.name)}, row {rows[i]}: {borders[i + 1] - borders[i]} bytes with checksum "
                    f"{found:08x}, expected {crc:08x}"
                )
        valid = None if places.validity is None else places.validity[rows]
        bits = None if valid is None else np.packbits(valid, bitorder="little")
        nulls = 0 if valid is None else int(np.count_nonzero(~valid))
        return _plain(column, kind, len(rows), nulls, bits, (ends // column.itemsize).astype(np.int32), data)


def _items(kind: pa.DataType, offsets: npt.NDArray[Any], data: npt.NDArray[Any], count: int) -> pa.Array:
    """The items of a nested list."""
    if not pa.types.is_list(kind):
        return _array(kind, count, 0, [None, offsets, data])
    return _array(kind, count, 0, [None, offsets], [_numbers(kind.value_type, data)])


def _plain(
    column: Column,
    kind: pa.DataType,
    rows: int,
    nulls: int,
    validity: npt.NDArray[Any] | None,
    offsets: npt.NDArray[Any],
    data: npt.NDArray[Any],
) -> pa.Array:
    """A column that is not nested."""
    buffers = [validity, offsets] if column.has_offsets else [validity]
    if column.has_child:
        return _array(kind, rows, nulls, buffers, [_numbers(kind.value_type, data)])
    return _array(kind, rows, nulls, [*buffers, data])


def _numbers(kind: pa.DataType, data: npt.NDArray[Any]) -> pa.Array:
    return _array(kind, 8 * len(data) // kind.bit_width, 0, [None, data])


def _array(
    kind: pa.DataType, rows: int, nulls: int, buffers: list[npt.NDArray[Any] | None], children: Any = None
) -> pa.Array:
    owned = [None if buffer is None else pa.py_buffer(buffer) for buffer in buffers]
    return pa.Array.from_buffers(kind, rows, owned, nulls, children=children)
