"""What a writer finds at its target, and what it makes of the dataset there before the first chunk is written."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote

from stoker._commit.commit import COPY, INFO, VersionCommitter, copy_info
from stoker._commit.entry import encode_info
from stoker._commit.lease import Leases
from stoker._commit.local_store import UnknownOutcome
from stoker._commit.stores import Store
from stoker._dataset.log import DatasetInfo, has_content, read_info
from stoker._dataset.snapshot import open_snapshot
from stoker._dataset.versions import newest_version
from stoker._format.fields import Field
from stoker._packing.pack import utc_text
from stoker._packing.schema_text import WantedField
from stoker._store.remote_path import AnyPath, list_names
from stoker.errors import CommitRefusedError

CHUNK_SIZE = 8 << 20
_BEGUN_BY = {"begun_by": "ingest"}
"""The option of a dataset whose fields a writer chose for its own first version."""
_PAUSE_S = 0.1
_PAUSES = 60


@dataclass(frozen=True)
class NewDataset:
    """What the caller says of a dataset that does not exist yet. None: a default."""

    name: str | None
    chunk_size: int
    payload: Sequence[str] | None


@dataclass(frozen=True)
class LeaseOf:
    """The writer whose lease is taken."""

    ingest: str
    by: str
    process: str
    """The only process that writes, or "" if there may be several."""
    clock: Callable[[], int]
    """Returns the time in milliseconds."""

    def created(self) -> str:
        """The time now."""
        return utc_text(self.clock())


class Target:
    """A directory that holds a dataset, or will."""

    def __init__(self, root: AnyPath, store: Store) -> None:
        self.root, self._store = root, store
        exists = (root / INFO).exists()
        self.info: DatasetInfo | None = read_info(root) if exists else None
        """With the fields of the newest version."""
        self.version = newest_version(root) if exists else 0
        """When it was looked at; 0: none."""
        newest = open_snapshot(root) if self.version else None
        if newest is not None:
            self.info = newest.info
        self.is_used = newest is not None and len(newest.chunks) > 0
        """Whether a version has, or had, a sample."""
        self._left: DatasetInfo | None = None
        """What a writer that failed has left, and what does not bind this one."""

    @staticmethod
    def _require_place(root: Path) -> None:
        absolute = Path(os.path.abspath(root))
        for parent in (absolute, *absolute.parents):
            if parent.exists() and not parent.is_dir():
                raise CommitRefusedError(f"{root}: {parent} is a file; give a directory that does not exist yet")
            if parent != absolute and (parent / INFO).is_file():
                raise CommitRefusedError(f"{root} is inside the dataset {parent}; give a directory outside it")

    def require_free(self) -> None:
        """Refuses a file, a directory inside another dataset, and one that holds something else than a dataset."""
        if self.info is None and isinstance(self.root, Path):
            self._require_place(self.root)
        if self.info is None and self.root.is_dir():
            # Another writer may have created the dataset since this target was made.
            if has_content(self.root) and self.adopt() is None:
                raise CommitRefusedError(
                    f"{self.root} has the log or the chunks of a dataset, but no {INFO}; restore it with: stoker "
                    f"recover {self.root}"
                )
            # What a writer leaves that dies while it creates the dataset.
            other = sorted(set(list_names(self.root)) - {"_stoker", "chunks"})
            if other:
                raise CommitRefusedError(
                    f"{self.root} is not a dataset and contains {other[0]}; give a directory that is empty or does not "
                    "exist yet"
                )

    def unbind(self, ingest: str) -> None:
        """Treats the dataset as new if its first writer has failed, so that other fields can be chosen."""
        info = self.info
        if info is None or self.version or info.options.get("begun_by") != _BEGUN_BY["begun_by"]:
            return
        if not Leases(self._store, info.id).others(ingest):
            self._left, self.info = info, None

    def require_unused(self) -> None:
        """Refuses a dataset that has a version."""
        if self.is_used:
            raise CommitRefusedError(
                f"{self.root} already has version {self.version}; add to it with append=True, or create a version with "
                "only the new samples with replace=True"
            )

    def fields_for(
        self, wanted: Sequence[WantedField] | None, payload: Sequence[str] | None, exact: bool = False
    ) -> Sequence[Field]:
        """The dataset's fields, after comparing them with what the caller says; ValueError where they differ.

        Unless it must be `exact`, the caller may leave out fields that can be missing, such as those that an update
        has added.
        """
        assert self.info is not None
        fields = self.info.fields
        if wanted is not None:
            own = {f.name: f.type for f in fields}
            given = {w.field.name: w.field.type for w in wanted}
            optional = set() if exact else {f.name for f in fields if f.nullable and f.name not in given}
            for name in sorted((own.keys() | given.keys()) - optional):
                if own.get(name) != given.get(name):
                    raise ValueError(
                        f"field {name!r} is {own.get(name, 'absent')} in the dataset {self.root}, but "
                        f"{given.get(name, 'absent')} in the schema; all versions of a dataset have its fields, also "
                        "with replace=True: leave the schema out, or write a new dataset at another path"
                        f"{self._begun()}"
                    )
        large = {f.name for f in fields if f.payload}
        if payload is not None and set(payload) != large:
            raise ValueError(
                f"payload of the dataset {self.root} is {sorted(large)}, fixed when it was created, not "
                f"{sorted(payload)}; leave payload out{self._begun()}"
            )
        return fields

    def require_alone(self, leases: Leases, committer: VersionCommitter, ingest: str) -> None:
        """Refuses to make the first version beside another writer that is at work, or may be."""
        other = leases.rival(ingest, committer.has)
        if other is not None:
            raise CommitRefusedError(
                f"another writer is at work on the new dataset {self.root}: ingest {other.ingest} of {other.by}, "
                f"since {other.created}. Nothing was packed. Write beside it with append=True, or wait until it "
                f"has finished; if it is dead, end it with: "
                f"stoker gc {quote(str(self.root))} --break {other.ingest} --yes"
            )
        # Only now: a writer releases its lease after its commit.
        Target(self.root, self._store).require_unused()

    def chunk_size(self, asked: int | None) -> int:
        """Returns the chunk size as asked, or else the size that the dataset was created with."""
        if asked is not None:
            return asked
        own = self.info.options.get("chunk_size") if self.info is not None else None
        return min(own, 1 << 30) if isinstance(own, int) else CHUNK_SIZE

    def _begun(self) -> str:
        if self.version:
            return ""
        return (
            ". Another writer began this dataset and has not committed yet; if it is dead, write without append=True, "
            f"or delete {self.root} and run again"
        )

    def create(
        self,
        fields: Sequence[Field],
        new: NewDataset,
        writer: LeaseOf,
        wanted: Sequence[WantedField],
    ) -> Sequence[Field]:
        """Makes the dataset unless another writer has; returns its fields. ValueError if they do not fit."""
        info = DatasetInfo(
            str(uuid.uuid4()),
            new.name or self.root.resolve().name,
            writer.created(),
            tuple(fields),
            {"chunk_size": new.chunk_size, **_BEGUN_BY},
        )
        self.adopt()
        if self.info is None:
            self._create(info)
        elif self._left is not None:
            self._begin(info, self._left, writer)
        return self.fields_for(wanted, new.payload, exact=True)

    def _create(self, info: DatasetInfo) -> None:
        try:
            self._store.create_if_absent(INFO, encode_info(info))
        except UnknownOutcome:
            if not (self.root / INFO).exists():
                raise
        self.info = read_info(self.root)
        copy_info(self._store, self.info)

    def _begin(self, info: DatasetInfo, left: DatasetInfo, writer: LeaseOf) -> None:
        """Gives a dataset without a version other fields, or adopts the dataset of a writer that was faster."""
        leases = Leases(self._store, left.id)
        committer = VersionCommitter(self._store, writer.clock, writer.by)
        for _ in range(_PAUSES):
            if self.info != left or (left.fields, left.options) == (info.fields, info.options):
                return
            leases.take(writer.ingest, writer.created(), writer.by, writer.process)
            try:
                if leases.rival(writer.ingest, committer.has) is None:
                    self._replace(info)
                    return
            finally:
                leases.release([writer.ingest])
            time.sleep(_PAUSE_S)
            self.info = read_info(self.root)

    def _replace(self, info: DatasetInfo) -> None:
        """A writer of the old description finds the other id when it commits, and fails."""
        if newest_version(self.root):
            return
        before = read_info(self.root)
        # Without a copy, the first commit writes it. A copy of the old description would be wrong.
        with contextlib.suppress(FileNotFoundError):
            self._store.delete(self._store.path(COPY))
        self._store.replace(INFO, encode_info(info))
        if newest_version(self.root):
            self._store.replace(INFO, encode_info(before))
        self.info = read_info(self.root)
        copy_info(self._store, self.info)

    def adopt(self) -> DatasetInfo | None:
        """The dataset as another writer may have made it by now."""
        if self.info is None and (self.root / INFO).exists():
            self.info = read_info(self.root)
        return self.info
