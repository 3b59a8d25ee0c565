"""What the tests of `Writer` write, and what they find again."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import stoker

Writer = functools.partial(stoker.Writer, shuffle=False)
"""A writer that does not shuffle, so that chunks hold the samples in the order in which they were written."""

PHOTOS = {"label": "categorical", "weight": "float32?", "image": "binary"}


def photo(n: int) -> dict[str, Any]:
    return {
        "key": f"{n:05d}.jpg",
        "label": "cat" if n % 3 else "dog",
        "weight": None if n % 5 == 0 else n / 4,
        "image": bytes([n % 256]) * (n % 7 + 2000),
    }


def contents(path: Path, version: int | None = None) -> dict[str, dict[str, Any]]:
    return {s.pop("key"): s for s in stoker.open(path, version)}


def chunk_files(path: Path) -> set[str]:
    return {f.name for f in path.glob("chunks/*/*")}
