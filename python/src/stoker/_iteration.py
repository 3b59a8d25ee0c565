"""One pass over (the rest of) an epoch, or over a part of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from stoker._batch import Batch
from stoker._delivery import Share
from stoker._position import Start, state_of, worker_of
from stoker._source import BatchSource, DeliveredBatch
from stoker._spec import Tail
from stoker.errors import StokerError

if TYPE_CHECKING:
    from stoker._feed import Feed

_DECODE_AHEAD = 2
Span = tuple[int, int, int, int, Tail]
"""Epoch, first number, stride, count, tail."""


class _Taken(NamedTuple):
    batch: Batch
    step: int
    numbers: list[int]
    """To be acknowledged once it is consumed."""


class Iteration(Iterator[Batch]):
    """Hands out the batches of one worker of one rank; begins with the first `next`, goes on after a new position."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._serial = -1
        self._ended = False
        self.running = False
        self.steps = 0
        """Batches that the rank takes in this iteration."""
        self._left = 0
        """Those of them that this worker has not received."""
        self._batches: Iterator[DeliveredBatch] = iter(())
        self._decoded: deque[_Taken] = deque()
        self._source: BatchSource | None = None
        self._unacked: tuple[int, list[int]] = (0, [])

    def _begin(self) -> None:
        feed = self._feed
        self._serial = feed._progress.serial
        start, self._share = feed._progress.begin()
        self._epoch = start.epoch
        self.steps = self._share.steps
        self._info = feed.info
        if self.steps:
            self._source, self._info = feed._ready(start)
            if self._info.follows:  # the version that was seen before may not be the one that was chosen
                self._share = feed._share(start)
                self.steps = self._share.steps
        worker = worker_of()
        self._worker, self._workers, _ = worker or (0, 1, 0)
        if self._workers > 1 and self._share.concat > 1:
            raise ValueError(
                f"concat={self._share.concat} cannot be divided among {self._workers} DataLoader workers: use "
                "num_workers=0 or 1 (the feed reads ahead by itself)"
            )
        self._taken = start.taken
        self._left = len(range(self._worker + start.taken * self._workers, self.steps, self._workers))
        self._decoded.clear()
        self._batches = iter(())
        self.running = True
        kept, feed._kept = feed._kept, None
        if not self._left or self._source is None:
            return
        # In the feed's own process the source goes on behind a part of an epoch, for the iteration that follows.
        span = self._span(start, self._share if worker else replace(self._share, limit=None))
        if kept is not None and kept[0] == span:
            self._batches = kept[1]
            return
        self._batches = self._source.epoch(*span)
        if self._info.follows:
            return  # what the next epoch is of is known when it is begun
        following = feed._progress.after(start) if worker else Start(start.epoch + 1)
        coming = feed._share(following)
        ahead = self._span(following, coming if worker else replace(coming, limit=None))
        if ahead[3]:
            self._source.prefetch(*ahead)

    def _span(self, start: Start, share: Share) -> Span:
        return start.epoch, *share.worker(self._worker, self._workers, start.taken), share.tail

    def __next__(self) -> Batch:
        feed = self._feed
        if self._ended or feed._iteration is not self:
            if not self.running and self._serial >= 0:
                raise StopIteration
            raise StokerError("another iteration of this feed has begun, or the feed is closed")
        began = feed._tally.begin()
        self._ack()
        if self._serial != feed._progress.serial:
            self._begin()
        elif not self.running:
            raise StopIteration
        try:
            taken = self._take()
        except StopIteration:
            self._finish()
            raise
        finally:
            feed._tally.end(began)
        self._unacked = (taken.batch.epoch, taken.numbers)
        feed._progress.last = (self._info, self._share, self._epoch, taken.step)
        feed._tally.count(taken.batch)
        return taken.batch

    def _finish(self) -> None:
        """All was handed out; what the source has begun of the epoch's rest is kept."""
        self.running = False
        feed, share = self._feed, self._share
        if share.limit is not None and self.steps and worker_of() is None:
            following = feed._progress.after(Start(self._epoch, share.start))
            if following.epoch == self._epoch:
                feed._kept = self._span(following, replace(feed._share(following), limit=None)), self._batches

    def _take(self) -> _Taken:
        decoding = self._feed._decoding
        if decoding is None:
            return self._receive()
        while len(self._decoded) <= _DECODE_AHEAD:
            try:
                taken = self._receive()
            except StopIteration:
                break
            taken.batch._decoded = decoding.begin(taken.batch)
            self._decoded.append(taken)
        if not self._decoded:
            raise StopIteration
        taken = self._decoded.popleft()
        for name in taken.batch._decoded or ():
            taken.batch[name]  # waits; errors belong here, and to the time waited
        return taken

    def _receive(self) -> _Taken:
        if not self._left:
            raise StopIteration
        delivered = next(self._batches)
        feed, share = self._feed, self._share
        numbers = [delivered.number]
        if share.concat > 1:
            parts = [delivered, *islice(self._batches, share.concat - 1)]
            numbers = [part.number for part in parts]
            delivered = join(parts, share.concat if share.tail == "pad" else len(parts))
        step = self._worker + self._taken * self._workers
        self._taken += 1
        self._left -= 1
        batch = Batch(feed._form, delivered, partial(_state, self._info, share, self._epoch, step))
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


def join(parts: list[DeliveredBatch], count: int) -> DeliveredBatch:
    """One batch of several; the first ones once more, as repeated, where there are fewer than `count`."""
    pieces = [piece for part in parts for piece in part.pieces]
    for missing in range(count - len(parts)):
        pieces += [replace(piece, repeated=True) for piece in parts[missing % len(parts)].pieces]
    return DeliveredBatch(parts[0].epoch, parts[0].number, pieces)


def _state(info: Any, share: Any, epoch: int, step: int) -> dict[str, Any]:
    return state_of(info, *share.after(epoch, step))
