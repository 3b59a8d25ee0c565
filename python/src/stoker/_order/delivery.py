"""Which pieces make up a batch, and which batches a consumer takes (docs/formats/order.md, steps 5, 6 and delivery).

Needs the order spec and the live rows of each lane only, so it is the same over a path and a server.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from stoker._order.skip import NOTHING, Skip
from stoker._order.spec import OrderSpec, Tail
from stoker._order.stream_order import LANES, fold_array, key

_ROUNDS_AT_ONCE = 1024
"""Batches whose lanes are computed together."""
_STRIDES_AT_ONCE = 16
"""… times this at most, for a consumer that takes only some of them."""


class Piece(NamedTuple):
    """Rows [first, first + rows) of a lane's epoch."""

    lane: int
    first: int
    rows: int
    repeated: bool = False


class BatchPlan:
    """Every batch of every epoch of a stream. Not safe for several threads (it remembers the last round)."""

    def __init__(self, spec: OrderSpec, lane_rows: Sequence[int]) -> None:
        self.spec = spec
        size = spec.batch_size
        rows = np.array(lane_rows, np.int64)
        self.samples = int(rows.sum())
        self.batches = -(-self.samples // size)
        """Batches of an epoch."""
        self.lanes = len(rows)
        self._full = rows // size
        self.full_batches = int(self._full.sum())
        """Physical numbers below it are batches of one piece."""
        rest = rows - self._full * size
        self._rest_lanes = np.flatnonzero(rest).tolist()
        self._rest_ends = np.cumsum(rest[rest > 0]).tolist()
        self._rest_first = (self._full * size).tolist()
        self._rounds: tuple[int, int, list[list[int]]] = (-1, 0, [])  # epoch, first round, lanes of each
        self._round: tuple[int, int, int, list[int]] = (-1, 0, 0, [])  # epoch, number of its first batch, round, lanes

    def pieces(self, epoch: int, number: int) -> list[Piece]:
        """The pieces of a physical batch number."""
        if not 0 <= number < self.batches:
            raise IndexError(f"batch {number} of an epoch of {self.batches}")
        size = self.spec.batch_size
        if number >= self.full_batches:
            return self._joint((number - self.full_batches) * size)
        known, start, turn, lanes = self._round
        if known != epoch or not start <= number < start + len(lanes):
            if known == epoch and lanes and number == start + len(lanes):
                start, turn = number, turn + 1
            else:
                turn = self._find_round(number)
                start = int(np.minimum(self._full, turn).sum())
            lanes = self._lanes_of_round(epoch, turn)
            self._round = (epoch, start, turn, lanes)
        return [Piece(lanes[number - start], turn * size, size)]

    def place_of(self, epoch: int, lane: int, row: int) -> tuple[int, int]:
        """(physical batch number, index in the batch) of a row of a lane's epoch; the inverse of `pieces`."""
        size = self.spec.batch_size
        turn, index = divmod(row, size)
        if turn < self._full[lane]:
            place = self._lanes_of_round(epoch, turn).index(lane)
            return int(np.minimum(self._full, turn).sum()) + place, index
        i = self._rest_lanes.index(lane)
        joint = (self._rest_ends[i - 1] if i else 0) + row - self._rest_first[lane]
        return self.full_batches + joint // size, joint % size

    def _find_round(self, number: int) -> int:
        low, high = 0, int(self._full.max())
        while high - low > 1:
            middle = (low + high) // 2
            if int(np.minimum(self._full, middle).sum()) <= number:
                low = middle
            else:
                high = middle
        return low

    def _lanes_of_round(self, epoch: int, turn: int) -> list[int]:
        known, start, rounds = self._rounds
        if known != epoch or not start <= turn < start + len(rounds):
            start, rounds = turn, self._some_rounds(epoch, turn)
            self._rounds = (epoch, start, rounds)
        return rounds[turn - start]

    def full(self, epoch: int, first: int, stride: int, most: int) -> tuple[list[int], list[int]]:
        """(lane, round) of some of the full batches first, first + stride, …: of at least one and at most `most`."""
        turn = self._find_round(first)
        rounds = self._some_rounds(epoch, turn, _ROUNDS_AT_ONCE * min(stride, _STRIDES_AT_ONCE))
        lanes = np.concatenate([np.asarray(r) for r in rounds])
        turns = np.repeat(np.arange(turn, turn + len(rounds)), [len(r) for r in rounds])
        mine = slice(first - int(np.minimum(self._full, turn).sum()), None, stride)
        return lanes[mine][:most].tolist(), turns[mine][:most].tolist()

    def _some_rounds(self, epoch: int, turn: int, batches: int = _ROUNDS_AT_ONCE) -> list[list[int]]:
        """The lanes of some rounds from `turn` on: together they cost hardly more than one."""
        lanes = np.flatnonzero(self._full > turn)
        left = self._full[lanes] - turn
        turns = np.arange(turn, turn + min(int(left.max()), -(-batches // len(lanes))))
        every = np.broadcast_to(lanes, (len(turns), len(lanes)))
        if self.spec.lane_order == "mixed":
            rounds = fold_array(key(self.spec.seed, LANES, epoch), turns)
            keys = fold_array(rounds[:, np.newaxis], every)
            every = lanes[np.argsort(keys, axis=1, kind="stable")]
        if int(left.min()) >= len(turns):
            whole: list[list[int]] = every.tolist()
            return whole
        return [row[self._full[row] > t].tolist() for t, row in zip(turns.tolist(), every, strict=True)]

    def _joint(self, start: int) -> list[Piece]:
        pieces = []
        end = min(start + self.spec.batch_size, self._rest_ends[-1])
        i = bisect_right(self._rest_ends, start)
        while start < end:
            lane = self._rest_lanes[i]
            before = self._rest_ends[i - 1] if i else 0
            count = min(end, self._rest_ends[i]) - start
            pieces.append(Piece(lane, self._rest_first[lane] + start - before, count))
            start += count
            i += 1
        return pieces

    def delivered(self, epoch: int, number: int, tail: Tail) -> list[Piece]:
        """The pieces of a virtual batch number, fill included."""
        if tail != "pad":
            return self.pieces(epoch, number)
        pieces = self.pieces(epoch, number % self.batches)
        if number < self.full_batches:
            return pieces
        if number >= self.batches:
            pieces = [p._replace(repeated=True) for p in pieces]
        missing = self.spec.batch_size - sum(p.rows for p in pieces)
        source = 0
        while missing > 0:
            for p in self.pieces(epoch, source % self.batches):
                if missing > 0:
                    pieces.append(Piece(p.lane, p.first, min(p.rows, missing), True))
                    missing -= p.rows
            source += 1
        return pieces


@dataclass(frozen=True)
class Share:
    """The steps of one rank, and of one of its workers, in an epoch begun at `start`.

    With `concat` k each step takes k batches, so W ranks read the epoch as k · W ranks would. A `limit` is the greatest
    number of steps. With a `skip`, the ranks divide the batches that are left.
    """

    plan: BatchPlan
    tail: Tail
    start: int = 0
    rank: int = 0
    world_size: int = 1
    concat: int = 1
    limit: int | None = None
    skip: Skip = NOTHING

    @property
    def _left(self) -> int:
        """Slots of the epoch."""
        return self.skip.left if self.skip else self.plan.batches

    @property
    def _begin(self) -> int:
        """The slot where the epoch is begun."""
        return self.skip.slot(self.start)

    @property
    def _first(self) -> int:
        """The rank's first slot."""
        begin = self._begin
        return begin + (self.rank - begin) % self.world_size

    @property
    def first(self) -> int:
        """The rank's first virtual number."""
        return self.skip.number(self._first)

    @property
    def width(self) -> int:
        """Numbers that all ranks take in a step."""
        return self.world_size * self.concat

    @property
    def steps(self) -> int:
        """Steps that the rank takes."""
        if self.tail == "pad":
            steps = max(0, -(-(self._left - self._begin) // self.width))
        elif self.tail == "drop":
            steps = max(0, (self._whole - self._begin) // self.width)
        else:
            steps = -(-len(range(self._first, self._left, self.world_size)) // self.concat)
        return steps if self.limit is None else min(steps, self.limit)

    @property
    def parts(self) -> int:
        """Into how many parts an epoch falls that begins at 0; the same for every rank."""
        slots = self._whole // self.width * self.width if self.tail == "drop" else self._left
        return 1 if self.limit is None else max(1, -(-slots // (self.limit * self.width)))

    @property
    def _whole(self) -> int:
        """Slots of batches that are not short."""
        return self.skip.slot(self.plan.samples // self.plan.spec.batch_size)

    def number(self, step: int) -> int:
        """The first virtual number of a step."""
        return self.skip.number(self._first + step * self.width)

    @property
    def _end(self) -> int:
        """The slot behind the last one that a rank can take."""
        return self._left + (self.world_size if self.tail == "pad" else 0)

    def numbers(self, step: int) -> list[tuple[int, bool]]:
        """Returns the virtual numbers of a step, and for each whether it only repeats a batch of the same step."""
        first = self._first + step * self.width
        slots = range(first, min(self._end, first + self.width), self.world_size)
        numbers = [self.skip.number(slot) for slot in slots]
        missing = self.concat - len(numbers) if self.tail == "pad" else 0
        return [(n, False) for n in numbers] + [(numbers[i % len(numbers)], True) for i in range(missing)]

    def rank_of(self, number: int) -> int:
        """The rank that takes a number."""
        return self.skip.slot(number) % self.world_size

    def step_of(self, number: int) -> tuple[int, int] | None:
        """(step, index in the step) of a number that this rank takes; None if the rank takes it in no step."""
        step, rest = divmod(self.skip.slot(number) - self._first, self.width)
        index, other = divmod(rest, self.world_size)
        return (step, index) if not other and number not in self.skip and 0 <= step < self.steps else None

    def worker(self, worker: int, workers: int, skip: int = 0) -> tuple[int, int, int]:
        """Returns (first, stride, count) of a worker's virtual numbers after its first `skip` steps; see `Numbers`.

        Only one worker can join batches. Under `pad` its numbers end where every feeder still knows them; the rest of
        the last step repeats batches of that step.
        """
        step = worker + skip * workers
        count = len(range(step, self.steps, workers))
        slot = self._first + step * self.width
        if self.concat > 1:
            count = len(range(slot, min(self._end, slot + count * self.width), self.world_size))
        return self.skip.number(slot), self.world_size * workers, count

    def after(self, epoch: int, step: int) -> tuple[int, int]:
        """(epoch, next batch) once the step has been taken by every rank."""
        following = self._begin + (step + 1) * self.width
        ended = self._whole - following < self.width if self.tail == "drop" else following >= self._left
        return (epoch + 1, 0) if ended else (epoch, self.skip.number(following))
