"""The windows of one lane in one epoch: opened ahead, and cut into batches or blocks of batches."""

from __future__ import annotations

from collections import deque

from stoker._memory.workers import Job, Workers
from stoker._order.stream_order import LaneEpoch
from stoker._path.batch_blocks import BatchBlock
from stoker._path.filling import Filler
from stoker._path.gather import OpenWindow
from stoker._path.rows import Segment

_FIRST_BLOCK = 16
"""Batches of a lane's first block in an epoch; the next ones are longer."""


class LaneReader:
    """The open window of a lane, and those that are being opened."""

    def __init__(self, filler: Filler, workers: Workers, lane_epoch: LaneEpoch, batch_size: int) -> None:
        self._batch_size = batch_size
        self._block: BatchBlock | None = None
        self._index = 0
        """The index of the block's next batch."""
        self._length = _FIRST_BLOCK
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

    def opening(self, first: int, end: int) -> bool:
        """Whether a window of these rows is still being opened; begins to open those that are not."""
        if self._block is not None or (self._from <= first and end <= self._until):
            return False
        order = self._order
        windows = range(order.window_of(first), order.window_of(max(first, end - 1)) + 1)
        for w in windows:
            self._begin(w)
        return any(w in self._opening and not self._opening[w].done for w in windows)

    def place(self, rounds: deque[int]) -> tuple[BatchBlock, int] | None:
        """The place in a block of the full batch that comes next, in the first of the rounds; None if it has none.

        Takes the rounds away that it has laid out.
        """
        if self._block is None:
            self._block, self._index = self._lay_out(rounds), 0
            if self._block is None:
                rounds.popleft()
                return None
        block, index = self._block, self._index
        self._index += 1
        if self._index == len(block.lengths):
            self._block = None
        return block, index

    def _lay_out(self, rounds: deque[int]) -> BatchBlock | None:
        size = self._batch_size
        if rounds[0] * size >= self._until:
            self._open(self._order.window_of(rounds[0] * size))
        window = self._window
        whole = self._until // size  # rounds below it end in the window
        if window is None or not self._from <= rounds[0] * size < whole * size:
            return None
        apart = self._filler.stays_apart(window)
        most = min(self._length, window.longest[apart])
        if not most:
            return None
        firsts: list[int] = []
        while rounds and rounds[0] < whole and len(firsts) < most:
            firsts.append(rounds.popleft() * size - self._from)
        self._length *= 2
        if rounds and rounds[0] * size >= self._until:
            self.foresee(rounds[0] * size)
        else:
            self._foresee_next(firsts[-1] + size)
        return self._filler.block(window, firsts, apart)

    def _foresee_next(self, planned: int) -> None:
        if 2 * planned > self._until - self._from:  # half of the window is planned
            self._begin(self._number + 1)

    def segments(self, first: int, rows: int) -> list[Segment]:
        """The rows [first, first + rows) of the lane's epoch."""
        end = first + rows
        window = self._window
        if window is not None and self._from <= first and end <= self._until:
            self._foresee_next(end - self._from)
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
            self._opening[w] = self._workers.submit(lambda: filler.open_window(order, w), later=True)

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
