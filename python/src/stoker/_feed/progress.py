"""How far a feed has come: where its iterations begin, and which batch was the last."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from stoker._order.delivery import Share
from stoker._order.skip import NOTHING, Skipped
from stoker._source.batch_source import StreamInfo
from stoker._source.position import MOST_EPOCH, Start, state_of, worker_of
from stoker._source.shared_epochs import SharedEpochs
from stoker.errors import StokerError


class Progress:
    """The position of one feed in one process, in agreement with the worker processes of a DataLoader. One thread."""

    def __init__(self, share: Callable[[Start], Share], shared: SharedEpochs, skipped: Skipped = ()) -> None:
        """`share` says what the rank takes of an iteration that begins at a position, without what is `skipped`."""
        self.next = Start(0)
        """Where the next iteration of this process begins."""
        self.origin = Start(0)
        """Where this feed was told to begin last; steps of that epoch are counted from there."""
        self._shared = shared
        self._shared_by = os.getpid()
        self.serial = 0
        """Counts what moves the position under a running iteration."""
        self.last: tuple[StreamInfo, Share, int, int] | None = None
        """Stream, share, epoch and step of the last batch handed out."""
        self._share = share
        self.skipped = skipped
        self._skipping = frozenset(epoch for epoch, _, _ in skipped)
        self._loaded_in_worker: Start | None = None
        self._failed = False
        """Whether this worker has failed in its pass."""

    @property
    def shared(self) -> SharedEpochs:
        """The position of this process and its loader workers. A forked process that is no worker gets its own."""
        if self._shared_by != os.getpid() and worker_of() is None:
            self._shared_by = os.getpid()
            by_workers, start = self._shared.read()
            self._shared = SharedEpochs()
            self._shared.set(start if by_workers else self.next)
        return self._shared

    @property
    def skipping(self) -> int:
        """Number of epochs of which batches are left out."""
        return len(self._skipping)

    @property
    def following(self) -> Start:
        """Where the next iteration begins, to this process's knowledge."""
        by_workers, start = self.shared.read()
        return start if by_workers and worker_of() is None else self.next

    def after(self, start: Start) -> Start:
        """Where the iteration after the one that begins there begins."""
        share = self._share(start)
        if share.limit is None:
            return Start(start.epoch + 1)
        return Start(*share.after(start.epoch, share.limit - 1))  # the same on every rank, whatever its steps

    def begin(self, setting: int) -> tuple[Start, Share]:
        """Takes the position for an iteration that begins now; `go_beyond` says that it has begun.

        `setting`: what `SharedEpochs.setting` said when the iteration was made.
        """
        worker = worker_of()
        if worker is None:
            start = self.next
        elif self._loaded_in_worker is not None:
            start, self._loaded_in_worker = self._loaded_in_worker, None
            self.shared.adopt(worker[2], start, self.after)
        else:
            start = self.shared.begin(worker[2], self.after, setting)
        return start, self._share(start)

    def go_beyond(self, start: Start) -> None:
        """An iteration has begun there: the next one follows it."""
        self.next = self.after(start)

    def go_back(self, start: Start) -> None:
        """An iteration has failed there: the next one begins with the batch that was not handed out."""
        self.next = start

    def failed(self, setting: int) -> None:
        """An iteration has failed. Tells it to the other passes of a DataLoader, if this is one of its workers.

        `setting`: as for `begin`.
        """
        if worker_of() is not None and not self._failed:
            self.shared.count_failure(1, setting)
            self._failed = True

    def recovered(self, setting: int) -> None:
        """This worker has handed out its whole share, maybe after a failure."""
        if self._failed:
            self.shared.count_failure(-1, setting)
            self._failed = False

    def set_epoch(self, epoch: int, epoch_batches: int | None) -> None:
        """See `Feed.set_epoch`."""
        try:
            epoch = operator.index(epoch)
        except TypeError:
            raise TypeError(f"the epoch must be a whole number, not {epoch!r}") from None
        if not 0 <= epoch <= MOST_EPOCH:
            raise ValueError(f"epoch {epoch} is not from 0 to {MOST_EPOCH}")
        now, first, within = self.following, 0, True
        if epoch_batches is not None:
            epoch, index = self._part(epoch)
            share = self._share(Start(epoch if epoch in self._skipping else 0))
            skip = share.skip if epoch in self._skipping else NOTHING
            part = epoch_batches * share.width
            first = skip.number(index * part)
            within = skip.slot(now.batch) // part == index
        if now.epoch != epoch or not within or self.shared.has_failed():
            self._move(Start(epoch, first))

    def _part(self, number: int) -> tuple[int, int]:
        """(epoch, part of the epoch) of a part; epochs of which batches are left out can have fewer parts."""
        whole = replace(self._share(Start(0)), start=0, skip=NOTHING).parts
        epoch = 0
        for skipping in sorted(self._skipping):
            if number < (skipping - epoch) * whole:
                break
            number -= (skipping - epoch) * whole
            parts = self._share(Start(skipping)).parts
            if number < parts:
                return skipping, number
            number -= parts
            epoch = skipping + 1
        return epoch + number // whole, number % whole

    def go_to(self, start: Start) -> None:
        """A loaded position, also for an iteration that has begun."""
        self._move(start)
        self.serial += 1

    def _move(self, start: Start) -> None:
        self.next = self.origin = start
        self.last = None
        if worker_of() is None:
            self.shared.set(start)
        else:
            self._loaded_in_worker = start

    def state(self, info: Callable[[], StreamInfo]) -> dict[str, Any]:
        """See `Feed.state_dict`; `info` may have to connect."""
        worker = worker_of()
        if worker is None and self.shared.read()[0]:
            raise StokerError("DataLoader workers read this feed: take the state of the last batch (batch.state)")
        if self.last is None:
            return state_of(info(), self.next.epoch, self.next.batch, self.skipped)
        read, share, epoch, step = self.last
        state = state_of(read, *share.after(epoch, step), self.skipped)
        if worker is not None:
            state |= {"worker": list(worker[:2]), "start": [epoch, share.start], "taken": step // worker[1] + 1}
        return state
