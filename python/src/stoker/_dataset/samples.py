"""Random access to the samples of a version."""

from __future__ import annotations

import operator
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from stoker._dataset.chunk import ChunkReader
from stoker._dataset.far_chunks import forget_erased
from stoker._dataset.heads import Heads
from stoker._dataset.location import dataset_path
from stoker._dataset.open_chunk import OpenChunk
from stoker._dataset.sample_index import ListEntry, SampleIndex, SampleStat
from stoker._dataset.scan import Scan
from stoker._dataset.snapshot import Snapshot, open_snapshot
from stoker._dataset.values import column_value, payload_value, value_of
from stoker._format.checksum import crc32c
from stoker._format.fields import Field
from stoker._format.list_types import TEXTS
from stoker._format.notebook import ROWS, SHOWN_BYTES, Unread, fields_table, table
from stoker._store.remote_path import RemotePath
from stoker.errors import CorruptDataError, MissingDependencyError, StokerError

if TYPE_CHECKING:
    import pandas
    from pyarrow.compute import Expression
    from pyarrow.dataset import Scanner

_THREADS = min(4, os.cpu_count() or 1)
"""Threads of one `get`: reading and checking large values leaves the interpreter to others."""
_KEYS_PER_THREAD = 16
_BATCH_ROWS = 131_072

# A class with a method `list` cannot use the type of this name.
_Samples = list[dict[str, Any]]
_Found = list[dict[str, Any] | None]
_Indexes = list[int]
_Rows = range | list[int]
_Positions = slice | list[int] | npt.NDArray[np.integer[Any]]


class Samples:
    """The samples of a version, or of one split of it, by position, by (ordinal, row) or by key.

    `samples[7]`, `samples[-1]`, `samples[ordinal, row]` and `samples["dir/cat.jpg"]` give a dict with `key` and every
    field: bytes or arrays as they were ingested, class names for ids, None for missing values. Timestamps and dates are
    `numpy.datetime64`, times `numpy.timedelta64`, decimals `decimal.Decimal`, nested lists are lists.

    A slice, a list or an array of positions gives a list of them. Every read is checked. Keys are found with the sample
    index; the heads of chunks that are not in it are read at the first access by key. `stat`, `list` and `get` look up,
    list and read samples by key. Iteration goes through the chunks in stored order. Safe for several threads.

    `to_arrow`, `to_pandas`, `scanner` and `reader` read columns of all samples.
    """

    def __init__(self, snapshot: Snapshot, split: str | None = None) -> None:
        self._snapshot = snapshot
        self._split = split
        self._reader = ChunkReader(snapshot)
        table = snapshot.chunks
        index = np.arange(len(table)) if split is None else snapshot.split_index(split)
        self._index: _Indexes = index[table.columns["live"][index]].tolist()
        """Chunk table indexes of the live chunks, ascending."""
        rows = [int(table.columns["rows"][i]) - len(table.removed.get(i, ())) for i in self._index]
        self._ends: _Indexes = np.cumsum(rows, dtype=np.int64).tolist()
        self._ordinals = {int(table.columns["ordinal"][i]): i for i in self._index}
        self._heads = Heads(snapshot, self._reader)
        self._by_key = SampleIndex(snapshot, self._index, self._heads.stored_head)
        self._types = {field.name: field for field in self.fields}
        self._payload = [field for field in self.fields if field.payload]

    def __reduce__(self) -> tuple[Any, ...]:
        """A copy in another process opens the same version; nothing that was read travels along."""
        return open, (str(self._snapshot.root), self.version, self._split)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    @property
    def version(self) -> int:
        """The version that is open."""
        return self._snapshot.version

    @property
    def name(self) -> str:
        """The dataset's name."""
        return self._snapshot.info.name

    @property
    def fields(self) -> tuple[Field, ...]:
        """The dataset's fields, small ones first."""
        return self._snapshot.info.fields

    @property
    def splits(self) -> tuple[str, ...]:
        """Splits of the version."""
        return self._snapshot.splits

    @property
    def classes(self) -> Mapping[str, tuple[str, ...]]:
        """Class names of each categorical field."""
        return self._snapshot.classes

    def keys(self) -> Iterator[str]:
        """All keys, in stored order."""
        if self._reader.far is not None:
            self._reader.far.fetch_heads(self._index)
        for index in self._index:
            column = self._heads.head(index).small[0]
            yield from (column_value(column, row, "utf8") for row in self._live(index))

    @overload
    def __getitem__(self, which: int | tuple[int, int] | str) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, which: _Positions) -> _Samples: ...

    def __getitem__(self, which: Any) -> dict[str, Any] | _Samples:
        if isinstance(which, slice):
            return [self._one(at) for at in range(*which.indices(len(self)))]
        if isinstance(which, (list, np.ndarray)) and getattr(which, "ndim", 1) == 1:
            return [self._one(at) for at in which]
        return self._one(which)

    def _one(self, which: Any) -> dict[str, Any]:
        if isinstance(which, str):
            sample = self.get([which])[0]
            if sample is None:
                raise KeyError(f"{self._snapshot.root} version {self.version} has no sample {which!r}")
            return sample
        if isinstance(which, tuple):
            ordinal, row = which
            found = self._ordinals.get(ordinal)
            if found is None or row not in self._live(found):
                raise IndexError(f"{self._snapshot.root} version {self.version} has no row {row} of chunk {ordinal}")
            return self._read(found, row)
        try:
            if isinstance(which, (bool, np.bool_)):
                raise TypeError("a truth value")
            which = operator.index(which)
        except TypeError:
            raise TypeError(
                f"samples[{which!r}]: expected a position, (ordinal, row), a key, or a slice or list of positions"
            ) from None
        position = which + len(self) if which < 0 else which
        if not 0 <= position < len(self):
            raise IndexError(f"sample {which} of {len(self)}")
        at = bisect_right(self._ends, position)
        live = self._live(self._index[at])
        return self._read(self._index[at], live[position - self._ends[at]])

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for index in self._index:
            for row in self._live(index):
                yield self._read(index, row)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            return self._by_key.find(key) is not None
        which: Any = key
        try:
            self[which]
        except (KeyError, IndexError, TypeError, ValueError):
            return False
        return True

    def stat(self, key: str) -> SampleStat | None:
        """What is known about a sample without reading it: split, length, checksum and place. None if it is missing."""
        found = self._by_key.find(key)
        return None if found is None else self._by_key.stat(key, found)

    def list(self, prefix: str = "", delimiter: str = "") -> Iterator[ListEntry]:
        """Lists samples in the order of the UTF-8 bytes of their keys.

        Args:
            prefix: Only keys that begin with this text.
            delimiter: If not empty, all keys that have this text after the prefix are one entry: the common prefix up
                to and including the first delimiter. `list("photos/", "/")` lists like a directory.

        """
        return self._by_key.entries(prefix, delimiter)

    def get(self, keys: Iterable[str]) -> _Found:
        """Reads samples by key, chunk by chunk. One element for each key, in the order of the keys; None if missing.

        Raises `CorruptDataError` if a sample is damaged.
        """
        wanted = [keys] if isinstance(keys, str) else [*keys]
        for key in wanted:
            if not isinstance(key, str):
                raise TypeError(f"key {key!r}: expected a str; a position goes into brackets, such as samples[5]")
        found = [self._by_key.find(key) for key in wanted]
        samples: _Found = [None] * len(wanted)

        def read(numbers: list[int]) -> None:
            with OpenChunk(self._reader) as chunk:
                for n in numbers:
                    row = found[n]
                    index = None if row is None else self._by_key.place(row)
                    if row is None or index is None:
                        continue
                    if column_value(self._heads.head(index).small[0], row.row, "utf8") == wanted[n]:
                        samples[n] = self._sample(index, row.row, chunk)

        stored = sorted((n for n, row in enumerate(found) if row is not None), key=lambda n: found[n] or ())
        threads = min(_THREADS, len(stored) // _KEYS_PER_THREAD) if self._payload else 1
        if threads > 1:
            share = -(-len(stored) // threads)
            with ThreadPoolExecutor(threads, "stoker-get") as pool:
                for _ in pool.map(read, [stored[at : at + share] for at in range(0, len(stored), share)]):
                    pass
        else:
            read(stored)
        for n in stored:
            row = found[n]
            if row is not None and samples[n] is None:
                self._by_key.discard(row, CorruptDataError(f"the index has another sample's row for {wanted[n]!r}"))
                return self.get(wanted)
        return samples

    def to_arrow(
        self,
        columns: Iterable[str] | None = None,
        filter: Expression | None = None,  # noqa: A002
    ) -> pa.Table:
        """Columns of all samples in stored order, or of the samples that pass a filter.

        Reads only the columns in `columns` and in the filter. Of payload, reads only the rows that pass the filter.

        Args:
            columns: Names of columns (None: `key` and every field). Besides fields there are `stoker.split`,
                `stoker.chunk` (the ordinal), `stoker.row`, and for each payload field `crc32c:<field>`.
            filter: An expression such as `pyarrow.compute.field("label") == "cat"`. It can use every column, also one
                that is not in `columns`. A class is its name.

        Returns:
            A table with one chunk for each chunk file that has a matching row. Columns have the types and the
            nullability of the chunk files. A categorical column is a dictionary of text with all classes of the
            version, the same for all chunks. A tensor is an `arrow.fixed_shape_tensor`.

        Raises:
            ValueError: A column does not exist, or the filter cannot be evaluated.
            TypeError: `columns` or `filter` is of another type.
            CorruptDataError: A column does not match its checksum. The message names the file and the column.

        """
        scan = self._scan(columns, filter)
        return pa.Table.from_batches(list(scan.batches()), scan.schema)

    def to_pandas(
        self,
        columns: Iterable[str] | None = None,
        filter: Expression | None = None,  # noqa: A002
        **options: Any,
    ) -> pandas.DataFrame:
        """`to_arrow` as a DataFrame. Categorical columns are `pandas.Categorical`.

        `options` are passed to `pyarrow.Table.to_pandas`. Raises like `to_arrow`, and `MissingDependencyError` if
        pandas is not installed.
        """
        try:
            import pandas  # noqa: F401
        except ImportError as e:
            raise MissingDependencyError("Samples.to_pandas needs pandas: pip install pandas") from e
        return self.to_arrow(columns, filter).to_pandas(**options)

    def scanner(
        self,
        columns: Iterable[str] | None = None,
        filter: Expression | None = None,  # noqa: A002
        batch_size: int = _BATCH_ROWS,
    ) -> Scanner:
        """The rows of `to_arrow` as a `pyarrow.dataset.Scanner`, for programs that read Arrow such as DuckDB.

        A batch has at most `batch_size` rows, all of the same chunk. Arrow reads some 50 batches ahead; `reader` reads
        none. A scanner can be read once; the second time raises `pyarrow.ArrowInvalid`. Raises as `to_arrow` does;
        `CorruptDataError` comes from the read.
        """
        from pyarrow.dataset import Scanner

        reader = self.reader(columns, filter, batch_size)
        # More threads only read further ahead: nothing is left to compute.
        return Scanner.from_batches(reader, use_threads=False, batch_readahead=1, fragment_readahead=1)

    def reader(
        self,
        columns: Iterable[str] | None = None,
        filter: Expression | None = None,  # noqa: A002
        batch_size: int = _BATCH_ROWS,
    ) -> pa.RecordBatchReader:
        """The rows of `to_arrow` as a stream of batches, each of at most `batch_size` rows of one chunk.

        The columns of one chunk are in memory at a time. A reader can be read once, and is empty the second time.
        Raises as `to_arrow` does; `CorruptDataError` comes from the read.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size={batch_size}: expected at least 1")
        scan = self._scan(columns, filter)
        return pa.RecordBatchReader.from_batches(scan.schema, scan.batches(batch_size))

    def __repr__(self) -> str:
        """The location, version and sizes; reads nothing."""
        split = f", split {self._split}" if self._split is not None else f", splits {', '.join(self.splits) or 'none'}"
        names = ", ".join(f"{field.name}: {field.type}" for field in self.fields)
        return f"Samples({str(self._snapshot.root)!r}, version {self.version}{split}, {len(self):,} samples, {names})"

    def _repr_html_(self) -> str:
        """A table of the first samples, for notebooks; of a dataset in a store, a table of the fields."""
        said = repr(self)
        if self._reader.far is None and len(self):
            places = ((index, row) for index in self._index for row in self._live(index))
            try:
                with OpenChunk(self._reader) as chunk:
                    rows = [self._sample(*place, chunk, SHOWN_BYTES) for place in islice(places, ROWS)]
                names = ("key", *(field.name for field in self.fields))
                return table(said, names, [[row[name] for name in names] for row in rows], len(self) - len(rows))
            except (StokerError, OSError) as e:
                said += f". The first samples cannot be read: {e}"
        return fields_table(said, self.fields, self.classes)

    def _scan(self, columns: Iterable[str] | None, where: Expression | None) -> Scan:
        return Scan(self._snapshot, self._index, columns, where)

    def _live(self, index: int) -> _Rows:
        rows = range(int(self._snapshot.chunks.columns["rows"][index]))
        gone = self._snapshot.chunks.removed.get(index)
        return rows if gone is None else np.delete(np.array(rows), gone).tolist()

    def _read(self, index: int, row: int) -> dict[str, Any]:
        with OpenChunk(self._reader) as chunk:
            return self._sample(index, row, chunk)

    def _sample(self, index: int, row: int, chunk: OpenChunk, most: int | None = None) -> dict[str, Any]:
        """Reads a sample; longer payload than `most` bytes is an `Unread`."""
        head = self._heads.head(index)
        out: dict[str, Any] = {}
        for column in head.small:
            name = column.column.name
            field = self._types.get(name)
            value = value_of(column, row, field, self.classes)
            out[name] = value
        for field, places in zip(self._payload, head.payload, strict=True):
            if places.validity is not None and not places.validity[row]:
                out[field.name] = None
                continue
            length, crc = int(places.lengths[row]), int(places.crcs[row])
            if most is not None and length > most:
                out[field.name] = Unread(length)
                continue
            start, fixed = int(places.starts[row]), field.type in TEXTS
            data = chunk.read(index, start, length, fixed)
            if crc32c(data) != crc and chunk.renew(index):
                data = chunk.read(index, start, length, fixed)
            if len(data) != length or crc32c(data) != crc:
                raise CorruptDataError(
                    f"{self._reader.describe(index)}, row {row}, key {out['key']!r}, {field.name}: "
                    f"{len(data)} bytes with checksum {crc32c(data):08x}, expected {crc:08x}"
                )
            out[field.name] = payload_value(data, field)
        return out


def open(  # noqa: A001
    path: str | os.PathLike[str], version: int | str | None = None, split: str | None = None
) -> Samples:
    """Opens a version (None: the newest; a text: a tag) of a dataset, for random access, all splits or one.

    Raises `NotADatasetError`, `UnknownVersionError`, `UnknownSplitError`, `CorruptDataError`.
    """
    root = dataset_path(path, "copy it here, or train from `stoker feed`")
    snapshot = open_snapshot(root, version)
    if isinstance(root, RemotePath):
        forget_erased(root)
    return Samples(snapshot, split)
