"""Finds duplicate keys: compares the hashes of a writer's keys with each other and with the hashes of the dataset.

A key is 8 bytes here, the hash of docs/ingest.md. The keys themselves are read only if two hashes are equal.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from stoker._dataset.chunk import ChunkReader
from stoker._dataset.columns import ColumnReader
from stoker._dataset.snapshot import Snapshot
from stoker._format.checksum import crc32c
from stoker._memory.file_reads import read_fully
from stoker._packing.pack import ChunkSummary, chunk_path
from stoker._packing.segments import Segment
from stoker._store.remote_path import AnyPath, RemotePath
from stoker.errors import CorruptDataError, DuplicateKeyError

Hashes = npt.NDArray[np.uint64]
_GAMMA = 0x9E3779B97F4A7C15
_LONG_HEAD = 4 << 20
"""Length from which on a head takes longer to read than its footer and the keys."""
_LOOK_AGAIN = 1 << 16
"""Number of keys that are collected before they are first compared."""


def _mix(z: Hashes) -> Hashes:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def hash_keys(data: npt.NDArray[np.uint8], lengths: npt.NDArray[np.int64]) -> Hashes:
    """Hashes of UTF-8 keys that lie one after the other, with seed 0."""
    rows = len(lengths)
    padded = np.concatenate([data, np.zeros(8, np.uint8)])
    words = np.ndarray((len(padded) - 7,), "<u8", padded, strides=(1,))
    starts = np.cumsum(lengths) - lengths
    h = _mix((lengths.astype(np.uint64) + np.uint64(1)) * np.uint64(_GAMMA))
    active = np.arange(rows)
    at = 0
    while True:
        active = active[lengths[active] > at]
        if not len(active):
            return _mix(h)
        left = lengths[active] - at
        word = words[starts[active] + at].astype(np.uint64)
        short = left < 8
        if short.any():
            mask = (np.uint64(1) << (left[short] * 8).astype(np.uint64)) - np.uint64(1)
            word[short] &= mask
        h[active] = _mix(h[active] ^ word) + np.uint64(_GAMMA)
        at += 8


def hash_segments(segments: Sequence[Segment]) -> Hashes:
    """Hashes of a chunk's keys."""
    data = b"".join(p for s in segments for p in s.parts)
    return hash_keys(np.frombuffer(data, np.uint8), np.concatenate([s.lengths for s in segments]))


@dataclass(frozen=True)
class _Chunk:
    summary: ChunkSummary
    hashes: Hashes


class OwnKeys:
    """The keys of chunks that are not committed yet."""

    def __init__(self, root: AnyPath, *, numbered: bool = True) -> None:
        """`numbered`: whether chunks hold samples in the order of writing, so that errors can count them."""
        self._root, self._numbered = root, numbered
        self._chunks: list[_Chunk] = []
        self._rows = 0
        self._compare_at = _LOOK_AGAIN
        self._checked = 0
        """Version of the dataset up to which its keys were compared."""

    def add(self, summary: ChunkSummary, hashes: Hashes) -> None:
        """Adds a written chunk, and compares the keys from time to time. Raises `DuplicateKeyError`."""
        self._chunks.append(_Chunk(summary, hashes))
        self._rows += len(hashes)
        if self._rows >= self._compare_at:
            self._compare_at = 2 * self._rows
            self.compare()

    def compare(self) -> None:
        """Raises `DuplicateKeyError` if two samples have one key."""
        every = self._all()
        ordered = np.sort(every)
        twice = np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
        if not len(twice):
            return
        seen: dict[str, int] = {}
        for key, at in self._texts(twice):
            if key in seen:
                places = f", in samples {seen[key]} and {at}" if self._numbered else ""
                raise DuplicateKeyError(
                    f"key {key!r} occurs twice{places}; keys must be unique in a dataset, nothing is committed"
                )
            seen[key] = at

    def compare_with(self, base: Snapshot) -> None:
        """Raises `DuplicateKeyError` if a version has one of the keys; what was compared before is left out."""
        columns = base.chunks.columns
        late = np.flatnonzero(columns["live"] & (columns["added_in"] > self._checked)).tolist()
        self._checked = base.version
        if not late:
            return
        own = np.sort(self._all())
        reader = ChunkReader(base)
        if reader.far is not None:
            reader.far.fetch_heads(late)
        wanted: set[str] | None = None
        for index in late:
            data, lengths, live = _live_keys(reader, index)
            hashes = hash_keys(data, lengths)
            place = np.minimum(np.searchsorted(own, hashes), max(len(own) - 1, 0))
            for row in np.flatnonzero((own[place] == hashes) & live if len(own) else live[:0]).tolist():
                if wanted is None:
                    wanted = {key for key, _ in self._texts(None)}
                end = int(lengths[: row + 1].sum())
                key = data[end - int(lengths[row]) : end].tobytes().decode()
                if key in wanted:
                    raise DuplicateKeyError(
                        f"the dataset already has a sample with the key {key!r}, since version "
                        f"{int(columns['added_in'][index])}; nothing is committed. Leave the sample out, or create a "
                        "version with only the new samples with replace=True"
                    )

    def _all(self) -> Hashes:
        return np.concatenate([c.hashes for c in self._chunks]) if self._chunks else np.zeros(0, np.uint64)

    def _texts(self, hashes: Hashes | None) -> Iterator[tuple[str, int]]:
        """Keys with one of these hashes (None: all) and their places, read again from the chunks."""
        first = 0
        for chunk in self._chunks:
            rows = range(len(chunk.hashes))
            chosen = rows if hashes is None else np.flatnonzero(np.isin(chunk.hashes, hashes)).tolist()
            if len(chosen):
                keys = read_keys(self._root, chunk.summary)
                for row in chosen:
                    yield keys[row].as_py(), first + row
            first += len(chunk.hashes)


def read_keys(root: AnyPath, summary: ChunkSummary) -> pa.StringArray:
    """The keys of a chunk that is not committed, from its checked head."""
    path = root / chunk_path(summary.id)
    if isinstance(path, RemotePath):
        return _far_keys(path, summary)
    try:
        fd = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        raise CorruptDataError(f"{path} no longer exists, so its version cannot be committed; write it again") from None
    try:
        head = np.empty(summary.head_length, np.uint8)
        got = read_fully(fd, head, 0)
        length = os.fstat(fd).st_size
    finally:
        os.close(fd)
    if got != len(head) or length != summary.length or crc32c(head) != summary.head_crc32c:
        raise CorruptDataError(f"{path} is not the chunk that was written; write it again")
    return _keys_in(head, length)


def _far_keys(path: RemotePath, summary: ChunkSummary) -> pa.StringArray:
    try:
        length = path.stat().st_size
        head = np.frombuffer(path.objects.get_range(path.key, 0, summary.head_length), np.uint8)
    except FileNotFoundError:
        raise CorruptDataError(f"{path} no longer exists, so its version cannot be committed; write it again") from None
    if len(head) != summary.head_length or length != summary.length or crc32c(head) != summary.head_crc32c:
        raise CorruptDataError(f"{path} is not the chunk that was written; write it again")
    return _keys_in(head, length)


def _keys_in(head: npt.NDArray[np.uint8], length: int) -> pa.StringArray:
    reader = pa.ipc.open_stream(pa.BufferReader(pa.py_buffer(_as_stream(head, length))))
    return reader.read_next_batch().column(0)


def _as_stream(head: npt.NDArray[np.uint8], length: int) -> Any:
    """The messages of a chunk, with zeros in place of its payload."""
    whole = np.zeros(length - 8, np.uint8)
    whole[: len(head) - 8] = head[8:]
    return whole


def _live_keys(reader: ChunkReader, index: int) -> tuple[Any, Any, npt.NDArray[np.bool_]]:
    fd = reader.open_head(index)
    try:
        is_long = reader.far is None and int(reader.snapshot.chunks.columns["head_length"][index]) >= _LONG_HEAD
        column = ColumnReader(reader, fd, index).column(0) if is_long else reader.stored_head(fd, index).small[0]
    finally:
        os.close(fd)
    offsets = np.asarray(column.offsets, np.int64)
    live = np.ones(len(offsets) - 1, np.bool_)
    gone = reader.snapshot.chunks.removed.get(index)
    if gone is not None:
        live[gone] = False
    return column.data, offsets[1:] - offsets[:-1], live
