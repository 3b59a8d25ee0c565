"""Values of single samples, as `Samples` gives them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._dataset.chunk import ColumnData
from stoker._format.fields import Field
from stoker._format.special_columns import nested_row, special_values
from stoker._memory.file_reads import pread, read_fully


def read_bytes(fd: int, length: int, offset: int, fixed: bool) -> bytes | npt.NDArray[np.uint8]:
    """Reads from a file offset, fewer bytes only at the end of the file; without a copy if `fixed`, into bytes."""
    if fixed:
        data = pread(fd, length, offset)
        if len(data) == length:
            return data
    values = np.empty(length, np.uint8)
    values = values[: read_fully(fd, values, offset)]
    return values.tobytes() if fixed else values


def payload_value(data: bytes | npt.NDArray[np.uint8], field: Field) -> Any:
    """The value of a payload field, from its bytes."""
    if isinstance(data, bytes):
        return data.decode("utf-8", "replace") if field.type == "utf8" else data
    values = data.view(field.dtype)
    return values.reshape(field.shape) if field.shape else values


def value_of(column: ColumnData, row: int, field: Field | None, classes: Mapping[str, tuple[str, ...]]) -> Any:
    """The value of a row of a column, as `Samples` gives it. `field`: None for the key; `classes`: of the version."""
    value = column_value(column, row, "utf8" if field is None else _kind(field))
    if field is not None and value is not None:
        if field.item is not None:
            value = nested_row(field, value)
        elif field.special is not None:
            value = special_values(field, value)[0]
        elif field.type == "categorical":
            value = classes[field.name][value]
        elif field.shape:
            value = value.reshape(field.shape)
    return value


def _kind(field: Field) -> str:
    """How `column_value` reads it."""
    if field.item is not None:
        return "binary"
    return "stored" if field.special is not None else field.type


def column_value(column: ColumnData, row: int, kind: str) -> Any:
    """The value of a row of a column of plain types."""
    if column.validity is not None and not column.validity[row]:
        return None
    if column.offsets is None:
        if kind == "stored":
            return column.data[row : row + 1]
        value = column.data[row]
        return value.copy() if isinstance(value, np.ndarray) else value.item()
    part = column.data[column.offsets[row] : column.offsets[row + 1]]
    if kind == "utf8":
        return part.tobytes().decode("utf-8", "replace")
    return part.tobytes() if kind == "binary" else part.copy()
