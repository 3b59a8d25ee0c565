"""Writes samples into a dataset and commits them as one version."""

from __future__ import annotations

import atexit
import logging
import os
import random
import time
import uuid
import weakref
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from stoker._commit.commit import VersionCommitter, checked_ingest_id
from stoker._commit.keys import OwnKeys
from stoker._commit.publish import publish, union_of_classes, who
from stoker._commit.stores import Store, store_of
from stoker._commit.target import NewDataset, Target
from stoker._dataset.location import dataset_path
from stoker._format.sizes import bytes_of
from stoker._packing.columns import Unfit, keys_of, segment, sliced, unfit
from stoker._packing.schema_text import WantedField, wanted_fields
from stoker._packing.values import text
from stoker._writer.chunk_output import ChunkOutput, Ingest
from stoker._writer.open_chunks import OpenChunks, checked_split
from stoker._writer.sample_keys import SampleKeys
from stoker._writer.writer_fields import WriterFields
from stoker.errors import CommitRefusedError, DuplicateKeyError, InvalidSampleError, StokerError

_LOG = logging.getLogger("stoker")
_MISSING: Any = object()
_OPEN: weakref.WeakSet[Writer] = weakref.WeakSet()
"""Writers that may be forgotten."""


class Writer:
    """Packs samples into chunks, and commits one version when the `with` block ends without an exception.

        with stoker.Writer("./data/x", schema={"tokens": "int32[]", "label": "categorical"}) as w:
            w.write({"tokens": tokens, "label": "cat"})

    No sample is visible before the commit, or after an exception. Before samples are packed, they are shuffled within
    blocks of `shuffle_buffer` bytes (256 MiB), by `seed`; `shuffle=False` keeps their order. The writer holds one block
    and about four chunks in memory, and 8 bytes for each key. Only one thread at a time may use a writer, and a forked
    process may not. docs/writer.md describes arguments and types.
    """

    version: int | None = None
    """The committed version; None before the commit."""
    samples: int = 0
    """Number of samples accepted so far."""
    _is_open: bool = False
    part: dict[str, Any] | None = None
    """With `part=True`, the input of `stoker.commit`, set by `close`. Plain values, for JSON or pickle."""

    def __init__(
        self,
        path: str | os.PathLike[str],
        schema: Mapping[str, str] | pa.Schema | None = None,
        *,
        split: str = "train",
        payload: Sequence[str] | None = None,
        append: bool = False,
        replace: bool = False,
        part: bool = False,
        name: str | None = None,
        chunk_size: int | str | None = None,
        ingest_id: str | None = None,
        shuffle: bool = True,
        shuffle_buffer: int | str = 256 << 20,
        seed: int = 0,
    ) -> None:
        if (append and replace) or (part and (append or replace)):
            raise ValueError("append, replace and part exclude each other; parts are appended by stoker.commit")
        if isinstance(chunk_size, str):
            chunk_size = bytes_of(chunk_size)
        if isinstance(shuffle_buffer, str):
            shuffle_buffer = bytes_of(shuffle_buffer)
        if chunk_size is not None and not 1 <= chunk_size <= 1 << 30:
            raise ValueError(f"chunk_size is {chunk_size}; it is 1 byte to 1 GiB")
        if not isinstance(shuffle, bool) or shuffle_buffer < 1 or not 0 <= seed < 1 << 64:
            raise ValueError(
                f"shuffle={shuffle!r}, shuffle_buffer={shuffle_buffer!r}, seed={seed!r}: expected True or False, at "
                "least 1 byte, and 0 to 2**64 - 1"
            )
        self._root = dataset_path(path, "write it here and copy it there, or pack files with `stoker ingest`")
        self._store: Store = store_of(self._root)
        ingest_id = checked_ingest_id(ingest_id or str(uuid.uuid4()))
        default_split = checked_split(split)
        mode = "append" if append else "replace" if replace else "create"
        self._ingest = ingest = Ingest(ingest_id, mode, part, _now_ms(), _now_ms, random.SystemRandom())
        self._target = Target(self._root, self._store)
        self._target.require_free()
        if mode == "create" and schema is not None:
            self._target.unbind(ingest_id)
        new = NewDataset(name, self._target.chunk_size(chunk_size), payload)
        self._own_keys = OwnKeys(self._root, numbered=not shuffle)
        self._pid = os.getpid()
        self._is_open = True
        _OPEN.add(self)
        self._is_committing = self._is_aborting = False
        """Whether a commit or an abort has begun and not ended."""
        self._keys = SampleKeys(ingest)
        self._fields = self._find_fields(None if schema is None else wanted_fields(schema), payload)
        self._output = ChunkOutput(self._target, self._store, ingest, self._fields, new, self._own_keys)
        self._chunks = OpenChunks(self._fields, self._output, default_split, new.chunk_size)
        if shuffle:
            self._chunks.shuffle(shuffle_buffer, seed)

    def _find_fields(self, wanted: list[WantedField] | None, payload: Sequence[str] | None) -> WriterFields:
        target, info, ingest = self._target, self._target.info, self._ingest
        if info is not None and not ingest.is_part:
            found = VersionCommitter(self._store, ingest.clock, who()).find(ingest.id)
            if found is not None:
                self.version = found.version
                return WriterFields.of_dataset(info.fields)
        if ingest.mode == "create" and not ingest.is_part:
            target.require_unused()
        if info is not None:
            return WriterFields.of_dataset(target.fields_for(wanted, payload))
        if wanted is None:
            raise ValueError(
                f"{self._root} is not a dataset yet, so its fields must be given: schema={{'image': 'binary'}}"
            )
        return WriterFields(wanted, payload)

    # --- samples --------------------------------------------------------------------------------------------------

    def write(self, sample: Mapping[str, Any], *, split: str | None = None) -> None:
        """Adds a sample: a value for each field, and its `key` (str). If no sample has a key, samples are numbered.

        Raises `InvalidSampleError`, which names key and field. The sample is then left out, and the writer can
        continue. The same applies after an interrupt, unless it came while a chunk was handed over: then the writer
        refuses further samples.
        """
        chunks, keys = self._chunks, self._keys
        if not self._is_open or chunks.is_torn:
            self._require_open()
        fields = self._fields
        try:
            given = sample.get("key", _MISSING)
        except AttributeError:
            names = ", ".join(f"{name!r}: …" for name in sorted(fields.names))
            raise TypeError(f"a sample is a dict, such as {{{names}}}, not a {type(sample).__name__}") from None
        key = f"{keys.prefix}{self.samples:08d}" if given is _MISSING else given
        if (given is _MISSING) is not keys.numbered:
            keys.settle(given is _MISSING, self.samples)
        name = "key"
        try:
            stored = key.encode() if type(key) is str and key.isascii() else text(key)
            if not stored:
                raise ValueError("the key is empty")
            row: list[Any] = [stored]
            size = fields.row_bytes + len(stored)
            found = 0
            for name, convert, nullable, varies in fields.row_plan:
                value = sample.get(name, _MISSING)
                if value is None or value is _MISSING:
                    if not nullable:
                        raise ValueError("there is no value, but the field is not nullable")
                    found += value is None
                    row.append(None)
                    continue
                found += 1
                value = convert(value)
                if varies:
                    size += len(value)
                row.append(value)
        except (TypeError, ValueError) as e:
            raise InvalidSampleError(f"sample {key!r}, field {name!r}: {e}") from None
        if found + (given is not _MISSING) != len(sample):
            other = sorted(set(sample) - fields.names - {"key"})
            raise InvalidSampleError(
                f"sample {key!r}: there is no field {other[0]!r}; there are {sorted(fields.names)}"
            )
        if self.version is not None:
            return
        chunk = chunks.default
        if chunk is None or split is not None or chunk.bytes + size > chunk.limit:
            chunk = chunks.chunk_for(split, size)
        if len(chunk.pending) != chunk.single:
            chunk.trim()
        chunk.pending.append(row)
        # Only stores from here on, so that no interrupt comes between: the sample is taken, or it is not.
        chunk.single += 1
        chunk.rows += 1
        chunk.bytes += size
        self.samples += 1

    def _require_open(self) -> None:
        if not self._is_open:
            raise ValueError("the writer is closed")
        if self._chunks.is_torn:
            raise StokerError(
                f"the writer of {self._root} was interrupted or failed while it passed on a chunk, so it commits "
                "nothing. Close it, which deletes its files, and write again"
            )

    def write_batch(self, table: pa.Table | pa.RecordBatch, *, split: str | None = None) -> None:
        """Adds the rows of a table: a column for each field, and `key` (utf8). If no row has a key, rows are numbered.

        Class names can be text or a dictionary; tensors are fixed-size lists. Values are not copied before they are
        packed. Raises `InvalidSampleError`, and accepts no row of the failing record batch. After an interrupt,
        `samples` is the number of accepted rows.
        """
        self._require_open()
        if isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        if not isinstance(table, pa.Table):
            raise TypeError(
                f"expected a pyarrow.Table or RecordBatch, not a {type(table).__name__}: convert it with "
                "pa.table(columns) for a dict, pa.Table.from_pandas(frame, preserve_index=False) for pandas, or "
                "frame.to_arrow() for polars"
            )
        other = sorted(set(table.column_names) - self._fields.names - {"key"})
        if other:
            raise InvalidSampleError(f"there is no field {other[0]!r}; there are {sorted(self._fields.names)}")
        for batch in table.to_batches():
            if batch.num_rows:
                self._write_batch(batch, split)

    def _write_batch(self, batch: pa.RecordBatch, split: str | None) -> None:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        numbered = "key" not in columns
        if numbered is not self._keys.numbered:
            self._keys.settle(numbered, self.samples)
        rows = batch.num_rows
        keys, name = None, "key"
        try:
            keys = keys_of(self._keys.numbers(self.samples, rows) if numbered else columns["key"])
            segments = [keys]
            for name, field in ((f.name, f) for f in self._fields.fields):
                segments.append(segment(columns.get(name, _absent(rows)), field))
        except Unfit as e:
            raise unfit(e, name, keys, self.samples) from None
        if self.version is not None:
            return
        sizes = np.full(rows, self._fields.row_bytes, np.int64)
        for part, varies in zip(segments, (True, *(varies for *_, varies in self._fields.row_plan)), strict=True):
            if varies:
                sizes += part.lengths
        ends = np.cumsum(sizes)
        start = 0
        while start < rows:
            before = int(ends[start - 1]) if start else 0
            chunk = self._chunks.chunk_for(split, int(sizes[start]))
            left = chunk.limit - chunk.bytes
            end = max(start + 1, int(np.searchsorted(ends, before + left, "right")))
            group, taken, size = [sliced(s, start, end) for s in segments], end - start, int(ends[end - 1]) - before
            chunk.close_rows()
            chunk.groups.append(group)
            # Only stores from here on, as in `write`.
            chunk.whole += 1
            chunk.rows += taken
            chunk.bytes += size
            self.samples += taken
            start = end

    # --- the end --------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Commits the samples as one version; with `part=True`, sets `part` instead.

        Raises `DuplicateKeyError`, `CommitRefusedError` or `CommitUnknownError`. After the first two, nothing is
        committed. If the commit was interrupted, a second call finds out whether it took place, and commits if it did
        not. Otherwise further calls have no effect.
        """
        if self._is_open:
            try:
                if self._chunks.is_torn:
                    self._require_open()
                self._finish()
            except BaseException:
                self.abort()
                raise
            # Whatever interrupts a commit from here on, the version may exist: its chunks stay.
            self._is_committing = self.part is None and self.version is None
            self._is_open = False
        if self._is_committing:
            self._commit()

    def _commit(self) -> None:
        written, ingest = self._output.written, self._ingest
        chunks = [w.summary for w in written]
        classes = union_of_classes(w.classes for w in written)
        dataset = self._target.info.id if self._target.info is not None else ""
        # The first writer of a dataset was alone when it began; what others have appended since stays.
        mode = "append" if ingest.mode == "create" else ingest.mode
        try:
            self.version = publish(self._store, dataset, ingest.id, mode, chunks, classes, self._own_keys, [ingest.id])
        except (CommitRefusedError, DuplicateKeyError):
            self._is_committing = False
            self._output.discard()
            raise
        self._is_committing = False

    def _finish(self) -> None:
        if self.version is not None:
            return
        self._chunks.is_torn = True
        self._chunks.flush_all()
        self._output.finish()
        self._own_keys.compare()
        if self._ingest.is_part:
            info, written = self._target.info, self._output.written
            self.part = {
                "stoker_part": 1,
                "dataset": info.id if info is not None else None,
                "ingest": self._ingest.id,
                "samples": self.samples,
                "chunks": [w.summary.to_json() for w in written],
                "classes": union_of_classes(w.classes for w in written),
            }
        self._chunks.is_torn = False

    def abort(self) -> None:
        """Ends the writer without a commit, and deletes its chunks. Has no effect after `close`."""
        if self._is_open or self._is_aborting:
            self._is_aborting = True
            self._is_open = False
            self._chunks.open.clear()
            self._output.discard()
            self._is_aborting = False

    def __del__(self) -> None:
        self._warn_if_forgotten()

    def _warn_if_forgotten(
        self, getpid: Callable[[], int] = os.getpid, warn: Callable[..., None] = _LOG.warning
    ) -> None:
        """Uses no name of this module: at the end of a process those are gone before the last objects."""
        if self._is_open and self.samples and self._pid == getpid():
            self._is_open = False
            warn(
                "%s: a Writer was never closed, so its %d samples are lost and nothing is committed; write in a with "
                "block, or call close()",
                *(self._root, self.samples),
            )

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


def _warn_at_exit() -> None:
    for writer in list(_OPEN):
        writer._warn_if_forgotten()


atexit.register(_warn_at_exit)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _absent(rows: int) -> pa.Array:
    return pa.nulls(rows)
