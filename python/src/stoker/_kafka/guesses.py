"""Where in a partition a position should stand, from records that were seen. Only ever a first guess. Pure."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from stoker._kafka.record import BATCH, BEGIN, Position
from stoker._order.delivery import BatchPlan


class Anchor(NamedTuple):
    """A record that was seen, and how many parts its piece has."""

    position: Position
    offset: int
    parts: int


class TopicGuesses:
    """Counts the records between a record that was seen and one that is wanted.

    The count is exact if each piece is one record and was written once. Otherwise it is off by the differences in
    parts per piece, by repeated records and by the offsets of transaction markers.
    """

    def __init__(self) -> None:
        self._anchors: dict[int, tuple[Anchor, Anchor]] = {}
        """For each lane, the seen record with the lowest offset, and the last one seen."""
        self._full: list[int] = []
        self._turn = (0, 0, 0)  # round, its first number, the one after its last

    def adopt(self, plan: BatchPlan, lane_rows: tuple[int, ...]) -> None:
        """Uses this plan for all epochs from now on."""
        size = plan.spec.batch_size
        rows = np.array(lane_rows, np.int64)
        full, rest = rows // size, rows % size
        ends = np.cumsum(rest)
        self._rows_full = full
        self._full, self._full_batches = full.tolist(), plan.full_batches
        self._joint = (plan.full_batches + (ends - rest) // size).tolist()
        """For each lane, the first joint batch that has a piece of it."""
        last = plan.full_batches + (ends - 1) // size
        self._pieces = np.where(rest > 0, full + last - self._joint + 1, full).tolist()
        self._turn = (0, 0, 0)

    def saw(self, lane: int, position: Position, offset: int, parts: int = 1) -> None:
        """Notes the offset of a record."""
        anchor = Anchor(position, offset, parts)
        known = self._anchors.get(lane)
        self._anchors[lane] = (anchor if known is None or offset <= known[0].offset else known[0], anchor)

    def place(self, lane: int, position: Position, parts: int) -> int:
        """Returns how many records come before this one in its lane if each piece has `parts` records."""
        pieces: int = self._pieces[lane]
        before = position.epoch * (pieces * parts + 2)
        if position.kind == BEGIN:
            return before
        if position.kind != BATCH:
            return before + 1 + pieces * parts
        return before + 1 + self._index(lane, position.batch) * parts + position.part

    def _index(self, lane: int, number: int) -> int:
        """Pieces of a lane before a batch."""
        if number >= self._full_batches:
            return int(self._full[lane] + number - self._joint[lane])
        turn, start, end = self._turn
        if not start <= number < end:
            if number != end:
                turn, high = 0, max(self._full)
                while high - turn > 1:
                    middle = (turn + high) // 2
                    turn, high = (middle, high) if self._start(middle) <= number else (turn, middle)
            else:
                turn += end > 0
            self._turn = (turn, self._start(turn), self._start(turn + 1))
        return min(self._turn[0], self._full[lane])

    def _start(self, turn: int) -> int:
        return int(np.minimum(self._rows_full, turn).sum())

    def offset(self, lane: int, wanted: Position) -> int:
        """Where a position may stand."""
        first, last = self._anchors.get(lane) or (None, None)
        if first is None or last is None:
            first = last = Anchor(Position(0, BEGIN), 0, self._parts())
        parts = max(1, last.parts)
        distance = self.place(lane, wanted, parts) - self.place(lane, last.position, parts)
        density = self._density(lane)
        # Too early costs some records that are read over, too late another look.
        early = 2 if density != 1 and abs(distance) > 2 else 0
        return max(0, last.offset + round(distance * density) - early)

    def _parts(self) -> int:
        return max((last.parts for _, last in self._anchors.values()), default=1)

    def _density(self, lane: int) -> float:
        """Returns the offsets for each record, in this lane or in the best-known one."""
        known = self._anchors.get(lane)
        if known is None or known[1].offset - known[0].offset < 16:
            lane = max(self._anchors, key=lambda n: self._anchors[n][1].offset - self._anchors[n][0].offset, default=-1)
            known = self._anchors.get(lane)
        if known is None:
            return 1.0
        first, last = known
        parts = max(1, last.parts)
        records = self.place(lane, last.position, parts) - self.place(lane, first.position, parts)
        return min(4.0, max(0.5, (last.offset - first.offset) / records)) if records >= 16 else 1.0
