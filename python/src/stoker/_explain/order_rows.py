"""Finds rows in the lanes of any epoch."""

from __future__ import annotations

from collections import OrderedDict

import numpy as np

from stoker._order.stream_order import I64, LaneEpoch, StreamOrder

_LANES = 256
"""Lanes of epochs that are kept."""
_WINDOWS = 4
"""Windows whose rows are kept: in one lane, the ranks of a step share a window."""


class OrderRows:
    """Knows where each row of a stream is in each epoch. Keeps what it computed last. Not safe for several threads."""

    def __init__(self, order: StreamOrder) -> None:
        self.order = order
        self._lanes: OrderedDict[tuple[int, int], LaneEpoch] = OrderedDict()
        self._windows: OrderedDict[tuple[int, int, int], tuple[I64, I64]] = OrderedDict()

    def rows(self, epoch: int, number: int, first: int, end: int) -> tuple[I64, I64]:
        """(chunk index in the stream, row in the chunk) of the rows [first, end) of a lane's epoch."""
        lane = self._lane(epoch, number)
        chunks, rows = [], []
        window = lane.window_of(first)
        while first < end:
            start, stop = lane.window_start(window), min(end, lane.window_ends[window])
            if stop > first:
                part = slice(first - start, stop - start)
                every, numbers = self._window(epoch, number, window)
                chunks.append(every[part])
                rows.append(numbers[part])
            first = max(first, stop)
            window += 1
        return np.concatenate(chunks), np.concatenate(rows)

    def place(self, epoch: int, chunk: int, row: int) -> tuple[int, int]:
        """(lane, row of the lane's epoch) of a live row, by its chunk's index in the stream."""
        number = int(self.order.lane_of[chunk])
        lane = self._lane(epoch, number)
        window = lane.window_of_chunk(chunk)
        chunks, rows = self._window(epoch, number, window)
        own = (rows == row) & (chunks == chunk)
        return number, lane.window_start(window) + int(np.flatnonzero(own)[0])

    def _lane(self, epoch: int, number: int) -> LaneEpoch:
        lane = self._lanes.get((epoch, number))
        if lane is None:
            lane = self._lanes[epoch, number] = self.order.lane_epoch(number, epoch)
            if len(self._lanes) > _LANES:
                self._lanes.popitem(last=False)
        return lane

    def _window(self, epoch: int, number: int, window: int) -> tuple[I64, I64]:
        """(chunk index in the stream, row in the chunk) of each row of a window."""
        found = self._windows.get((epoch, number, window))
        if found is None:
            lane = self._lane(epoch, number)
            places, rows = lane.window_rows(window)
            found = self._windows[epoch, number, window] = lane.window_chunks(window)[places], rows
            if len(self._windows) > _WINDOWS:
                self._windows.popitem(last=False)
        return found
