"""Which samples a batch has, and which batch has a sample."""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import NamedTuple

import numpy as np

from stoker._dataset.chunk import ChunkHead, ChunkReader
from stoker._dataset.sample_index import SampleIndex
from stoker._explain.order_rows import OrderRows
from stoker._order.delivery import BatchPlan
from stoker._order.spec import Tail
from stoker._path.path_stream import PathStream

_HEADS = 64
"""Chunks whose keys are kept."""


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
        self._rows = OrderRows(stream.order)
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
            chunks, rows = self._rows.rows(epoch, piece.lane, piece.first, piece.first + piece.rows)
            ordinals = self.stream.order.chunks.ordinals[chunks]
            for chunk, ordinal, row in zip(chunks.tolist(), ordinals.tolist(), rows.tolist(), strict=True):
                found.append(BatchSample(self._key(chunk, row), ordinal, row, piece.repeated))
        return found

    def place(self, epoch: int, key: str) -> tuple[int, int] | None:
        """Returns (batch, index in the batch) of a sample in an epoch; None if the stream does not have it.

        Raises `KeyError` if the feed's condition leaves it out.

        Under tail "pad", the sample can be repeated elsewhere.
        """
        found = self._samples().find(key)
        if found is None:
            return None
        chunks = self.stream.order.chunks
        chunk = int(np.searchsorted(chunks.ordinals, found.ordinal))
        if not chunks.ordered()[chunk] or found.row not in chunks.rows_of(chunk):
            raise KeyError(f"sample {key!r} does not satisfy where={chunks.where!r}")
        lane, row = self._rows.place(epoch, chunk, found.row)
        return self.plan.place_of(epoch, lane, row)

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
