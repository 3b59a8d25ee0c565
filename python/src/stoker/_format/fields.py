"""Fields of a dataset and their types (canonical type strings)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from stoker._format.field_names import check_field_name
from stoker._format.list_types import TEXTS, ListType, check_items, element_of, list_type, tensor_type
from stoker._format.numbers import NUMBERS
from stoker._format.once import once
from stoker._format.temporal import Special, special
from stoker.errors import CorruptDataError

_OTHERS: dict[str, Any] = {**TEXTS, "bool": pa.bool_(), "categorical": pa.int32()}


@dataclass(frozen=True)
class Field:
    """A named, typed column."""

    name: str
    type: str
    nullable: bool = False
    payload: bool = False

    def __post_init__(self) -> None:
        check_field_name(self.name)
        try:
            known = self.special is not None or self.list_type is not None
        except ValueError as e:
            raise ValueError(f"field {self.name}: {e}") from None
        check_items(self.type)
        if not (known or self.shape or self.type in NUMBERS or self.type in _OTHERS):
            raise ValueError(f"field {self.name}: unknown type {self.type!r}")
        if self.payload and not (self.has_offsets or self.shape):
            raise ValueError(f"field {self.name}: {self.type} cannot be a payload field")
        if self.payload and self.item is not None:
            raise ValueError(
                f"field {self.name}: {self.type} cannot be a payload field; a row of it is not one run of bytes; make "
                "it a small field"
            )

    @property
    def special(self) -> Special | None:
        """The parameters of a timestamp, date, time or decimal, else None."""
        return special(self.type)

    @once
    def list_type(self) -> ListType | None:
        """The items of a list, else None."""
        return list_type(self.type)

    @property
    def item(self) -> str | None:
        """The type of the items that are read and written one by one, because they differ in length or may be null.

        None for all other types, lists of numbers included.
        """
        own = self.list_type
        return None if own is None or own.is_plain else own.item

    @property
    def null_items(self) -> bool:
        """Whether it is a list whose items may be null, such as `int32?[]`."""
        own = self.list_type
        return own is not None and own.null_items

    @once
    def element(self) -> str:
        """The element type of a list, nested list or tensor, else the type itself."""
        return element_of(self.type)

    @property
    def is_list(self) -> bool:
        """Whether a row is a run of numbers of any length."""
        own = self.list_type
        return own is not None and own.is_plain

    @property
    def is_ragged(self) -> bool:
        """Whether the rows are lists of numbers, which may be null."""
        own = self.list_type
        return own is not None and own.is_of_numbers

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of a tensor field, else None."""
        own = tensor_type(self.type)
        return None if own is None else own.shape

    @property
    def has_offsets(self) -> bool:
        """True if the values of a row vary in length: utf8, binary, lists of all kinds."""
        return self.type in TEXTS or self.list_type is not None

    @once
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of an element as it is stored (bfloat16: its bits as uint16; utf8, binary: bytes)."""
        kind = self.element
        own = self.special
        if own is not None:
            return own.dtype
        if kind in TEXTS:
            return np.dtype(np.uint8)
        if kind == "categorical":
            return np.dtype(np.int32)
        if kind == "bool":
            return np.dtype(np.bool_)
        return NUMBERS[kind].dtype

    @property
    def row_bytes(self) -> int:
        """Bytes of one row of a fixed-width field's data buffer (not bool)."""
        size = self.dtype.itemsize
        for d in self.shape or ():
            size *= d
        return size

    def arrow(self) -> pa.Field:
        """The column as a batch contains it (categorical ids of the version)."""
        own = self.element if self.item is None else self.type
        metadata = {"stoker.type": own} if self.element in ("bfloat16", "categorical") else None
        return pa.field(self.name, self._arrow_type(), self.nullable, metadata)

    def _arrow_type(self) -> pa.DataType:
        own = self.special or self.list_type or tensor_type(self.type) or NUMBERS.get(self.type)
        return _OTHERS[self.type] if own is None else own.arrow()

    @staticmethod
    def from_json(item: Any, where: str) -> Field:
        """Reads one entry of `fields` of dataset.json or WELCOME."""
        try:
            return Field(item["name"], item["type"], bool(item["nullable"]), bool(item["payload"]))
        except (KeyError, TypeError, ValueError) as e:
            raise CorruptDataError(f"{where}: bad field entry {item!r}: {e}") from e

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "type": self.type, "nullable": self.nullable, "payload": self.payload}


def batch_schema(fields: tuple[Field, ...]) -> pa.Schema:
    """The schema of a batch: key, then the fields in dataset order."""
    return pa.schema([pa.field("key", pa.utf8(), False), *(f.arrow() for f in fields)])
