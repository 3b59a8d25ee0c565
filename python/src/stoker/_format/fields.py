"""Fields of a dataset and their types (canonical type strings)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa

from stoker._format.field_names import check_field_name
from stoker._format.temporal import Special, special
from stoker.errors import CorruptDataError

_NUMBERS: dict[str, Any] = {
    "int8": pa.int8(),
    "int16": pa.int16(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "uint8": pa.uint8(),
    "uint16": pa.uint16(),
    "uint32": pa.uint32(),
    "uint64": pa.uint64(),
    "float16": pa.float16(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "bfloat16": pa.uint16(),
}
_NULL_ITEMS = re.compile(r"([a-z0-9]+(?:\[\])?)\?(\[[0-9,]*\](?:\[\])?)")
_NULLABLE_LIST = re.compile(r"([a-z0-9]+)\?\[\]")
_TYPE = re.compile(r"([a-z0-9]+)(?:\[((?:[0-9]+(?:,[0-9]+)*)?)\])?")
_TEXTS = ("utf8", "binary")
_Parts = tuple[str, bool, "tuple[int, ...] | None"]
"""Element type, whether it is a list or tensor, and the shape: None of a scalar or nested list, () of a list."""


def check_items(kind: str) -> None:
    """Raises `ValueError` for a nested list or tensor whose items could be null."""
    match = _NULL_ITEMS.fullmatch(kind)
    if match is not None and _NULLABLE_LIST.fullmatch(kind) is None:
        raise ValueError(
            f"items of tensors and of nested lists cannot be null: '{kind}'; use '{match[1]}{match[2]}'; the field "
            "itself may be nullable"
        )


@cache
def _item(kind: str) -> str | None:
    nullable = _NULLABLE_LIST.fullmatch(kind)
    if nullable is not None:
        return nullable[1] if nullable[1] in _TEXTS or nullable[1] in _NUMBERS else None
    item = kind.removesuffix("[]")
    if item == kind:
        return None
    return item if item in _TEXTS or (item.endswith("[]") and item[:-2] in _NUMBERS) else None


@cache
def _parts(kind: str) -> _Parts:
    check_items(kind)
    if special(kind) is not None:
        return kind, False, None
    item = _item(kind)
    if item is not None:
        return item.removesuffix("[]"), False, None
    match = _TYPE.fullmatch(kind)
    if match is None:
        raise LookupError(kind)
    if match[2] is None:
        return match[1], False, None
    return match[1], True, tuple(int(d) for d in match[2].split(",")) if match[2] else ()


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
            known = self.special is not None or self.item is not None
        except ValueError as e:
            raise ValueError(f"field {self.name}: {e}") from None
        if not known:
            kind, _, shape = self._parts()
            known = kind in _NUMBERS if shape is not None else kind in _NUMBERS or kind in _OTHERS
            if not known or (shape is not None and any(d < 1 for d in shape)):
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

    @property
    def item(self) -> str | None:
        """The type of the items of a nested list, or of a list with null items, else None.

        It is utf8, binary or a list of numbers; in a list with null items utf8, binary or a number.
        """
        return _item(self.type)

    @property
    def null_items(self) -> bool:
        """Whether it is a list whose items may be null, such as `int32?[]`."""
        return self.type.endswith("?[]")

    def _parts(self) -> _Parts:
        try:
            return _parts(self.type)
        except LookupError:
            raise ValueError(f"field {self.name}: unknown type {self.type!r}") from None

    @property
    def element(self) -> str:
        """The element type of a list, nested list or tensor, else the type itself."""
        return self._parts()[0]

    @property
    def is_list(self) -> bool:
        return self._parts()[2] == ()

    @property
    def shape(self) -> tuple[int, ...] | None:
        """The shape of a tensor field, else None."""
        return self._parts()[2] or None

    @property
    def has_offsets(self) -> bool:
        """True if the values of a row vary in length: utf8, binary, lists of all kinds."""
        return self.type in _TEXTS or self.is_list or self.item is not None

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy type of an element as it is stored (bfloat16: its bits as uint16; utf8, binary: bytes)."""
        kind = self.element
        own = self.special
        if own is not None:
            return own.dtype
        if kind in ("utf8", "binary"):
            return np.dtype(np.uint8)
        if kind == "categorical":
            return np.dtype(np.int32)
        if kind == "bool":
            return np.dtype(np.bool_)
        return np.dtype("uint16" if kind == "bfloat16" else kind)

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
        kind, _, shape = self._parts()
        if self.special is not None:
            return self.special.arrow()
        if self.item is not None:
            if self.null_items:
                return pa.list_(pa.field("item", _OTHERS[kind] if kind in _TEXTS else _NUMBERS[kind]))
            inner = _OTHERS[kind] if kind in _TEXTS else pa.list_(pa.field("item", _NUMBERS[kind], False))
            return pa.list_(pa.field("item", inner, False))
        if shape is None:
            return _NUMBERS.get(kind) or _OTHERS[kind]
        value = _NUMBERS[kind]
        if shape:
            return pa.fixed_shape_tensor(value, shape)
        return pa.list_(pa.field("item", value, False))

    @staticmethod
    def from_json(item: Any, where: str) -> Field:
        """Reads one entry of `fields` of dataset.json or WELCOME."""
        try:
            return Field(item["name"], item["type"], bool(item["nullable"]), bool(item["payload"]))
        except (KeyError, TypeError, ValueError) as e:
            raise CorruptDataError(f"{where}: bad field entry {item!r}: {e}") from e

    def to_json(self) -> dict[str, Any]:
        return {"name": self.name, "type": self.type, "nullable": self.nullable, "payload": self.payload}


_OTHERS: dict[str, Any] = {
    "bool": pa.bool_(),
    "utf8": pa.utf8(),
    "binary": pa.binary(),
    "categorical": pa.int32(),
}


def batch_schema(fields: tuple[Field, ...]) -> pa.Schema:
    """The schema of a batch: key, then the fields in dataset order."""
    return pa.schema([pa.field("key", pa.utf8(), False), *(f.arrow() for f in fields)])
