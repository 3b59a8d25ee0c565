"""The order function, versions 1 and 2 (docs/formats/order.md): which row stands where in every lane of every epoch.

Nothing is enumerated: any window of any lane and epoch is computed alone, by NumPy over arrays.
All hashes are unsigned 64-bit, modulo 2**64.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field
from heapq import heapreplace
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._order.spec import OrderSpec

U64 = npt.NDArray[np.uint64]
I64 = npt.NDArray[np.int64]

_MASK = 2**64 - 1
_M1, _M2, _GOLDEN = 0xBF58476D1CE4E5B9, 0x94D049BB133111EB, 0x9E3779B97F4A7C15
_S27, _S30, _S31 = np.uint64(27), np.uint64(30), np.uint64(31)
_CHUNKS, _ROWS, LANES = 1, 2, 3
"""Purposes: the first component after the seed in each key."""


def mix(z: int) -> int:
    """SplitMix64's finalizer."""
    z = ((z ^ (z >> 30)) * _M1) & _MASK
    z = ((z ^ (z >> 27)) * _M2) & _MASK
    return z ^ (z >> 31)


def key(*parts: int) -> int:
    """The keyed hash of a tuple of numbers."""
    h = 0
    for part in parts:
        h = mix(h ^ mix((part + _GOLDEN) & _MASK))
    return h


def _mix_into(z: U64) -> U64:
    t = z >> _S30
    z ^= t
    z *= np.uint64(_M1)
    np.right_shift(z, _S27, out=t)
    z ^= t
    z *= np.uint64(_M2)
    np.right_shift(z, _S31, out=t)
    z ^= t
    return z


def fold_array(h: U64 | int, c: npt.NDArray[Any]) -> U64:
    """`fold` over arrays; `h` is one number or an array as long as `c`."""
    z = _mix_into(c.astype(np.uint64) + np.uint64(_GOLDEN))
    z ^= np.uint64(h) if isinstance(h, int) else h
    return _mix_into(z)


def argsort_keys(keys: U64) -> I64:
    """Returns the indexes in ascending order of (key, index).

    Sorts words of the high bits of a key and its index, because NumPy sorts values faster than indexes.
    """
    bits = np.uint64(len(keys).bit_length())
    words = keys >> bits << bits
    words |= np.arange(len(keys), dtype=np.uint64)
    words.sort()
    order = (words & ((np.uint64(1) << bits) - np.uint64(1))).view(np.int64)
    words >>= bits
    tied = np.flatnonzero(words[1:] == words[:-1])
    if len(tied):  # few of them are hashes: their low bits decide
        tied = np.union1d(tied, tied + 1)
        some = order[tied]
        order[tied] = some[np.argsort(keys[some], kind="stable")]
    return order


@dataclass(frozen=True)
class RowSelection:
    """The rows of a stream for which a condition is true (docs/formats/order.md, "Selected rows")."""

    where: str
    """Canonical text of the condition."""
    counts: I64
    """Selected rows of each chunk; 0 for chunks that are not live."""
    bitmaps: Mapping[int, npt.NDArray[np.uint8]]
    """Index -> bits of the selected rows, least significant first, of chunks of which some rows are not selected."""


@dataclass(frozen=True)
class StreamChunks:
    """Every chunk that a split ever had up to a version, in ascending ordinal; columns of equal length."""

    ordinals: I64
    rows: I64
    """Rows at commit."""
    lengths: I64
    """File lengths in bytes."""
    live: npt.NDArray[np.bool_]
    removed: Mapping[int, npt.NDArray[Any]] = field(default_factory=dict)
    """Index into the columns -> removed rows, ascending; only live chunks that have some."""
    ids: npt.NDArray[np.uint8] | None = None
    """(n, 16), UUIDs in big-endian order."""
    selected: RowSelection | None = None
    """The rows that a condition selects; None: all."""

    @property
    def where(self) -> str:
        """Canonical text of the condition that selects rows; empty: there is none."""
        return "" if self.selected is None else self.selected.where

    def ordered(self) -> npt.NDArray[np.bool_]:
        """Which chunks the order has: live ones, of which a condition selects a row."""
        return self.live if self.selected is None else self.live & (self.selected.counts > 0)

    def live_rows(self) -> I64:
        """Rows left of each chunk; 0 for removed chunks."""
        if self.selected is not None:
            return self.selected.counts
        left = np.where(self.live, self.rows, 0)
        for index, gone in self.removed.items():
            left[index] -= len(gone)
        return left

    def rows_of(self, index: int) -> I64:
        """The live row numbers of a live chunk, ascending."""
        if self.selected is not None and index in self.selected.bitmaps:
            bits = np.unpackbits(self.selected.bitmaps[index], count=int(self.rows[index]), bitorder="little")
            return np.flatnonzero(bits)
        every = np.arange(self.rows[index], dtype=np.int64)
        gone = self.removed.get(index)
        return every if gone is None else np.delete(every, gone)

    def digest(self) -> str:
        """SHA-256 over the live chunks, as it enters the fingerprint."""
        entry = np.dtype([("ordinal", "<u8"), ("id", "u1", 16), ("rows", "<u4"), ("removed", "<u4")])
        index = np.flatnonzero(self.live)
        entries = np.zeros(len(index), entry)
        entries["ordinal"] = self.ordinals[index]
        if self.ids is not None:
            entries["id"] = self.ids[index]
        entries["rows"] = self.rows[index]
        sha = hashlib.sha256()
        done = 0
        for place, chunk in ((int(np.searchsorted(index, c)), c) for c in sorted(self.removed)):
            gone = self.removed[chunk]
            entries["removed"][place] = len(gone)
            sha.update(entries[done : place + 1])
            sha.update(np.asarray(gone, "<u4"))
            done = place + 1
        sha.update(entries[done:])
        return sha.hexdigest()


def fingerprint(dataset: str, version: int, split: str, chunks: StreamChunks, spec: OrderSpec) -> str:
    """32 hex digits that name everything which determines the batches."""
    text = (
        f"stoker-fingerprint-{spec.function}\ndataset {dataset}\nversion {version}\nsplit {split}\n"
        f"chunks {chunks.digest()}\norder {spec.canonical()}\n"
    )
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def assign_lanes(rows: I64, lanes: int) -> I64:
    """Step 1: each chunk to the lane with the fewest rows so far, ties to the lowest lane."""
    if lanes == 1:
        return np.zeros(len(rows), np.int64)
    bits = (lanes - 1).bit_length()
    heap = list(range(lanes))  # rows << bits | lane: one comparison for both
    shifted = rows << bits
    out = np.empty(len(rows), np.int64)

    def one_by_one(start: int, end: int) -> None:
        out[start:end] = [heapreplace(heap, heap[0] + r) for r in shifted[start:end].tolist()]

    at = 0
    for start, end in _equal_runs(rows, 8 * lanes):
        one_by_one(at, start)
        at, size = start, int(shifted[start])
        while end - at >= lanes and heap[0] + size <= max(heap):
            one_by_one(at, at + lanes)
            at += lanes
        # Now the fullest lane has less than one chunk more than the emptiest: they take equal chunks in turn.
        turns = (end - at) // lanes
        heap.sort()
        out[at : at + turns * lanes] = np.tile(heap, turns)
        heap = [load + turns * size for load in heap]
        at += turns * lanes
    one_by_one(at, len(rows))
    return out & ((1 << bits) - 1)


def _equal_runs(values: I64, least: int) -> list[tuple[int, int]]:
    """Returns (start, end) of each run of at least `least` equal values."""
    edges = np.concatenate(([0], np.flatnonzero(np.diff(values)) + 1, [len(values)]))
    long = np.flatnonzero(np.diff(edges) >= least)
    return list(zip(edges[long].tolist(), edges[long + 1].tolist(), strict=True))


class LaneEpoch:
    """One lane in one epoch: its windows one after the other."""

    def __init__(self, order: StreamOrder, lane: int, epoch: int) -> None:
        spec, chunks = order.spec, order.chunks
        mine = order.lane_chunks(lane)
        if spec.shuffle == "window":
            keys = fold_array(key(spec.seed, _CHUNKS, epoch, lane), chunks.ordinals[mine])
            mine = mine[argsort_keys(keys)]
        self.sequence = mine
        """Indexes of the lane's live chunks, in this epoch's order."""
        self._order, self._lane, self._epoch = order, lane, epoch
        self._ends = _cut_windows(chunks.lengths[mine], order.window_bytes)
        rows = np.cumsum(order.chunk_rows[mine])
        self.window_ends: list[int] = rows[self._ends - 1].tolist() if len(self._ends) else []
        """Rows of the lane's epoch before the end of each window."""

    def window_chunks(self, w: int) -> I64:
        """Indexes of the chunks of window w, in sequence."""
        return self.sequence[self._ends[w - 1] if w else 0 : self._ends[w]]

    def window_of(self, row: int) -> int:
        """The window that holds a row of the lane's epoch."""
        return bisect_right(self.window_ends, row)

    def window_of_chunk(self, index: int) -> int:
        """The window that holds one of the lane's live chunks, by its index in the stream."""
        place = int(np.flatnonzero(self.sequence == index)[0])
        return int(np.searchsorted(self._ends, place, side="right"))

    def window_start(self, w: int) -> int:
        """The first row of window w in the lane's epoch."""
        return self.window_ends[w - 1] if w else 0

    def window_rows(self, w: int) -> tuple[I64, I64]:
        """(place in `window_chunks`, row in the chunk) of each row of window w, in order."""
        chunks, members = self._order.chunks, self.window_chunks(w)
        shuffled = self._order.spec.shuffle == "window"
        by_ordinal = np.argsort(members) if shuffled else np.arange(len(members))
        parts = [chunks.rows_of(int(members[p])) for p in by_ordinal]
        rows = np.concatenate(parts) if parts else np.zeros(0, np.int64)
        places = np.repeat(by_ordinal, [len(p) for p in parts])
        if shuffled:
            prefix = key(self._order.spec.seed, _ROWS, self._epoch, self._lane, w)
            of_chunk = fold_array(prefix, chunks.ordinals[members])
            place = argsort_keys(fold_array(of_chunk[places], rows))
            places, rows = places[place], rows[place]
        return places, rows


def _cut_windows(lengths: I64, target: int) -> npt.NDArray[np.int64]:
    """Step 3: the end (exclusive) of each window in a sequence of file lengths."""
    count = len(lengths)
    if count == 0:
        return np.zeros(0, np.int64)
    total = memoryview(np.cumsum(lengths))
    last, before = count - 1, 0
    least = max(0, target - 1) // max(1, int(lengths.max()))  # this number of chunks never closes a window
    ends, at = [], 0
    while at < count:
        at = min(at + least, last)
        while at < last and total[at] - before < target:
            at += 1
        before = total[at]
        at += 1
        ends.append(at)
    return np.array(ends, np.int64)


class StreamOrder:
    """The lanes of a stream under an order spec."""

    def __init__(self, spec: OrderSpec, chunks: StreamChunks) -> None:
        if spec.where != chunks.where:
            raise ValueError(f"the rows were selected by {chunks.where!r}, but the order has {spec.where!r}")
        self.spec, self.chunks = spec, chunks
        divisor = min(spec.lanes, max(1, len(chunks.ordinals)))
        self.lanes = 1 if spec.shuffle == "none" else divisor
        self.window_bytes = spec.shuffle_window // divisor
        """A window of a lane is closed at this size of its files."""
        self.lane_of = assign_lanes(chunks.rows, self.lanes)
        self.chunk_rows = chunks.live_rows()
        counts = np.bincount(self.lane_of, self.chunk_rows, self.lanes)  # exact: far below 2**53
        self.lane_rows: tuple[int, ...] = tuple(map(int, counts.tolist()))
        """Live rows of each lane."""
        index = np.flatnonzero(chunks.ordered())
        of = self.lane_of[index].astype(np.uint16)  # sorted by radix, and there are no more lanes than that
        self._by_lane = index[np.argsort(of, kind="stable")]
        self._bounds = np.concatenate(([0], np.cumsum(np.bincount(of, minlength=self.lanes))))

    def lane_chunks(self, lane: int) -> I64:
        """Indexes of a lane's live chunks, ascending."""
        return self._by_lane[self._bounds[lane] : self._bounds[lane + 1]]

    def lane_epoch(self, lane: int, epoch: int) -> LaneEpoch:
        """The order of one lane in one epoch."""
        return LaneEpoch(self, lane, epoch)
