"""Rows that a condition selects: evaluated on the heads of chunks, kept in the dataset (docs/formats/dataset.md)."""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import struct
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from uuid import uuid4

import numpy as np
import numpy.typing as npt

from stoker._condition.syntax import And, Condition, canonical, parse
from stoker._dataset.bound_condition import BoundCondition, ChunkValues
from stoker._dataset.chunk import ChunkReader
from stoker._dataset.columns import ColumnReader
from stoker._dataset.snapshot import Snapshot
from stoker._format.checksum import crc32c
from stoker._order.stream_order import RowSelection, StreamChunks
from stoker._store.remote_path import RemotePath
from stoker.errors import ConditionError, CorruptDataError, StokerError

_LOG = logging.getLogger("stoker")
_MAGIC = b"STKSEL1\n"
_HEADER = struct.Struct("<8sII")
_ENTRY = np.dtype([("ordinal", "<u8"), ("rows", "<u4"), ("selected", "<u4")])
_THREADS = 8
_BATCH = 64
"""Chunks whose heads are fetched from a store together."""
_COLUMNS_FROM = 1 << 20
"""Bytes of a head above which single columns are read; below, the whole head is read faster than its footer."""


def select(snapshot: Snapshot, split: str, where: str) -> StreamChunks:
    """Returns the chunks of a split with the rows for which a condition is true. `where`: its canonical text, or "".

    Raises `ConditionError` for a condition that does not fit the fields or selects nothing, and `CorruptDataError`.
    """
    chunks = snapshot.stream(split)
    if not where:
        return chunks
    what = f"{snapshot.root} version {snapshot.version}"
    condition = parse(where)
    bound = BoundCondition(condition, snapshot.info.fields, snapshot.classes, what)
    path = _path(snapshot, split, chunks, where)
    selected = _stored(path, chunks, where)
    if selected is None:
        selected = _evaluated(snapshot, split, chunks, bound, where)
        _store(path, chunks, selected)
    if not selected.counts.any():
        _refuse_empty(snapshot, split, chunks, condition, what)
    return replace(chunks, selected=selected)


def _path(snapshot: Snapshot, split: str, chunks: StreamChunks, where: str) -> Path | RemotePath:
    text = (
        f"stoker-selection-1\ndataset {snapshot.info.id}\nversion {snapshot.version}\nsplit {split}\n"
        f"chunks {chunks.digest()}\nwhere {json.dumps(where, ensure_ascii=False)}\n"
    )
    return snapshot.root / "_stoker" / "filters" / f"{hashlib.sha256(text.encode()).hexdigest()[:32]}.sel"


def _evaluated(snapshot: Snapshot, split: str, chunks: StreamChunks, bound: BoundCondition, where: str) -> RowSelection:
    index = snapshot.split_index(split)
    reader = ChunkReader(snapshot)
    counts = np.zeros(len(chunks.rows), np.int64)
    bitmaps: dict[int, npt.NDArray[np.uint8]] = {}

    def evaluate(place: int) -> tuple[int, int, npt.NDArray[np.uint8]]:
        true = _selected(reader, int(index[place]), bound)
        gone = chunks.removed.get(place)
        if gone is not None:
            true[gone] = False
        return place, int(np.count_nonzero(true)), np.packbits(true, bitorder="little")

    live = np.flatnonzero(chunks.live).tolist()
    with ThreadPoolExecutor(min(_THREADS, os.cpu_count() or 1), thread_name_prefix="stoker-where") as threads:
        for start in range(0, len(live), _BATCH):
            some = live[start : start + _BATCH]
            if reader.far is not None:
                reader.far.fetch_heads(index[some].tolist())
            for place, count, bits in threads.map(evaluate, some):
                counts[place] = count
                if 0 < count < chunks.rows[place]:
                    bitmaps[place] = bits
    return RowSelection(where, counts, bitmaps)


def _selected(reader: ChunkReader, index: int, bound: BoundCondition) -> npt.NDArray[np.bool_]:
    """Evaluates a condition on the rows of a chunk, by its index in the chunk table."""
    fd = reader.open_head(index)
    try:
        if reader.far is None and int(reader.snapshot.chunks.columns["head_length"][index]) >= _COLUMNS_FROM:
            try:
                return bound.selects(_columns(reader, fd, index))
            except CorruptDataError as e:
                _LOG.debug("the whole head is read, which has its own checksum: %s", e)
        return bound.selects(ChunkValues.of(reader.head(fd, index)))
    finally:
        os.close(fd)


def _columns(reader: ChunkReader, fd: int, index: int) -> ChunkValues:
    """The values of a chunk of which only the columns in the condition are read."""
    file = ColumnReader(reader, fd, index)
    payload = [number for number, column in enumerate(reader.layout.columns) if column.payload]
    rows = int(reader.snapshot.chunks.columns["rows"][index])
    return ChunkValues(rows, cache(file.column), lambda number: file.payload(payload[number]))


def _refuse_empty(snapshot: Snapshot, split: str, chunks: StreamChunks, condition: Condition, what: str) -> None:
    """Raises the error that says how many rows each part selects."""
    parts: Sequence[Condition] = condition.parts if isinstance(condition, And) else (condition,)
    total = int(chunks.live_rows().sum())
    said = []
    for part in parts if len(parts) > 1 else ():
        text = canonical(part)
        bound = BoundCondition(part, snapshot.info.fields, snapshot.classes, what)
        count = int(_evaluated(snapshot, split, chunks, bound, text).counts.sum())
        said.append(f"{text} selects {count:,}")
    detail = ": " + ", ".join(said) if said else ""
    raise ConditionError(
        f"where={canonical(condition)!r} selects none of the {total:,} rows of {what}, split {split}{detail}"
    )


def _stored(path: Path | RemotePath, chunks: StreamChunks, where: str) -> RowSelection | None:
    """The selection in a file; None if there is none that can be used."""
    try:
        data = np.frombuffer(path.read_bytes(), np.uint8)
    except (FileNotFoundError, PermissionError):
        return None  # some stores refuse what does not exist
    except OSError as e:
        _LOG.warning("cannot read %s, so the condition is evaluated again: %s", path, e)
        return None
    selected = _parsed(data, chunks, where)
    if selected is None:
        _LOG.warning("%s is damaged or of other chunks, so the condition is evaluated again", path)
    return selected


def _parsed(data: npt.NDArray[np.uint8], chunks: StreamChunks, where: str) -> RowSelection | None:
    live = np.flatnonzero(chunks.live)
    start = _HEADER.size + len(live) * _ENTRY.itemsize
    if len(data) < start:
        return None
    magic, crc, count = _HEADER.unpack_from(data)
    if magic != _MAGIC or count != len(live) or crc != crc32c(data[12:]):
        return None
    entries = data[_HEADER.size : start].view(_ENTRY)
    rows = chunks.rows[live]
    if (entries["ordinal"] != chunks.ordinals[live]).any() or (entries["rows"] != rows).any():
        return None
    counts = np.zeros(len(chunks.rows), np.int64)
    counts[live] = entries["selected"]
    if (counts > chunks.live_rows()).any():
        return None
    partial = live[(counts[live] > 0) & (counts[live] < rows)]
    sizes = (chunks.rows[partial] + 7) // 8
    ends = start + np.cumsum(sizes)
    if len(data) != (int(ends[-1]) if len(ends) else start):
        return None
    bitmaps = {}
    for place, size, end in zip(partial.tolist(), sizes.tolist(), ends.tolist(), strict=True):
        bits = data[end - size : end]
        rows_of = np.unpackbits(bits, bitorder="little")
        gone = chunks.removed.get(place)
        beyond = rows_of[chunks.rows[place] :].any() or (gone is not None and rows_of[gone].any())
        if int(rows_of.sum()) != counts[place] or beyond:
            return None
        bitmaps[place] = bits
    return RowSelection(where, counts, bitmaps)


def _store(path: Path | RemotePath, chunks: StreamChunks, selected: RowSelection) -> None:
    """Writes a selection, unless the dataset cannot be written. The file is derived data."""
    live = np.flatnonzero(chunks.live)
    entries = np.zeros(len(live), _ENTRY)
    entries["ordinal"], entries["rows"] = chunks.ordinals[live], chunks.rows[live]
    entries["selected"] = selected.counts[live]
    parts = [entries.tobytes(), *(selected.bitmaps[p].tobytes() for p in sorted(selected.bitmaps))]
    body = struct.pack("<I", len(live)) + b"".join(parts)
    crc = crc32c(np.frombuffer(body, np.uint8))
    content = _MAGIC + struct.pack("<I", crc) + body
    try:
        if isinstance(path, RemotePath):
            _upload(path, content)
        else:
            _write(path, content)
    except (StokerError, OSError) as e:
        _LOG.debug("%s was not kept: %s", path, e)


def _upload(path: RemotePath, content: bytes) -> None:
    if not path.is_read_only and not path.objects.create(path.key, content):
        path.unlink()  # it is damaged, or another process has made the same one
        path.objects.create(path.key, content)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_name(f".tmp-{uuid4()}")
    try:
        temporary.write_bytes(content)
        os.replace(temporary, path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise
