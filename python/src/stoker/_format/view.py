"""Views: the columns of a stream's batches that one trainer receives."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from stoker._format.canonical_json import compact
from stoker._format.fields import Field
from stoker._format.message import Column, MessageLayout, batch_columns

_NAMES_SHOWN = 50


def _text_of(columns: Sequence[str] | None) -> str:
    named = None if columns is None else list(columns)
    return compact({"columns": named, "transform": None, "transform_version": None})


def _tag_of(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")


WHOLE_TAG: Final = _tag_of(_text_of(None))
"""The tag of the view with all columns, which is the same for all datasets."""


class View:
    """All columns of a dataset, or some of them: the key (number 0) and the fields (from number 1). Immutable."""

    def __init__(self, fields: Sequence[str], columns: Sequence[str] | None = None) -> None:
        """Raises `ValueError` if `columns` names nothing, or a column twice, or one that the dataset lacks."""
        names = ("key", *fields)
        if columns is None:
            columns = names
        elif not columns:
            raise ValueError(f"columns is empty: name at least one of {_listed(names)}")
        numbers = {name: number for number, name in enumerate(names)}
        chosen: set[int] = set()
        for name in columns:
            number = numbers.get(name)
            if number is None:
                raise ValueError(
                    f"columns names '{name}', which the dataset does not have: its columns are {_listed(names)}"
                )
            if number in chosen:
                raise ValueError(f"columns names '{name}' twice: the dataset's columns are {_listed(names)}")
            chosen.add(number)
        self.available = len(names)
        """The number of columns of the dataset."""
        self.numbers = tuple(sorted(chosen))
        """The selected columns, in the order of a message."""
        self.columns = tuple(names[number] for number in self.numbers)
        self.is_whole = len(chosen) == len(names)
        self.text = _text_of(None if self.is_whole else self.columns)
        """Canonical JSON."""
        self.tag = _tag_of(self.text)
        """The first 64 bits of the text's SHA-256, as sent in every BATCH header."""

    @classmethod
    def of_numbers(cls, fields: Sequence[str], numbers: Sequence[int]) -> View:
        """The view with the columns of these numbers."""
        names = ("key", *fields)
        return cls(fields, [names[number] for number in numbers])

    def layout(self, fields: Sequence[Field]) -> MessageLayout:
        """The layout of messages with these columns, of a dataset with these fields."""
        return MessageLayout(self.of(batch_columns(fields)))

    def of(self, columns: Sequence[Column]) -> list[Column]:
        """The selected ones of a dataset's columns."""
        return [columns[number] for number in self.numbers]


def _listed(names: Sequence[str]) -> str:
    if len(names) <= _NAMES_SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:_NAMES_SHOWN])}, … ({len(names)} columns)"


class ColumnCut:
    """Copies the columns of a view from messages with all columns."""

    def __init__(self, fields: Sequence[Field], view: View) -> None:
        self.view = view
        self._whole = MessageLayout(batch_columns(fields))
        self.layout = view.layout(fields)
        """The layout of the copies."""

    def cut(self, message: npt.NDArray[np.uint8], take: Any, what: tuple[int, int, int]) -> npt.NDArray[np.uint8]:
        """The canonical message of the same rows. `take` returns memory; `what` is (number, epoch, batch size)."""
        rows, end = self._whole.head(message, "message")
        found = [self._whole.column(message, n, rows, end, "message") for n in self.view.numbers]
        metadata, places, length = self.layout.pack(rows, [c.sizes() for c in found], what)
        out: npt.NDArray[np.uint8] = take(length)
        out[: len(metadata)] = np.frombuffer(metadata, np.uint8)
        for column, at in zip(found, places, strict=True):
            buffers = (column.validity, column.offsets, column.data, column.item_offsets, column.item_validity)
            for (begin, size), to in zip(buffers, at, strict=True):
                if size:
                    out[to : to + size] = message[begin : begin + size]
                    out[to + size : -(-(to + size) // 64) * 64] = 0
        return out
