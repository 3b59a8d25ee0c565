"""Measures how much the times of epochs vary behind a store that another program uses too, with and without tiers.

    python/.venv/bin/python -m pip install matplotlib
    python/.venv/bin/python benchmarks/epochs.py [--megabytes 200] [--epochs 8] [--link-mbit 800] [--picture FILE.svg]

A dataset of samples of 110 KB is in an S3 server behind a proxy that delays each request by 20 ms and limits the
bandwidth of all clients together. Another program downloads from the same server through the same link, for 1 to 4
seconds, then pauses for 1 to 4 seconds, and so on; the times are random but the same for all runs. A trainer reads
epochs from a feeder over TCP: without a tier, and with a memory tier for half of the dataset and for all of it. Windows
are a sixteenth of the samples, in four lanes, and chunks have 2 MiB.

The table has the first epoch, the mean and the standard deviation of the other epochs, the shortest and the longest of
them, and the bytes that the feeder read from the store in a later epoch, as a share of the dataset. The epochs of all
rounds count.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from feed import ROOT
from make_tree import make_tree
from origin import BUCKET, Origin
from samples import SAMPLE
from tiers import Feeder, size_of

BATCH = 64
QUOTAS = {"no tier": 0.0, "tier for 50 %": 0.5, "tier for 100 %": 2.0}


class Neighbour:
    """Another program that downloads from the store, with pauses."""

    def __init__(self, origin: Origin, keys: list[str], folder: Path) -> None:
        urls = folder / "neighbour"
        urls.write_text("".join(f'url = "{origin.far}/{BUCKET}/{key}"\noutput = "/dev/null"\n' for key in keys))
        self._command = ["curl", "-sf", "--no-progress-meter", "-Z", "--parallel-max", "8", "-K", str(urls)]
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        choose = random.Random(1)
        while not self._end.is_set():
            until = time.monotonic() + choose.uniform(1, 4)
            while time.monotonic() < until and not self._end.is_set():
                with subprocess.Popen(self._command) as download:
                    while download.poll() is None and time.monotonic() < until and not self._end.is_set():
                        self._end.wait(0.02)
                    download.kill()
            self._end.wait(choose.uniform(1, 4))

    def __enter__(self) -> Neighbour:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end.set()
        self._thread.join()


def read_epochs(address: str, epochs: str) -> list[float]:
    """Returns the seconds of each epoch."""
    from stoker import Feed

    seconds = []
    with Feed(address, batch_size=BATCH, tail="keep") as feed:
        for _ in range(int(epochs)):
            began, total = time.perf_counter(), 0
            for batch in feed:
                for sample in batch["image"]:
                    total += sample.nbytes
            seconds.append(time.perf_counter() - began)
    return seconds


def run(dataset: str, size: int, quota: float, epochs: int, neighbour: Neighbour) -> dict[str, Any]:
    tier = f"memory:{int(quota * size)}" if quota else "none"
    # The feed ends with the last epoch, so the feeder does not read ahead of it.
    with Feeder(dataset, BATCH, size // 16, "epochs", "--tier", tier, "--epochs", str(epochs)) as feeder, neighbour:
        done = subprocess.run(
            [sys.executable, __file__, "--child", feeder.address, str(epochs)],
            check=True,
            capture_output=True,
            text=True,
            timeout=900,
            env=os.environ | {"STOKER_TRANSPORT": "tcp"},
        )
        read = feeder.status()["totals"]["origin_bytes"]
    return {"seconds": json.loads(done.stdout.splitlines()[-1]), "later": (read / size - 1) / (epochs - 1)}


def measure(options: argparse.Namespace, folder: Path) -> dict[str, list[dict[str, Any]]]:
    make_tree(str(folder / "tree"), options.megabytes * 1_000_000 // SAMPLE, SAMPLE)
    origin = Origin(folder, options.latency_ms, options.link_mbit)
    try:
        subprocess.run(
            [ROOT / "stoker", "ingest", folder / "tree", f"s3a://{BUCKET}/packed", "--chunk-size", "2m"],
            check=True,
            env=origin.hadoop(origin.near, folder / "near"),
            capture_output=True,
        )
        chunks = [str(f.relative_to(origin.bucket)) for f in (origin.bucket / "packed" / "chunks").rglob("*.arrow")]
        size, _ = size_of(str(origin.bucket / "packed"))
        os.environ.update(origin.hadoop(origin.far, folder / "far"))
        results: dict[str, list[dict[str, Any]]] = {name: [] for name in QUOTAS}
        for number in range(options.rounds):
            for name, quota in QUOTAS.items():
                neighbour = Neighbour(origin, chunks, folder)
                results[name].append(run(f"s3a://{BUCKET}/packed", size, quota, options.epochs, neighbour))
            print(f"round {number + 1} of {options.rounds} done", file=sys.stderr, flush=True)
    finally:
        origin.close()
    return results


def report(results: dict[str, list[dict[str, Any]]]) -> None:
    print("| | first epoch, s | later epochs, mean ± sd, s | shortest–longest | sd of mean | read from the store |")
    print("| --- | --- | --- | --- | --- | --- |")
    for name, rounds in results.items():
        first = statistics.mean(r["seconds"][0] for r in rounds)
        later = [s for r in rounds for s in r["seconds"][1:]]
        mean, deviation = statistics.mean(later), statistics.stdev(later)
        read = statistics.mean(r["later"] for r in rounds)
        print(
            f"| {name} | {first:.2f} | {mean:.2f} ± {deviation:.2f} | {min(later):.2f}–{max(later):.2f} "
            f"| {deviation / mean:.0%} | {read:.0%} |"
        )


def picture(results: dict[str, list[dict[str, Any]]], file: str) -> None:
    import pictures

    figure, axes = pictures.panels(1, 7, 3.8)
    ax = axes[0][0]
    for (name, rounds), colour in zip(results.items(), ("tab:gray", "tab:cyan", "tab:blue"), strict=True):
        for number, r in enumerate(rounds):
            epochs = range(1, len(r["seconds"]) + 1)
            ax.plot(epochs, r["seconds"], marker="o", markersize=4, color=colour, label=None if number else name)
    ax.set(title="Epochs behind a store that is shared", xlabel="epoch", ylabel="seconds", ylim=(0, None))
    ax.set_xticks(epochs)
    ax.grid(alpha=0.3)
    ax.legend(frameon=False, fontsize=9)
    pictures.save(figure, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--latency-ms", type=int, default=20)
    parser.add_argument("--link-mbit", type=int, default=800, help="of all clients together")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--picture", help="an SVG file for the picture; needs matplotlib")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--found", type=Path, help="what --json left of another run, instead of a new one")
    options = parser.parse_args()
    if options.found:
        results = json.loads(options.found.read_text())
    else:
        with tempfile.TemporaryDirectory() as folder:
            results = measure(options, Path(folder))
    report(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    if options.picture:
        picture(results, options.picture)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(read_epochs(*sys.argv[2:])))
    else:
        main()
