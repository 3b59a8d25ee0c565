"""Finds the samples of a version by key: with the runs of the sample index, and without them from chunk heads."""

from __future__ import annotations

import re
import struct
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from heapq import merge
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._dataset.chunk import ChunkHead
from stoker._dataset.index_run import IndexRow, IndexRun, RunIdentity
from stoker._dataset.snapshot import Chunks, Snapshot, open_snapshot
from stoker._format.checksum import crc32c, shift
from stoker._format.fields import Field
from stoker._format.fork_lock import ForkLock
from stoker._store.objects import NotListableError
from stoker._store.remote_path import AnyPath, list_names
from stoker.errors import CorruptDataError, FormatTooNewError, UnknownVersionError

_NAME = re.compile(r"([0-9]{20})-([0-9]{20})\.arrow")

Entry = tuple[bytes, IndexRow]


class SampleStat(NamedTuple):
    """What is known about a sample without reading it."""

    key: str
    split: str
    chunk: int
    """Ordinal of its chunk."""
    row: int
    """Row in its chunk."""
    length: int
    """Bytes of the values of all fields."""
    crc32c: int
    """CRC-32C of the payload values, one after the other."""


class ListEntry(NamedTuple):
    """An entry of a listing: a sample, or the common prefix of several keys."""

    name: str
    sample: SampleStat | None

    @property
    def is_prefix(self) -> bool:
        """Whether the entry stands for all keys that begin with its name."""
        return self.sample is None


class SampleIndex:
    """The samples of one version by key. Answers are the same without the index, only slower.

    Safe for several threads. Opens the index at the first use.
    """

    def __init__(
        self, snapshot: Snapshot, chunks: Sequence[int] | npt.NDArray[np.int64], head: Callable[[int], ChunkHead]
    ) -> None:
        """`chunks`: indexes of the live chunks whose samples are found. `head` reads the head of one."""
        self._snapshot, self._head = snapshot, head
        self._chunks = np.asarray(chunks, np.int64)
        self._wanted = np.zeros(len(snapshot.chunks), np.bool_)
        self._wanted[self._chunks] = True
        self._ordinals = snapshot.chunks.columns["ordinal"]
        self._lock = ForkLock()
        self._damaged: set[AnyPath] = set()
        self._runs: tuple[IndexRun, ...] | None = None
        self._rest: dict[bytes, IndexRow] | None = None
        """The samples of the chunks that no run covers, once they are needed."""

    def place(self, row: IndexRow) -> int | None:
        """The index of the chunk with this row; None if the row is not among the samples."""
        ordinals = self._ordinals
        at = row.ordinal
        if not (0 <= at < len(ordinals) and ordinals[at] == at):
            at = int(np.searchsorted(ordinals, row.ordinal))
            if at >= len(ordinals) or ordinals[at] != row.ordinal:
                return None
        if not self._wanted[at] or row.row >= self._snapshot.chunks.columns["rows"][at]:
            return None
        gone = self._snapshot.chunks.removed.get(at)
        if gone is None:
            return at
        found = int(np.searchsorted(gone, row.row))
        return None if found < len(gone) and gone[found] == row.row else at

    def find(self, key: str) -> IndexRow | None:
        """The place of the sample with this key."""
        try:
            utf8 = key.encode()
        except UnicodeEncodeError:
            return None  # no key has unpaired surrogates
        while True:
            runs = self._opened()
            run = None
            try:
                for run in runs:
                    row = run.find(utf8)
                    while 0 <= row < run.rows and run.key(row) == utf8:
                        found = run.row(row)
                        if self.place(found) is not None:
                            return found
                        row += 1
            except (CorruptDataError, FileNotFoundError) as e:
                self._discard(run, e)
                continue
            return self._others(runs).get(utf8)

    def stat(self, key: str, row: IndexRow) -> SampleStat:
        """What is known about a sample."""
        at = self.place(row)
        assert at is not None
        split = self._snapshot.splits[int(self._snapshot.chunks.columns["split"][at])]
        return SampleStat(key, split, row.ordinal, row.row, row.length, row.crc32c)

    def entries(self, prefix: str, delimiter: str) -> Iterator[ListEntry]:
        """The samples in the order of their keys' bytes; see `Samples.list`."""
        start, end = prefix.encode(), delimiter.encode()
        least = start
        while True:
            runs = self._opened()
            entries = merge(*self._sources(runs, least), key=_order)
            try:
                for key, row in entries:
                    if not key.startswith(start):
                        return
                    if key < least or self.place(row) is None:
                        continue
                    at = key.find(end, len(start)) if end else -1
                    if at < 0:
                        least = key + b"\0"
                        yield ListEntry(key.decode(), self.stat(key.decode(), row))
                        continue
                    common = key[: at + len(end)]
                    # The last byte of UTF-8 is less than FF: the least bytes above all that begin with the prefix.
                    least = common[:-1] + bytes([common[-1] + 1])
                    yield ListEntry(common.decode(), None)
                    break
                else:
                    return
            except _UnusableRunError as e:
                self._discard(e.run, e.problem)

    def _sources(self, runs: Iterable[IndexRun], least: bytes) -> list[Iterator[Entry]]:
        rest = self._others(runs)
        return [*(_rows(run, least) for run in runs), iter(sorted((k, r) for k, r in rest.items() if k >= least))]

    def _opened(self) -> tuple[IndexRun, ...]:
        runs = self._runs
        if runs is None:
            with self._lock:
                if self._runs is None:
                    self._runs = tuple(_open_runs(self._snapshot, self._damaged))
                runs = self._runs
        return runs

    def _discard(self, run: IndexRun | None, problem: CorruptDataError | FileNotFoundError) -> None:
        """Stops using a run that is damaged, or that was merged with others and deleted, and looks for others."""
        if run is None:
            raise problem
        with self._lock:
            if isinstance(problem, CorruptDataError) and run.path not in self._damaged:
                _warn(problem)
                self._damaged.add(run.path)
            if self._runs is not None and run in self._runs:
                self._runs = self._rest = None

    def discard(self, row: IndexRow, problem: CorruptDataError) -> None:
        """Stops using the run that names another sample's row."""
        version = int(self._snapshot.chunks.columns["added_in"][self.place(row)])
        for run in self._opened():
            if run.identity.first <= version <= run.identity.last:
                self._discard(run, problem)
                return
        raise problem

    def _others(self, runs: Iterable[IndexRun]) -> dict[bytes, IndexRow]:
        """The samples of the chunks that no run covers."""
        rest = self._rest
        if rest is not None:
            return rest
        with self._lock:
            if self._rest is None:
                added = self._snapshot.chunks.columns["added_in"][self._chunks]
                covered = np.zeros(len(added), np.bool_)
                for run in self._opened():
                    covered |= (run.identity.first <= added) & (added <= run.identity.last)
                rest = {}
                for at in self._chunks[~covered].tolist():
                    rest.update(self._head_rows(at))
                self._rest = rest
            return self._rest

    def _head_rows(self, at: int) -> Iterator[Entry]:
        head = self._head(at)
        keys = head.small[0]
        assert keys.offsets is not None
        data, ends = keys.data.tobytes(), keys.offsets.tolist()
        ordinal = int(self._ordinals[at])
        lengths, crcs = head_columns(head, self._snapshot.info.fields)
        for row in range(head.rows):
            place = IndexRow(ordinal, row, lengths[row], crcs[row])
            if self.place(place) is not None:
                yield data[ends[row] : ends[row + 1]], place


class _UnusableRunError(Exception):
    def __init__(self, run: IndexRun, problem: CorruptDataError | FileNotFoundError) -> None:
        super().__init__(str(problem))
        self.run, self.problem = run, problem


def _order(entry: Entry) -> tuple[bytes, int]:
    return entry[0], -entry[1].ordinal


def _rows(run: IndexRun, least: bytes) -> Iterator[Entry]:
    try:
        for row in range(run.ceiling(least), run.rows):
            yield run.key(row), run.row(row)
    except (CorruptDataError, FileNotFoundError) as e:
        raise _UnusableRunError(run, e) from e


def head_columns(head: ChunkHead, fields: Sequence[Field]) -> tuple[list[int], list[int]]:
    """Length and checksum of each row, as the index has them."""
    lengths = np.zeros(head.rows, np.int64)
    by_name = {field.name: field for field in fields}
    for column in head.small[1:]:
        field = by_name[column.column.name]
        if column.offsets is None:
            width = column.data.dtype.itemsize * int(np.prod(column.data.shape[1:]))
            lengths += 1 if field.type == "bool" else width
        elif field.item is not None:
            sizes = np.diff(column.offsets).astype(np.int64)
            starts = column.offsets[:-1][sizes > 0].astype(np.int64)
            counts = np.zeros(head.rows, np.int64)
            counts[sizes > 0] = [
                4 + 4 * struct.unpack_from("<i", column.data[at : at + 4].tobytes())[0] for at in starts.tolist()
            ]
            if field.is_ragged:
                lengths += np.maximum(counts - 4, 0) // 4 * field.dtype.itemsize
            else:
                lengths += sizes - counts
        else:
            lengths += np.diff(column.offsets).astype(np.int64) * column.data.dtype.itemsize
    crcs = [0] * head.rows
    for places in head.payload:
        lengths += places.lengths
        for row, (crc, length) in enumerate(zip(places.crcs.tolist(), places.lengths.tolist(), strict=True)):
            crcs[row] = shift(crcs[row], length) ^ crc
    return lengths.tolist(), crcs


def _open_runs(snapshot: Snapshot, damaged: set[AnyPath]) -> list[IndexRun]:
    """The intact runs that a version needs, the largest one first."""
    folder = snapshot.root / "_stoker" / "index"
    try:
        names = [folder / name for name in list_names(folder)]
    except NotListableError:
        return []
    names = [path for path in names if path not in damaged]
    ranges = {path: (int(m[1]), int(m[2])) for path in names if (m := _NAME.fullmatch(path.name))}
    runs = []
    for path, (first, last) in ranges.items():
        covered = any(f <= first and last <= t and (f, t) != (first, last) for f, t in ranges.values())
        if covered or not 1 <= first <= min(last, snapshot.version):
            continue
        try:
            run = IndexRun(path)
            table = snapshot if last <= snapshot.version else open_snapshot(snapshot.root, last)
            expected = RunIdentity(snapshot.info.id, first, last, _chunks_crc(table.chunks, first, last))
            if run.identity != expected:
                raise CorruptDataError(f"{path}: it is of {run.identity}, expected {expected}")
            runs.append(run)
        except FileNotFoundError:
            continue  # another run supersedes it
        except (CorruptDataError, FormatTooNewError, UnknownVersionError) as e:
            _warn(e)
    return sorted(runs, key=lambda run: -run.rows)


def _chunks_crc(chunks: Chunks, first: int, last: int) -> int:
    added = chunks.columns["added_in"]
    which = (added >= first) & (added <= last)
    ordinals = chunks.columns["ordinal"][which].astype(">i8").view(np.uint8).reshape(-1, 8)
    return crc32c(np.ascontiguousarray(np.concatenate([ordinals, chunks.ids[which]], axis=1)))


def _warn(problem: Exception) -> None:
    warnings.warn(
        f"stoker: a run of the sample index is not used; the heads of its chunks are read instead: {problem}",
        RuntimeWarning,
        stacklevel=2,
    )
