"""Measures how long it takes from typing `stoker feed` until a trainer has its first batch.

    python/.venv/bin/python benchmarks/start.py [DATASET] [--rounds 5] [--bytes 10e9] [--work DIRECTORY]

Without a dataset one of 110-KB samples is made and packed first in the work directory, which takes as much disk again
while it is packed; it is kept for the next time. The trainer is this process, which has imported what it needs and
connects when the feeder says that it is ready: a trainer's own start is not the feeder's. Page cache warm. The
first of `stoker ingest`, `feed` and `run` after a build makes an archive of loaded classes, which takes
some seconds once.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import time
from pathlib import Path

from make_tree import make_tree

from stoker import Feed

ROOT = Path(__file__).resolve().parents[1]
SAMPLE_BYTES = 110_000


def make_dataset(work: Path, size: int) -> Path:
    """Returns a dataset of about `size` bytes."""
    dataset, tree = work / f"dataset-{size}", work / f"tree-{size}"
    if not dataset.exists():
        print(f"making {size / 1e9:g} GB in {work}", flush=True)
        shutil.rmtree(tree, ignore_errors=True)
        make_tree(str(tree), size // SAMPLE_BYTES, SAMPLE_BYTES)
        partial = work / f"dataset-{size}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        subprocess.run([ROOT / "stoker", "ingest", tree, partial, "--label-from", "parent-dir"], check=True)
        partial.rename(dataset)
        shutil.rmtree(tree)
    return dataset


def warm(dataset: Path) -> tuple[int, int]:
    """Reads every chunk, so that the page cache has it; returns chunks and bytes."""
    files = sorted(dataset.glob("chunks/*/*.arrow"))
    for file in files:
        with open(file, "rb", buffering=0) as handle:
            while handle.read(1 << 22):
                pass
    return len(files), sum(file.stat().st_size for file in files)


def start(dataset: Path, name: str) -> tuple[float, float]:
    """Returns the seconds until the feeder said that it is ready, and until the first batch was there."""
    began = time.perf_counter()
    feeder = subprocess.Popen(
        [ROOT / "stoker", "feed", dataset, "--name", name, "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert feeder.stdout is not None
        for line in feeder.stdout:
            found = re.search(r"ready\D*?((?:\d+\.){3}\d+:\d+)", line)
            if found:
                break
        else:
            raise RuntimeError("the feeder ended before it was ready")
        ready = time.perf_counter() - began
        with Feed(found[1]) as feed:
            batch = next(iter(feed))
            assert len(batch) > 0
            return ready, time.perf_counter() - began
    finally:
        feeder.terminate()
        feeder.wait(60)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bytes", type=float, default=10e9)
    parser.add_argument("--work", type=Path, default=Path(os.environ.get("TMPDIR", "/tmp"), "stoker-benchmark"))
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    dataset = options.dataset or make_dataset(options.work, int(options.bytes))
    chunks, size = warm(dataset)
    print(f"{dataset}: {chunks:,} chunks, {size / 1e9:.2f} GB", flush=True)
    rounds = []
    for i in range(options.rounds):
        ready, first = start(dataset, f"start-{os.getpid()}-{i}")
        print(f"round {i + 1}: ready after {ready:.2f} s, first batch after {first:.2f} s", flush=True)
        rounds.append(first)
    print(f"first batch: best {min(rounds):.2f} s, median {statistics.median(rounds):.2f} s, worst {max(rounds):.2f} s")


if __name__ == "__main__":
    main()
