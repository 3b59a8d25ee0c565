"""A batch whose columns are tensors of torch or JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy.typing as npt

from stoker._batch.pinned_memory import Moves


class Converter(NamedTuple):
    """How a framework makes its tensors from the columns of a batch."""

    array: Callable[[npt.NDArray[Any], str], Any]
    """Converts an array; the second argument is the type of its elements, empty if the array says it."""
    ragged: Callable[[npt.NDArray[Any], npt.NDArray[Any]], Any] | None
    """Converts the values and offsets of rows of numbers; None: they stay a `Ragged`."""


class Delivered(NamedTuple):
    """What tensors tell of the batch that they were made from."""

    rows: int
    keys: list[str] | None
    """None if the keys were not selected."""
    epoch: int
    number: int
    repeated: int
    skipped: int
    state: Callable[[], dict[str, Any]] | dict[str, Any]


class Tensors:
    """What `Batch.to` and `Batch.to_jax` give: columns by name or attribute, and whose they are.

    `columns` is a plain dict, as in `model(**tensors.columns)`. Numbers, bools, class ids, tensors and stacked decoded
    arrays are tensors; lists are nested tensors (torch) or a `Ragged` (JAX). Bytes, strings, times, decimals and lists
    of items are as in the batch. Of a nullable field, `validity` says which rows have a value, and `item_validity`
    which items of a list with null items have one.
    """

    def __init__(
        self, columns: dict[str, Any], validity: dict[str, Any], item_validity: dict[str, Any], batch: Delivered
    ) -> None:
        self.columns = columns
        self._validity, self._item_validity = validity, item_validity
        self._rows = batch.rows
        self._state = batch.state
        self._keys = batch.keys
        self.epoch, self.number = batch.epoch, batch.number
        self.repeated, self.skipped = batch.repeated, batch.skipped

    @property
    def keys(self) -> list[str]:
        """See `Batch.keys`."""
        if self._keys is None:
            raise KeyError("the keys were not selected; add 'key' to columns")
        return self._keys

    @property
    def state(self) -> dict[str, Any]:
        """See `Batch.state`."""
        if callable(self._state):
            self._state = self._state()
        return self._state

    def validity(self, name: str) -> Any:
        """Which rows of a nullable field have a value; None if all have."""
        return self._validity.get(name)

    def item_validity(self, name: str) -> Any:
        """Which items of a list with null items have a value, in the form of a list of numbers; None if all have."""
        return self._item_validity.get(name)

    def to(self, device: Any, non_blocking: bool = False) -> Tensors:
        """The same on another device (torch)."""
        with Moves(device, non_blocking) as move:
            return self._with(lambda v: move(v) if hasattr(v, "to") else v)

    def pin_memory(self, device: Any = None) -> Tensors:
        """The same in pinned memory (torch)."""
        return self._with(lambda v: v.pin_memory() if hasattr(v, "pin_memory") else v)

    def _with(self, change: Callable[[Any], Any]) -> Tensors:
        def each(columns: Mapping[str, Any]) -> dict[str, Any]:
            return {k: [change(x) for x in v] if isinstance(v, list) else change(v) for k, v in columns.items()}

        other = Tensors.__new__(Tensors)
        changed = {name: each(getattr(self, name)) for name in ("columns", "_validity", "_item_validity")}
        other.__dict__ |= self.__dict__ | changed
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
