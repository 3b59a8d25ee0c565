"""Types of lists and tensors, and their canonical strings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import pyarrow as pa

from stoker._format.numbers import NUMBERS

TEXTS = {"utf8": pa.utf8(), "binary": pa.binary()}
"""Types with rows of bytes."""

_NULL_ITEMS = re.compile(r"([a-z0-9]+(?:\[\])?)\?(\[[0-9,]*\](?:\[\])?)")
_LIST = re.compile(r"([a-z0-9]+)(\[\]|\?)?\[\]")
_TENSOR = re.compile(r"([a-z0-9]+)\[([0-9]+(?:,[0-9]+)*)\]")


@dataclass(frozen=True)
class ListType:
    """Rows with any number of items of one type."""

    item: str
    """A number, utf8, binary or, if items cannot be null, a list of numbers such as int32[]."""
    null_items: bool = False

    @property
    def element(self) -> str:
        """The type of the items, or of their items if they are lists."""
        return self.item.removesuffix("[]")

    @property
    def is_of_lists(self) -> bool:
        """Whether the items are lists."""
        return self.item.endswith("[]")

    @property
    def is_of_numbers(self) -> bool:
        """Whether the items are numbers, which have one width. All others differ in length."""
        return self.item in NUMBERS

    @property
    def is_plain(self) -> bool:
        """Whether a row is a run of numbers. The items of all other lists are read and written one by one."""
        return self.is_of_numbers and not self.null_items

    def arrow(self) -> pa.DataType:
        """The Arrow type."""
        inner = list_type(self.item)
        item = TEXTS.get(self.item) or (NUMBERS[self.item].arrow() if inner is None else inner.arrow())
        return pa.list_(pa.field("item", item, self.null_items))


@dataclass(frozen=True)
class TensorType:
    """Rows that are arrays of numbers of one shape."""

    element: str
    shape: tuple[int, ...]

    def arrow(self) -> pa.DataType:
        """The Arrow type."""
        return pa.fixed_shape_tensor(NUMBERS[self.element].arrow(), self.shape)


@cache
def list_type(kind: str) -> ListType | None:
    """The type of lists with this canonical string, None for any other text."""
    match = _LIST.fullmatch(kind)
    if match is None or (match[1] not in NUMBERS and (match[1] not in TEXTS or match[2] == "[]")):
        return None
    return ListType(match[1] + "[]", False) if match[2] == "[]" else ListType(match[1], match[2] == "?")


@cache
def tensor_type(kind: str) -> TensorType | None:
    """The type of tensors with this canonical string, None for any other text."""
    match = _TENSOR.fullmatch(kind)
    shape = tuple(int(d) for d in match[2].split(",")) if match is not None else ()
    return TensorType(match[1], shape) if match is not None and match[1] in NUMBERS and min(shape) > 0 else None


def element_of(kind: str) -> str:
    """The type of the elements of a list or tensor, else the type itself."""
    found = list_type(kind) or tensor_type(kind)
    return kind if found is None else found.element


def check_items(kind: str) -> None:
    """Raises `ValueError` for a nested list or tensor whose items could be null."""
    match = _NULL_ITEMS.fullmatch(kind)
    if match is not None and (match[1].endswith("[]") or match[2] != "[]"):
        raise ValueError(
            f"items of tensors and of nested lists cannot be null: '{kind}'; use '{match[1]}{match[2]}'; the field "
            "itself may be nullable"
        )
