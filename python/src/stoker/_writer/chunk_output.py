"""Where a writer's full chunks go: into files of the dataset, which the first chunk creates."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from stoker._commit.commit import VersionCommitter
from stoker._commit.keys import OwnKeys
from stoker._commit.lease import Leases, this_process
from stoker._commit.publish import who
from stoker._commit.stores import Store
from stoker._commit.target import LeaseOf, NewDataset, Target
from stoker._format.fields import Field
from stoker._packing.filling_chunk import FillingChunk
from stoker._packing.pack import ChunkIdentity, new_chunk_id
from stoker._packing.segments import Segment
from stoker._writer.spool import Spool, Written
from stoker._writer.writer_fields import WriterFields


@dataclass(frozen=True)
class Ingest:
    """One run of a writer."""

    id: str
    mode: str
    """`create`, `append` or `replace`."""
    is_part: bool
    started_ms: int
    clock: Callable[[], int]
    """Returns the time in milliseconds."""
    random: random.Random


class ChunkOutput:
    """Makes the dataset and takes the lease before the first chunk, and gives the chunks to the spool.

    The thread that uses the writer owns it.
    """

    def __init__(
        self, target: Target, store: Store, ingest: Ingest, fields: WriterFields, new: NewDataset, keys: OwnKeys
    ) -> None:
        """`keys` collects the keys of the chunks that were written."""
        self._target, self._store, self._ingest = target, store, ingest
        self._fields, self._new, self._keys = fields, new, keys
        self._spool: Spool | None = None
        self._leases: Leases | None = None
        """Set once the lease is taken."""
        self.written: list[Written] = []

    def prepare(self, chunks: Collection[FillingChunk]) -> None:
        """Decides the fields by the rows of the open chunks, makes the dataset and takes the lease."""
        if self._spool is None:
            self._store.require_atomic_creates()
        layout = self._fields.decide(chunks, self._create)
        if self._spool is None:
            self._take_lease()
            self._spool = Spool(self._store, layout)

    def _create(self, fields: Sequence[Field]) -> Sequence[Field]:
        """Makes the dataset, and returns its fields."""
        return self._target.create(fields, self._new, self._writer(), self._fields.wanted)

    def _writer(self) -> LeaseOf:
        process = "" if self._ingest.is_part else this_process()
        return LeaseOf(self._ingest.id, who(), process, self._ingest.clock)

    def _take_lease(self) -> None:
        """Takes the lease before the first chunk. From then on, garbage collection keeps this writer's chunks."""
        info, ingest = self._target.info, self._ingest
        assert info is not None
        leases = Leases(self._store, info.id)
        writer = self._writer()
        leases.take(ingest.id, writer.created(), writer.by, writer.process)
        self._leases = leases
        committer = VersionCommitter(self._store, ingest.clock, who())
        if committer.find(ingest.id) is None and ingest.mode == "create" and not ingest.is_part:
            self._target.require_alone(leases, committer, ingest.id)

    def submit(self, take: Callable[[], list[list[Segment]]], split: str, size: int) -> None:
        """Hands a chunk over. `take` returns the segments of the key, then of the fields in the caller's order.

        `size` is the number of bytes of memory that are free when the chunk is written.
        """
        info, spool, order = self._target.info, self._spool, self._fields.order
        assert info is not None
        assert spool is not None
        ingest = self._ingest
        identity = ChunkIdentity(
            info.id, new_chunk_id(ingest.clock(), ingest.random), ingest.id, split, ingest.started_ms
        )

        def rows() -> tuple[Sequence[Segment], Sequence[Sequence[Segment]]]:
            keys, *columns = take()
            return keys, [columns[i] for i in order]

        spool.submit(rows, identity, size)

    def wait(self, most: int) -> None:
        """Waits until the chunks that were handed over and not written take `most` bytes of memory or less."""
        if self._spool is not None:
            self._take(self._spool.wait(most))

    def _take(self, written: Sequence[Written]) -> None:
        for each in written:
            self.written.append(each)
            self._keys.add(each.summary, each.hashes)

    def finish(self) -> None:
        """Waits until all chunks are durable."""
        if self._spool is not None:
            self._take(self._spool.finish())

    def discard(self) -> None:
        """Deletes the chunks of this writer, then releases the lease."""
        if self._spool is not None:
            self._spool.discard()
        if self._leases is not None:
            self._leases.release([self._ingest.id])
