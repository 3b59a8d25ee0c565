"""A batch whose columns are tensors of torch or JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from stoker._batch.ragged import Ragged

if TYPE_CHECKING:
    from stoker._batch.batch import Batch


class Tensors:
    """What `Batch.to` and `Batch.to_jax` give: columns by name or attribute, and whose they are.

    `columns` is a plain dict, as in `model(**tensors.columns)`. Numbers, bools, class ids, tensors and stacked decoded
    arrays are tensors; lists are nested tensors (torch) or a `Ragged` (JAX); bytes and strings are as in the batch.
    Of a nullable field, `validity` says which rows have a value.
    """

    def __init__(self, batch: Batch, columns: dict[str, Any], validity: dict[str, Any]) -> None:
        self.columns = columns
        self._validity = validity
        self._rows = len(batch)
        self._state: Callable[[], dict[str, Any]] | dict[str, Any] = batch._state
        self.keys: list[str] = batch.keys
        self.epoch, self.number = batch.epoch, batch.number
        self.repeated, self.skipped = batch.repeated, batch.skipped

    @property
    def state(self) -> dict[str, Any]:
        """See `Batch.state`."""
        if callable(self._state):
            self._state = self._state()
        return self._state

    def validity(self, name: str) -> Any:
        """Which rows of a nullable field have a value; None if all have."""
        return self._validity.get(name)

    def to(self, device: Any, non_blocking: bool = False) -> Tensors:
        """The same on another device (torch)."""
        return self._with(lambda v: v.to(device, non_blocking=non_blocking) if hasattr(v, "to") else v)

    def pin_memory(self, device: Any = None) -> Tensors:
        """The same in pinned memory (torch)."""
        return self._with(lambda v: v.pin_memory() if hasattr(v, "pin_memory") else v)

    def _with(self, change: Callable[[Any], Any]) -> Tensors:
        def each(columns: Mapping[str, Any]) -> dict[str, Any]:
            return {k: [change(x) for x in v] if isinstance(v, list) else change(v) for k, v in columns.items()}

        other = Tensors.__new__(Tensors)
        other.__dict__ |= self.__dict__ | {"columns": each(self.columns), "_validity": each(self._validity)}
        return other

    def __getitem__(self, name: str) -> Any:
        if name not in self.columns:
            raise KeyError(f"no field {name!r}; there are {', '.join(self.columns) or 'none'}")
        return self.columns[name]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "columns" or name not in self.columns:
            raise AttributeError(f"there is no attribute and no field {name!r}")
        return self.columns[name]

    def __contains__(self, name: object) -> bool:
        return name in self.columns

    def __len__(self) -> int:
        return self._rows

    def __repr__(self) -> str:
        return f"Tensors(epoch {self.epoch}, number {self.number}, {len(self)} rows, fields {', '.join(self.columns)})"


def converted(batch: Batch, array: Callable[[Any, str], Any], ragged: Callable[[Any], Any]) -> Tensors:
    """Tensors of a batch: `array` is given arrays and the type of their elements, `ragged` lists of numbers."""
    columns: dict[str, Any] = {}
    validity: dict[str, Any] = {}
    for name, field in batch._form.fields.items():
        value = batch[name]
        decoded = batch._decoded is not None and name in batch._decoded
        element = "" if decoded else field.element
        if isinstance(value, np.ma.MaskedArray):
            valid = batch.validity(name)
            if valid is not None:
                validity[name] = array(valid, "bool")
            columns[name] = array(value.data, element)
        elif isinstance(value, np.ndarray):
            columns[name] = array(value, element)
        elif isinstance(value, Ragged):
            columns[name] = ragged(value) if field.is_list else value
        elif decoded and value and all(isinstance(row, np.ndarray) for row in value):
            columns[name] = [array(row, element) for row in value]
        else:
            columns[name] = value
    return Tensors(batch, columns, validity)
