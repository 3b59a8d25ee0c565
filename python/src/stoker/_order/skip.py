"""Batches that a trainer leaves out of an epoch, by number (docs/formats/order.md, "Skipped batches").

The *slot* of a batch is its number among the batches that are left. Ranks and workers divide slots as they divide
numbers without a skip, so that all of them take the same number of steps, and one position stays the whole state.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from typing import Any

from stoker._format.plural import plural

BatchRange = tuple[int, int]
"""First and last number."""
Skipped = tuple[tuple[int, int, int], ...]
"""(epoch, first, last) of ranges; ascending, disjoint, not adjacent."""
MOST_RANGES = 256
"""Ranges of one feed: all of them fit into a HELLO."""
MOST_NUMBER = 2**53 - 1
"""The greatest number of a batch that can be skipped."""


def skipped_of(given: Any) -> Skipped:
    """Checks and normalises what a user gave: ranges that overlap or touch become one.

    Raises `ValueError` for values that are no ranges.
    """
    ranges: list[tuple[int, int, int]] = []
    try:
        items = [tuple(item) for item in given]
    except TypeError:
        items = [()]
    for item in items:
        if len(item) != 3 or not all(isinstance(n, int) and not isinstance(n, bool) for n in item):
            raise ValueError(f"skip={given!r}: expected a list of (epoch, first, last), the numbers of batches")
        epoch, first, last = item
        if min(item) < 0 or last < first or last > MOST_NUMBER:
            raise ValueError(
                f"skip: ({epoch}, {first}, {last}) is not a range; last is the last batch that is left out, and at "
                "least first"
            )
        ranges.append((epoch, first, last))
    merged: list[tuple[int, int, int]] = []
    for epoch, first, last in sorted(ranges):
        if merged and merged[-1][0] == epoch and first <= merged[-1][2] + 1:
            merged[-1] = (epoch, merged[-1][1], max(last, merged[-1][2]))
        else:
            merged.append((epoch, first, last))
    if len(merged) > MOST_RANGES:
        raise ValueError(f"skip has {plural(len(merged), 'range')}; at most {MOST_RANGES} are possible")
    return tuple(merged)


def require_batches(skipped: Skipped, batches: int, epoch: int | None) -> None:
    """Raises `ValueError` for a range that begins past the end of its epoch; `epoch`: checks only this one."""
    for at, first, last in skipped:
        if epoch in (None, at) and first >= batches:
            raise ValueError(f"skip: epoch {at} has {plural(batches, 'batch')}, so it has no batches {first} to {last}")


class Skip:
    """The batches that are left out of one epoch, which has `batches`. Immutable."""

    def __init__(self, batches: int, ranges: Iterable[BatchRange] = ()) -> None:
        """`ranges` are ascending, disjoint and not adjacent; what is beyond the end of the epoch is dropped."""
        self.batches = batches
        self.ranges = tuple((first, min(last, batches - 1)) for first, last in ranges if first < batches)
        self._firsts = [first for first, _ in self.ranges]
        lengths = [last - first + 1 for first, last in self.ranges]
        self._before = list(accumulate(lengths, initial=0))
        """Skipped batches before each range."""
        self._slots = [first - before for first, before in zip(self._firsts, self._before, strict=False)]
        self.left = batches - self._before[-1]
        """Batches that are left."""

    @staticmethod
    def of(skipped: Skipped, epoch: int, batches: int) -> Skip:
        """The batches that are left out of an epoch."""
        return Skip(batches, [(first, last) for e, first, last in skipped if e == epoch])

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def __contains__(self, number: int) -> bool:
        if not self.ranges:
            return False
        physical = number % self.batches
        at = bisect_right(self._firsts, physical) - 1
        return at >= 0 and physical <= self.ranges[at][1]

    def slot(self, number: int) -> int:
        """The slot of a batch; for a skipped batch, the slot of the first one after it that is left.

        Numbers past the end of the epoch repeat its batches.
        """
        if not self.ranges:
            return number
        if not self.left:
            return max(0, number - self.batches)
        again, physical = divmod(number, self.batches)
        at = bisect_right(self._firsts, physical)
        before = self._before[at]
        if at and physical <= self.ranges[at - 1][1]:
            before -= self.ranges[at - 1][1] - physical + 1
        return again * self.left + physical - before

    def number(self, slot: int) -> int:
        """The number of the batch at a slot; slots past the end repeat batches. The inverse of `slot`."""
        if not self.ranges:
            return slot
        if not self.left:
            return self.batches + slot
        again, rest = divmod(slot, self.left)
        return again * self.batches + rest + self._before[bisect_right(self._slots, rest)]

    def runs(self, first: int, stride: int, count: int) -> Iterator[range]:
        """The numbers at `count` slots from that of `first` on, every `stride`-th, as ranges without a skip."""
        if not self.ranges:
            if count:
                yield range(first, first + stride * count, stride)
            return
        slot = self.slot(first)
        end = slot + stride * count
        while slot < end:
            number = self.number(slot)
            rest = slot % self.left
            at = bisect_right(self._slots, rest)
            until = slot - rest + (self._slots[at] if at < len(self._slots) else self.left)
            some = len(range(slot, min(end, until), stride))
            yield range(number, number + stride * some, stride)
            slot += stride * some


NOTHING = Skip(0)
"""Leaves out no batch."""


class Numbers:
    """The numbers that a consumer takes in an epoch: `count` of them from `first` on, every `stride`-th that is left.

    Immutable.
    """

    def __init__(self, skip: Skip, first: int, stride: int, count: int) -> None:
        self.skip, self.first, self.stride, self.count = skip, first, stride, count
        self._slot = skip.slot(first)

    def number(self, index: int) -> int:
        """The number at an index, also past the last one."""
        if not self.skip.ranges:
            return self.first + index * self.stride
        return self.skip.number(self._slot + index * self.stride)

    def index(self, number: int) -> int:
        """The index of a number; -1 if it is not one of these."""
        slot = self.skip.slot(number)
        index, rest = divmod(slot - self._slot, self.stride)
        return index if rest == 0 and 0 <= index < self.count and number not in self.skip else -1

    def runs(self) -> Iterator[range]:
        """The numbers as ranges."""
        return self.skip.runs(self.first, self.stride, self.count)

    def __iter__(self) -> Iterator[int]:
        for run in self.runs():
            yield from run
