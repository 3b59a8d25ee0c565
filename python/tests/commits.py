"""Small commits for the tests of commits, and what every version must have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import stoker
from stoker._dataset.log import read_entry
from stoker._dataset.snapshot import open_snapshot
from stoker._dataset.versions import newest_version
from written import Writer

FIELDS = {"label": "categorical", "data": "binary"}


def put(path: Path, key: str, **options: Any) -> Writer:
    with Writer(path, FIELDS, append=True, **options) as w:
        w.write({"key": key, "label": "x", "data": bytes(2000)})
    return w


def assert_whole(path: Path, versions: int, samples: int) -> None:
    """Every sample of the newest version is readable, every entry has its second copy."""
    assert newest_version(path) == versions
    assert len(list(stoker.open(path))) == samples
    dataset = open_snapshot(path).info.id
    for version in range(1, versions + 1):
        entry = read_entry(path, version, dataset)
        copy = path / "_stoker" / "ingests" / f"{entry.ingest}.avro"
        log = path / "_stoker" / "log" / f"{version:020d}.avro"
        # The newest may have died before its own.
        assert version == versions or copy.read_bytes() == log.read_bytes()
