"""What a notebook shows of a feed, and what it says of a position in brackets."""

from __future__ import annotations

from typing import Any

from stoker._feed.reading import Reading
from stoker._format.notebook import fields_table


class InNotebooks:
    """The part of `Feed` for people who look at it."""

    _reading: Reading

    def __getitem__(self, index: Any) -> Any:
        """Raises `TypeError`: a feed has batches in an order, and no positions."""
        raise TypeError(
            "a feed has no positions: take batches with `for batch in feed`, or next(iter(feed)), and single samples "
            "with stoker.open(path)[0]"
        )

    def _repr_html_(self) -> str:
        """A table of the fields, for notebooks; connects to nothing, so the fields of a feed may be missing."""
        info = self._reading.found
        order = "" if info is None else f", batch_size {info.order.batch_size}, {info.samples:,} samples"
        return fields_table(repr(self) + order, info.fields if info else (), info.classes if info else {})
