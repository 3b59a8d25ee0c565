"""Makes versions: docs/formats/dataset.md, "Committing".

A commit takes place whole or not at all, and once per ingest id.
"""

from __future__ import annotations

import contextlib
import re
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from shlex import quote
from typing import Any

from stoker._commit.entry import encode_entry, encode_info
from stoker._commit.local_store import UnknownOutcome
from stoker._commit.stores import Store
from stoker._commit.table import write_table_if_due
from stoker._dataset.log import (
    DatasetInfo,
    LogEntry,
    log_folder,
    read_entry,
    read_info,
    read_whole,
    require_newest,
    sign_name,
    version_of_copy,
)
from stoker._dataset.snapshot import Snapshot, open_snapshot
from stoker._dataset.versions import newest_version
from stoker._format.plural import plural
from stoker._packing.pack import ChunkSummary, chunk_path
from stoker._store.downloads import downloads
from stoker._store.remote_path import AnyPath, RemotePath
from stoker.errors import CommitRefusedError, CommitUnknownError, CorruptDataError

_INGEST = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")
_READ_BACKS = 5
INFO = "_stoker/dataset.json"
COPY = "_stoker/dataset-copy.json"
MAX_ENTRY_BYTES = 1 << 30
"""No longer log entry is read."""

Check = Callable[[Snapshot | None], None]


def checked_ingest_id(ingest: str) -> str:
    """Returns an ingest id; ValueError if it is none."""
    if not _INGEST.fullmatch(ingest):
        raise ValueError(
            f"not an ingest id: {ingest!r}; use 1 to 128 letters, digits, '.', '_' and '-', "
            "beginning with a letter or digit"
        )
    return ingest


@dataclass(frozen=True)
class VersionRequest:
    """What is to become a version."""

    ingest: str
    operation: str
    """ingest or replace."""
    added: Sequence[ChunkSummary]
    classes: Mapping[str, Sequence[str]]
    """Names used, by categorical field."""
    properties: Mapping[str, str]
    leases: Sequence[str] = ()
    """Ids under whose leases the chunks were written; the commit fails if one of them was ended from outside."""


class VersionCommitter:
    """Commits to one dataset; any number of committers, of any language, may work on it at once. One thread."""

    def __init__(self, store: Store, clock: Callable[[], int], who: str) -> None:
        self._store, self._clock, self._who = store, clock, who
        self._root = store.root
        self._info = read_info(store.root)

    @property
    def dataset(self) -> str:
        """The dataset's id."""
        return self._info.id

    def latest(self) -> Snapshot | None:
        """The newest version, if there is one."""
        return open_snapshot(self._root) if newest_version(self._root) else None

    def find(self, ingest: str) -> LogEntry | None:
        """The entry of an ingest that was committed before.

        Raises `CommitRefusedError` if the ingest was ended from outside, and `CorruptDataError` if the newest version
        is lost.
        """
        newest = newest_version(self._root)
        # Before the caller packs anything.
        require_newest(self._root, newest)
        return self._not_abandoned(self._standing(ingest, newest))

    def has(self, ingest: str) -> bool:
        """Whether the log knows an ingest id, committed or ended."""
        return self._standing(ingest, newest_version(self._root)) is not None

    def _not_abandoned(self, entry: LogEntry | None) -> LogEntry | None:
        if entry is not None and entry.operation == "abandon":
            raise CommitRefusedError(
                f"ingest {entry.ingest} of {self._root} was ended by `stoker gc --break` (version {entry.version} of "
                "the log); nothing is committed, write it again under a new ingest id"
            )
        return entry

    def _standing(self, ingest: str, newest: int) -> LogEntry | None:
        """The entry that an ingest id has in the log, as of a version."""
        if newest:
            entry = read_entry(self._root, newest, self._info.id)
            if entry.ingest == ingest:
                return entry
        copy = self._copy(ingest)
        if not copy.exists():
            return None
        entry = read_entry(self._root, version_of_copy(copy), self._info.id)
        if entry.ingest != ingest:
            raise CorruptDataError(
                f"version {entry.version} of {self._root} belongs to ingest {entry.ingest} in the log, "
                f"but to {ingest} in {copy}; run: stoker verify {quote(str(self._root))}"
            )
        return entry

    def commit(self, request: VersionRequest, check: Check) -> LogEntry:
        """Makes a version, unless that was done before under the same ingest id.

        `check` is asked for every version that the commit is tried on, and raises where it would be wrong.
        Raises `CommitUnknownError` if the outcome cannot be found out; any other error means that nothing is committed.
        """
        # One base for all that is asked: what is committed after it is met when the entry is published.
        base = self.latest()
        known = 0 if base is None else base.version
        before = self._not_abandoned(self._standing(request.ingest, known))
        if before is not None:
            return before
        for lease in request.leases:
            ended = self._standing(lease, known)
            if ended is not None and ended.operation == "abandon":
                self._not_abandoned(ended)
        require_chunks(self._root, request.ingest, request.added)
        while True:
            check(base)
            require_newest(self._root, 0 if base is None else base.version)
            if base is not None:
                self._heal(base.version)
            entry = self._entry(request, base)
            if self._publish(entry):
                self._afterwards(entry, base)
                return entry
            known = 0 if base is None else base.version
            newest = newest_version(self._root)
            for version in range(known + 1, newest + 1):
                other = read_entry(self._root, version, self._info.id)
                if other.ingest == request.ingest:
                    self._not_abandoned(other)
                    return other
                if other.ingest in request.leases and other.operation == "abandon":
                    self._not_abandoned(other)
            if newest <= known:
                raise CorruptDataError(
                    f"{self._path(entry.version)} exists, but the directory listing does not contain it; check the "
                    "file system"
                )
            base = open_snapshot(self._root)

    def _entry(self, request: VersionRequest, base: Snapshot | None) -> LogEntry:
        ordinals: Any = base.chunks.columns["ordinal"] if base is not None else ()
        first = int(ordinals[-1]) + 1 if len(ordinals) else 0
        added = [
            {**chunk.to_json(), "ordinal": first + i, "id": bytes.fromhex(chunk.id.replace("-", ""))}
            for i, chunk in enumerate(request.added)
        ]
        removed = []
        if request.operation == "replace" and base is not None:
            removed = [{"ordinal": o, "rows": None} for o in base.live_ordinals()]
        return LogEntry(
            base.version + 1 if base is not None else 1,
            request.operation,
            request.ingest,
            self._clock(),
            self._who,
            added,
            removed,
            {f: sorted(set(names)) for f, names in request.classes.items()},
            dict(request.properties),
        )

    def _path(self, version: int) -> str:
        return str(log_folder(self._root) / f"{version:020d}.avro")

    def _copy(self, ingest: str) -> AnyPath:
        path: AnyPath = self._store.path(_copy_name(ingest))
        return path

    def _heal(self, newest: int) -> None:
        """Writes sign and second copy of the newest entry if they are missing. An entry with a copy has a sign."""
        content = read_whole(log_folder(self._root) / f"{newest:020d}.avro")
        ingest = read_entry(self._root, newest, self._info.id).ingest
        if self._copy(ingest).exists():
            return
        try:
            self._store.create_if_absent(sign_name(newest), sign_content(ingest))
            self._store.create_if_absent(_copy_name(ingest), content)
        except UnknownOutcome as e:
            raise OSError(f"the second copy of version {newest} could not be made durable: {e}") from e

    def _publish(self, entry: LogEntry) -> bool:
        """Whether the entry is in the log; if not, its place is taken."""
        name = f"_stoker/log/{entry.version:020d}.avro"
        path = self._store.path(name)
        content = encode_entry(entry, self._info.id)
        if len(content) > MAX_ENTRY_BYTES:
            raise CommitRefusedError(
                f"the log entry of ingest {entry.ingest} would have {len(content)} bytes, the limit is "
                f"{MAX_ENTRY_BYTES}; nothing is committed. Write several versions, or larger chunks"
            )
        unknown: UnknownOutcome | None = None
        for _ in range(_READ_BACKS + 1):
            try:
                if self._store.create_if_absent(name, content):
                    return True
                return unknown is not None and read_whole(path) == content
            except UnknownOutcome as e:
                unknown = e
                try:
                    return read_whole(path) == content
                except FileNotFoundError:
                    # Not there, or not there yet: the same bytes under the same name again cannot do harm.
                    continue
                except OSError:
                    continue
            except OSError:
                if unknown is None:
                    raise
        raise CommitUnknownError(
            f"it is unknown whether ingest {entry.ingest} was committed as {path}: {unknown}; run it again under the "
            "same ingest id, which commits at most once, and delete nothing before that"
        ) from unknown

    def _afterwards(self, entry: LogEntry, base: Snapshot | None) -> None:
        """What makes later reading safer and faster; the commit stands whether it succeeds or not."""
        try:
            if entry.version == 1:
                copy_info(self._store, self._info)
            self._store.create_if_absent(sign_name(entry.version), sign_content(entry.ingest))
            self._store.create_if_absent(_copy_name(entry.ingest), encode_entry(entry, self._info.id))
            write_table_if_due(self._store, self._root, entry, base)
        except Exception as e:
            warnings.warn(
                f"stoker: version {entry.version} is committed; its sign, second copy or chunk table was not written; "
                f"a later commit writes it: {e}",
                RuntimeWarning,
                stacklevel=2,
            )


def copy_info(store: Store, info: DatasetInfo) -> None:
    """Writes the second copy of dataset.json if it is missing; the first commit makes good what fails."""
    with contextlib.suppress(OSError):
        store.create_if_absent(COPY, encode_info(info))


def require_chunks(root: AnyPath, ingest: str, chunks: Sequence[ChunkSummary]) -> None:
    """Raises `CommitRefusedError` unless the files are there with their lengths."""
    wrong: list[str] = []

    def check(chunk: ChunkSummary) -> None:
        path = root / chunk_path(chunk.id)
        try:
            length = path.stat().st_size
        except FileNotFoundError:
            wrong.append(f"{path} is missing")
        else:
            if length != chunk.length:
                wrong.append(f"{path} has {length} bytes instead of {chunk.length}")

    if isinstance(root, RemotePath):
        downloads().each([partial(check, chunk) for chunk in chunks])
    else:
        for chunk in chunks:
            check(chunk)
    if wrong:
        raise CommitRefusedError(
            f"ingest {ingest} cannot be committed: {wrong[0]} ({len(wrong)} of {plural(len(chunks), 'chunk')}); "
            "nothing is "
            "committed. Find out who deletes files there, then write it again"
        )


def sign_content(ingest: str) -> bytes:
    """The content of the sign of a version."""
    return f"{ingest}\n".encode()


def _copy_name(ingest: str) -> str:
    return f"_stoker/ingests/{ingest}.avro"
