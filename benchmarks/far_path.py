"""Measures the first batch and the epochs of a dataset in a far store, read by Python without a feeder.

    python/.venv/bin/python benchmarks/far_path.py [--mb 1000] [--rounds 5] [--latency-ms 20] [--mbit 1000] [--batch 64]

The dataset is in an S3 server behind a proxy that delays each answer and limits the bandwidth. Each round begins with
an empty disk cache. It starts a Python process that imports stoker, opens `s3://…` and takes batches. The times until
the first batch count from the start of the process. The times of the link alone are computed from its bandwidth.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from origin import BUCKET, KEYS, Origin

import stoker

SAMPLE = 110_000
PROGRAM = """
import json, sys, time
began = float(sys.argv[1])
import stoker
imported = time.time() - began
feed = stoker.Feed(sys.argv[2], batch_size=int(sys.argv[3]), epochs=2)
opened = time.time() - began
times, first, total = [], None, 0
for _ in range(2):
    start = time.time()
    for batch in feed:
        if first is None:
            first = time.time() - began
        total += len(batch)
    times.append(time.time() - start)
print(json.dumps([imported, opened, first, *times, total]))
"""


def make(folder: Path, size: int) -> None:
    """Writes a dataset of about `size` bytes."""
    rng = np.random.default_rng(1)
    with stoker.Writer(folder, schema={"label": "categorical", "image": "binary"}, payload=["image"]) as writer:
        for number in range(size // SAMPLE):
            writer.write({"label": f"class {number % 10}", "image": rng.bytes(SAMPLE)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mb", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--latency-ms", type=int, default=20)
    parser.add_argument("--mbit", type=int, default=1000)
    parser.add_argument("--batch", type=int, default=64)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        make(work / "dataset", options.mb * 1_000_000)
        origin = Origin(work, options.latency_ms, options.mbit)
        try:
            files = [path for path in (work / "dataset").rglob("*") if path.is_file()]
            origin.put(work / "dataset", "dataset", files)
            measure(options, origin, work, sum(path.stat().st_size for path in files))
        finally:
            origin.close()


def measure(options: argparse.Namespace, origin: Origin, work: Path, size: int) -> None:
    """Runs all rounds and prints medians with the least and the greatest value."""
    cache = work / "cache"
    environment = os.environ | KEYS | {"AWS_ENDPOINT_URL": origin.far, "STOKER_CACHE_DIR": str(cache)}
    found: list[list[float]] = []
    for _ in range(options.rounds):
        shutil.rmtree(cache, ignore_errors=True)
        origin.counts()
        program = [sys.executable, "-c", PROGRAM, str(time.time()), f"s3://{BUCKET}/dataset", str(options.batch)]
        out = subprocess.run(program, check=True, env=environment, capture_output=True, text=True)
        found.append(json.loads(out.stdout))
        requests = origin.counts()
    link = size * 8 / (options.mbit * 1e6)
    print(f"{size / 1e6:.0f} MB, {options.latency_ms} ms, {options.mbit} Mbit/s, {options.rounds} rounds")
    print(f"the link alone: {link:.2f} s for the dataset, {(64 << 20) * 8 / (options.mbit * 1e6):.2f} s for 64 MiB")
    names = ("import", "open", "first batch", "epoch 1", "epoch 2")
    for name, values in zip(names, zip(*found, strict=True), strict=False):
        print(f"{name:12} {statistics.median(values):7.2f} s  ({min(values):.2f} … {max(values):.2f})")
    print("requests and bytes of the last round:", requests)


if __name__ == "__main__":
    main()
