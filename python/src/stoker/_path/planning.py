"""Plans the batches of one epoch: which windows they need, and what the threads have to do for them."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Sequence

from stoker._format.once import once
from stoker._memory.workers import Job, Workers
from stoker._order.delivery import BatchPlan, Piece
from stoker._order.skip import Numbers
from stoker._order.spec import Tail
from stoker._path.batch_blocks import Laid
from stoker._path.filling import Filler, Unfilled
from stoker._path.lane_reader import LaneReader
from stoker._path.path_stream import PathStream
from stoker._path.rows import Segment
from stoker._source.batch_source import DeliveredBatch

UNIT_BYTES = 1 << 20
"""Work handed to a thread at once: enough to hide the hand-over, little enough for a quick first batch."""
Span = tuple[int, int, int, int, Tail]
"""Epoch, first number, stride, count, tail."""
_PREPARED = 32
"""This many batches before the end of an epoch, the reader begins to open windows of the next, one with each batch."""
Planned = tuple["Laid | tuple[int, list[Unfilled]]", int]
"""The work for a batch, and its bytes."""
_AT_ONCE_S = 0.004
"""A consumer that asks for the next batch within this time does so at once."""
LOOK_AHEAD = 4
"""Batches looked at before they are planned."""


class EpochReader:
    """The batches of one consumer in one epoch, in order.

    The consumer plans itself as long as it waits for batches. If the next one is there, a thread plans, and the
    consumer gets its batch at once. A thread that plans competes with the consumer for the interpreter, so a consumer
    that asks again and again at once also plans itself, unless whole blocks are laid out together.
    """

    def __init__(
        self,
        stream: PathStream,
        filler: Filler,
        workers: Workers,
        ahead_bytes: tuple[int, int],
        span: tuple[int, int, int, int, Tail],
        numbers: Numbers,
    ) -> None:
        """`ahead_bytes`: the bytes to read ahead, and the greater limit up to which two batches may be in progress.

        `numbers`: those of the span.
        """
        epoch, _, _, count, tail = span
        self.span = span
        self.following: EpochReader | None = None
        """The reader that is planned after this one."""
        self._stream, self._filler, self._workers = stream, filler, workers
        self._ahead_bytes, self._most_bytes = ahead_bytes
        self._epoch, self._tail = epoch, tail
        self._rest = deque(numbers.runs())
        """Numbers that have not been looked at."""
        self._count = count
        self._next = 0
        """How many numbers have been looked at."""
        self._run: tuple[Sequence[int], list[int], list[int]] = (), [], []
        """Numbers, lanes and rounds of full batches that come next."""
        self._at = 0
        """The first of them that is not planned."""
        self._rounds: dict[int, deque[int]] = {}
        """The rounds of the run that a lane has not laid out, by lane."""
        self._upcoming: deque[tuple[int, list[Piece]]] = deque()
        """Batches after the full ones."""
        self._lanes: dict[int, LaneReader] = {}
        self._work: deque[tuple[Job, int]] = deque()
        self._planned_bytes = self._largest = self._prepared = 0
        self._taken_bytes = 0
        self._ready: deque[DeliveredBatch] = deque()
        self._exhausted = self._stopped = self._lays_out = False
        self._planning = threading.Lock()
        self._error: BaseException | None = None
        """What ended the planning; the batches planned before come first."""
        self._planner = Job.done_by(lambda: None)
        """The last planning by a thread."""
        self._handed_out = 0.0
        """When the last batch was handed out."""

    @once
    def _plan(self) -> BatchPlan:
        """Made by the thread that plans first: usually while another epoch is read."""
        return BatchPlan(self._stream.spec, self._stream.order.lane_rows)

    def __iter__(self) -> EpochReader:
        return self

    def __next__(self) -> DeliveredBatch:
        if not self._ready:
            if not self._work:
                self._plan_here()
            if not self._work:
                raise self._error or StopIteration
            job, size = self._work.popleft()
            self._taken_bytes += size
            self._ready.extend(self._workers.wait(job, "wait_read_s", f"epoch {self._epoch}"))
            # last: the threads that it wakes compete for the interpreter
            if not self._work or (not self._lays_out and time.monotonic() < self._handed_out + _AT_ONCE_S):
                self._plan_here()
            elif self._planner.done or self._planner.cancelled:
                self._planner = self._workers.submit(self._plan_early)
        self._handed_out = time.monotonic()
        return self._ready.popleft()

    def _plan_here(self) -> None:
        self._planner.cancelled = True  # unless a thread has begun
        self.plan()

    def _plan_early(self) -> None:
        self.plan(early=True)

    def cancel(self) -> None:
        """Drops everything that is planned."""
        self._stopped = True
        with self._planning:
            for job, _ in self._work:
                job.cancelled = True
            for lane in self._lanes.values():
                lane.cancel()
            self._work.clear()
            lanes, self._lanes = self._lanes, {}
            self._error = None  # it holds frames of this reader, and the windows that they opened
        self._workers.offer(lanes.clear)  # closing hundreds of files takes a millisecond

    def plan(self, early: bool = False) -> None:
        """Hands out work until enough is in progress. May be called by several threads.

        Waits for a window only if no work is in progress, and never if `early`.
        """
        with self._planning:
            if self._error is None:
                try:
                    self._hand_out(early)
                except BaseException as e:
                    self._error = e
                    if not isinstance(e, Exception):
                        raise

    def _hand_out(self, early: bool) -> None:
        while not self._stopped and not self._exhausted and self._has_room():
            unit: list[Laid | tuple[int, list[Unfilled]]] = []
            size = 0
            limit = UNIT_BYTES if self._work else 1
            waiting = False
            while size < limit and len(unit) < 64:
                waiting = (early or bool(self._work or unit)) and self._would_wait()
                if waiting:
                    break
                batch = self._full_batch() or self._other_batch()
                if batch is None:
                    self._exhausted = True
                    break
                unit.append(batch[0])
                size += batch[1]
            if unit:
                fill = _Fill(self._filler, self._epoch, unit)
                self._planned_bytes += size
                self._work.append((self._workers.submit(fill) if fill.copies else Job.done_by(fill), size))
            if waiting:
                break
        following = self.following
        if following is not None and not self._stopped:
            if self._exhausted:
                following.plan(early=True)
            elif self._count - self._next + len(self._run[1]) - self._at < _PREPARED:
                following.prepare()

    def prepare(self) -> None:
        """Has a window opened that one of the first batches will need: not all at once, which holds others up."""
        with self._planning:
            if not self._next:
                self._more_rounds()
            lanes = self._run[1]
            if self._prepared < min(_PREPARED, len(lanes)) and not self._stopped:
                self._foresee(self._prepared)
                self._prepared += 1

    def _foresee(self, at: int) -> None:
        _, lanes, rounds = self._run
        self._lane(lanes[at]).foresee(rounds[at] * self._stream.spec.batch_size)

    def _would_wait(self) -> bool:
        """Whether a window that the next batch needs is still being opened."""
        if self._at < len(self._run[1]) or self._more_rounds():
            _, lanes, rounds = self._run
            size = self._stream.spec.batch_size
            first = rounds[self._at] * size
            return self._lane(lanes[self._at]).opening(first, first + size)
        self._look_ahead()
        pieces = self._upcoming[0][1] if self._upcoming else ()
        return any(self._lane(p.lane).opening(p.first, p.first + p.rows) for p in pieces)

    def _has_room(self) -> bool:
        ahead = self._planned_bytes - self._taken_bytes
        if ahead < self._ahead_bytes or not self._work:
            return True
        return len(self._work) < 2 and 2 * ahead <= self._most_bytes

    def _full_batch(self) -> Planned | None:
        """The next full batch; None after the last."""
        numbers, lanes, rounds = self._run
        at = self._at
        if at == len(lanes):
            if not self._more_rounds():
                return None
            numbers, lanes, rounds = self._run
            at = 0
        if at == 0:
            for soon in range(1, min(LOOK_AHEAD, len(lanes))):
                self._foresee(soon)
        self._at = at + 1
        size = self._stream.spec.batch_size
        if at + LOOK_AHEAD < len(lanes):
            self._foresee(at + LOOK_AHEAD)
        lane = lanes[at]
        place = self._lane(lane).place(self._rounds[lane])
        self._lays_out = place is not None
        if place is not None:
            block, index = place
            return Laid(numbers[at], lane, block, index), block.lengths[index]
        return self._one_by_one(numbers[at], [Piece(lane, rounds[at] * size, size)])

    def _more_rounds(self) -> bool:
        """Computes the lanes of some more full batches."""
        if not self._rest:
            return False
        numbers = self._rest[0]
        most = len(range(numbers.start, min(numbers.stop, self._plan.full_batches), numbers.step))
        if not most:
            return False
        lanes, rounds = self._plan.full(self._epoch, numbers.start, numbers.step, most)
        self._run = self._look_at(len(lanes)), lanes, rounds
        for lane, turn in zip(lanes, rounds, strict=True):
            self._rounds.setdefault(lane, deque()).append(turn)
        self._at = 0
        return True

    def _look_at(self, count: int) -> range:
        """Takes the next numbers, all of one run."""
        run = self._rest.popleft()
        if count < len(run):
            self._rest.appendleft(run[count:])
        self._next += count
        return run[:count]

    def _other_batch(self) -> Planned | None:
        """The next batch after the full ones."""
        self._look_ahead()
        return self._one_by_one(*self._upcoming.popleft()) if self._upcoming else None

    def _look_ahead(self) -> None:
        """Keeps a few batches after the full ones in view, so that the windows they need are being opened."""
        while len(self._upcoming) <= LOOK_AHEAD and self._rest:
            number = self._look_at(1)[0]
            pieces = self._plan.delivered(self._epoch, number, self._tail)
            self._upcoming.append((number, pieces))
            for p in pieces:
                self._lane(p.lane).foresee(p.first)

    def _one_by_one(self, number: int, pieces: list[Piece]) -> Planned:
        what = (number, self._epoch, self._stream.spec.batch_size)
        made = [self._filler.message(self._segments(p), p, what) for p in pieces]
        size = sum(m.data.nbytes for m in made)
        copied = sum(m.data.buffer.nbytes for m in made)
        if copied > self._largest:
            self._largest = copied
            self._filler.pool.keep_at_least(2 * copied)
        return (number, made), size

    def _lane(self, lane: int) -> LaneReader:
        reader = self._lanes.get(lane)
        if reader is None:
            order = self._stream.order.lane_epoch(lane, self._epoch)
            reader = self._lanes[lane] = LaneReader(self._filler, self._workers, order, self._stream.spec.batch_size)
        return reader

    def _segments(self, piece: Piece) -> list[Segment]:
        return self._lane(piece.lane).segments(piece.first, piece.rows)


class _Fill:
    """Fills the messages of some batches."""

    def __init__(self, filler: Filler, epoch: int, unit: list[Laid | tuple[int, list[Unfilled]]]) -> None:
        self._filler, self._epoch, self._unit = filler, epoch, unit
        self.copies = any(
            b.block.views is None if isinstance(b, Laid) else any(m.data.apart is None for m in b[1]) for b in unit
        )
        """Whether payload is copied; otherwise there is nothing to do."""

    def __call__(self) -> list[DeliveredBatch]:
        out: list[DeliveredBatch] = []
        laid: list[Laid] = []
        for batch in self._unit:
            if isinstance(batch, Laid):
                laid.append(batch)
                continue
            out += self._filler.fill_blocks(self._epoch, laid)
            laid = []
            number, made = batch
            out.append(DeliveredBatch(self._epoch, number, [self._filler.fill(m) for m in made]))
        return out + self._filler.fill_blocks(self._epoch, laid)
