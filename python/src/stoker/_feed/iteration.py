"""One pass over (the rest of) an epoch, or over a part of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

from stoker._batch.batch import Batch
from stoker._feed.reading import Reading, Span
from stoker._format.plural import plural
from stoker._memory.buffers import BufferPool
from stoker._order.delivery import Share
from stoker._order.skip import Skipped
from stoker._source.batch_source import BatchSource, DeliveredBatch, PieceData, StreamInfo
from stoker._source.position import Start, state_of, worker_of
from stoker.errors import FencedError, StokerError

_DECODE_AHEAD = 2


class _Taken(NamedTuple):
    batch: Batch
    step: int
    numbers: list[int]
    """Acknowledged once the batch is consumed."""


class Iteration(Iterator[Batch]):
    """Hands out the batches of one worker of one rank. Begins with the first `next`, and again after a new position.

    After an error or an interrupt within `next`, the next call reads again from the batch that was not handed out. A
    transient error thus loses nothing, and a permanent one is raised again. The iterator reports the end of the epoch
    only when it has handed out every batch. `_start` and `_handed` record the position. They change only where no
    interrupt can come between them and the batch: Python checks for signals after calls, at the beginning of functions
    and in loops.
    """

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._serial = -1
        self._ended = False
        self.running = False
        self.steps = 0
        """Batches that the rank takes in this iteration."""
        self._setting = reading.progress.shared.setting()
        self._start = Start(0)
        self._share: Share
        self._info: StreamInfo
        self._handed = 0
        """Batches that this worker has handed out from `_start` on."""
        self._broken = False
        """Whether the source must be read again from there."""
        self._taken = self._left = 0
        """Batches that this worker has received from `_start` on, and those that it has not."""
        self._batches: Iterator[DeliveredBatch] = iter(())
        self._is_reading = False
        """Whether `_batches` come from the source, which may have read beyond this iteration."""
        self._decoded: deque[_Taken] = deque()
        self._late: Exception | None = None
        """What ended the batches of the source, behind those that are being decoded."""
        self._source: BatchSource | None = None
        self._unacked: tuple[int, list[int]] = (0, [])

    @property
    def start(self) -> Start:
        """Where it began."""
        return self._start

    @property
    def remaining(self) -> int:
        """Batches that the rank has not taken; of a loader worker, those that this worker has not taken."""
        worker, workers, _ = worker_of() or (0, 1, 0)
        return len(range(worker + self._handed * workers, self.steps, workers))

    def _begin(self) -> None:
        """Takes a new position, if there is one, and opens the source there."""
        progress = self._reading.progress
        serial = progress.serial
        if self._serial != serial:
            start, share = progress.begin(self._setting)
            steps = share.steps
            self._start, self._handed, self._share, self.steps = start, start.taken, share, steps
            self._broken = self.running = True
            self._serial = serial
            if not steps:
                self._reading.explain_no_steps(start)
        progress.go_beyond(self._start)
        self._open()
        self._broken = False

    def _open(self) -> None:
        reading, share = self._reading, self._share
        start = self._at()
        epochs = reading.epochs
        if self.steps or epochs is None or start.epoch < epochs:
            self._source, self._info = reading.ready(start)
            if self._info.follows:  # the version that was seen before may not be the one that was chosen
                share = self._share = reading.share(start)
                self.steps = share.steps
        else:
            self._info = reading.info
        worker = worker_of()
        self._worker, self._workers, _ = worker or (0, 1, 0)
        if self._workers > 1 and share.concat > 1:
            raise ValueError(
                f"concat={share.concat} cannot be divided among {self._workers} DataLoader workers: use num_workers=0 "
                "or 1 (the feed reads ahead automatically)"
            )
        self._decoded.clear()
        self._late = None
        self._batches, self._is_reading = iter(()), False
        self._taken = self._handed
        self._left = len(range(self._worker + self._taken * self._workers, self.steps, self._workers))
        kept, reading.kept = reading.kept, None
        if self._source is None:
            return
        if not self._left:
            first, stride, rest = replace(share, limit=None).worker(self._worker, self._workers, start.taken)
            if not rest:
                self._source.finish_empty(start.epoch, first, stride, share.tail)
            return
        # In the feed's own process the source reads beyond a part of an epoch, for the iteration that follows.
        span = self._span(start, share if worker else replace(share, limit=None))
        if kept is not None and kept[0] == span:
            self._batches, self._is_reading = kept[1], True
            return
        self._batches, self._is_reading = self._source.epoch(*span), True
        if self._info.follows:
            return  # what the next epoch is of is known when it is begun
        following = reading.progress.after(self._start) if worker else Start(start.epoch + 1)
        coming = reading.share(following)
        ahead = self._span(following, coming if worker else replace(coming, limit=None))
        if ahead[3]:
            self._source.prefetch(*ahead)

    def _at(self) -> Start:
        """The position of the first batch that was not handed out."""
        read = self._handed > self._start.taken and self._info.follows
        version = self._info.version if read else self._start.version
        return replace(self._start, taken=self._handed, version=version)

    def _span(self, start: Start, share: Share) -> Span:
        return start.epoch, *share.worker(self._worker, self._workers, start.taken), share.tail

    def __next__(self) -> Batch:
        reading = self._reading
        if self._serial < 0 and not (self._ended or reading.closed or reading.iteration is self):
            self._take_over()
        if self._ended or reading.closed or reading.iteration is not self:
            if not self.running and self._serial >= 0:
                raise StopIteration
            raise StokerError("another iteration of this feed has begun, or the feed is closed")
        try:
            if not reading.is_ours:
                self._leave_to_parent()
            began = reading.client_stats.begin()
            try:
                self._ack()
                if self._broken or self._serial != reading.progress.serial:
                    self._begin()
                taken = self._take()
            finally:
                reading.client_stats.end(began)
            if taken is None:
                self._finish()
                raise StopIteration
            batch = taken.batch
            reading.client_stats.count(batch)
            if reading.missing_classes is not None:
                reading.missing_classes.look(batch)
            unacked = batch.epoch, taken.numbers
            last = self._info, self._share, self._start.epoch, taken.step
        except StopIteration:
            raise
        except BaseException:
            self._fail()
            raise
        # Nothing from here on makes a call, so that no interrupt comes between: the batch is handed out, or it is not.
        self._unacked = unacked
        self._handed += 1
        reading.progress.last = last
        return batch

    def _take_over(self) -> None:
        """Ends the iteration before. An iterator that was never asked for a batch changes nothing."""
        reading = self._reading
        reading.own()
        before = reading.iteration
        if isinstance(before, Iteration):
            before.end()
        reading.iteration = self

    def _leave_to_parent(self) -> None:
        """In a forked process: drops the parent's source and reads again from the batch that was not handed out."""
        self._broken = True
        self._unacked = (0, [])
        self._source, self._batches = None, iter(())
        self._reading.own()
        self._reading.iteration = self

    def _fail(self) -> None:
        """Notes that a batch was not handed out. The next `next` gets it, also in a new iteration."""
        progress = self._reading.progress
        if self._serial == progress.serial:
            self._broken = True
            progress.go_back(self._at())
        progress.failed(self._setting)

    def _finish(self) -> None:
        """All was handed out; what the source has begun of the epoch's rest is kept."""
        ended, self.running = not self.running, False
        self._reading.progress.recovered(self._setting)
        reading, share = self._reading, self._share
        if not ended and self._is_reading and share.limit is not None and worker_of() is None:
            following = reading.progress.after(Start(self._start.epoch, share.start))
            if following.epoch == self._start.epoch:
                reading.kept = self._span(following, replace(reading.share(following), limit=None)), self._batches

    def _take(self) -> _Taken | None:
        """The next batch; None after the last."""
        decoding = self._reading.decoding
        if decoding is None:
            return self._receive()
        while self._late is None and len(self._decoded) <= _DECODE_AHEAD:
            try:
                taken = self._receive()
            except FencedError:
                raise
            except Exception as e:
                self._late = e  # what has arrived before is still handed out
                break
            if taken is None:
                break
            taken.batch._decoded = decoding.begin(taken.batch)
            self._decoded.append(taken)
        if not self._decoded:
            if self._late is not None:
                raise self._late
            return None
        taken = self._decoded.popleft()
        for name in taken.batch._decoded or ():
            taken.batch[name]  # waits; errors belong here, and to the time waited
        return taken

    def _receive(self) -> _Taken | None:
        if not self._left:
            return None
        reading, share = self._reading, self._share
        parts = list(islice(self._batches, share.concat))
        if not parts:
            raise StokerError(f"epoch {self._start.epoch}: the source ended {plural(self._left, 'batch')} early")
        delivered = parts[0]
        numbers = [part.number for part in parts]
        if share.concat > 1:
            delivered = join(parts, share.concat if share.tail == "pad" else len(parts))
        step = self._worker + self._taken * self._workers
        self._taken += 1
        self._left -= 1
        state = partial(_state, self._info, share, self._start.epoch, step, reading.options.skip)
        batch = Batch(reading.form, delivered, state)
        return _Taken(batch, step, numbers)

    def _ack(self) -> None:
        epoch, numbers = self._unacked
        if self._source is not None:
            for number in numbers:
                self._source.ack(epoch, number)
        self._unacked = (0, [])

    def end(self) -> None:
        """The trainer is done with it: what it was given is consumed."""
        self._ack()
        self._ended = True
        self._decoded.clear()
        self._late = None


class Epochs(Iterator[Batch]):
    """See `Feed.batches`. Not a generator, since an error would end it; here `next` can be called again after one."""

    def __init__(self, begin: Callable[[], Iterator[Batch]], reading: Reading) -> None:
        """`begin` begins the next iteration of the feed."""
        self._begin, self._reading = begin, reading
        self._current: Iterator[Batch] | None = None
        self._empty = 0
        """Iterations in a row without a batch."""

    def __next__(self) -> Batch:
        while self._current is not None or not self._is_over():
            if self._current is None:
                current = self._begin()
                self._current = current
                self._empty += 1
            for batch in self._current:
                self._empty = 0
                return batch
            self._current = None
        self._reading.require_steps()
        raise StopIteration

    def _is_over(self) -> bool:
        """Whether no epoch follows. A rank without a batch in the epochs that a feed has goes through all of them."""
        if not self._empty:
            return False
        epochs = self._reading.epochs
        if epochs is None:
            # The first may be the end of an epoch, where a state stood; others can be skipped.
            return self._empty > 1 + self._reading.progress.skipping
        return self._reading.progress.following.epoch >= epochs


def join(parts: list[DeliveredBatch], count: int) -> DeliveredBatch:
    """One batch of several; the first ones once more, as repeated, where there are fewer than `count`."""
    pieces = [piece for part in parts for piece in part.pieces]
    for missing in range(count - len(parts)):
        pieces += [_again(piece) for piece in parts[missing % len(parts)].pieces]
    return DeliveredBatch(parts[0].epoch, parts[0].number, pieces)


def _again(piece: PieceData) -> PieceData:
    """A copy of a piece, as repeated: the trainer may write to both."""
    message = piece.buffer if piece.apart is None else piece.apart.copied(piece.buffer)
    buffer = BufferPool().take(len(message))
    buffer[:] = message
    return replace(piece, repeated=True, buffer=buffer, apart=None)


def _state(info: StreamInfo, share: Share, epoch: int, step: int, skipped: Skipped) -> dict[str, Any]:
    return state_of(info, *share.after(epoch, step), skipped)
