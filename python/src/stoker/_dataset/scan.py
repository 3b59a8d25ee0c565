"""Columns and rows of a version as Arrow record batches, read chunk by chunk."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from stoker._dataset.arrow_columns import CLASS_TYPE, ChunkColumns, arrow_field
from stoker._dataset.chunk import ChunkReader
from stoker._dataset.snapshot import Snapshot
from stoker._format import arrow_arrays
from stoker.errors import CorruptDataError

I64 = npt.NDArray[np.int64]
SPLIT, CHUNK, ROW = "stoker.split", "stoker.chunk", "stoker.row"
"""Columns that say where a row is. No field has a name with this prefix."""
_POSITION = "\0position"
"""The column that carries positions through a filter. No field can have this name."""
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_MISSING = re.compile(r"FieldRef\.Name\((.*?)\) in ", re.DOTALL)
_LISTED = 20
"""Names in an error, at most."""


class Scan:
    """Some columns of the rows that a filter selects. It can be read any number of times, in several threads."""

    def __init__(
        self,
        snapshot: Snapshot,
        index: Sequence[int],
        columns: Iterable[str] | None,
        where: Any,
    ) -> None:
        """`index`: the chunks, by their index in the chunk table. `where`: a filter expression, or None.

        Raises `ValueError` for a column that does not exist and for a filter that cannot be evaluated, and `TypeError`
        for values of other types.
        """
        self._snapshot, self._index = snapshot, index
        self._chunks = ChunkReader(snapshot)
        self._numbers = {column.name: number for number, column in enumerate(self._chunks.layout.columns)}
        self._fields = {field.name: field for field in _fields(snapshot)}
        self._classes = {
            f.name: arrow_arrays.texts(snapshot.classes.get(f.name, ()))
            for f in snapshot.info.fields
            if f.type == "categorical"
        }
        self._splits = arrow_arrays.texts(snapshot.splits)
        self._where = where
        names = ["key", *(f.name for f in snapshot.info.fields)] if columns is None else self._checked(columns)
        self.schema = pa.schema([self._fields[name] for name in names])
        """Names and Arrow types of the columns."""
        self._tested = [] if where is None else self._names_in(where)

    def batches(self, batch_size: int | None = None) -> Iterator[pa.RecordBatch]:
        """The rows in stored order: one batch for each chunk, or slices of at most `batch_size` rows.

        One chunk is in memory at a time. A chunk without a row that passes the filter gives no batch, and only the
        columns in the filter are read. Raises `CorruptDataError`.
        """
        for index in self._index:
            batch = self._batch(index)
            if batch is None:
                continue
            step = batch.num_rows if batch_size is None else batch_size
            for start in range(0, batch.num_rows, step):
                yield batch.slice(start, step)

    def _batch(self, index: int) -> pa.RecordBatch | None:
        table = self._snapshot.chunks
        rows = np.delete(np.arange(int(table.columns["rows"][index])), table.removed.get(index, np.zeros(0, np.int64)))
        fd = self._chunks.open(index)
        try:
            return self._batch_of(fd, index, rows)
        except CorruptDataError:
            if not self._chunks.renew(fd, index):
                raise
            return self._batch_of(fd, index, rows)
        finally:
            os.close(fd)

    def _batch_of(self, fd: int, index: int, rows: I64) -> pa.RecordBatch | None:
        file = ChunkColumns(self._chunks, fd, index, self._classes)
        known: dict[str, pa.Array] = {}
        if self._where is not None:
            known = {name: self._array(file, index, name, rows) for name in self._tested}
            kept = _passing(self._where, known, len(rows))
            if len(kept) < len(rows):
                rows = rows[kept]
                known = {name: _taken(array, kept) for name, array in known.items() if name in self.schema.names}
        if not len(rows):
            return None
        arrays = [known[n] if n in known else self._array(file, index, n, rows) for n in self.schema.names]
        return pa.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _array(self, file: ChunkColumns, index: int, name: str, rows: I64) -> pa.Array:
        columns = self._snapshot.chunks.columns
        if name == ROW:
            return arrow_arrays.fixed(rows.astype(np.int32))
        if name == CHUNK:
            return arrow_arrays.fixed(np.full(len(rows), columns["ordinal"][index], np.int64))
        if name == SPLIT:
            ids = arrow_arrays.fixed(np.full(len(rows), columns["split"][index], np.int32))
            return pa.DictionaryArray.from_arrays(ids, self._splits)
        return file.array(self._numbers[name], self._fields[name], rows)

    def _checked(self, columns: Iterable[str]) -> list[str]:
        if isinstance(columns, (str, bytes)):
            raise TypeError(f"columns={columns!r}: expected a list of names, such as [{columns!r}]")
        names = list(columns)
        for at, name in enumerate(names):
            if name not in self._fields:
                raise ValueError(f"columns: {self._unknown(name)}")
            if name in names[:at]:
                raise ValueError(f"columns: {name!r} is in the list twice")
        if not names:
            raise ValueError("columns=[]: expected at least one name; len(samples) is the number of samples")
        return names

    def _unknown(self, name: object) -> str:
        near = get_close_matches(str(name), self._fields, 3)
        what = f"{self._snapshot.root} version {self._snapshot.version} has no column {name!r}; "
        if near:
            return what + f"did you mean {' or '.join(map(repr, near))}?"
        names = [*self._fields]
        return what + f"it has: {', '.join(names[:_LISTED])}{', …' if len(names) > _LISTED else ''}"

    def _names_in(self, where: Any) -> list[str]:
        """The columns that a filter needs. Arrow does not list them, so they are found by trying."""
        import pyarrow.compute as pc

        if not isinstance(where, pc.Expression):
            raise TypeError(
                f"filter={where!r}: expected a pyarrow.compute.Expression, such as pc.field('label') == 'cat'"
            )
        if "FieldPath(" in _QUOTED.sub("", str(where)):
            raise ValueError(f"filter {where}: name the columns, such as pc.field('label') instead of pc.field(0)")
        try:
            self._bind(where, list(self._fields))
        except (pa.ArrowException, TypeError) as e:
            missing = _MISSING.search(str(e))
            if missing is not None and missing[1] not in self._fields:
                raise ValueError(f"filter {where}: {self._unknown(missing[1])}") from None
            raise ValueError(f"filter {where}: {str(e).partition(chr(10))[0]}") from e
        return _smallest(list(self._fields), lambda names: self._binds(where, names))

    def _binds(self, where: Any, names: list[str]) -> bool:
        try:
            self._bind(where, names)
        except (pa.ArrowException, TypeError):
            return False
        return True

    def _bind(self, where: Any, names: list[str]) -> None:
        fields = [self._fields[name] for name in names]
        empty = {f.name: pa.nulls(0, pa.utf8() if f.type == CLASS_TYPE else _stored_type(f.type)) for f in fields}
        pa.table(empty).filter(where)


def _fields(snapshot: Snapshot) -> list[pa.Field]:
    """All columns that can be read, by their names: fields first."""
    fields = snapshot.info.fields
    return [
        pa.field("key", pa.utf8(), False),
        *map(arrow_field, fields),
        *(pa.field(f"crc32c:{f.name}", pa.uint32(), False) for f in fields if f.payload),
        pa.field(SPLIT, CLASS_TYPE, False),
        pa.field(CHUNK, pa.int64(), False),
        pa.field(ROW, pa.int32(), False),
    ]


def _smallest(names: list[str], enough: Callable[[list[str]], bool]) -> list[str]:
    """The names without which `enough` is false, by halving: few calls if there are few such names."""
    needed: list[str] = []
    while not enough(needed):
        low, high = 0, len(names)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if enough(needed + names[:middle]) else (middle, high)
        needed.append(names[low])
        names = names[:low]
    return needed


def _passing(where: Any, arrays: dict[str, pa.Array], rows: int) -> I64:
    """The positions that pass a filter, ascending. In a filter, a class is its name."""
    plain = {
        name: array.dictionary_decode() if isinstance(array, pa.DictionaryArray) else _storage(array)
        for name, array in arrays.items()
    }
    kept = _table(plain, rows).filter(where).column(_POSITION).to_numpy()
    return np.sort(kept)


def _table(columns: dict[str, pa.Array], rows: int) -> pa.Table:
    return pa.table({**columns, _POSITION: arrow_arrays.fixed(np.arange(rows, dtype=np.int64))})


def _stored_type(kind: pa.DataType) -> pa.DataType:
    return kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind


def _storage(array: pa.Array) -> pa.Array:
    return array.storage if isinstance(array, pa.ExtensionArray) else array


def _taken(array: pa.Array, positions: I64) -> pa.Array:
    made = _storage(array).take(arrow_arrays.fixed(positions))
    return pa.ExtensionArray.from_storage(array.type, made) if isinstance(array, pa.ExtensionArray) else made
