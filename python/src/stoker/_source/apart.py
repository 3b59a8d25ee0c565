"""Payload of a message that stays where it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]
_EMPTY = np.zeros(0, np.uint8)


class Apart:
    """The end of a message, as views of other memory whose checksums have been verified."""

    def __init__(
        self,
        length: int,
        starts: I64,
        ends: I64,
        views: Callable[[], list[U8]],
        on_whole: Callable[[], Any],
        rows: int = 0,
    ) -> None:
        """`starts` and `ends`: the offsets in the message of the views, which are not empty.

        `views` makes them on first use. What no view covers is zero. `length`: of the message. `on_whole` is called
        when the message is put together. `rows`: number of rows, if each row of each payload column has one view, and
        the views are in the order of columns and rows; else 0.
        """
        self.length = length
        self._count = rows
        self._starts, self._ends, self._make, self._on_whole = starts, ends, views, on_whole
        self._made: list[U8] | None = None

    @property
    def _views(self) -> list[U8]:
        if self._made is None:
            self._made = self._make()
            self._make = list  # what it needs may be large
        return self._made

    def column(self, place: int) -> list[U8] | None:
        """The rows of the payload column with this place among the payload columns; None if that is not known."""
        at = place * self._count
        return self._views[at : at + self._count] if self._count else None

    def rows(self, edges: I64) -> list[U8]:
        """The rows between these offsets in the message; only a row that lies in several views is copied."""
        starts, ends = edges[:-1], edges[1:]
        if len(starts) == len(self._starts) and (starts == self._starts).all() and (ends == self._ends).all():
            return self._views.copy()
        places = self._starts.searchsorted(starts, "right") - 1
        return [
            self._row(place, start, end) if start < end else _EMPTY
            for place, start, end in zip(places.tolist(), starts.tolist(), ends.tolist(), strict=True)
        ]

    def _row(self, place: int, start: int, end: int) -> U8:
        first = self._starts.item(place)
        view = self._views[place]
        if end - first <= len(view):
            return view[start - first : end - first]
        out = np.zeros(end - start, np.uint8)
        while place < len(self._views) and self._starts.item(place) < end:
            first, view = self._starts.item(place), self._views[place]
            part = view[max(0, start - first) : end - first]
            to = max(0, first - start)
            out[to : to + len(part)] = part
            place += 1
        return out

    def whole(self, front: U8) -> U8:
        """Returns the message in one piece. `front` is its beginning."""
        self._on_whole()
        return self.copied(front)

    def copied(self, front: U8) -> U8:
        """The same, without a call of `on_whole`."""
        out = np.zeros(self.length, np.uint8)
        out[: len(front)] = front
        for start, view in zip(self._starts.tolist(), self._views, strict=True):
            out[start : start + len(view)] = view
        return out
