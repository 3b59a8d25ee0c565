"""Reads samples of 1 and 10 MB from S3: directly, and cold and warm through a feeder with a memory tier.

    python/.venv/bin/python -m pip install matplotlib
    python/.venv/bin/python benchmarks/objects.py [--bytes 1000000 10000000] [--gb 0.5] [--link-mbit 2500]

Runs `benchmarks/stores.py`, whose page explains the server, the proxy and the rows. *Direct* fetches each sample as an
object, 16 at a time. *Cold* is the first epoch of a feeder that caches nothing yet and has served another dataset
before. *Warm* is the shorter of the two epochs after it. Medians of the rounds, and the ratios to the direct reads of
the same round with their range.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

STORES = Path(__file__).with_name("stores.py")
DIRECT, FEED = "objects", "feed, warm JVM"
READS = ("direct", "cold", "warm")


def measure(options: argparse.Namespace) -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder, "found.json")
        command = [sys.executable, STORES, "--rows", f"{DIRECT};{FEED}", "--json", found, "--bytes", *options.bytes]
        command += ["--gb", options.gb, "--rounds", options.rounds, "--link-mbit", options.link_mbit]
        subprocess.run(list(map(str, command)), check=True, stdout=subprocess.DEVNULL)
        rows = json.loads(found.read_text())
    results = []
    for size in options.bytes:
        direct, feed = ([r["seconds"] for r in rows[str(size)][name]] for name in (DIRECT, FEED))
        seconds = {
            "direct": [epochs[0] for epochs in direct],
            "cold": [epochs[0] for epochs in feed],
            "warm": [min(epochs[1:]) for epochs in feed],
        }
        results.append({"size": size, "samples": int(options.gb * 1e9 / size), "seconds": seconds})
    return results


def speed(found: dict[str, Any], read: str) -> float:
    """Returns MB/s."""
    return found["samples"] * found["size"] / 1e6 / statistics.median(found["seconds"][read])


def report(results: list[dict[str, Any]]) -> None:
    print("| samples | direct, MB/s | cold, MB/s | warm, MB/s | cold / direct | warm / direct |")
    print("| --- | --- | --- | --- | --- | --- |")
    for found in results:
        direct = found["seconds"]["direct"]
        cells = [f"{speed(found, read):,.0f}" for read in READS]
        for read in READS[1:]:
            ratios = [a / b for a, b in zip(direct, found["seconds"][read], strict=True)]
            cells.append(f"{statistics.median(ratios):.2f} ({min(ratios):.2f}–{max(ratios):.2f})")
        print(f"| {found['samples']:,} of {found['size'] / 1e6:g} MB | {' | '.join(cells)} |")


def picture(results: list[dict[str, Any]], file: str) -> None:
    import pictures

    names = {"direct": "S3, directly", "cold": "Stoker, cold", "warm": "Stoker, warm"}
    figure, axes = pictures.panels(len(results), 5 * len(results), 2.2)
    for ax, found in zip(axes[0], results, strict=True):
        title = f"samples of {found['size'] / 1e6:g} MB, MB/s"
        pictures.bars(ax, title, {names[read]: speed(found, read) for read in READS})
    pictures.save(figure, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, nargs="+", default=[1_000_000, 10_000_000], help="sizes of samples")
    parser.add_argument("--gb", type=float, default=0.5, help="of samples, for each size")
    parser.add_argument("--link-mbit", type=int, default=2500, help="of all connections together")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--picture", help="an SVG file for the picture; needs matplotlib")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--found", type=Path, help="what --json left of another run, instead of a new one")
    options = parser.parse_args()
    results = json.loads(options.found.read_text()) if options.found else measure(options)
    report(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    if options.picture:
        picture(results, options.picture)


if __name__ == "__main__":
    main()
