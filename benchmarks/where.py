"""Measures how long a path takes to open with `where`, against reading the column of the condition with pyarrow.

    python/.venv/bin/python benchmarks/where.py [--rows 10000000] [--rounds 5] [--work DIRECTORY]

A dataset of small samples with three small fields, of which the condition keeps a tenth. *cold* evaluates the
condition on the heads of all chunks, *kept* finds the selection in the dataset, *plain* has no condition. `pyarrow`
reads the one column from the same chunk files and compares it, with as many threads as pyarrow likes. Page cache warm.
Rounds alternate; the median, the best and the worst.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.dataset as ds

import stoker

WHERE = "label = 3"


def make(root: Path, rows: int) -> None:
    labels = np.random.default_rng(1).integers(0, 10, rows).tolist()
    fields = {"label": "int64", "width": "int32", "height": "int32", "data": "binary"}
    with stoker.Writer(root, fields, payload=["data"]) as writer:
        for i, label in enumerate(labels):
            writer.write({"key": f"{i:09d}", "label": label, "width": i % 512, "height": i % 300, "data": b"x"})


def opened(root: Path, where: str | None) -> int:
    with stoker.Feed(root, where=where) as feed:
        return feed.info.samples


def cold(root: Path) -> int:
    shutil.rmtree(root / "_stoker/filters", ignore_errors=True)
    return opened(root, WHERE)


def arrow(root: Path) -> int:
    column = ds.dataset(root / "chunks", format="ipc").to_table(columns=["label"])["label"]
    return int(pc.sum(pc.equal(column, 3)).as_py())


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "stoker-benchmark")
    args = parser.parse_args()
    root = args.work / f"where-{args.rows}"
    if not root.exists():
        args.work.mkdir(parents=True, exist_ok=True)
        make(root, args.rows)
    runs: dict[str, Callable[[], int]] = {
        "pyarrow": lambda: arrow(root),
        "cold": lambda: cold(root),
        "kept": lambda: opened(root, WHERE),
        "plain": lambda: opened(root, None),
    }
    seconds: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(args.rounds + 1):
        found = {}
        for name, run in runs.items():
            start = time.perf_counter()
            found[name] = run()
            seconds[name].append(time.perf_counter() - start)
        assert found["pyarrow"] == found["cold"] == found["kept"], found
    print(f"{args.rows:,} rows, {found['kept']:,} kept, {os.cpu_count()} processors")
    for name, taken in seconds.items():
        rest = taken[1:]  # the first round warms
        print(f"{name:8} {statistics.median(rest):.4f} s ({min(rest):.4f} to {max(rest):.4f})")


if __name__ == "__main__":
    main()
