"""Batches straight from the chunk files of a dataset directory, without a server: the same bytes as from a feeder.

The trainer's thread plans (which rows, which places in a batch), two threads open windows, copy payload and check
it. Planned work is bounded in bytes; batches come out in order.
"""

from __future__ import annotations

import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from stoker._assemble import Assembler, Gather
from stoker._buffers import BufferPool
from stoker._chunk import ChunkReader
from stoker._dataset import Snapshot
from stoker._delivery import BatchPlan, Piece
from stoker._gather import OpenChunk, OpenWindow, gather
from stoker._message import MessageLayout, batch_columns
from stoker._order import LaneEpoch, StreamOrder, fingerprint
from stoker._rows import RowBlock, Segment
from stoker._source import Consumer, DeliveredBatch, PieceData, StreamInfo
from stoker._spec import OrderSpec, Tail
from stoker.errors import BatchTimeoutError, CorruptDataError

UNIT_BYTES = 1 << 20
"""Work handed to a thread at once: enough to hide the hand-over, little enough for a quick first batch."""
LOOK_AHEAD = 4
"""Batches looked at before they are planned."""


class PathStream:
    """A split of a snapshot under an order spec: everything that epochs share. Immutable; survives forks."""

    def __init__(self, snapshot: Snapshot, split: str, spec: OrderSpec) -> None:
        self.snapshot, self.split, self.spec = snapshot, split, spec
        self.index = snapshot.split_index(split)
        chunks = snapshot.stream(split)
        self.order = StreamOrder(spec, chunks)
        self.fingerprint = fingerprint(snapshot.info.id, snapshot.version, split, chunks, spec)
        plan = BatchPlan(spec, self.order.lane_rows)
        self.samples, self.batches = plan.samples, plan.batches

    def info(self, run: int) -> StreamInfo:
        """What a server would say in its WELCOME."""
        s = self.snapshot
        return StreamInfo(
            fingerprint=self.fingerprint,
            order=self.spec,
            fields=s.info.fields,
            classes=s.classes,
            lane_rows=self.order.lane_rows,
            samples=self.samples,
            batches=self.batches,
            dataset=s.info.id,
            dataset_name=s.info.name,
            version=s.version,
            split=self.split,
            stream=self.split,
            run=run,
        )


class _Job:
    """Something that a thread does, and what came of it."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._out: queue.SimpleQueue[tuple[Any, BaseException | None]] = queue.SimpleQueue()
        self.cancelled = False

    def run(self) -> None:
        if self.cancelled:
            return
        try:
            self._out.put((self._work(), None))
        except BaseException as e:
            self._out.put((None, e))

    def result(self, timeout_s: float) -> Any:
        value, error = self._out.get(timeout=timeout_s)
        if error is not None:
            raise error
        return value


def _serve(jobs: queue.SimpleQueue[_Job | None]) -> None:
    while (job := jobs.get()) is not None:
        job.run()
        del job


def _end(jobs: queue.SimpleQueue[_Job | None], threads: int) -> None:
    for _ in range(threads):
        jobs.put(None)


class _Unfilled(NamedTuple):
    """A message whose payload is still to come."""

    data: PieceData
    piece: Piece
    gathers: list[Gather]
    address: int
    what: tuple[int, int, int]


class PathSource:
    """A `BatchSource` over chunk files. One thread calls it."""

    def __init__(
        self,
        stream: PathStream,
        *,
        on_corrupt: str = "fail",
        ahead_bytes: int = 32 << 20,
        threads: int = 2,
        timeout_s: float = 300.0,
        pool: BufferPool | None = None,
    ) -> None:
        self._stream, self._on_corrupt = stream, on_corrupt
        self._ahead_bytes, self._timeout_s = ahead_bytes, timeout_s
        self._reader = ChunkReader(stream.snapshot)
        self._columns = batch_columns(stream.snapshot.info.fields)
        self._layout = MessageLayout(self._columns)
        self._pool = pool if pool is not None else BufferPool(max(4 * ahead_bytes, 64 << 20))
        self._assembler = Assembler(self._layout, self._pool)
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._threads = threads
        self._started = False
        self._finalizer: Any = None
        self._running: _EpochReader | None = None
        self._next: tuple[tuple[Any, ...], _EpochReader] | None = None
        self._waited = {"wait_window_s": 0.0, "wait_read_s": 0.0}

    def open(self, consumer: Consumer) -> StreamInfo:
        """See `BatchSource`."""
        return self._stream.info(consumer.run)

    def epoch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> Iterator[DeliveredBatch]:
        """See `BatchSource`."""
        wanted = (epoch, first, stride, count, tail)
        prepared, self._next = self._next, None
        if self._running is not None:
            self._running.cancel()
        if prepared is not None and prepared[0] == wanted:
            reader = prepared[1]
        else:
            if prepared is not None:
                prepared[1].cancel()
            reader = _EpochReader(self, *wanted)
        self._running = reader
        return reader

    def prefetch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> None:
        """See `BatchSource`."""
        if self._next is not None:
            self._next[1].cancel()
        self._next = ((epoch, first, stride, count, tail), _EpochReader(self, epoch, first, stride, count, tail))

    def prepare_next(self) -> None:
        """Plans the first batches of the prefetched epoch, once the running one is all planned."""
        if self._next is not None:
            self._next[1].plan()

    def ack(self, epoch: int, number: int) -> None:
        """See `BatchSource`; there is nobody to tell."""

    def stats(self) -> Mapping[str, float]:
        """See `BatchSource`."""
        return dict(self._waited)

    def close(self) -> None:
        """See `BatchSource`."""
        for reader in (self._running, self._next[1] if self._next else None):
            if reader is not None:
                reader.cancel()
        self._running = self._next = None
        if self._finalizer is not None:
            self._finalizer()
        self._started = False

    def submit(self, work: Callable[[], Any]) -> _Job:
        """Gives work to the threads."""
        if not self._started:
            self._started = True
            self._jobs = queue.SimpleQueue()
            for n in range(self._threads):
                threading.Thread(target=_serve, args=(self._jobs,), name=f"stoker-read-{n}", daemon=True).start()
            self._finalizer = weakref.finalize(self, _end, self._jobs, self._threads)
            self._finalizer.atexit = False
        job = _Job(work)
        self._jobs.put(job)
        return job

    def wait(self, job: _Job, cause: str, what: str) -> Any:
        """A job's result; counts the time waited, and gives up after the time-out."""
        start = time.perf_counter()
        try:
            return job.result(self._timeout_s)
        except queue.Empty:
            root = self._stream.snapshot.root
            raise BatchTimeoutError(
                f"{what} of {root} not read within {self._timeout_s:g} s; is its storage reachable?"
            ) from None
        finally:
            self._waited[cause] += time.perf_counter() - start

    # What follows runs in the threads too.

    def _open_chunk(self, index: int, fetch: bool | None) -> OpenChunk | None:
        """Reads a head; None if it is damaged and damaged data are left out."""
        try:
            return OpenChunk(self._reader, index, fetch)
        except CorruptDataError:
            if self._on_corrupt == "fail":
                raise
            return None

    def open_window(self, lane_epoch: LaneEpoch, w: int) -> OpenWindow:
        """Opens the chunks of a window and puts its rows in order."""
        members = self._stream.index[lane_epoch.window_chunks(w)].tolist()
        chunks: list[OpenChunk | None] = []
        fetch = None  # what holds for the first chunk is taken to hold for the window
        for index in members:
            chunk = self._open_chunk(index, fetch)
            chunks.append(chunk)
            fetch = chunk.fetch if chunk is not None else fetch
        places, rows = lane_epoch.window_rows(w)
        block = RowBlock(self._columns, [c.head if c is not None else None for c in chunks], places, rows)
        return OpenWindow(self._reader, members, chunks, block)

    def message(self, segments: list[Segment], piece: Piece, what: tuple[int, int, int]) -> _Unfilled:
        """A message but for its payload, and what is still to be copied into it."""
        made = self._assembler.assemble(segments, what)
        data = PieceData(piece.lane, made.rows, piece.repeated, piece.rows - made.rows, made.buffer)
        return _Unfilled(data, piece, made.gathers, made.address, what)

    def fill(self, message: _Unfilled) -> PieceData:
        """Copies and checks the payload of a message; makes it anew without damaged rows if that is allowed."""
        data, piece, gathers, address, what = message
        buffer = data.buffer
        bad: dict[Segment, set[int]] = {}
        for work in gathers:
            if gather(work, buffer, address):
                continue
            at = work.at
            ends = work.segment.block.payload[work.column].ends
            for row in range(work.segment.start, work.segment.end):
                problem = work.segment.window.reread(work.column, row, buffer, at)
                if problem is not None:
                    if self._on_corrupt == "fail":
                        raise CorruptDataError(f"{problem}; run: stoker verify {self._stream.snapshot.root}")
                    bad.setdefault(work.segment, set()).add(row)
                at += int(ends[row + 1] - ends[row])
        if not bad:
            return data
        kept = []
        for segment in dict.fromkeys(work.segment for work in gathers):
            rows = [r for r in range(segment.start, segment.end) if r not in bad.get(segment, ())]
            kept += [Segment(segment.window, r, r + 1) for r in rows]
        return self.fill(self.message(kept, piece, what))


class _EpochReader:
    """The batches of one consumer in one epoch, in order."""

    def __init__(self, source: PathSource, epoch: int, first: int, stride: int, count: int, tail: Tail) -> None:
        self._source = weakref.proxy(source)
        self._stream = source._stream
        self._plan = BatchPlan(self._stream.spec, self._stream.order.lane_rows)
        self._epoch, self._tail = epoch, tail
        self._numbers = iter(range(first, first + stride * count, stride))
        self._upcoming: deque[tuple[int, list[Piece]]] = deque()
        self._lanes: dict[int, _LaneReader] = {}
        self._work: deque[tuple[_Job, int]] = deque()
        self._ahead = 0
        self._ready: deque[DeliveredBatch] = deque()
        self._exhausted = self._stopped = False

    def __iter__(self) -> _EpochReader:
        return self

    def __next__(self) -> DeliveredBatch:
        if not self._ready:
            self.plan()
            if not self._work:
                raise StopIteration
            job, size = self._work.popleft()
            self._ahead -= size
            self._ready.extend(self._source.wait(job, "wait_read_s", f"epoch {self._epoch}"))
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
        source = self._source
        while not self._stopped and not self._exhausted and (self._ahead < source._ahead_bytes or len(self._work) < 2):
            unit: list[tuple[int, list[_Unfilled]]] = []
            size = 0
            limit = UNIT_BYTES if self._work else 1
            while size < limit and len(unit) < 64:
                self._look_ahead()
                if not self._upcoming:
                    self._exhausted = True
                    break
                number, pieces = self._upcoming.popleft()
                what = (number, self._epoch, self._stream.spec.batch_size)
                made = [source.message(self._segments(p), p, what) for p in pieces]
                unit.append((number, made))
                size += sum(m.data.buffer.nbytes for m in made)
            if unit:
                self._work.append((source.submit(_Fill(source.fill, self._epoch, unit)), size))
                self._ahead += size
        if self._exhausted and source._running is self:
            source.prepare_next()

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
            reader = self._lanes[lane] = _LaneReader(self._source, order)
        return reader

    def _segments(self, piece: Piece) -> list[Segment]:
        return self._lane(piece.lane).segments(piece.first, piece.rows)


class _Fill:
    """Fills the messages of some batches."""

    def __init__(self, fill: Callable[..., PieceData], epoch: int, unit: list[tuple[int, list[_Unfilled]]]) -> None:
        self._fill, self._epoch, self._unit = fill, epoch, unit

    def __call__(self) -> list[DeliveredBatch]:
        return [DeliveredBatch(self._epoch, number, [self._fill(m) for m in made]) for number, made in self._unit]


class _LaneReader:
    """The open window of a lane, and those that are being opened."""

    def __init__(self, source: Any, lane_epoch: LaneEpoch) -> None:
        self._source, self._order = source, lane_epoch
        self._number = -1
        self._from = self._until = 0  # rows of the open window
        self._window: OpenWindow | None = None
        self._opening: dict[int, _Job] = {}

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
            source, order = self._source, self._order
            self._opening[w] = source.submit(lambda: source.open_window(order, w))

    def _open(self, w: int) -> OpenWindow:
        if self._window is None or w != self._number:
            self._begin(w)
            self._window = None  # before the next one is waited for: its memory is free for it
            self._window = self._source.wait(self._opening.pop(w), "wait_window_s", f"window {w} of a lane")
            self._number = w
            self._from, self._until = self._order.window_start(w), self._order.window_ends[w]
            for passed in [o for o in self._opening if o < w]:
                self._opening.pop(passed).cancelled = True
        assert self._window is not None
        return self._window
