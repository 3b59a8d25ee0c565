"""Which records make up the batches of a consumer, lane by lane. Pure."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterator
from itertools import islice, takewhile
from typing import NamedTuple

from stoker._kafka.record import BATCH, Position
from stoker._order.delivery import BatchPlan
from stoker._order.skip import NOTHING, Numbers, Skip
from stoker._order.spec import Tail

Span = tuple[int, int, int, int, Tail]
"""Epoch, first number, stride, count, tail."""


class PieceRequest(NamedTuple):
    """A piece of a batch: the first `rows` of the rows that a lane has of a physical batch."""

    lane: int
    batch: int
    rows: int
    of: int
    """Rows that the lane has of the batch."""
    repeated: bool

    def position(self, epoch: int) -> Position:
        """Returns the position of its first record."""
        return Position(epoch, BATCH, self.batch, 0)


def wants(plan: BatchPlan, epoch: int, number: int, tail: Tail) -> list[PieceRequest]:
    """What a virtual number is made of; the same pieces as `BatchPlan.delivered`."""
    physical = number % plan.batches if tail == "pad" else number
    again = number >= plan.batches
    found = [PieceRequest(p.lane, physical, p.rows, p.rows, again) for p in plan.pieces(epoch, physical)]
    missing = plan.spec.batch_size - sum(want.rows for want in found) if tail == "pad" else 0
    source = 0
    while missing > 0:
        for p in plan.pieces(epoch, source % plan.batches):
            if missing > 0:
                found.append(PieceRequest(p.lane, source % plan.batches, min(p.rows, missing), p.rows, True))
                missing -= p.rows
        source += 1
    return found


def wants_ahead(
    plan: BatchPlan, span: Span, most: Callable[[], int], skip: Skip = NOTHING
) -> Iterator[tuple[list[list[PieceRequest]], list[PieceRequest]]]:
    """For each number of a span what numbers behind it were planned just now, and what it is made of itself.

    About `most` numbers are planned that were not delivered yet; many at a time, so that what they want of a lane is
    read in one go.
    """
    epoch, first, stride, count, tail = span
    numbers = iter(Numbers(skip, first, stride, count))
    planned: deque[list[PieceRequest]] = deque()
    while True:
        fresh: list[list[PieceRequest]] = []
        if len(planned) <= most() // 2:
            fresh = [wants(plan, epoch, number, tail) for number in islice(numbers, most() - len(planned))]
            planned.extend(fresh)
        if not planned:
            return
        yield fresh, planned.popleft()


def own_lanes(plan: BatchPlan, span: Span, skip: Skip = NOTHING) -> frozenset[int]:
    """The lanes that a consumer reads from end to end: those that hold its next numbers.

    Under a fixed lane order the rounds at the end of an epoch, which not every lane has, shift numbers to other lanes;
    the few pieces of these are looked for one by one.
    """
    epoch, first, stride, count, _ = span
    numbers = islice(Numbers(skip, first, stride, count), 8 * plan.lanes)
    hits = Counter(plan.pieces(epoch, number)[0].lane for number in numbers if number < plan.full_batches)
    least = max(hits.values(), default=0) // 2 if plan.spec.lane_order == "fixed" else 0
    return frozenset(lane for lane, n in hits.items() if n > least)


class LanePlan:
    """The expected records of the lanes that are read from end to end, in the order of each lane's partition.

    Batch numbers are planned only up to the records that have arrived.
    """

    def __init__(self, plan: BatchPlan, lanes: frozenset[int]) -> None:
        self._plan, self.lanes = plan, lanes
        self._coming: dict[int, deque[Position]] = {lane: deque() for lane in lanes}
        self._numbers: deque[tuple[int, Iterator[int]]] = deque()

    def add(self, span: Span, skip: Skip = NOTHING) -> None:
        """Numbers that follow those added before."""
        epoch, first, stride, count, _ = span
        # What is repeated is looked for when it is wanted.
        numbers = takewhile(lambda number: number < self._plan.batches, Numbers(skip, first, stride, count))
        self._numbers.append((epoch, numbers))

    def next(self, lane: int) -> Position | None:
        """The first part of what the lane gives next; None if that is nothing more."""
        coming = self._coming[lane]
        while not coming and self._numbers:
            epoch, numbers = self._numbers[0]
            number = next(numbers, None)
            if number is None:
                self._numbers.popleft()
                continue
            for piece in self._plan.pieces(epoch, number):
                if piece.lane in self.lanes:
                    self._coming[piece.lane].append(Position(epoch, BATCH, number, 0))
        return coming[0] if coming else None

    def took(self, lane: int) -> None:
        """The lane's next piece has come."""
        self._coming[lane].popleft()
