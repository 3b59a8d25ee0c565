"""Versions that were expired: docs/formats/dataset.md, "Expired versions"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import pairwise

from stoker._dataset.tags import tagged_versions
from stoker._store.remote_path import AnyPath, list_names

_RANGE = re.compile(r"([1-9][0-9]{0,17})-([1-9][0-9]{0,17})(?:@([1-9][0-9]{0,17}))?")

Range = tuple[int, int, int]
"""First and last version, and the version whose entry has expired them."""


def parse_expired(text: str, by: int | None = None) -> tuple[Range, ...]:
    """The ranges of a chunk table or, with its version `by`, of a log entry; `ValueError` for another text."""
    ranges = []
    for part in text.split(","):
        found = _RANGE.fullmatch(part)
        if not found or (found[3] is None) != (by is not None):
            raise ValueError(f"{part!r} is not a range of expired versions")
        ranges.append((int(found[1]), int(found[2]), int(found[3]) if by is None else by))
    return merged((), ranges)


def merged(known: tuple[Range, ...], more: Iterable[Range]) -> tuple[Range, ...]:
    """All ranges, ascending; `ValueError` if a version was expired before."""
    more = tuple(more)
    if list(more) != sorted(more):
        raise ValueError(f"the expired versions {more} do not ascend")
    ranges = sorted((*known, *more))
    for first, last, by in ranges:
        if not first <= last < by:
            raise ValueError(f"versions {first} to {last} cannot be expired by version {by}")
    for (_, last, _), (first, _, _) in pairwise(ranges):
        if first <= last:
            raise ValueError(f"version {first} was expired twice")
    return tuple(ranges)


def text_of(ranges: Iterable[Range]) -> str:
    """As in a chunk table."""
    return ",".join(f"{first}-{last}@{by}" for first, last, by in ranges)


def expired_by(ranges: Iterable[Range], version: int) -> int | None:
    """The version whose entry has expired a version."""
    return next((by for first, last, by in ranges if first <= version <= last), None)


def oldest_kept(ranges: Iterable[Range]) -> int:
    """The oldest version that was not expired."""
    version = 1
    for first, last, _ in ranges:
        if first > version:
            break
        version = last + 1
    return version


def is_protected(root: AnyPath, version: int, dataset: str) -> bool:
    """Whether a tag names the version, or a running feed uses it."""
    uses = list_names(root / "_stoker" / "uses" / f"{version:020d}")
    return any(name.endswith(".json") for name in uses) or version in tagged_versions(root, dataset)
