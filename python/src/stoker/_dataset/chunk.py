"""Heads of chunk files: read with pread into owned memory and checked every time they are read."""

from __future__ import annotations

import errno
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._dataset.far_chunks import FarChunks
from stoker._dataset.head_parts import ChunkName, missing_file, read_opening, read_parts
from stoker._dataset.log import check_format
from stoker._dataset.overlay import OverlayColumn, read_overlay
from stoker._dataset.snapshot import Snapshot
from stoker._format.checksum import crc32c
from stoker._format.dictionaries import Dictionary, class_names
from stoker._format.flatbuffer import SchemaColumn, chunk_schema
from stoker._format.message import Buffers, Column, MessageLayout, checked_offsets, chunk_columns
from stoker._format.nested_columns import nested_rows
from stoker._format.requires import check_metadata_requires
from stoker._memory.file_reads import read_into
from stoker._store.remote_path import RemotePath
from stoker.errors import CorruptDataError, StokerError

_CLASS_LISTS = 256
"""Class lists of chunks whose ids are remembered; most chunks of a dataset share a few."""


@dataclass(frozen=True)
class ColumnData:
    """A small column: one entry per row."""

    column: Column
    validity: npt.NDArray[np.bool_] | None
    offsets: npt.NDArray[Any] | None
    """In elements, from 0; for bytes and lists. In bytes for nested lists, whose rows are byte strings."""
    data: npt.NDArray[Any]
    """Elements; bool as one byte each; tensors as (rows, width)."""


@dataclass(frozen=True)
class PayloadPlaces:
    """Where the rows of a payload field lie in the chunk file."""

    starts: npt.NDArray[np.int64]
    lengths: npt.NDArray[np.int64]
    crcs: npt.NDArray[np.uint32]
    validity: npt.NDArray[np.bool_] | None = None
    """None: every row has a value."""


class FileColumns(NamedTuple):
    """The columns of a chunk file, which may lack added fields of the version."""

    layout: MessageLayout
    schema: Sequence[SchemaColumn]


@dataclass(frozen=True)
class ChunkHead:
    """Keys, small columns, checksums and payload places of every row of a chunk."""

    rows: int
    small: tuple[ColumnData, ...]
    """Key first, then the small fields in dataset order."""
    payload: tuple[PayloadPlaces, ...]


class ChunkReader:
    """Opens and reads the chunks of one snapshot. Safe for several threads."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        root = snapshot.root
        self.far = FarChunks(snapshot, root) if isinstance(root, RemotePath) else None
        """Set if the chunks are in an object store."""
        fields = snapshot.info.fields
        self.layout = MessageLayout(chunk_columns(fields))
        """The columns of the version."""
        self._files: dict[frozenset[str], FileColumns] = {}
        """By the added fields that they have."""
        self._ids = {f: {name: i for i, name in enumerate(names)} for f, names in snapshot.classes.items()}
        self._known: dict[tuple[str, bytes], npt.NDArray[np.int32]] = {}

    def open(self, index: int) -> int:
        """A read-only descriptor of a chunk file whose length has been checked; the caller closes it."""
        path = self.snapshot.chunk_path(index)
        expected = int(self.snapshot.chunks.columns["length"][index])
        try:
            if self.far is not None:
                return self.far.open(index)
            fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
        except FileNotFoundError:
            raise missing_file(self.snapshot.root, self.describe(index)) from None
        except OSError as e:
            raise self._unreadable(index, e) from e
        found = os.fstat(fd).st_size
        if found != expected:
            os.close(fd)
            raise self.corrupt(f"{self.describe(index)}: {found} bytes long, expected {expected}")
        return fd

    def open_head(self, index: int) -> int:
        """Like `open`, for callers that read the head only: of a chunk in a store, the file may end after it."""
        if self.far is None:
            return self.open(index)
        try:
            return self.far.open_head(index)
        except FileNotFoundError:
            raise missing_file(self.snapshot.root, self.describe(index)) from None

    def renew(self, fd: int, index: int) -> bool:
        """After a mismatch: has a damaged copy of a far chunk downloaded again. Returns whether `fd` is of a new copy.

        Always False for chunks in directories.
        """
        if self.far is None:
            return False
        before = os.fstat(fd)
        self.far.verify(index)
        new = self.open(index)
        try:
            after = os.fstat(new)
            if (before.st_dev, before.st_ino) == (after.st_dev, after.st_ino):
                return False
            os.dup2(new, fd, inheritable=False)
        finally:
            os.close(new)
        return True

    def describe(self, index: int) -> ChunkName:
        """Names a chunk in an error."""
        return ChunkName(self.snapshot, index)

    def corrupt(self, problem: object) -> CorruptDataError:
        """An error that names the next step, once."""
        text, step = str(problem), f"; run: stoker verify {quote(str(self.snapshot.root))}"
        return CorruptDataError(text if text.endswith(step) else text + step)

    def _unreadable(self, index: int, e: OSError) -> Exception:
        """The error of a chunk file that the system does not open or read. An error of a store stays the same."""
        if self.far is not None:
            return e
        step = "raise the limit of open files (ulimit -n)" if e.errno == errno.EMFILE else "check the file and its disk"
        return StokerError(f"{self.describe(index)}: {e.strerror or e}; {step}")

    def read_file(self, fd: int, view: memoryview, offset: int, index: int) -> int:
        """Reads a range of a chunk file; returns the bytes read, fewer only at the end of the file."""
        try:
            return read_into(fd, view, offset)
        except OSError as e:
            raise self._unreadable(index, e) from e

    def file_columns(self, names: Sequence[str]) -> FileColumns:
        """The columns of a chunk file in which there are columns with these names, and perhaps others."""
        own = frozenset(field.name for field in self.snapshot.added if field.name in names)
        known = self._files.get(own)
        if known is None:
            lacks = {field.name for field in self.snapshot.added} - own
            fields = [field for field in self.snapshot.info.fields if field.name not in lacks]
            known = self._files[own] = FileColumns(MessageLayout(chunk_columns(fields)), chunk_schema(fields))
        return known

    def head(self, fd: int, index: int) -> ChunkHead:
        """Reads and verifies a head, with the fields and values of the version.

        They are those of the chunk's overlay, if it has one, and null if neither has the field.
        """
        head, what = self.stored_head(fd, index), self.describe(index)
        overlay = read_overlay(self.snapshot, index, what, self.far)
        if not overlay and not self.snapshot.added:
            return head
        own = {values.column.name: values for values in head.small}
        small = []
        for column in self.layout.columns:
            if column.name in overlay:
                small.append(self.overlaid(column, overlay, head.rows, what))
            elif column.name in own:
                small.append(own[column.name])
            elif not column.payload and not column.name.startswith("crc32c:"):
                small.append(null_column(column, head.rows))
        return ChunkHead(head.rows, tuple(small), head.payload)

    def overlaid(self, column: Column, overlay: Mapping[str, OverlayColumn], rows: int, what: ChunkName) -> ColumnData:
        """The values of a column that an overlay has."""
        own = overlay[column.name]
        return self.column_data(column, own.message, own.places, own.dictionary, rows, what)

    def stored_head(self, fd: int, index: int) -> ChunkHead:
        """Reads and verifies the head in the chunk's own file, whatever its overlay, with the fields of the file.

        A mismatch is read a second time before it is an error.
        """
        columns = self.snapshot.chunks.columns
        length, expected = int(columns["head_length"][index]), int(columns["head_crc32c"][index])
        for attempt in (1, 2):
            data = np.empty(-(-length // 64) * 64, np.uint8)[:length]
            got = self.read_file(fd, memoryview(data), 0, index)
            if got == length and crc32c(data) == expected:
                try:
                    return self._parse(data, index)
                except CorruptDataError as e:
                    raise self.corrupt(e) from e
            if attempt == 1:
                self.renew(fd, index)
            else:
                found = (
                    f"checksum {crc32c(data):08x}, expected {expected:08x}" if got == length else f"only {got} bytes"
                )
                raise self.corrupt(f"{self.describe(index)}: head of {length} bytes: {found}")
        raise AssertionError

    def _parse(self, data: npt.NDArray[np.uint8], index: int) -> ChunkHead:
        what = self.describe(index)
        rows = int(self.snapshot.chunks.columns["rows"][index])
        opening = read_opening(data, what)
        self.check_identity(opening.metadata, index, what)
        file = self.file_columns(opening.names)
        message, at, places, dictionaries = read_parts(data, opening, file.schema, file.layout, rows, what)
        small: list[ColumnData] = []
        payload: list[PayloadPlaces] = []
        crcs: list[npt.NDArray[np.uint32]] = []
        for column, place in zip(file.layout.columns, places, strict=True):
            if column.payload:
                payload.append(self.payload_places(column, message, at, place, crcs[len(payload)], index))
                continue
            values = self.column_data(column, message, place, dictionaries.get(column.name), rows, what)
            if column.name.startswith("crc32c:"):
                crcs.append(values.data)
            else:
                small.append(values)
        return ChunkHead(rows, tuple(small), tuple(payload))

    def column_data(
        self,
        column: Column,
        message: npt.NDArray[np.uint8],
        place: Buffers,
        dictionary: Dictionary | None,
        rows: int,
        what: ChunkName,
    ) -> ColumnData:
        """Returns the values of a column that is not payload, with the class ids of the version."""
        return self._mapped(stored_column(column, message, place, rows, what.of(column.name)), dictionary, rows, what)

    def check_identity(self, metadata: Mapping[str, str], index: int, what: ChunkName) -> None:
        """Raises `CorruptDataError` if the schema metadata belong to another chunk."""
        number = metadata.get("stoker.format", "")
        check_format(int(number) if number.isdigit() else number, what)
        try:
            check_metadata_requires(metadata, what)
        except ValueError as e:
            raise CorruptDataError(f"{what}: {e}") from e
        if "stoker.overlaid" in metadata:
            raise CorruptDataError(f"{what}: is an overlay of chunk {metadata['stoker.overlaid']}")
        snapshot = self.snapshot
        split = snapshot.splits[int(snapshot.chunks.columns["split"][index])]
        for name, expected in (
            ("dataset", snapshot.info.id),
            ("chunk", snapshot.chunks.id_of(index)),
            ("split", split),
        ):
            found = metadata.get(f"stoker.{name}")
            if found != expected:
                raise CorruptDataError(f"{what}: belongs to {name} {found!r}, expected {expected!r}")

    def payload_places(
        self,
        column: Column,
        message: npt.NDArray[np.uint8],
        at: int,
        place: Buffers,
        crcs: npt.NDArray[np.uint32],
        index: int,
    ) -> PayloadPlaces:
        """Returns where the rows of a payload column are in the file. `at`: where `message` is in the file."""
        start = at + place.data[0]
        what = self.describe(index).of(column.name)
        rows = len(crcs)
        if column.has_offsets:
            end = place.elements if column.kind == "list" else place.data[1]
            offsets = checked_offsets(message, place.offsets, end, what).astype(np.int64) * column.itemsize
        else:
            offsets = np.arange(rows + 1, dtype=np.int64) * (column.itemsize * column.width)
        if start + int(offsets[-1]) > int(self.snapshot.chunks.columns["length"][index]):
            raise CorruptDataError(f"{what}: data reaches beyond the end of the file")
        lengths = offsets[1:] - offsets[:-1]
        valid = _validity(message, place, rows)
        if valid is not None:
            # Batches copy the bytes without looking at them, so the bytes of a null row must be zeros.
            nothing = bytes(0 if column.has_offsets else column.itemsize * column.width)
            if np.any(lengths[~valid] != len(nothing)) or np.any(crcs[~valid] != crc32c(nothing)):
                raise CorruptDataError(f"{what}: a null row has bytes other than {len(nothing)} zeros")
        return PayloadPlaces(start + offsets[:-1], lengths, crcs, valid)

    def _mapped(self, values: ColumnData, dictionary: Dictionary | None, rows: int, what: ChunkName) -> ColumnData:
        """Maps the class ids of a chunk to the class ids of the version. Null slots become zero."""
        name = values.column.name
        data = values.data
        if dictionary is not None:
            ids = self._class_ids(name, dictionary, rows, what)
            if values.validity is not None:
                data = np.where(values.validity, data, 0)
            if len(data) and not 0 <= int(data.min()) <= int(data.max()) < max(1, len(ids)):
                raise CorruptDataError(f"{what}: class id of {name} outside the {len(ids)} classes of the chunk")
            data = ids[data] if len(ids) else data
        if values.validity is not None and values.offsets is None:
            data = data.copy() if data is values.data else data
            data[~values.validity] = 0
        return ColumnData(values.column, values.validity, values.offsets, data)

    def _class_ids(self, field: str, dictionary: Dictionary, rows: int, what: ChunkName) -> npt.NDArray[np.int32]:
        found = self._known.get((field, dictionary.body))
        if found is not None:
            return found
        names = class_names(dictionary, rows, what.of(field))
        known: Mapping[str, int] = self._ids.get(field, {})
        unknown = [name for name in names if name not in known]
        if unknown:
            raise CorruptDataError(f"{what}: class {unknown[0]!r} of {field} is not among the version's classes")
        ids = np.array([known[name] for name in names], np.int32)
        if len(self._known) < _CLASS_LISTS:
            self._known[field, dictionary.body] = ids
        return ids


def null_column(column: Column, rows: int) -> ColumnData:
    """A column that is null in all rows."""
    offsets = np.zeros(rows + 1, np.int32) if column.has_offsets else None
    if column.kind == "bool":
        data: npt.NDArray[Any] = np.zeros(rows, np.bool_)
    elif column.kind == "tensor":
        data = np.zeros((rows, column.width), column.dtype)
    else:
        data = np.zeros(0 if column.has_offsets else rows, column.dtype)
    return ColumnData(column, np.zeros(rows, np.bool_), offsets, data)


def stored_column(
    column: Column, message: npt.NDArray[np.uint8], place: Buffers, rows: int, what: object
) -> ColumnData:
    """Returns the values of a column as a message contains them. Raises `CorruptDataError` naming `what`."""
    if column.kind == "nested":
        starts, encoded = nested_rows(message, column, place, rows, what)
        return ColumnData(column, _validity(message, place, rows), starts, encoded)
    values = message[place.data[0] : place.data[0] + place.data[1]].view(
        np.uint8 if column.kind == "bool" else column.dtype
    )
    offsets = None
    if column.has_offsets:
        end = place.elements if column.kind == "list" else place.data[1]
        offsets = checked_offsets(message, place.offsets, end, what)
    if column.kind == "bool":
        values = np.unpackbits(values, count=rows, bitorder="little").view(np.bool_)
    elif column.kind == "tensor":
        values = values.reshape(rows, column.width)
    return ColumnData(column, _validity(message, place, rows), offsets, values)


def _validity(message: npt.NDArray[np.uint8], place: Buffers, rows: int) -> npt.NDArray[np.bool_] | None:
    if not place.nulls:
        return None
    bits = message[place.validity[0] : place.validity[0] + place.validity[1]]
    return np.unpackbits(bits, count=rows, bitorder="little").view(np.bool_)
