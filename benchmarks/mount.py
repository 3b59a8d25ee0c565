"""Measures a mounted dataset against the same files on the local file system.

    python/.venv/bin/python benchmarks/mount.py [--entries 100000] [--files 4000] [--rounds 5] [--work DIRECTORY]

Listing: a directory of files of one byte, `--entries` of them. `ls -f` needs the names, `ls -l` also the attributes.
The mount shows a pinned version and is a new one in each round. The kernel remembers nothing of the directory in the
first counted run (`first`), and everything in the second (`again`).

Reading: a tree of files of 110 KB. `cat` of all files in the order of their paths, by one process, with no content in
the page cache. Each round drops the cache of the tree and of the chunks (posix_fadvise), and mounts again. The datasets
are packed in the orders `shuffled` and `listed`.

The ratio is the time of the plain files divided by the time of the mount. Needs what `stoker mount` needs.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from feed import ROOT
from make_tree import make_tree

SAMPLE = 110_000


def stoker(*arguments: object) -> None:
    subprocess.run(
        [str(ROOT / "stoker"), *map(str, arguments)],
        check=True,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


def ingest(tree: Path, dataset: Path, *options: str) -> Path:
    if not dataset.exists():
        stoker("ingest", tree, dataset, *options)
    return dataset


@contextmanager
def mounted(dataset: Path, *options: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as point:
        stoker("mount", f"{dataset}@1", point, "--background", *options)
        try:
            yield Path(point)
        finally:
            stoker("unmount", point)


def seconds(command: str, directory: Path) -> float:
    begun = time.perf_counter()
    subprocess.run(["bash", "-c", command], cwd=directory, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begun


def forget(directory: Path) -> None:
    """Drops the content of all files from the page cache; names and inodes stay."""
    os.sync()
    for path in directory.rglob("*"):
        if path.is_file():
            file = os.open(path, os.O_RDONLY)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def show(title: str, plain: list[float], ours: list[float]) -> None:
    ratios = [a / b for a, b in zip(plain, ours, strict=True)]
    print(
        f"  {title:24s} files {statistics.median(plain):7.3f} s  mount {statistics.median(ours):7.3f} s"
        f"  ratio {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})",
        flush=True,
    )


def measure_lists(work: Path, entries: int, rounds: int) -> None:
    tree = work / "names"
    if not tree.exists():
        (tree / "d").mkdir(parents=True)
        for number in range(entries):
            (tree / "d" / f"img_{number:08d}.jpg").write_bytes(b"x")
    dataset = ingest(tree, work / "names.stoker")
    print(f"list {entries:,} entries, {rounds} rounds, median")
    for title, command in (("names (ls -f)", "ls -f d"), ("attributes (ls -l)", "ls -l d")):
        plain: list[float] = []
        first: list[float] = []
        again: list[float] = []
        seconds(command, tree)
        for _ in range(rounds):
            plain.append(seconds(command, tree))
            with mounted(dataset) as point:
                # The index and the JVM's code are warm after another directory.
                subprocess.run(["ls", "-f", f"{point}/.stoker/versions/1/d"], check=True, stdout=subprocess.DEVNULL)
                first.append(seconds(command, point))
                again.append(seconds(command, point))
        show(f"{title}, first", plain, first)
        show(f"{title}, again", plain, again)


def measure_reads(work: Path, files: int, rounds: int) -> None:
    tree = work / "tree"
    if not tree.exists():
        make_tree(str(tree), files, SAMPLE)
    command = "find . -type f -print0 | sort -z | xargs -0 cat"
    print(f"cat {files:,} files of {SAMPLE:,} bytes, cold, {rounds} rounds, median")
    for order in ("shuffled", "listed"):
        dataset = ingest(tree, work / f"tree.{order}", "--order", order)
        plain: list[float] = []
        ours: list[float] = []
        for _ in range(rounds):
            forget(tree)
            plain.append(seconds(command, tree))
            with mounted(dataset) as point:
                subprocess.run(["find", point, "-type", "f"], check=True, stdout=subprocess.DEVNULL)
                forget(dataset)
                ours.append(seconds(command, point))
        show(order, plain, ours)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=100_000, help="files of the directory that is listed")
    parser.add_argument("--files", type=int, default=4_000, help="files that are read")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--work", type=Path, help="directory for trees and datasets; kept if it is given")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = arguments.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        measure_lists(work, arguments.entries, arguments.rounds)
        measure_reads(work, arguments.files, arguments.rounds)


if __name__ == "__main__":
    main()
