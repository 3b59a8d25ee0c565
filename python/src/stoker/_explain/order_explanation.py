"""Which samples a batch has, and which batch has a sample."""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._dataset.chunk import ChunkHead, ChunkReader
from stoker._dataset.sample_index import SampleIndex
from stoker._order.delivery import BatchPlan
from stoker._order.spec import Tail
from stoker._order.stream_order import LaneEpoch
from stoker._path.path_stream import PathStream

_HEADS = 64
"""Chunks whose keys are kept."""
_LANES = 256
"""Lanes of epochs that are kept."""


class BatchSample(NamedTuple):
    """A sample of a batch."""

    key: str
    chunk: int
    """Ordinal of its chunk."""
    row: int
    """Row in its chunk."""
    repeated: bool
    """Whether it is also delivered elsewhere in the epoch, and only fills the batch."""


class OrderExplanation:
    """Explains one stream. Not safe for several threads."""

    def __init__(self, stream: PathStream) -> None:
        self.stream = stream
        self.plan = BatchPlan(stream.spec, stream.order.lane_rows)
        self._reader = ChunkReader(stream.snapshot)
        self._index: SampleIndex | None = None
        self._lanes: OrderedDict[tuple[int, int], LaneEpoch] = OrderedDict()
        self._heads: OrderedDict[int, ChunkHead] = OrderedDict()

    def batch(self, epoch: int, number: int, tail: Tail) -> list[BatchSample]:
        """Returns the samples of a virtual batch number, in their order.

        Raises `ValueError` if the number delivers nothing under this tail policy.
        """
        samples, size = self.plan.samples, self.plan.spec.batch_size
        end = samples // size if tail == "drop" else self.plan.batches
        if number < 0 or not end or (tail != "pad" and number >= end):
            raise ValueError(f"batch {number}: an epoch has {end} batches with tail {tail!r}")
        found: list[BatchSample] = []
        for piece in self.plan.delivered(epoch, number, tail):
            chunks, rows = self._rows(epoch, piece.lane, piece.first, piece.first + piece.rows)
            ordinals = self.stream.order.chunks.ordinals[chunks]
            for chunk, ordinal, row in zip(chunks.tolist(), ordinals.tolist(), rows.tolist(), strict=True):
                found.append(BatchSample(self._key(chunk, row), ordinal, row, piece.repeated))
        return found

    def place(self, epoch: int, key: str) -> tuple[int, int] | None:
        """Returns (batch, index in the batch) of a sample in an epoch; None if the stream does not have it.

        Under tail "pad", the sample can be repeated elsewhere.
        """
        found = self._samples().find(key)
        if found is None:
            return None
        order = self.stream.order
        chunk = int(np.searchsorted(order.chunks.ordinals, found.ordinal))
        number = int(order.lane_of[chunk])
        lane = self._lane(epoch, number)
        window = lane.window_of_chunk(chunk)
        places, rows = lane.window_rows(window)
        own = (rows == found.row) & (lane.window_chunks(window)[places] == chunk)
        row = lane.window_start(window) + int(np.flatnonzero(own)[0])
        return self.plan.place_of(epoch, number, row)

    def _rows(self, epoch: int, number: int, first: int, end: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """(chunk index in the stream, row in the chunk) of the rows [first, end) of a lane's epoch."""
        lane = self._lane(epoch, number)
        chunks, rows = [], []
        window = lane.window_of(first)
        while first < end:
            start, stop = lane.window_start(window), min(end, lane.window_ends[window])
            if stop > first:
                places, numbers = lane.window_rows(window)
                part = slice(first - start, stop - start)
                chunks.append(lane.window_chunks(window)[places[part]])
                rows.append(numbers[part])
            first = max(first, stop)
            window += 1
        return np.concatenate(chunks), np.concatenate(rows)

    def _lane(self, epoch: int, number: int) -> LaneEpoch:
        lane = self._lanes.get((epoch, number))
        if lane is None:
            lane = self._lanes[epoch, number] = self.stream.order.lane_epoch(number, epoch)
            if len(self._lanes) > _LANES:
                self._lanes.popitem(last=False)
        return lane

    def _key(self, chunk: int, row: int) -> str:
        keys = self._head(int(self.stream.index[chunk])).small[0]
        assert keys.offsets is not None
        return keys.data[keys.offsets[row] : keys.offsets[row + 1]].tobytes().decode("utf-8", "replace")

    def _head(self, index: int) -> ChunkHead:
        """The head of a chunk by its index in the version. An update cannot change keys, so overlays are not read."""
        head = self._heads.get(index)
        if head is None:
            fd = self._reader.open_head(index)
            try:
                head = self._heads[index] = self._reader.stored_head(fd, index)
            finally:
                os.close(fd)
            if len(self._heads) > _HEADS:
                self._heads.popitem(last=False)
        return head

    def _samples(self) -> SampleIndex:
        if self._index is None:
            stream = self.stream
            live = stream.index[stream.order.chunks.live]
            self._index = SampleIndex(stream.snapshot, live, self._head)
        return self._index
