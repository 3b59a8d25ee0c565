"""What a writer finds at its target, and what it makes of the dataset there before the first chunk is written."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from pathlib import Path

from stoker._dataset import newest_version
from stoker._entry import encode_info
from stoker._fields import Field
from stoker._log import DatasetInfo, read_info
from stoker._pack import utc_text
from stoker._schema_text import WantedField
from stoker._store import LocalStore
from stoker.errors import CommitRefusedError

CHUNK_SIZE = 8 << 20
INFO = "_stoker/dataset.json"


class Target:
    """A directory that holds a dataset, or will."""

    def __init__(self, root: Path, store: LocalStore) -> None:
        self.root, self._store = root, store
        exists = (root / INFO).exists()
        self.info: DatasetInfo | None = read_info(root) if exists else None
        self.version = newest_version(root) if exists else 0
        """When it was looked at; 0: none."""

    def require_free(self) -> None:
        """Refuses a directory that holds something else than a dataset."""
        if self.info is None and self.root.is_dir():
            # What a writer leaves that dies while it creates the dataset.
            other = sorted(set(os.listdir(self.root)) - {"_stoker", "chunks"})
            if other:
                raise CommitRefusedError(
                    f"{self.root} is no dataset and holds {other[0]}; give a directory that is empty or does not exist"
                )

    def require_unused(self) -> None:
        """Refuses a dataset that has a version."""
        if self.version:
            raise CommitRefusedError(
                f"{self.root} has version {self.version} already; add to it with append=True, or make a version of "
                "the new samples alone with replace=True"
            )

    def fields_for(self, wanted: Sequence[WantedField] | None, payload: Sequence[str] | None) -> Sequence[Field]:
        """The dataset's fields, after comparing them with what the caller says; ValueError where they differ."""
        assert self.info is not None
        fields = self.info.fields
        if wanted is not None:
            own = {f.name: f.type for f in fields}
            given = {w.field.name: w.field.type for w in wanted}
            for name in sorted(own.keys() | given.keys()):
                if own.get(name) != given.get(name):
                    raise ValueError(
                        f"field {name!r} is {own.get(name, 'absent')} in the dataset {self.root}, and "
                        f"{given.get(name, 'absent')} in the schema; the fields of a dataset are fixed when it is "
                        "created: leave the schema out, or write a dataset of its own"
                    )
        large = {f.name for f in fields if f.payload}
        if payload is not None and set(payload) != large:
            raise ValueError(
                f"payload of the dataset {self.root} is {sorted(large)}, fixed when it was created, not "
                f"{sorted(payload)}; leave payload out"
            )
        return fields

    def chunk_size(self, asked: int | None) -> int:
        """As asked, or as the dataset was created with."""
        if asked is not None:
            return asked
        own = self.info.options.get("chunk_size") if self.info is not None else None
        return min(own, 1 << 30) if isinstance(own, int) else CHUNK_SIZE

    def create(self, fields: Sequence[Field], name: str | None, chunk_size: int, now_ms: int) -> None:
        """Makes the dataset, unless there is one with these fields and no version.

        Raises `CommitRefusedError` if another writer is making one with other fields.
        """
        options = {"chunk_size": chunk_size}
        for _ in range(2):
            if self.info is not None:
                if self.info.fields == tuple(fields) and dict(self.info.options) == options:
                    return
                if newest_version(self.root):
                    raise CommitRefusedError(f"another writer has committed to {self.root} meanwhile; run again")
                # A writer with other fields has died before its first version: nothing refers to this description.
                self._store.calls.unlink(self.root / INFO)
            if self._create(fields, name, options, now_ms):
                return
        raise CommitRefusedError(f"{self.root} is being created by another writer with other fields; run again")

    def create_shared(
        self, fields: Sequence[Field], name: str | None, chunk_size: int, now_ms: int, wanted: Sequence[WantedField]
    ) -> Sequence[Field]:
        """Makes the dataset unless another part has; returns its fields. ValueError if they do not fit."""
        if self.info is None:
            self._create(fields, name, {"chunk_size": chunk_size}, now_ms)
        return self.fields_for(wanted, None)

    def _create(self, fields: Sequence[Field], name: str | None, options: dict[str, int], now_ms: int) -> bool:
        info = DatasetInfo(
            str(uuid.uuid4()), name or self.root.resolve().name, utc_text(now_ms), tuple(fields), options
        )
        made = self._store.create_if_absent(INFO, encode_info(info))
        self.info = info if made else read_info(self.root)
        return made

    def adopt(self) -> DatasetInfo | None:
        """The dataset as another writer may have made it by now."""
        if self.info is None and (self.root / INFO).exists():
            self.info = read_info(self.root)
        return self.info
