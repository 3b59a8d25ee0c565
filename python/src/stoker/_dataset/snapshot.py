"""Versions of a dataset: chunk table plus log tail, without a server and without touching a sample."""

from __future__ import annotations

import json
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from stoker._dataset.added_fields import OPERATIONS, PROPERTY, all_fields, merged_fields, parse_added
from stoker._dataset.erased import without_erased
from stoker._dataset.expired import Range, expired_by, is_protected, merged, oldest_kept, parse_expired
from stoker._dataset.log import (
    DatasetInfo,
    LogEntry,
    check_format,
    entry_path,
    has_content,
    read_entries,
    read_info,
    read_verified,
)
from stoker._dataset.overlay_names import Overlay, overlays_of, uuid_text
from stoker._dataset.tags import version_of
from stoker._dataset.versions import table_path, versions_of
from stoker._format.fields import Field
from stoker._format.requires import check_metadata_requires
from stoker._order.stream_order import StreamChunks
from stoker._store.remote_path import AnyPath
from stoker.errors import CorruptDataError, FormatTooNewError, UnknownSplitError, UnknownVersionError

_TOPIC = "kafka.topic"
"""The property that names the topic that a version was ingested from."""
_ERASED_CLASSES = "erased.classes"
"""The property that replaces class names by tombstones."""
COLUMNS: dict[str, Any] = {
    "ordinal": np.int64,
    "added_in": np.int64,
    "split": np.int32,
    "live": np.bool_,
    "rows": np.int32,
    "length": np.int64,
    "crc32c": np.uint32,
    "head_length": np.int64,
    "head_crc32c": np.uint32,
    "largest_row": np.int64,
}


@dataclass(frozen=True)
class Chunks:
    """The chunk table of a version: all ordinals ever, ascending; columns by name, ids as (n, 16) bytes."""

    columns: Mapping[str, npt.NDArray[Any]]
    ids: npt.NDArray[np.uint8]
    removed: Mapping[int, npt.NDArray[np.int64]]
    """Index -> removed rows of live chunks."""
    overlays: Mapping[int, Overlay] = field(default_factory=dict)
    """Index -> overlay of live chunks. Without it, a chunk's head must not be used."""

    def __len__(self) -> int:
        return len(self.ids)

    def id_of(self, index: int) -> str:
        """The chunk's id as text."""
        return uuid_text(self.ids[index].tobytes())


@dataclass(frozen=True)
class Snapshot:
    """A version of a dataset."""

    root: AnyPath
    info: DatasetInfo
    """With all fields of the version."""
    version: int
    splits: tuple[str, ...]
    classes: Mapping[str, tuple[str, ...]]
    chunks: Chunks
    topics: Mapping[str, int]
    """For each Kafka topic, the newest version that was ingested from it."""
    recovered: int
    """The newest version that was rebuilt from chunk heads, which do not name topics; 0 for none."""
    expired: tuple[Range, ...] = ()
    """The versions that were expired up to this one."""
    added: tuple[Field, ...] = ()
    """The fields that the version has beside those of dataset.json. A chunk that lacks one has nulls."""

    def split_index(self, split: str) -> npt.NDArray[np.int64]:
        """Indexes into the chunk table of every chunk the split ever had, ascending."""
        if split not in self.splits:
            known = ", ".join(self.splits) or "none"
            raise UnknownSplitError(f"{self.root} version {self.version} has no split {split!r}; it has: {known}")
        return np.flatnonzero(self.chunks.columns["split"] == self.splits.index(split))

    def stream(self, split: str) -> StreamChunks:
        """What the order function needs of a split."""
        index, table = self.split_index(split), self.chunks
        columns = table.columns
        place = {int(i): p for p, i in enumerate(index) if int(i) in table.removed} if table.removed else {}
        return StreamChunks(
            columns["ordinal"][index],
            columns["rows"][index].astype(np.int64),
            columns["length"][index],
            columns["live"][index],
            {p: table.removed[i] for i, p in place.items()},
            table.ids[index],
        )

    def live_ordinals(self) -> list[int]:
        """Ordinals of the chunks that have a row left, ascending."""
        columns, removed = self.chunks.columns, self.chunks.removed
        rows = columns["rows"]
        empty = [i for i, gone in removed.items() if len(gone) == rows[i]]
        live = columns["live"].copy()
        live[empty] = False
        return columns["ordinal"][live].tolist()  # type: ignore[no-any-return]

    def chunk_path(self, index: int) -> str:
        """The file of a chunk."""
        name = self.chunks.id_of(index)
        return f"{self.root}/chunks/{name[-2:]}/{name}.arrow"

    def overlay_path(self, overlay: Overlay) -> str:
        """The file of an overlay."""
        name = str(overlay)
        return f"{self.root}/overlays/{name[-2:]}/{name}.arrow"


def open_snapshot(root: AnyPath, version: int | str | None = None, *, any_version: bool = False) -> Snapshot:
    """Opens a version (None: the newest; a text: a tag) from the newest usable chunk table and the log after it.

    `any_version`: also one that was expired, whose chunks may be gone.
    """
    info = read_info(root)
    if isinstance(version, str):
        version = version_of(root, version, info.id)
    newest, tables = versions_of(root)
    if newest == 0:
        lost = f", or, if its log was lost: stoker recover {quote(str(root))}" if has_content(root) else ""
        raise UnknownVersionError(
            f"{root} has no version yet; commit one with: stoker ingest SOURCE {quote(str(root))}{lost}"
        )
    wanted = newest if version is None else version
    if not 1 <= wanted <= newest:
        raise UnknownVersionError(f"{root} has no version {version}; it has 1 to {newest}")
    building = _build(root, info, tables, wanted)
    if wanted < newest and not any_version and (root / "_stoker" / "expired.txt").exists():
        expired = _build(root, info, tables, newest).expired
        by = expired_by(expired, wanted)
        if by is not None and not is_protected(root, wanted, info.id):
            raise UnknownVersionError(
                f"{root}: version {wanted} was expired by version {by}; the oldest version that was kept is "
                f"{oldest_kept(expired)}"
            )
    try:
        info = replace(info, fields=all_fields(info.fields, building.added))
    except ValueError as e:
        raise CorruptDataError(f"{root} version {wanted}: {e}") from e
    return Snapshot(
        root,
        info,
        wanted,
        tuple(building.splits),
        {f: tuple(names) for f, names in building.classes.items()},
        building.chunks(),
        building.topics,
        building.recovered,
        building.expired,
        building.added,
    )


def _build(root: AnyPath, info: DatasetInfo, tables: list[int], wanted: int) -> _Building:
    """The table of a version, which must exist."""
    building = _Building([], {f: list(names) for f, names in info.classes.items()}, 0)
    for at in reversed([n for n in tables if n <= wanted]):
        path = table_path(root, at)
        try:
            building = _read_table(path, info, at)
            break
        except FileNotFoundError:
            continue  # a later commit has superseded it
        except (CorruptDataError, FormatTooNewError) as e:
            warnings.warn(
                f"stoker: ignoring the chunk table and reading the log instead: {e}", RuntimeWarning, stacklevel=3
            )
    for entry in read_entries(root, range(building.version + 1, wanted + 1), info.id):
        building.apply(entry, str(entry_path(root, entry.version)))
    return building


class _Building:
    """A chunk table to which log entries are applied."""

    def __init__(
        self, splits: list[str], classes: dict[str, list[str]], version: int, base: Chunks | None = None
    ) -> None:
        self.splits, self.classes, self.version = splits, classes, version
        self._base = base
        self._live = base.columns["live"].copy() if base else np.zeros(0, np.bool_)
        self._ordinals = base.columns["ordinal"] if base else np.zeros(0, np.int64)
        self.topics: dict[str, int] = {}
        self.recovered = 0
        self.expired: tuple[Range, ...] = ()
        self.added: tuple[Field, ...] = ()
        self._removed: dict[int, npt.NDArray[np.int64]] = dict(base.removed) if base else {}
        self._overlays: dict[int, Overlay] = dict(base.overlays) if base else {}
        self._largest: dict[int, int] = {}
        """Index -> largest row, of chunks of the base that were updated."""
        self._added: list[dict[str, Any]] = []
        self._index: dict[int, int] = {}

    def _find(self, ordinal: int) -> int | None:
        if ordinal in self._index:
            return self._index[ordinal]
        at = int(np.searchsorted(self._ordinals, ordinal))
        return at if at < len(self._ordinals) and self._ordinals[at] == ordinal else None

    def apply(self, entry: LogEntry, what: str) -> None:
        # Removals and updates first: an entry never removes or updates chunks that it adds.
        for r in entry.removed:
            self._remove(r["ordinal"], r["rows"], what)
        for u in entry.updated:
            self._update(u, what)
        last = self._added[-1]["ordinal"] if self._added else int(self._ordinals[-1]) if len(self._ordinals) else -1
        for a in entry.added:
            if a["ordinal"] <= last or a["rows"] < 0 or not 0 <= a["head_length"] <= a["length"] < 2**31:
                raise CorruptDataError(f"{what}: impossible chunk entry {a}")
            last = a["ordinal"]
            if a["split"] not in self.splits:
                self.splits.append(a["split"])
            self._index[last] = len(self._ordinals) + len(self._added)
            split = self.splits.index(a["split"])
            self._added.append({**a, "split": split, "added_in": entry.version, "live": True})
        for name, names in entry.classes.items():
            known = self.classes.setdefault(name, [])
            present = set(known)
            known.extend(n for n in names if n not in present)
        if _ERASED_CLASSES in entry.properties:
            try:
                self.classes = without_erased(self.classes, entry.properties[_ERASED_CLASSES])
            except (AttributeError, KeyError, TypeError, ValueError) as e:
                raise CorruptDataError(f"{what}: {e!r}") from e
        if _TOPIC in entry.properties:
            self.topics[entry.properties[_TOPIC]] = entry.version
        if entry.operation == "recovered":
            self.recovered = entry.version
        if entry.operation == "expire":
            try:
                self.expired = merged(self.expired, parse_expired(entry.properties["expired"], entry.version))
            except (KeyError, ValueError) as e:
                raise CorruptDataError(f"{what}: {e!r}") from e
        if entry.operation in OPERATIONS and PROPERTY in entry.properties:
            try:
                self.added = merged_fields(self.added, parse_added(entry.properties[PROPERTY]))
            except (KeyError, TypeError, ValueError) as e:
                raise CorruptDataError(f"{what}: {e!r}") from e
        self.version = entry.version

    def _remove(self, ordinal: int, rows: list[int] | None, what: str) -> None:
        index = self._find(ordinal)
        if index is None:
            raise CorruptDataError(f"{what}: removes from unknown chunk {ordinal}")
        if rows is None:
            self._removed.pop(index, None)
            self._overlays.pop(index, None)
            if index < len(self._live):
                self._live[index] = False
            else:
                self._added[index - len(self._live)]["live"] = False
            return
        gone = np.union1d(self._removed.get(index, np.zeros(0, np.int64)), np.array(rows, np.int64))
        count = self._rows_of(index)
        if len(gone) and not 0 <= gone[0] <= gone[-1] < count:
            raise CorruptDataError(f"{what}: removes rows beyond the {count} of chunk {ordinal}")
        if len(gone) == count:
            # Like one that was removed whole.
            self._remove(ordinal, None, what)
            return
        self._removed[index] = gone

    def _update(self, updated: dict[str, Any], what: str) -> None:
        index = self._find(updated["ordinal"])
        if index is None or not self._is_live(index):
            raise CorruptDataError(f"{what}: updates chunk {updated['ordinal']}, which is not part of the version")
        self._overlays[index] = Overlay(updated["overlay"], updated["length"], updated["crc32c"])
        if index < len(self._live):
            self._largest[index] = updated["largest_row"]
        else:
            self._added[index - len(self._live)]["largest_row"] = updated["largest_row"]

    def _is_live(self, index: int) -> bool:
        return bool(self._live[index] if index < len(self._live) else self._added[index - len(self._live)]["live"])

    def _rows_of(self, index: int) -> int:
        if self._base is not None and index < len(self._base):
            return int(self._base.columns["rows"][index])
        return int(self._added[index - len(self._live)]["rows"])

    def chunks(self) -> Chunks:
        columns = {}
        for name, dtype in COLUMNS.items():
            added = np.array([a[name] for a in self._added], dtype)
            if self._base is None:
                columns[name] = added
            else:
                old = self._live if name == "live" else self._base.columns[name]
                columns[name] = np.concatenate([old, added]) if len(added) else old
        if self._largest:
            columns["largest_row"] = columns["largest_row"].copy()
            columns["largest_row"][list(self._largest)] = list(self._largest.values())
        ids = np.frombuffer(b"".join(a["id"] for a in self._added), np.uint8).reshape(-1, 16)
        if self._base is not None:
            ids = np.concatenate([self._base.ids, ids])
        live = columns["live"]
        removed = {i: rows for i, rows in self._removed.items() if live[i] and len(rows)}
        return Chunks(columns, ids, removed, self._overlays)


def _read_table(path: AnyPath, info: DatasetInfo, version: int) -> _Building:
    data = read_verified(path)
    try:
        table = pa.ipc.open_file(pa.py_buffer(data)).read_all()
        metadata = {k.decode(): v.decode() for k, v in (table.schema.metadata or {}).items()}
        check_format(int(metadata["stoker.format"]), str(path))
        check_metadata_requires(metadata, path)
        if metadata["stoker.dataset"] != info.id or int(metadata["stoker.version"]) != version:
            raise ValueError("belongs to another dataset or version")
        splits = list(json.loads(metadata["stoker.splits"]))
        classes = {f: list(names) for f, names in json.loads(metadata["stoker.classes"]).items()}
        columns = {}
        for name, dtype in COLUMNS.items():
            column = table.column(name)
            if column.null_count:
                raise ValueError(f"column {name} has nulls")
            columns[name] = column.to_numpy().astype(dtype, copy=False)
        blob = table.column("id").combine_chunks()
        if isinstance(blob, pa.ChunkedArray):
            blob = blob.chunk(0) if blob.num_chunks else pa.nulls(0, pa.binary(16))
        if blob.type != pa.binary(16):
            raise ValueError(f"column id is {blob.type}")
        buffer = blob.buffers()[1]
        ids = np.frombuffer(buffer, np.uint8) if buffer is not None else np.zeros(0, np.uint8)
        ids = ids[blob.offset * 16 : (blob.offset + len(blob)) * 16].reshape(-1, 16)
        gone = table.column("removed_rows")
        removed = {}
        if gone.null_count != len(gone):
            for index in np.flatnonzero(gone.is_valid().to_numpy()):
                removed[int(index)] = np.array(gone[int(index)].as_py(), np.int64)
        if np.any(np.diff(columns["ordinal"]) <= 0) or np.any(
            (columns["split"] < 0) | (columns["split"] >= len(splits))
        ):
            raise ValueError("ordinals not ascending, or a split that is not listed")
        building = _Building(splits, classes, version, Chunks(columns, ids, removed, overlays_of(table)))
        building.topics = {t: _version(v, version) for t, v in json.loads(metadata["stoker.topics"]).items()}
        building.recovered = _version(int(metadata["stoker.recovered"]), version, 0)
        if "stoker.expired" in metadata:
            building.expired = parse_expired(metadata["stoker.expired"])
            for _, _, by in building.expired:
                _version(by, version)
        if "stoker.fields" in metadata:
            building.added = parse_added(metadata["stoker.fields"])
        return building
    except (pa.ArrowException, KeyError, TypeError, ValueError) as e:
        raise CorruptDataError(f"{path}: {e}") from e


def _version(found: Any, table: int, least: int = 1) -> int:
    if not isinstance(found, int) or not least <= found <= table:
        raise ValueError(f"names version {found!r}, the table is of {table}")
    return found
