"""The batch that a trainer gets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from stoker._batch import jax_arrays, pinned_memory, torch_tensors
from stoker._batch.missing import Filling, Missing, hidden
from stoker._batch.piece import Form, Piece
from stoker._batch.ragged import Ragged
from stoker._batch.tensors import Converter, Delivered, Tensors
from stoker._batch.torch_tensors import is_tensor
from stoker._batch.unequal_rows import UnequalRows
from stoker._format.fields import Field
from stoker._format.notebook import ROWS, table
from stoker._format.special_columns import special_values
from stoker._source.batch_source import DeliveredBatch, PieceData


class Batch:
    """The samples of one step of one rank.

    `batch["image"]` returns a field's column; so does `batch.image`, unless `Batch` has an attribute of that name:

    - numbers, bool, tensors: one contiguous, writable, 64-byte aligned array of shape (rows, *shape). bfloat16 is
      returned as its bits (uint16). Class ids are int32; `feed.classes` has their names.
    - binary and lists: a `Ragged` with values, offsets and a view for each row
    - timestamps: `datetime64` in the unit of the type. With a zone the values are in UTC, and `feed.info.fields` has
      the zone; without one they are local. Dates: `datetime64[D]`. Times: `timedelta64` since midnight
    - decimals: an array of `decimal.Decimal` objects
    - utf8: a list of `str`
    - `utf8[]`, `binary[]` and lists of lists: for each row a list of `str`, `bytes` or arrays
    - lists of numbers with null items (`int32?[]`): a `Ragged` with zeros at the null items, which
      `item_validity(name)` tells. In `utf8?[]` and `binary?[]` a null item is None
    - nullable fields: a `numpy.ma.MaskedArray`; None for a missing string or list of items; an empty row of a `Ragged`.
      `validity(name)` works for all types. Below the mask are -100 for classes, NaN, NaT, the least value of signed and
      the greatest of unsigned integers, and False

    Columns are views of the received memory. That memory is reused once nothing refers to it. Of a dataset on this
    machine, binary rows that are not small are views of the mapped files; writing to a row leaves the file as it is.
    """

    def __init__(
        self,
        form: Form,
        delivered: DeliveredBatch,
        state: Callable[[], dict[str, Any]],
        decoded: Mapping[str, Any] | None = None,
    ) -> None:
        self._form = form
        pieces = delivered.pieces
        self._pieces = [Piece(form, p) for p in pieces]
        self._state: Callable[[], dict[str, Any]] | dict[str, Any] = state
        self._columns: dict[str, Any] = {}
        self._decoded = decoded
        self.epoch: int = delivered.epoch
        """The epoch this batch belongs to."""
        self.number: int = delivered.number
        """Its number in the epoch; under tail `pad` numbers beyond the epoch's last repeat from its start."""
        self.repeated: int = sum([p.rows for p in pieces if p.repeated])
        """Rows that the epoch has already delivered elsewhere (tail `pad`); they are the last rows."""
        self.skipped: int = sum([p.skipped for p in pieces])
        """Damaged rows that were left out (`on_corrupt="skip"`)."""
        self._rows = sum([p.rows for p in pieces])

    def __len__(self) -> int:
        return self._rows

    @property
    def state(self) -> dict[str, Any]:
        """The position after this batch, for `Feed.load_state_dict`: small JSON, the same on every rank and worker."""
        if callable(self._state):
            self._state = self._state()
        return self._state

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields, in dataset order."""
        return tuple(self._form.fields)

    @property
    def keys(self) -> list[str]:
        """The samples' keys; they arrive unless `columns` leaves them out."""
        return self["key"]  # type: ignore[no-any-return]

    def __contains__(self, name: object) -> bool:
        return name in self._form.index

    def __getitem__(self, name: str) -> Any:
        column = self._columns.get(name)
        if column is None:
            if not isinstance(name, str):
                raise TypeError(
                    f"a batch is not a tuple: take its columns by name, as batch[{(*self.fields, 'key')[0]!r}]; there "
                    f"are {', '.join(self.fields) or 'none'}"
                )
            if name not in self._form.index:
                raise self._form.absent(name)
            column = None
            if self._decoded is not None and name in self._decoded:
                column = self._decoded[name]
                column = column(self) if callable(column) else column
            if column is None:
                column = self.raw(name)
            self._columns[name] = column
        return column

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError as e:
            raise AttributeError(self._absent(name)) from e

    def _absent(self, name: str) -> str:
        if name in ("items", "values", "get", "pop"):
            return f"a batch has no {name!r}: {{name: batch[name] for name in batch.fields}} is a dict of its columns"
        there = [*self.fields, *(["key"] if "key" in self else [])]
        near = get_close_matches(name, there, 1)
        meant = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(there) or 'none'}"
        return f"a batch has no attribute and no field {name!r}; {meant}"

    def raw(self, name: str) -> Any:
        """Returns a field's column as stored, without `decode`."""
        if name == "key":
            return self._strings("key", False)
        field = self._form.fields[name]
        if field.type == "utf8":
            return self._strings(name, field.nullable)
        if field.item is not None and not field.is_ragged:
            return self._nested(field)
        if field.has_offsets:
            return self._ragged(name)
        parts = [p.fixed(name) for p in self._pieces]
        values = parts[0] if len(parts) == 1 else np.concatenate(parts)
        if field.special is not None:
            values = special_values(field, values)
        if field.shape:
            values = values.reshape(self._rows, *field.shape)
        if not field.nullable:
            return values
        valid, below = self.validity(name), hidden(field, values.dtype)
        mask = np.zeros(len(values), np.bool_) if valid is None else ~valid
        if valid is not None and below is not None:
            values = values.copy()
            values[mask] = below
        if field.shape:
            mask = np.broadcast_to(mask.reshape(-1, *[1] * len(field.shape)), values.shape)
        return np.ma.MaskedArray(values, mask=mask, fill_value=below)

    def validity(self, name: str) -> npt.NDArray[np.bool_] | None:
        """Returns a bool array of shape (rows,), True where a field has a value; None if all rows have one."""
        parts = [p.validity(name) for p in self._pieces]
        if all(v is None for v in parts):
            return None
        return np.concatenate(
            [v if v is not None else np.ones(p.rows, np.bool_) for v, p in zip(parts, self._pieces, strict=True)]
        )

    def item_validity(self, name: str) -> Ragged | None:
        """Returns for each row of a list with null items (`int32?[]`) a bool array, True where an item has a value.

        None if no item of the batch is null, and for fields of other types. The rows of `values` of the result are
        those of the field's `Ragged`.
        """
        if name not in self._form.fields or not self._form.fields[name].null_items:
            return None
        parts = [p.item_validity(name) for p in self._pieces]
        if all(valid is None for valid, _ in parts):
            return None
        return Ragged.of([(np.ones(ends[-1], np.bool_) if valid is None else valid, ends) for valid, ends in parts])

    def _nested(self, field: Field) -> list[Any]:
        rows = [row for p in self._pieces for row in p.nested(field)]
        valid = self.validity(field.name) if field.nullable else None
        return rows if valid is None else [r if ok else None for r, ok in zip(rows, valid.tolist(), strict=True)]

    def _ragged(self, name: str) -> Ragged:
        return Ragged.of([p.ragged(name) for p in self._pieces])

    def _strings(self, name: str, nullable: bool) -> list[Any]:
        out: list[Any] = []
        for p in self._pieces:
            values, offsets = p.varying(name)
            text, ends = values.tobytes(), offsets.tolist()
            if text.isascii():
                whole = text.decode()
                out += [whole[a:b] for a, b in pairwise(ends)]
            else:
                out += [text[a:b].decode("utf-8", "replace") for a, b in pairwise(ends)]
        valid = self.validity(name) if nullable else None
        if valid is not None:
            out = [s if ok else None for s, ok in zip(out, valid.tolist(), strict=True)]
        return out

    @property
    def arrow(self) -> pa.RecordBatch:
        """Returns all columns as a pyarrow record batch. Copies only if the batch has several pieces."""
        parts = []
        for p in self._pieces:
            message = pa.ipc.read_message(pa.py_buffer(p.buffer))
            parts.append(pa.ipc.read_record_batch(message, self._form.schema))
        if len(parts) > 1:
            table = pa.Table.from_batches(parts, self._form.schema).combine_chunks()
            parts = table.to_batches() or [pa.RecordBatch.from_pylist([], self._form.schema)]
        return parts[0]

    def to(self, device: Any = "cpu", non_blocking: bool = False, *, missing: Missing = None) -> Tensors:
        """Returns the columns as torch tensors on a device; on the CPU they are views of the batch.

        Lists become nested (jagged) tensors. Bytes, strings, times, decimals and lists of items are not converted.

        A tensor has no mask. A missing class becomes -100, which torch's losses ignore. `missing` gives a value for
        missing numbers, bools, tensors and null items: a number, or a dict with a number for each field, also for
        classes. Without one they raise ValueError. A missing list is an empty row. Raises `MissingDependencyError`
        without torch.
        """
        with pinned_memory.Moves(device, non_blocking) as move:
            return self._converted(torch_tensors.converter(move), self.filling(missing, "to"))

    def to_jax(self, device: Any = None, *, missing: Missing = None) -> Tensors:
        """Returns the columns as JAX arrays on a device; rows of varying length are not converted.

        The device is JAX's default if none is given. On the CPU nothing is copied. `missing` is as in `to`.
        JAX assumes that the memory does not change, so do not write to the batch afterwards. Raises
        `MissingDependencyError` without JAX.
        """
        return self._converted(jax_arrays.converter(device), self.filling(missing, "to_jax"))

    def filling(self, missing: Missing, what: str) -> Filling:
        """Returns what fills missing values of this batch, for the method `what`; see `to`."""
        return Filling(missing, self._form.fields, what, f"epoch {self.epoch}, batch {self.number}")

    def _converted(self, to: Converter, filling: Filling) -> Tensors:
        columns: dict[str, Any] = {}
        validity: dict[str, Any] = {}
        item_validity: dict[str, Any] = {}
        for name, field in self._form.fields.items():
            value = self[name]
            decoded = self._decoded is not None and name in self._decoded
            element = "" if decoded else field.element
            valid = self.validity(name) if field.nullable and not isinstance(value, list) else None
            if valid is not None:
                validity[name] = to.array(valid, "bool")
            items = self.item_validity(name)
            if items is not None:
                item_validity[name] = items if to.ragged is None else to.ragged(items.values, items.offsets)
            if isinstance(value, np.ndarray) and value.dtype.kind in "mMO":
                columns[name] = value  # no tensor holds times or decimals
            elif isinstance(value, np.ma.MaskedArray):
                mask = np.ma.getmaskarray(value)
                columns[name] = to.array(filling.filled(field, value.data, mask) if mask.any() else value.data, element)
            elif isinstance(value, np.ndarray) or is_tensor(value):
                columns[name] = to.array(value, element)
            elif isinstance(value, Ragged) and field.is_ragged and to.ragged is not None:
                elements = value.values if items is None else filling.filled(field, value.values, ~items.values)
                columns[name] = to.ragged(elements, value.offsets)
            elif isinstance(value, UnequalRows) and all(isinstance(r, np.ndarray) or is_tensor(r) for r in value):
                columns[name] = UnequalRows([to.array(row, element) for row in value], name)
            else:
                columns[name] = value
        keys = self.keys if "key" in self else None
        of = Delivered(len(self), keys, self.epoch, self.number, self.repeated, self.skipped, self._state)
        return Tensors(columns, validity, item_validity, of)

    def pin_memory(self, device: Any = None) -> Batch:
        """Returns a copy in pinned memory, from which a GPU can copy asynchronously; without CUDA, the batch unchanged.

        `DataLoader(feed, batch_size=None, pin_memory=True)` calls this. `Feed(pin_memory=True)` avoids the copy.
        """
        move = pinned_memory.mover()
        return self if move is None else self._moved(move)

    def _moved(self, move: Callable[[Any], Any]) -> Batch:
        """Returns the batch with its messages and decoded arrays in other memory."""
        decoded = {name: self[name] for name in self._decoded or ()}
        decoded = {name: _moved(v, move) for name, v in decoded.items()}
        pieces = [PieceData(0, p.rows, False, 0, move(p.buffer)) for p in self._pieces]
        state, delivered = self._state, DeliveredBatch(self.epoch, self.number, pieces)
        other = Batch(self._form, delivered, state if callable(state) else lambda: state, decoded or None)
        other.repeated, other.skipped = self.repeated, self.skipped
        return other

    @property
    def nbytes(self) -> int:
        """Size of the messages in bytes."""
        return sum([p.nbytes for p in self._pieces])

    def __repr__(self) -> str:
        return f"Batch(epoch {self.epoch}, number {self.number}, {len(self)} rows, fields {', '.join(self.fields)})"

    def _repr_html_(self) -> str:
        """A table of the first rows, for notebooks."""
        names = (*(["key"] if "key" in self else []), *self.fields)
        rows = [[self[name][row] for name in names] for row in range(min(len(self), ROWS))]
        return table(repr(self), names, rows, len(self) - len(rows))

    def __reduce__(self) -> tuple[Any, ...]:
        decoded = {name: self[name] for name in self._decoded or ()}
        pieces = [(_shareable(p.buffer), p.rows) for p in self._pieces]
        return _rebuild, (self._form, self.epoch, self.number, self.repeated, self.skipped, self.state, pieces, decoded)


def _moved(value: Any, move: Callable[[Any], Any]) -> Any:
    """Returns a decoded column in other memory, if it is one array or tensor of numbers."""
    if is_tensor(value):
        return value.pin_memory()
    return move(value) if type(value) is np.ndarray and value.dtype.kind in "biuf" else value


def _shareable(buffer: npt.NDArray[np.uint8]) -> Any:
    """In a DataLoader worker a tensor, which travels as shared memory; elsewhere the array itself."""
    torch = sys.modules.get("torch")
    data = sys.modules.get("torch.utils.data")
    if torch is not None and data is not None and data.get_worker_info() is not None:
        return torch.from_numpy(buffer)
    return buffer


def _rebuild(
    form: Form,
    epoch: int,
    number: int,
    repeated: int,
    skipped: int,
    state: dict[str, Any],
    pieces: Sequence[tuple[Any, int]],
    decoded: Mapping[str, Any],
) -> Batch:
    arrays = [(np.asarray(buffer), rows) for buffer, rows in pieces]
    delivered = DeliveredBatch(epoch, number, [PieceData(0, rows, False, 0, a) for a, rows in arrays])
    batch = Batch(form, delivered, lambda: state, decoded)
    batch.repeated, batch.skipped = repeated, skipped
    return batch
