"""Writes chunk tables, byte for byte as docs/formats/dataset.md has them: what opening a version reads first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._commit.entry import escaped, seal
from stoker._commit.stores import Store
from stoker._dataset.added_fields import text_of_added
from stoker._dataset.expired import text_of
from stoker._dataset.log import LogEntry
from stoker._dataset.snapshot import Snapshot, open_snapshot
from stoker._dataset.versions import table_path, table_versions
from stoker._format.canonical_json import compact_upper, sorted_by_code_unit
from stoker._format.flatbuffer import Block, SchemaColumn, closing, opening
from stoker._format.message import Column, MessageLayout, Sizes
from stoker._packing.segments import bitmap
from stoker._store.remote_path import AnyPath

COMMITS = 100
CHUNKS = 4096
NEWEST = 3
"""Tables that are kept in any case."""
_COLUMNS = (
    SchemaColumn("ordinal", "int64"),
    SchemaColumn("id", "fixed_size_binary(16)"),
    SchemaColumn("added_in", "int64"),
    SchemaColumn("split", "int32"),
    SchemaColumn("live", "bool"),
    SchemaColumn("rows", "int32"),
    SchemaColumn("live_rows", "int32"),
    SchemaColumn("length", "int64"),
    SchemaColumn("crc32c", "uint32"),
    SchemaColumn("head_length", "int64"),
    SchemaColumn("head_crc32c", "uint32"),
    SchemaColumn("largest_row", "int64"),
    SchemaColumn("removed_rows", "int32[]", True),
    SchemaColumn("overlay", "fixed_size_binary(16)", True),
    SchemaColumn("overlay_length", "int64", True),
    SchemaColumn("overlay_crc32c", "uint32", True),
)
_WIDTHS = {"int64": 8, "int32": 4, "uint32": 4, "fixed_size_binary(16)": 16}


def write_table_if_due(store: Store, root: AnyPath, entry: LogEntry, base: Snapshot | None) -> None:
    """Writes the table of an entry's version if enough commits or chunks were added since the newest table.

    `base` is the version before the entry.
    """
    last = max((v for v in table_versions(root) if v <= entry.version), default=0)
    late = len(entry.added)
    if base is not None:
        late += int(np.count_nonzero(base.chunks.columns["added_in"] > last))
    if entry.version - last >= COMMITS or late >= CHUNKS:
        snapshot = open_snapshot(root, entry.version, any_version=True)
        store.create_if_absent(f"_stoker/tables/{entry.version:020d}.arrow", encode_table(snapshot))
        for old in superseded(table_versions(root)):
            table_path(root, old).unlink(missing_ok=True)


def superseded(tables: Sequence[int]) -> list[int]:
    """The tables (ascending) that may go: all but the newest, the oldest, and some at distances that double."""
    gone: list[int] = []
    kept = distance = 0
    for version in reversed(tables):
        own = tables[-1] - version
        if kept < NEWEST or own >= 2 * distance or version == tables[0]:
            kept, distance = kept + 1, own
        else:
            gone.append(version)
    return gone


def encode_table(snapshot: Snapshot) -> bytes:
    """The chunk table of a version."""
    rows = len(snapshot.chunks)
    columns = [_column(c.name, c.type) for c in _COLUMNS]
    layout = MessageLayout(columns)
    parts = [_content(c.name, snapshot) for c in _COLUMNS]
    message, places, length = layout.pack(rows, [p[0] for p in parts], (0, 0, rows))
    self_pair = {"stoker.self": "stoker.crc32c=00000000"}
    metadata = {
        "stoker.format": "1",
        "stoker.dataset": snapshot.info.id,
        "stoker.version": str(snapshot.version),
        "stoker.splits": escaped(compact_upper(list(snapshot.splits))),
        "stoker.classes": escaped(
            compact_upper({f: list(snapshot.classes[f]) for f in sorted_by_code_unit(snapshot.classes)})
        ),
        "stoker.topics": escaped(compact_upper({t: snapshot.topics[t] for t in sorted_by_code_unit(snapshot.topics)})),
        "stoker.recovered": str(snapshot.recovered),
    }
    if snapshot.expired:
        metadata["stoker.expired"] = text_of(snapshot.expired)
    if snapshot.added:
        metadata["stoker.fields"] = escaped(text_of_added(snapshot.added))
    first = opening(_COLUMNS, self_pair | metadata)
    body = bytearray(length)
    body[: len(message)] = message
    for (_, buffers), place in zip(parts, places, strict=True):
        for at, data in zip(place, buffers, strict=True):
            body[at : at + len(data)] = data
    block = Block(len(first), layout.body_start, length - layout.body_start)
    return seal(first + bytes(body) + closing(_COLUMNS, metadata, block, {}))


def _column(name: str, kind: str) -> Column:
    if kind == "bool":
        return Column(name, "bool", 1, 1, False, False, np.dtype(np.bool_))
    if kind == "int32[]":
        return Column(name, "list", 4, 1, True, False, np.dtype(np.int32))
    return Column(name, "fixed", _WIDTHS[kind], 1, False, False, np.dtype(np.uint8))


def _content(name: str, snapshot: Snapshot) -> tuple[Sizes, tuple[bytes, ...]]:
    """What `MessageLayout.pack` wants to know, and validity, offsets and values."""
    chunks = snapshot.chunks
    rows = len(chunks)
    if name == "removed_rows":
        live = live_rows(snapshot).tolist()
        lists = [chunks.removed.get(i) if live[i] else None for i in range(rows)]
        valid = np.array([x is not None for x in lists], np.bool_)
        lengths = [0 if x is None else len(x) for x in lists]
        offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype("<i4")
        data = b"".join(x.astype("<i4").tobytes() for x in lists if x is not None)
        nulls = rows - int(valid.sum())
        validity = bitmap(valid) if nulls else b""
        sizes = Sizes(nulls, int(offsets[-1]), len(validity), 4 * rows + 4, len(data))
        return sizes, (validity, offsets.tobytes(), data, b"", b"")
    if name.startswith("overlay"):
        return _overlays(name, snapshot)
    data = _values(name, snapshot)
    return Sizes(0, rows, 0, 0, len(data)), (b"", b"", data, b"", b"")


def _overlays(name: str, snapshot: Snapshot) -> tuple[Sizes, tuple[bytes, ...]]:
    """Validity and values of a column that only chunks with an overlay have."""
    overlays, rows = snapshot.chunks.overlays, len(snapshot.chunks)
    if name == "overlay":
        data = b"".join(overlays[i].id if i in overlays else bytes(16) for i in range(rows))
    else:
        kind, attribute = ("<i8", "length") if name == "overlay_length" else ("<u4", "crc32c")
        values = [getattr(overlays[i], attribute) if i in overlays else 0 for i in range(rows)]
        data = np.array(values, kind).tobytes()
    nulls = rows - len(overlays)
    validity = bitmap(np.array([i in overlays for i in range(rows)], np.bool_)) if nulls else b""
    return Sizes(nulls, rows, len(validity), 0, len(data)), (validity, b"", data, b"", b"")


def _values(name: str, snapshot: Snapshot) -> bytes:
    chunks = snapshot.chunks
    if name == "id":
        return chunks.ids.tobytes()
    live = live_rows(snapshot)
    if name == "live":
        return bitmap(live > 0)
    if name == "live_rows":
        return live.tobytes()
    values: Any = chunks.columns[name]
    return np.ascontiguousarray(values).tobytes()


def live_rows(snapshot: Snapshot) -> npt.NDArray[np.int32]:
    """Rows of each chunk that are left."""
    columns = snapshot.chunks.columns
    rows: npt.NDArray[np.int32] = np.where(columns["live"], columns["rows"], 0).astype(np.int32)
    for index, gone in snapshot.chunks.removed.items():
        rows[index] -= len(gone)
    return rows
