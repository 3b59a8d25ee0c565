"""Overlays of chunks: docs/formats/chunk.md, "Overlays"."""

from __future__ import annotations

import os
from collections.abc import Mapping
from shlex import quote
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._dataset.far_chunks import FarChunks
from stoker._dataset.head_parts import ChunkName, missing_file, read_opening, read_parts
from stoker._dataset.overlay_names import Overlay
from stoker._dataset.snapshot import Snapshot
from stoker._format.checksum import crc32c
from stoker._format.dictionaries import Dictionary
from stoker._format.fields import Field
from stoker._format.flatbuffer import chunk_schema
from stoker._format.message import Buffers, MessageLayout, chunk_columns
from stoker._memory.file_reads import read_fully
from stoker.errors import CorruptDataError


class OverlayColumn(NamedTuple):
    """A column of an overlay, whose bytes are verified."""

    message: npt.NDArray[np.uint8]
    places: Buffers
    """Where the buffers are in `message`."""
    dictionary: Dictionary | None


def read_overlay(snapshot: Snapshot, index: int, what: ChunkName, far: FarChunks | None) -> Mapping[str, OverlayColumn]:
    """The columns that a version has instead of those in a chunk, by name; none for a chunk without an overlay.

    Raises `CorruptDataError`. `what`: names the chunk. `far`: of a snapshot in an object store.
    """
    overlay = snapshot.chunks.overlays.get(index)
    if overlay is None:
        return {}
    what = what.of(f"overlay {snapshot.overlay_path(overlay)}")
    for attempt in (1, 2):
        try:
            return _read(snapshot, index, overlay, what, far)
        except FileNotFoundError:
            raise missing_file(snapshot.root, what) from None
        except CorruptDataError as e:
            if attempt == 2:
                raise CorruptDataError(f"{e}; run: stoker verify {quote(str(snapshot.root))}") from e
            if far is not None:
                far.verify_overlay(overlay)
    raise AssertionError


def _read(
    snapshot: Snapshot, index: int, overlay: Overlay, what: ChunkName, far: FarChunks | None
) -> Mapping[str, OverlayColumn]:
    data = _bytes(snapshot.overlay_path(overlay), overlay, what, far)
    opening = read_opening(data, what)
    for name, expected in (
        ("format", "1"),
        ("dataset", snapshot.info.id),
        ("chunk", str(overlay)),
        ("overlaid", snapshot.chunks.id_of(index)),
    ):
        found = opening.metadata.get(f"stoker.{name}")
        if found != expected:
            raise CorruptDataError(f"{what}: stoker.{name} is {found!r}, expected {expected!r}")
    fields = _fields(snapshot, opening.names, what)
    columns = chunk_columns(fields)
    rows = int(snapshot.chunks.columns["rows"][index])
    parts = read_parts(data, opening, chunk_schema(fields), MessageLayout(columns), rows, what)
    return {
        column.name: OverlayColumn(parts.message, places, parts.dictionaries.get(column.name))
        for column, places in zip(columns[1:], parts.buffers[1:], strict=True)
    }


def _fields(snapshot: Snapshot, names: list[str], what: ChunkName) -> list[Field]:
    known = {field.name: field for field in snapshot.info.fields if not field.payload}
    unknown = [name for name in names[1:] if name not in known]
    if unknown or names[:1] != ["key"]:
        raise CorruptDataError(f"{what}: columns {names}, expected the key and small fields")
    return [known[name] for name in names[1:]]


def _bytes(path: str, overlay: Overlay, what: ChunkName, far: FarChunks | None) -> npt.NDArray[np.uint8]:
    """The whole file, compared with its length and checksum in the log. Raises `FileNotFoundError`."""
    if far is not None:
        fd = far.open_overlay(overlay)
    else:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0))
    try:
        length = os.fstat(fd).st_size
        if length != overlay.length:
            raise CorruptDataError(f"{what}: {length} bytes long, expected {overlay.length}")
        data = np.empty(-(-length // 64) * 64, np.uint8)[:length]
        got = read_fully(fd, data, 0)
    finally:
        os.close(fd)
    if got != length or crc32c(data) != overlay.crc32c:
        raise CorruptDataError(f"{what}: checksum {crc32c(data[:got]):08x}, expected {overlay.crc32c:08x}")
    return data
