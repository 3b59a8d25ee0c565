"""Columns of nested lists and of lists with null items, between messages and rows; see the module `nested_rows`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._format.message import I64, Buffers, Column, Sizes, checked_offsets
from stoker._format.nested_rows import columns_of, rows_of, without_nulls


def nested_rows(
    data: npt.NDArray[np.uint8], column: Column, place: Buffers, rows: int, what: object
) -> tuple[I64, npt.NDArray[np.uint8]]:
    """The rows of a nested list as byte strings: their offsets, and their bytes; see the module `nested_rows`."""
    outer, inner = nested_offsets(data, column, place, what)
    values = data[place.data[0] : place.data[0] + place.data[1]]
    valid = None
    if place.nulls:
        bits = data[place.validity[0] : place.validity[0] + place.validity[1]]
        valid = np.unpackbits(bits, count=rows, bitorder="little").view(np.bool_)
    return without_nulls(*rows_of(outer, inner, values, column.unit, valid_items(data, place)), valid)


def nested_offsets(
    data: npt.NDArray[np.uint8], column: Column, place: Buffers, what: object
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """The offsets of the rows of a nested list in items, and of the items in units."""
    outer = checked_offsets(data, place.offsets, place.items, what)
    if not column.has_item_offsets:
        return outer, np.arange(place.items + 1, dtype=np.int32)
    return outer, checked_offsets(data, place.item_offsets, place.data[1] // column.unit, what)


def valid_items(data: npt.NDArray[np.uint8], place: Buffers) -> npt.NDArray[np.bool_] | None:
    """A mask of the items of a nested list that are not null; None if none is."""
    if not place.item_nulls:
        return None
    bits = data[place.item_validity[0] : place.item_validity[0] + place.item_validity[1]]
    return np.unpackbits(bits, count=place.items, bitorder="little").view(np.bool_)


def nested_parts(
    column: Column,
    validity: npt.NDArray[np.uint8] | None,
    nulls: int,
    offsets: npt.NDArray[Any],
    data: npt.NDArray[np.uint8],
) -> tuple[tuple[Any, ...], Sizes]:
    """The buffers of a nested list from its rows as byte strings, in the order of `Places`."""
    outer, inner, values, present = columns_of(offsets, data, column.unit)
    valid = 0 if validity is None else validity.nbytes
    items, missing, bits = len(inner) - 1, 0, None
    if present is not None:
        missing = items - int(np.count_nonzero(present))
        bits = np.packbits(present, bitorder="little")
        if not column.has_item_offsets:
            whole = np.zeros((items, column.unit), np.uint8)
            whole[present] = values.reshape(-1, column.unit)
            values = whole.reshape(-1)
    elements = len(values) // column.unit
    sizes = Sizes(nulls, elements, valid, outer.nbytes, values.nbytes, items, missing)
    return (validity, outer, values, inner if column.has_item_offsets else None, bits), sizes
