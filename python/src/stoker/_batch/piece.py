"""One message of a batch: what its columns are and where their buffers lie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from stoker._batch.ragged import Part, RowsApart
from stoker._format.fields import Field, batch_schema
from stoker._format.message import Buffers, Column, checked_offsets, offsets_at
from stoker._format.nested_columns import nested_offsets, valid_items
from stoker._format.special_columns import nested_items
from stoker._format.view import View
from stoker._source.batch_source import PieceData
from stoker.errors import CorruptDataError


class Form:
    """Fields, layout and schema of a stream's batches, made once and shared by all of them."""

    def __init__(self, fields: tuple[Field, ...], wanted: Sequence[str] | None = None) -> None:
        """`wanted`: names of the columns that the messages have, by default all."""
        self._all, self._wanted = fields, wanted
        view = View([f.name for f in fields], wanted)
        self.fields = {f.name: f for f in fields if f.name in view.columns}
        self.layout = view.layout(fields)
        self.index = {c.name: i for i, c in enumerate(self.layout.columns)}
        self.payload = {c.name: i for i, c in enumerate(c for c in self.layout.columns if c.payload)}
        """The place of each payload column among the payload columns."""
        schema = batch_schema(fields)
        self.schema = pa.schema([schema.field(number) for number in view.numbers], schema.metadata)

    def absent(self, name: str) -> KeyError:
        """The error of a column that the messages do not have."""
        if name == "key" or any(f.name == name for f in self._all):
            selected = ", ".join(self.index)
            return KeyError(f"column {name!r} was not selected; add it to columns, which are {selected}")
        return KeyError(f"no field {name!r}; there are {', '.join(self.fields) or 'none'}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Form, (self._all, self._wanted)


class Piece:
    """One message; its columns are looked up on first use."""

    __slots__ = ("_apart", "_end", "_known", "form", "rows")

    def __init__(self, form: Form, data: PieceData) -> None:
        self.form, self.rows = form, data.rows
        self._known, self._apart = data.buffer, data.apart
        self._end = -1

    @property
    def buffer(self) -> npt.NDArray[np.uint8]:
        """The whole message."""
        if self._apart is not None:
            self._known = self._apart.whole(self._known)
            self._apart = None
        return self._known

    @property
    def nbytes(self) -> int:
        """Length of the message."""
        return self._known.nbytes if self._apart is None else self._apart.length

    def place(self, name: str) -> tuple[Column, Buffers]:
        layout = self.form.layout
        if self._end < 0:
            rows, self._end = layout.head(self._known, "batch")
            if rows != self.rows or self._end > self.nbytes:
                raise CorruptDataError(f"batch: message of {rows} rows, {self._end} bytes; expected {self.rows} rows")
        index = self.form.index[name]
        return layout.columns[index], layout.column(self._known, index, self.rows, self._end, "batch")

    def data(self, column: Column, place: Buffers) -> npt.NDArray[Any]:
        at, length = place.data
        raw = (self.buffer if column.payload else self._known)[at : at + length]
        if column.kind == "bool":
            return np.unpackbits(raw, count=self.rows, bitorder="little").view(np.bool_)
        return raw if column.kind == "bytes" else raw.view(column.dtype)

    def varying(self, name: str) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
        """Values and offsets."""
        column, place = self.place(name)
        if column.item is not None:
            return self.data(column, place).view(column.item), checked_offsets(
                self._known, place.offsets, place.items, name
            )
        end = place.elements if column.kind == "list" else place.data[1]
        return self.data(column, place), offsets_at(self._known, place.offsets, end, name)

    def ragged(self, name: str) -> Part:
        """The same, or rows that lie apart."""
        payload = self.form.payload.get(name)
        if self._apart is None or payload is None:
            return self.varying(name)
        rows = self._apart.column(payload)
        if rows is not None:
            return RowsApart(rows, lambda: self.varying(name))
        _, place = self.place(name)
        edges = place.data[0] + offsets_at(self._known, place.offsets, place.data[1], name).astype(np.int64)
        return RowsApart(self._apart.rows(edges), lambda: self.varying(name))

    def nested(self, field: Field) -> list[Any]:
        """For each row the list of its items."""
        column, place = self.place(field.name)
        values = self.data(column, place)
        outer, inner = nested_offsets(self._known, column, place, field.name)
        return nested_items(field, outer, inner, values, valid_items(self._known, place))

    def item_validity(self, name: str) -> tuple[npt.NDArray[np.bool_] | None, npt.NDArray[np.int32]]:
        """Which items of all rows are not null, None if none is; and the offsets of the rows in items."""
        _, place = self.place(name)
        return valid_items(self._known, place), checked_offsets(self._known, place.offsets, place.items, name)

    def fixed(self, name: str) -> npt.NDArray[Any]:
        """Values."""
        return self.data(*self.place(name))

    def validity(self, name: str) -> npt.NDArray[np.bool_] | None:
        """Returns a mask of the rows that have a value; None if all have one."""
        _, place = self.place(name)
        if not place.nulls:
            return None
        bits = self._known[place.validity[0] : place.validity[0] + place.validity[1]]
        return np.unpackbits(bits, count=self.rows, bitorder="little").view(np.bool_)
