"""Makes samples from the messages in answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from stoker._dataset.chunk import stored_column
from stoker._dataset.values import value_of
from stoker._format.fields import Field
from stoker._format.message import MessageLayout, batch_columns

_ALIGNMENT = 8
"""What NumPy wants of the widest number."""


class RowReader:
    """Reads the rows of record batch messages of one dataset. Safe for several threads."""

    def __init__(self, fields: Sequence[Field], classes: Mapping[str, tuple[str, ...]]) -> None:
        self._fields: tuple[Field | None, ...] = (None, *fields)
        self._classes = classes
        self._layout = MessageLayout(batch_columns(fields))

    def read(self, message: bytes | memoryview, what: str) -> list[dict[str, Any]]:
        """The samples of a message, as `Samples` gives them. Raises `CorruptDataError` naming `what`."""
        data = np.frombuffer(message, np.uint8)
        if data.ctypes.data % _ALIGNMENT:
            # Values of a column are read in place.
            whole = np.empty(len(message) + _ALIGNMENT, np.uint8)
            at = -whole.ctypes.data % _ALIGNMENT
            whole[at : at + len(message)] = data
            data = whole[at : at + len(message)]
        rows, places = self._layout.read(data, what)
        columns = [
            stored_column(column, data, place, rows, what)
            for column, place in zip(self._layout.columns, places, strict=True)
        ]
        return [
            {
                column.column.name: value_of(column, row, field, self._classes)
                for column, field in zip(columns, self._fields, strict=True)
            }
            for row in range(rows)
        ]
