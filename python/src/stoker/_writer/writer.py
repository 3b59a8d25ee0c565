"""Writes samples into a dataset and commits them as one version."""

from __future__ import annotations

import hashlib
import os
import random
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import pyarrow as pa

from stoker._commit.commit import Committer, checked_ingest_id
from stoker._commit.keys import OwnKeys
from stoker._commit.lease import Leases, this_process
from stoker._commit.local_store import LocalStore
from stoker._commit.publish import publish, union_of_classes, who
from stoker._commit.target import Target
from stoker._dataset.location import dataset_path
from stoker._format.fields import Field
from stoker._packing.columns import Unfit, keys_of, segment, sliced, unfit
from stoker._packing.filling_chunk import FillingChunk
from stoker._packing.pack import ChunkIdentity, new_chunk_id, utc_text
from stoker._packing.schema_text import WantedField, wanted_fields
from stoker._packing.segments import Segment
from stoker._packing.shuffle import Block, cut, shuffled
from stoker._packing.values import text
from stoker._writer.spool import Spool, Written
from stoker._writer.writer_fields import WriterFields
from stoker.errors import CommitRefusedError, DuplicateKeyError, InvalidSampleError, StokerError

_FRAME = 4096
"""Bytes assumed for the frame of a chunk whose fields are not decided yet."""
_ROW_OVERHEAD = 100
"""Approximate bytes of memory that a row in a block takes in addition to its values."""
_MISSING: Any = object()


class Writer:
    """Packs samples into chunks, and commits one version when the `with` block ends without an exception.

        with stoker.Writer("./data/x", schema={"tokens": "int32[]", "label": "categorical"}) as w:
            w.write({"tokens": tokens, "label": "cat"})

    No sample is visible before the commit, or after an exception. Before samples are packed, they are shuffled within
    blocks of `shuffle_buffer` bytes (256 MiB), by `seed`; `shuffle=False` keeps their order. The writer holds one block
    and about three chunks in memory, and 8 bytes for each key. Only one thread at a time may use a writer, and a forked
    process may not. docs/writer.md describes arguments and types.
    """

    version: int | None = None
    """The committed version; None before the commit."""
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
        chunk_size: int | None = None,
        ingest_id: str | None = None,
        shuffle: bool = True,
        shuffle_buffer: int = 256 << 20,
        seed: int = 0,
    ) -> None:
        if (append and replace) or (part and (append or replace)):
            raise ValueError("append, replace and part exclude each other; parts are appended by stoker.commit")
        if chunk_size is not None and not 1 <= chunk_size <= 1 << 30:
            raise ValueError(f"chunk_size is {chunk_size}; it is 1 byte to 1 GiB")
        if not isinstance(shuffle, bool) or shuffle_buffer < 1 or not 0 <= seed < 1 << 64:
            raise ValueError(
                f"shuffle={shuffle!r}, shuffle_buffer={shuffle_buffer!r}, seed={seed!r}: expected True or False, at "
                "least 1 byte, and 0 to 2**64 - 1"
            )
        self._root = dataset_path(path, "write it here and copy it there, or pack files with `stoker ingest`")
        self._store = LocalStore(self._root)
        self._ingest = checked_ingest_id(ingest_id or str(uuid.uuid4()))
        self._default_split = _checked_split(split)
        self._mode = "append" if append else "replace" if replace else "create"
        self._is_part = part
        self._name = name
        self._clock: Callable[[], int] = lambda: time.time_ns() // 1_000_000
        self._started_ms = self._clock()
        self._random: random.Random = random.SystemRandom()
        self._target = Target(self._root, self._store)
        self._target.require_free()
        self._chunk_size = self._target.chunk_size(chunk_size)
        self._spool: Spool | None = None
        self._leases: Leases | None = None
        """Set once the lease is taken."""
        self._payload = payload
        self._keys = OwnKeys(self._root, numbered=not shuffle)
        self._shuffle, self._buffer, self._seed = shuffle, shuffle_buffer, seed
        self._blocks: dict[str, int] = {}
        """Blocks of each split that were shuffled."""
        self._written: list[Written] = []
        self._open: dict[str, FillingChunk] = {}
        self._default: FillingChunk | None = None
        """The open chunk of the default split."""
        self._is_open = True
        self._is_torn = False
        """Whether a chunk is being handed over. An interrupt or an error during that time can lose rows."""
        self._is_committing = self._is_aborting = False
        """Whether a commit or an abort has begun and not ended."""
        self._numbered: bool | None = None
        """Whether samples come without keys; None before the first."""
        self._prefix = self._number_prefix()
        self.samples = 0
        """Number of samples accepted so far."""
        self._fields = self._find_fields(None if schema is None else wanted_fields(schema), payload)

    def _find_fields(self, wanted: list[WantedField] | None, payload: Sequence[str] | None) -> WriterFields:
        target, info = self._target, self._target.info
        if info is not None and not self._is_part:
            found = Committer(self._store, self._clock, who()).find(self._ingest)
            if found is not None:
                self.version = found.version
                return WriterFields.of_dataset(info.fields)
        if self._mode == "create" and not self._is_part:
            target.require_unused()
        if info is not None:
            return WriterFields.of_dataset(target.fields_for(wanted, payload))
        if wanted is None:
            raise ValueError(
                f"{self._root} is not a dataset yet, so its fields must be given: schema={{'image': 'binary'}}"
            )
        return WriterFields(wanted, payload)

    def _create(self, fields: Sequence[Field]) -> Sequence[Field]:
        """Makes the dataset, and returns its fields."""
        made = self._name, self._chunk_size, self._started_ms
        return self._target.create(fields, *made, self._fields.wanted, self._payload)

    def _take_lease(self) -> None:
        """Takes the lease before the first chunk. From then on, garbage collection keeps this writer's chunks."""
        info = self._target.info
        assert info is not None
        leases = Leases(self._store, info.id)
        leases.take(self._ingest, utc_text(self._started_ms), who(), "" if self._is_part else this_process())
        self._leases = leases
        committer = Committer(self._store, self._clock, who())
        if committer.find(self._ingest) is None and self._mode == "create" and not self._is_part:
            self._target.require_alone(leases, committer, self._ingest)

    # --- samples --------------------------------------------------------------------------------------------------

    def write(self, sample: Mapping[str, Any], *, split: str | None = None) -> None:
        """Adds a sample: a value for each field, and its `key` (str). If no sample has a key, samples are numbered.

        Raises `InvalidSampleError`, which names key and field. The sample is then left out, and the writer can
        continue. The same applies after an interrupt, unless it came while a chunk was handed over: then the writer
        refuses further samples.
        """
        if not self._is_open or self._is_torn:
            self._require_open()
        fields = self._fields
        given = sample.get("key", _MISSING)
        key = f"{self._prefix}{self.samples:08d}" if given is _MISSING else given
        if (given is _MISSING) is not self._numbered:
            self._settle_keys(given is _MISSING)
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
        chunk = self._default
        if chunk is None or split is not None or chunk.bytes + size > chunk.limit:
            chunk = self._chunk_for(split, size)
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
        if self._is_torn:
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
        other = sorted(set(table.column_names) - self._fields.names - {"key"})
        if other:
            raise InvalidSampleError(f"there is no field {other[0]!r}; there are {sorted(self._fields.names)}")
        for batch in table.to_batches():
            if batch.num_rows:
                self._write_batch(batch, split)

    def _write_batch(self, batch: pa.RecordBatch, split: str | None) -> None:
        columns = dict(zip(batch.schema.names, batch.columns, strict=True))
        numbered = "key" not in columns
        if numbered is not self._numbered:
            self._settle_keys(numbered)
        rows = batch.num_rows
        keys, name = None, "key"
        try:
            keys = keys_of(self._numbers(rows) if numbered else columns["key"])
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
            chunk = self._chunk_for(split, int(sizes[start]))
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

    def _numbers(self, rows: int) -> pa.Array:
        return pa.array([f"{self._prefix}{n:08d}" for n in range(self.samples, self.samples + rows)], pa.utf8())

    def _settle_keys(self, numbered: bool) -> None:
        if self._numbered is not None:
            raise InvalidSampleError(
                f"sample {self.samples} has {'no' if numbered else 'a'} key, but those before have "
                f"{'one' if numbered else 'none'}; give all samples a key, or none"
            )
        self._numbered = numbered

    def _number_prefix(self) -> str:
        """Returns a prefix that keeps the numbers of different runs and parts distinct."""
        if self._mode != "append" and not self._is_part:
            return ""
        seed = self._ingest if not self._is_part else str(new_chunk_id(self._started_ms, self._random))
        return hashlib.sha256(seed.encode()).hexdigest()[:8] + "-"

    # --- chunks ---------------------------------------------------------------------------------------------------

    def _chunk_for(self, split: str | None, size: int) -> FillingChunk:
        """Returns the open chunk of a split; it has room for `size` bytes or is empty."""
        name = self._default_split if split is None else split
        chunk = self._open.get(name)
        if chunk is None:
            if split is not None:
                _checked_split(split)
            return self._put(self._empty(name))
        if not chunk.rows or chunk.bytes + size <= chunk.limit:
            return chunk
        self._is_torn = True
        if not self._shuffle:
            self._flush(chunk)
            chunk = self._put(self._empty(name))
        else:
            held = sum(c.bytes + _ROW_OVERHEAD * c.rows for c in self._open.values())
            if held + size > self._buffer:
                largest = max(self._open.values(), key=lambda c: c.bytes)
                self._put(self._flush_shuffled(largest, is_last=False))
                chunk = self._open[name]
            chunk.close_rows(compact=True)
            chunk.limit = chunk.bytes + max(size, self._chunk_size)
        self._is_torn = False
        return chunk

    def _put(self, chunk: FillingChunk) -> FillingChunk:
        self._open[chunk.split] = chunk
        if chunk.split == self._default_split:
            self._default = chunk
        return chunk

    def _empty(self, split: str) -> FillingChunk:
        layout = self._fields.layout
        frame = layout.frame_bytes() if layout is not None else _FRAME
        return FillingChunk(split, self._fields.fields, frame, self._chunk_size)

    def _flush_shuffled(self, chunk: FillingChunk, is_last: bool) -> FillingChunk:
        """Packs a block in random order. Rows that fill no chunk go into the next block, unless this is the last."""
        self._prepare()
        fields = self._fields
        block = Block(fields.fields, chunk.take())
        number = self._blocks.get(chunk.split, 0)
        order = shuffled(self._seed, chunk.split, number, block.rows)
        self._blocks[chunk.split] = number + 1
        rest = self._empty(chunk.split)
        sizes = block.sizes(fields.row_bytes)[order]
        runs = cut(sizes, max(1, self._chunk_size - rest.bytes))
        for start, end in runs if is_last else runs[:-1]:

            def rows(start: int = start, end: int = end) -> list[list[Segment]]:
                return [[segment] for segment in block.take(order[start:end])]

            self._submit(rows, chunk.split)
        if not is_last:
            start, end = runs[-1]
            rest.groups.append(block.take(order[start:end]))
            rest.whole, rest.rows, rest.bytes = 1, end - start, rest.bytes + int(sizes[start:end].sum())
        return rest

    def _flush(self, chunk: FillingChunk) -> None:
        self._prepare()
        self._submit(chunk.take, chunk.split)

    def _prepare(self) -> None:
        """Decides the fields, makes the dataset and takes the lease, before the first chunk."""
        layout = self._fields.decide(self._open.values(), self._create)
        if self._spool is None:
            self._take_lease()
            self._spool = Spool(self._store, layout)

    def _submit(self, take: Callable[[], list[list[Segment]]], split: str) -> None:
        """Hands a chunk over. `take` returns the segments of the key, then of the fields in the caller's order."""
        info, spool, order = self._target.info, self._spool, self._fields.order
        assert info is not None
        assert spool is not None
        identity = ChunkIdentity(
            info.id, new_chunk_id(self._clock(), self._random), self._ingest, split, self._started_ms
        )

        def rows() -> tuple[Sequence[Segment], Sequence[Sequence[Segment]]]:
            keys, *columns = take()
            return keys, [columns[i] for i in order]

        self._take(spool.submit(rows, identity))

    def _take(self, written: Sequence[Written]) -> None:
        for each in written:
            self._written.append(each)
            self._keys.add(each.summary, each.hashes)

    # --- the end --------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Commits the samples as one version; with `part=True`, sets `part` instead.

        Raises `DuplicateKeyError`, `CommitRefusedError` or `CommitUnknownError`. After the first two, nothing is
        committed. If the commit was interrupted, a second call finds out whether it took place, and commits if it did
        not. Otherwise further calls have no effect.
        """
        if self._is_open:
            try:
                if self._is_torn:
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
        chunks = [w.summary for w in self._written]
        classes = union_of_classes(w.classes for w in self._written)
        dataset = self._target.info.id if self._target.info is not None else ""
        # The first writer of a dataset was alone when it began; what others have appended since stays.
        mode = "append" if self._mode == "create" else self._mode
        try:
            self.version = publish(
                self._store, dataset, self._ingest, mode, chunks, classes, self._keys, [self._ingest]
            )
        except (CommitRefusedError, DuplicateKeyError):
            self._is_committing = False
            self._discard()
            raise
        self._is_committing = False

    def _finish(self) -> None:
        if self.version is not None:
            return
        self._is_torn = True
        for chunk in self._open.values():
            if chunk.rows and self._shuffle:
                self._flush_shuffled(chunk, is_last=True)
            elif chunk.rows:
                self._flush(chunk)
        self._open.clear()
        if self._spool is not None:
            self._take(self._spool.finish())
        self._keys.compare()
        if self._is_part:
            info = self._target.info
            self.part = {
                "stoker_part": 1,
                "dataset": info.id if info is not None else None,
                "ingest": self._ingest,
                "samples": self.samples,
                "chunks": [w.summary.to_json() for w in self._written],
                "classes": union_of_classes(w.classes for w in self._written),
            }
        self._is_torn = False

    def abort(self) -> None:
        """Ends the writer without a commit, and deletes its chunks. Has no effect after `close`."""
        if self._is_open or self._is_aborting:
            self._is_aborting = True
            self._is_open = False
            self._open.clear()
            self._discard()
            self._is_aborting = False

    def _discard(self) -> None:
        """Deletes the chunks of this writer, then releases the lease."""
        if self._spool is not None:
            self._spool.discard()
        if self._leases is not None:
            self._leases.release([self._ingest])

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abort()


def _checked_split(split: str) -> str:
    if not isinstance(split, str) or not split:
        raise ValueError(f"split is {split!r}; expected a name such as 'train'")
    text(split)
    return split


def _absent(rows: int) -> pa.Array:
    return pa.nulls(rows)
