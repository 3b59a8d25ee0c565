"""Which versions a dataset has, and which of them have a chunk table."""

from __future__ import annotations

import re
from functools import partial
from typing import Final

from stoker._dataset.log import entry_path, log_folder, missing_entry, numbered
from stoker._store.downloads import downloads
from stoker._store.objects import NotListableError
from stoker._store.remote_path import AnyPath

_TABLE = re.compile(r"([0-9]{20})\.arrow")
_PROBES: Final = 16
"""Names that are asked for at once where nothing can be listed."""
_NO_VERSION: Final = 10**20 - 1
"""Versions have at most 19 digits."""
_TABLE_EVERY: Final = 100
"""Writers make a chunk table after this many versions, or earlier."""


def newest_version(root: AnyPath) -> int:
    """The newest version's number; 0 if nothing is committed."""
    return versions_of(root)[0]


def versions_of(root: AnyPath) -> tuple[int, list[int]]:
    """The newest version, and the versions that have a chunk table, ascending."""
    try:
        tables = table_versions(root)
    except NotListableError:
        newest = _probed(root)
        return newest, _probed_tables(root, newest)
    return _newest(root, tables), tables


def _newest(root: AnyPath, tables: list[int]) -> int:
    """The newest version, given that those with a table exist: each entry from there on must be there."""
    known = tables[-1] if tables else 0
    found = set(numbered(log_folder(root), after=max(known, 1) - 1))
    newest = max(found, default=known)
    for version in range(max(known, 1), newest + 1):
        # A listing may show an entry and not the one before, if both appear while it is made.
        if version not in found and not entry_path(root, version).exists():
            raise missing_entry(root, version)
    return newest


def _probed(root: AnyPath) -> int:
    """The newest version, found by asking for entries: versions have no gaps.

    Raises `OSError` if the server answers requests for missing files with success.
    """
    low = high = 0
    while low == high:
        tried = [max(1, 2 * high) << i for i in range(_PROBES + 1)]
        for version, exists in zip(tried, _existing([entry_path(root, v) for v in tried]), strict=True):
            high = version
            if not exists:
                break
            low = version
        if low == high and entry_path(root, _NO_VERSION).exists():
            raise OSError(
                f"{root}: the server answers the request for a file that cannot exist with success, so it does not say "
                "which versions there are: let it answer 404 for missing files, or copy the dataset to a directory or "
                "a bucket"
            )
    while high - low > 1:
        step = -(-(high - low) // (_PROBES + 1))
        tried = list(range(low + step, high, step))
        for version, exists in zip(tried, _existing([entry_path(root, v) for v in tried]), strict=True):
            if not exists:
                high = version
                break
            low = version
    return low


def _probed_tables(root: AnyPath, newest: int) -> list[int]:
    """The chunk tables at the places where writers make them if chunks are few."""
    tried = sorted({*range(_TABLE_EVERY, newest, _TABLE_EVERY), newest} - {0})
    there = _existing([table_path(root, version) for version in tried])
    return [version for version, exists in zip(tried, there, strict=True) if exists]


def _existing(paths: list[AnyPath]) -> list[bool]:
    found = [False] * len(paths)

    def ask(i: int) -> None:
        found[i] = paths[i].exists()

    downloads().each([partial(ask, i) for i in range(len(paths))])
    return found


def table_versions(root: AnyPath) -> list[int]:
    """The versions that have a chunk table, ascending. Raises `NotListableError`."""
    return numbered(table_folder(root), _TABLE)


def table_folder(root: AnyPath) -> AnyPath:
    return root / "_stoker" / "tables"


def table_path(root: AnyPath, version: int) -> AnyPath:
    """The chunk table of a version."""
    return table_folder(root) / f"{version:020d}.arrow"
