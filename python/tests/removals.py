"""Commits that remove rows, which only the command makes."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from stoker._commit.entry import encode_entry
from stoker._dataset.log import entry_path, read_entry
from stoker._dataset.snapshot import open_snapshot


def remove(root: Path, rows: Mapping[int, Sequence[int] | None]) -> int:
    """Removes rows of chunks by their ordinals, or whole chunks (None); returns the version."""
    snapshot = open_snapshot(root)
    last = read_entry(root, snapshot.version, snapshot.info.id)
    version = snapshot.version + 1
    removed = [{"ordinal": o, "rows": None if r is None else list(r)} for o, r in rows.items()]
    entry = replace(
        last, version=version, ingest=str(uuid.uuid4()), operation="delete", added=[], removed=removed, classes={}
    )
    entry_path(root, version).write_bytes(encode_entry(entry, snapshot.info.id))
    return version
