"""What a test feed can serve: a dataset directory, or rows that lie in memory."""

from __future__ import annotations

import os
import threading
import uuid
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._dataset.snapshot import open_snapshot
from stoker._format.fields import Field
from stoker._format.message import Column, MessageLayout, Sizes, batch_columns
from stoker._format.nested_columns import nested_parts
from stoker._order.delivery import BatchPlan
from stoker._order.spec import OrderSpec, Tail
from stoker._order.stream_order import StreamChunks, StreamOrder, fingerprint
from stoker._packing.values import converter
from stoker._path.path_source import PathSource
from stoker._path.path_stream import PathStream
from stoker._source.batch_source import DeliveredBatch
from stoker._testing.state import ServedPiece

_ROWS_PER_CHUNK = 16


class DatasetStream:
    """A split of a dataset directory, read by the path reader."""

    def __init__(self, path: str | os.PathLike[str], split: str, version: int | None, order: OrderSpec) -> None:
        snapshot = open_snapshot(Path(path), version)
        self._path = path
        self._stream = PathStream(snapshot, split, order)
        info = self._stream.info(0)
        self.order, self.lane_rows, self.classes = info.order, info.lane_rows, info.classes
        self.fields = [field.to_json() for field in info.fields]
        self.dataset, self.dataset_name, self.version, self.split = info.dataset, info.dataset_name, info.version, split
        self.fingerprint = info.fingerprint
        columns = batch_columns(info.fields)
        chunks = self._stream.index
        rows = int(snapshot.chunks.columns["largest_row"][chunks].max()) if len(chunks) else 0
        # Of chunks that lack the added fields.
        rows += sum(column.itemsize * column.width for column in map(Column.of, snapshot.added))
        self.largest_batch = _bound(columns, rows, order.batch_size)
        self._batches = info.batches
        self._cursors = threading.local()

    def with_order(self, order: OrderSpec) -> DatasetStream:
        """See `ServedStream`."""
        return DatasetStream(self._path, self.split, self.version, order)

    def pieces(self, epoch: int, number: int, tail: Tail, stride: int) -> Sequence[ServedPiece]:
        """See `ServedStream`; numbers asked for one after the other are read ahead."""
        cursor: _Cursor | None = getattr(self._cursors, "cursor", None)
        if cursor is None or not cursor.is_at(epoch, number, tail, stride):
            if cursor is not None:
                cursor.source.close()
            source = PathSource(self._stream)
            again = number // self._batches * self._batches
            end = again + self._batches + stride if tail == "pad" else self._batches
            count = max(1, len(range(number, end, stride)))
            cursor = _Cursor(source, source.epoch(epoch, number, stride, count, tail), epoch, number, tail, stride)
            self._cursors.cursor = cursor
        batch = cursor.next()
        return [ServedPiece(p.lane, p.rows, p.repeated, p.message(), p.skipped) for p in batch.pieces]


class _Cursor:
    def __init__(
        self, source: PathSource, batches: Iterator[DeliveredBatch], epoch: int, number: int, tail: Tail, stride: int
    ) -> None:
        self.source, self._batches = source, batches
        self._epoch, self._number, self._tail, self._stride = epoch, number, tail, stride

    def is_at(self, epoch: int, number: int, tail: Tail, stride: int) -> bool:
        return (epoch, number, tail, stride) == (self._epoch, self._number, self._tail, self._stride)

    def next(self) -> DeliveredBatch:
        self._number += self._stride
        return next(self._batches)


class ArrayStream:
    """Rows in memory: arrays and lists of equal length, one for each field."""

    def __init__(
        self,
        columns: Mapping[str, Any],
        keys: Sequence[str] | None,
        classes: Mapping[str, Sequence[str]],
        order: OrderSpec,
    ) -> None:
        """See `stoker.testing.serve` for what a column may be."""
        lengths = {name: len(values) for name, values in columns.items()}
        count = len(keys) if keys is not None else next(iter(lengths.values()), 0)
        if set(lengths.values()) - {count} or not columns:
            raise ValueError(f"columns must be of one length, and at least one: {lengths}, {count} keys")
        self._given = (columns, keys, classes)
        self.classes = {name: list(found) for name, found in classes.items()}
        fields = [_field(name, values, name in classes) for name, values in columns.items()]
        fields.sort(key=lambda f: f.payload)
        self._columns: dict[str, Any] = {"key": list(keys) if keys is not None else [f"{i:06d}" for i in range(count)]}
        for name, values in columns.items():
            ids = {label: i for i, label in enumerate(self.classes.get(name, ()))}
            self._columns[name] = [ids[v] if isinstance(v, str) else v for v in values] if name in classes else values
        for field in fields:
            if field.special is not None or field.item is not None:
                self._columns[field.name] = list(map(converter(field), self._columns[field.name]))
        self._layout = MessageLayout(batch_columns(fields))
        self.fields = [field.to_json() for field in fields]
        starts = np.arange(0, count, _ROWS_PER_CHUNK)
        rows = np.minimum(_ROWS_PER_CHUNK, count - starts)
        chunks = StreamChunks(np.arange(len(starts)), rows, rows * 4096, np.ones(len(starts), np.bool_))
        self.dataset = str(uuid.uuid5(uuid.NAMESPACE_OID, f"stoker-test {count} {self.fields}"))
        self.dataset_name, self.version, self.split = "memory", 1, "train"
        self.fingerprint = fingerprint(self.dataset, 1, "train", chunks, order)
        self._order = StreamOrder(order, chunks)
        self.order, self.lane_rows = order, self._order.lane_rows
        self._plan = BatchPlan(order, self.lane_rows)
        largest = max((self._row_bytes(row) for row in range(count)), default=0)
        self.largest_batch = _bound(self._layout.columns, largest, order.batch_size)
        self._lanes: dict[tuple[int, int], npt.NDArray[np.int64]] = {}
        self._lock = threading.Lock()

    def with_order(self, order: OrderSpec) -> ArrayStream:
        """See `ServedStream`."""
        return ArrayStream(*self._given, order)

    def pieces(self, epoch: int, number: int, tail: Tail, stride: int) -> Sequence[ServedPiece]:
        """See `ServedStream`."""
        with self._lock:
            what = number, epoch, self.order.batch_size
            return [
                ServedPiece(
                    p.lane, p.rows, p.repeated, self._message(self._rows(epoch, p.lane)[p.first :][: p.rows], what)
                )
                for p in self._plan.delivered(epoch, number, tail)
            ]

    def _rows(self, epoch: int, lane: int) -> npt.NDArray[np.int64]:
        """The rows of a lane's epoch, in order."""
        known = self._lanes.get((epoch, lane))
        if known is None:
            order = self._order.lane_epoch(lane, epoch)
            parts = [np.zeros(0, np.int64)]
            for w in range(len(order.window_ends)):
                places, rows = order.window_rows(w)
                parts.append(order.window_chunks(w)[places] * _ROWS_PER_CHUNK + rows)
            known = self._lanes[epoch, lane] = np.concatenate(parts)
        return known

    def _row_bytes(self, row: int) -> int:
        total = 0
        for column in self._layout.columns:
            value = self._columns[column.name][row]
            is_bytes = column.kind in ("bytes", "nested")
            total += len(value.encode() if isinstance(value, str) else value) if is_bytes else np.asarray(value).nbytes
        return total

    def _message(self, rows: npt.NDArray[np.int64], what: tuple[int, int, int]) -> npt.NDArray[np.uint8]:
        arrays: list[Sequence[npt.NDArray[Any]]] = [self._buffers(column, rows) for column in self._layout.columns]
        parts = []
        for at, (column, (offsets, data)) in enumerate(zip(self._layout.columns, arrays, strict=True)):
            if column.kind == "nested":
                (_, *found), sizes = nested_parts(column, None, 0, offsets, data)
                arrays[at] = [array for array in found if array is not None]
                parts.append(sizes)
                continue
            elements = data.nbytes // column.itemsize if column.kind == "list" else len(rows) * column.width
            parts.append(Sizes(0, elements, 0, offsets.nbytes, data.nbytes))
        metadata, places, length = self._layout.pack(len(rows), parts, what)
        message = np.zeros(length, np.uint8)
        message[: len(metadata)] = np.frombuffer(metadata, np.uint8)
        for own, (_, *places_of) in zip(arrays, places, strict=True):
            for array, to in zip(own, places_of, strict=False):
                message[to : to + array.nbytes] = array.reshape(-1).view(np.uint8)
        return message

    def _buffers(self, column: Column, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Offsets (empty where there are none) and data of some rows of a column."""
        values = [self._columns[column.name][row] for row in rows.tolist()]
        none = np.zeros(0, np.int32)
        if column.kind == "bool":
            return none, np.packbits(np.array(values, np.bool_), bitorder="little")
        if not column.has_offsets:
            return none, np.array(values, column.dtype)
        if column.kind in ("bytes", "nested"):
            parts = [np.frombuffer(v.encode() if isinstance(v, str) else v, np.uint8) for v in values]
        else:
            parts = [np.asarray(v, column.dtype) for v in values]
        offsets = np.zeros(len(rows) + 1, np.int32)
        np.cumsum([len(part) for part in parts], out=offsets[1:])
        return offsets, np.concatenate(parts) if parts else np.zeros(0, column.dtype)


def _field(name: str, values: Any, categorical: bool) -> Field:
    if categorical:
        return Field(name, "categorical")
    if isinstance(values, np.ndarray):
        kind = "bool" if values.dtype == np.bool_ else str(values.dtype)
        kind = kind.replace("datetime64[D]", "date").replace("datetime64", "timestamp").replace("timedelta64", "time")
        if values.ndim == 1:
            return Field(name, kind)
        return Field(name, f"{kind}[{','.join(map(str, values.shape[1:]))}]", payload=True)
    first = values[0] if len(values) else b""
    if isinstance(first, str):
        return Field(name, "utf8")
    if isinstance(first, bytes | bytearray | memoryview):
        return Field(name, "binary", payload=True)
    if isinstance(first, np.ndarray) and first.ndim == 1:
        return Field(name, f"{first.dtype}[]", payload=True)
    if isinstance(first, list):
        if any(item is None for row in values for item in row):
            raise ValueError(f"column {name}: an item is None; rows in memory have no null items, so write a dataset")
        item = first[0] if first else ""
        kind = "utf8" if isinstance(item, str) else "binary" if isinstance(item, bytes) else f"{item.dtype}[]"
        return Field(name, f"{kind}[]")
    raise ValueError(
        f"column {name}: give a NumPy array, or a list of bytes, str, one-dimensional arrays, or lists of these"
    )


def _bound(columns: Sequence[Column], largest_row: int, batch_size: int) -> int:
    """An upper bound of a message's bytes."""
    buffers = sum(c.buffers for c in columns)
    body = batch_size * (largest_row + 5 * len(columns)) + 4 * len(columns) + 64 * buffers
    return 256 + 16 * (sum(c.nodes for c in columns) + buffers) + body
