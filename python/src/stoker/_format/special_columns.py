"""Columns of batches that are neither numbers nor single texts: times, decimals and nested lists."""

from __future__ import annotations

from decimal import Context, Decimal
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._format.fields import Field
from stoker._format.nested_rows import items_of
from stoker._format.temporal import DECIMAL, Decimal128

_EXACT = Context(prec=39)


def special_values(field: Field, stored: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Returns the values of a timestamp, date, time or decimal field: datetime64, timedelta64 or `Decimal` objects.

    64-bit numbers are viewed, all others are copied.
    """
    kind = field.special
    assert kind is not None
    if isinstance(kind, Decimal128):
        return decimals(stored, kind.scale)
    if stored.dtype.itemsize == kind.view.itemsize:
        return stored.view(kind.view)
    return stored.astype(np.int64).view(kind.view)


def decimals(stored: npt.NDArray[Any], scale: int) -> npt.NDArray[Any]:
    """Returns an array of `Decimal` objects."""
    out = np.empty(len(stored), object)
    plain = stored.view(DECIMAL)
    numbers = zip(plain["low"].tolist(), plain["high"].tolist(), strict=True)
    out[:] = [Decimal(high << 64 | low).scaleb(-scale, _EXACT) for low, high in numbers]
    return out


def nested_items(
    field: Field,
    outer: npt.NDArray[Any],
    inner: npt.NDArray[Any],
    values: npt.NDArray[np.uint8],
    valid: npt.NDArray[np.bool_] | None,
) -> list[Any]:
    """Returns for each row the list of its items: `str`, `bytes`, or arrays that are views of `values`.

    `valid` says which items are not null; None: none is. A null item is None.
    """
    unit = field.dtype.itemsize
    ends = (inner.astype(np.int64) * unit).tolist()
    items: list[Any]
    if field.item == "utf8" or field.item == "binary":
        whole = values.tobytes()
        items = [whole[a:b] for a, b in pairwise(ends)]
        if field.item == "utf8":
            items = [item.decode("utf-8", "replace") for item in items]
    else:
        items = [values[a:b].view(field.dtype) for a, b in pairwise(ends)]
    if valid is not None:
        items = [item if there else None for item, there in zip(items, valid.tolist(), strict=True)]
    return [items[a:b] for a, b in pairwise(outer.tolist())]


def nested_row(field: Field, row: bytes) -> Any:
    """Returns the items of a row that is given as a byte string; see `nested_rows`.

    Numbers that may be null are a masked array. Other null items are None.
    """
    items = items_of(row, field.dtype.itemsize)
    if field.item == "utf8":
        return [None if item is None else item.decode("utf-8", "replace") for item in items]
    if field.item == "binary":
        return list(items)
    if field.null_items:
        nothing = bytes(field.dtype.itemsize)
        values = np.frombuffer(b"".join(nothing if item is None else item for item in items), field.dtype)
        return np.ma.MaskedArray(values, mask=[item is None for item in items])
    return [np.frombuffer(item or b"", field.dtype).copy() for item in items]
