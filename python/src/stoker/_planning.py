"""Plans the batches of one epoch: which windows they need, and what the threads have to do for them."""

from __future__ import annotations

from collections import deque

from stoker._delivery import BatchPlan, Piece
from stoker._filling import Filler, Unfilled
from stoker._gather import OpenWindow
from stoker._order import LaneEpoch
from stoker._rows import Segment
from stoker._source import DeliveredBatch
from stoker._spec import Tail
from stoker._stream import PathStream
from stoker._workers import Job, Workers

UNIT_BYTES = 1 << 20
"""Work handed to a thread at once: enough to hide the hand-over, little enough for a quick first batch."""
Span = tuple[int, int, int, int, Tail]
"""Epoch, first number, stride, count, tail."""
LOOK_AHEAD = 4
"""Batches looked at before they are planned."""


class EpochReader:
    """The batches of one consumer in one epoch, in order."""

    def __init__(
        self,
        stream: PathStream,
        filler: Filler,
        workers: Workers,
        ahead_bytes: int,
        span: tuple[int, int, int, int, Tail],
    ) -> None:
        epoch, first, stride, count, tail = span
        self.span = span
        self.following: EpochReader | None = None
        """What is planned once this is all planned."""
        self._stream, self._filler, self._workers, self._ahead_bytes = stream, filler, workers, ahead_bytes
        self._plan = BatchPlan(self._stream.spec, self._stream.order.lane_rows)
        self._epoch, self._tail = epoch, tail
        self._numbers = iter(range(first, first + stride * count, stride))
        self._upcoming: deque[tuple[int, list[Piece]]] = deque()
        self._lanes: dict[int, _LaneReader] = {}
        self._work: deque[tuple[Job, int]] = deque()
        self._ahead = 0
        self._ready: deque[DeliveredBatch] = deque()
        self._exhausted = self._stopped = False

    def __iter__(self) -> EpochReader:
        return self

    def __next__(self) -> DeliveredBatch:
        if not self._ready:
            self.plan()
            if not self._work:
                raise StopIteration
            job, size = self._work.popleft()
            self._ahead -= size
            self._ready.extend(self._workers.wait(job, "wait_read_s", f"epoch {self._epoch}"))
            self.plan()
        return self._ready.popleft()

    def cancel(self) -> None:
        """Drops everything that is planned."""
        self._stopped = True
        for job, _ in self._work:
            job.cancelled = True
        for lane in self._lanes.values():
            lane.cancel()
        self._work.clear()
        self._lanes.clear()

    def plan(self) -> None:
        """Hands out work until enough is under way."""
        while not self._stopped and not self._exhausted and (self._ahead < self._ahead_bytes or len(self._work) < 2):
            unit: list[tuple[int, list[Unfilled]]] = []
            size = 0
            limit = UNIT_BYTES if self._work else 1
            while size < limit and len(unit) < 64:
                self._look_ahead()
                if not self._upcoming:
                    self._exhausted = True
                    break
                number, pieces = self._upcoming.popleft()
                what = (number, self._epoch, self._stream.spec.batch_size)
                made = [self._filler.message(self._segments(p), p, what) for p in pieces]
                unit.append((number, made))
                size += sum(m.data.buffer.nbytes for m in made)
            if unit:
                self._work.append((self._workers.submit(_Fill(self._filler, self._epoch, unit)), size))
                self._ahead += size
        if self._exhausted and self.following is not None and not self._stopped:
            self.following.plan()

    def _look_ahead(self) -> None:
        """Keeps the next few batches in view, so that the windows they need are being opened."""
        while len(self._upcoming) <= LOOK_AHEAD:
            number = next(self._numbers, None)
            if number is None:
                return
            pieces = self._plan.delivered(self._epoch, number, self._tail)
            self._upcoming.append((number, pieces))
            for p in pieces:
                self._lane(p.lane).foresee(p.first)

    def _lane(self, lane: int) -> _LaneReader:
        reader = self._lanes.get(lane)
        if reader is None:
            order = self._stream.order.lane_epoch(lane, self._epoch)
            reader = self._lanes[lane] = _LaneReader(self._filler, self._workers, order)
        return reader

    def _segments(self, piece: Piece) -> list[Segment]:
        return self._lane(piece.lane).segments(piece.first, piece.rows)


class _Fill:
    """Fills the messages of some batches."""

    def __init__(self, filler: Filler, epoch: int, unit: list[tuple[int, list[Unfilled]]]) -> None:
        self._filler, self._epoch, self._unit = filler, epoch, unit

    def __call__(self) -> list[DeliveredBatch]:
        return [
            DeliveredBatch(self._epoch, number, [self._filler.fill(m) for m in made]) for number, made in self._unit
        ]


class _LaneReader:
    """The open window of a lane, and those that are being opened."""

    def __init__(self, filler: Filler, workers: Workers, lane_epoch: LaneEpoch) -> None:
        self._filler, self._workers, self._order = filler, workers, lane_epoch
        self._number = -1
        self._from = self._until = 0  # rows of the open window
        self._window: OpenWindow | None = None
        self._opening: dict[int, Job] = {}

    def cancel(self) -> None:
        """Opens nothing more."""
        for job in self._opening.values():
            job.cancelled = True

    def foresee(self, row: int) -> None:
        """The window of this row will be wanted soon."""
        if row >= self._until:
            self._begin(self._order.window_of(row))

    def segments(self, first: int, rows: int) -> list[Segment]:
        """The rows [first, first + rows) of the lane's epoch."""
        end = first + rows
        window = self._window
        if window is not None and self._from <= first and end <= self._until:
            if 2 * (end - self._from) > self._until - self._from:  # half of it is planned
                self._begin(self._number + 1)
            return [Segment(window, first - self._from, end - self._from)]
        out = []
        w = self._order.window_of(first)
        while first < end:
            start, stop = self._order.window_start(w), min(end, self._order.window_ends[w])
            if stop > first:
                out.append(Segment(self._open(w), first - start, stop - start))
            first = stop
            w += 1
        return out

    def _begin(self, w: int) -> None:
        if w < len(self._order.window_ends) and w != self._number and w not in self._opening:
            filler, order = self._filler, self._order
            self._opening[w] = self._workers.submit(lambda: filler.open_window(order, w))

    def _open(self, w: int) -> OpenWindow:
        if self._window is None or w != self._number:
            self._begin(w)
            self._window = None  # before the next one is waited for: its memory is free for it
            self._window = self._workers.wait(self._opening.pop(w), "wait_window_s", f"window {w} of a lane")
            self._number = w
            self._from, self._until = self._order.window_start(w), self._order.window_ends[w]
            for passed in [o for o in self._opening if o < w]:
                self._opening.pop(passed).cancelled = True
        assert self._window is not None
        return self._window
