"""Payload of a message that stays where it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

U8 = npt.NDArray[np.uint8]
I64 = npt.NDArray[np.int64]
_EMPTY = np.zeros(0, np.uint8)


class Apart:
    """The end of a message, as views of other memory whose checksums have been verified."""

    def __init__(self, length: int, starts: I64, views: Sequence[U8], on_whole: Callable[[], Any]) -> None:
        """`starts`: the offsets in the message of the views, which are not empty. What no view covers is zero.

        `length`: of the message. `on_whole` is called when the message is put together.
        """
        self.length = length
        self._starts, self._views, self._on_whole = starts, views, on_whole

    def rows(self, edges: I64) -> list[U8]:
        """The rows between these offsets in the message; only a row that lies in several views is copied."""
        starts = edges[:-1]
        places = self._starts.searchsorted(starts, "right") - 1
        return [
            self._row(place, start, end) if start < end else _EMPTY
            for place, start, end in zip(places.tolist(), starts.tolist(), edges[1:].tolist(), strict=True)
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
        out = np.zeros(self.length, np.uint8)
        out[: len(front)] = front
        for start, view in zip(self._starts.tolist(), self._views, strict=True):
            out[start : start + len(view)] = view
        return out
