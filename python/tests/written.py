"""What the tests of `Writer` write, and what they find again."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import stoker
from stoker._dataset.snapshot import open_snapshot

Writer = functools.partial(stoker.Writer, shuffle=False)
"""A writer that does not shuffle, so that chunks hold the samples in the order in which they were written."""

PHOTOS = {"label": "categorical", "weight": "float32?", "image": "binary"}

LABELS = [["zebra", "ant"], ["bee", None], ["ant", "cat", "zebra"]]
"""Labels by chunk: each chunk has other ones, in another order."""


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


def labelled(path: Path, chunks: Sequence[Sequence[str | None]] = LABELS, rows: int = 12, **options: Any) -> None:
    """Writes a dataset with one chunk for each list of labels, which repeat."""
    for number, labels in enumerate(chunks):
        fields = {"label": "categorical?", "n": "int64", "data": "binary"}
        with Writer(path, fields, payload=["data"], append=number > 0, **options) as w:
            for i in range(rows):
                n = number * rows + i
                w.write({"key": f"k{n:03d}", "label": labels[i % len(labels)], "n": n, "data": bytes([n]) * (n % 5)})


def snapshot_files(path: Path) -> list[Path]:
    """The chunk files of the newest version, in its order."""
    snapshot = open_snapshot(path)
    return [Path(snapshot.chunk_path(i)) for i in range(len(snapshot.chunks))]
