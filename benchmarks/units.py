"""Measures reading and packing by the size of a sample, as the tables that chunks are argued with.

    python/.venv/bin/python benchmarks/units.py [--megabytes 256] [--rounds 2] [--picture docs/images/units.svg]

For each size from 1 KB to 4 MB a tree of equal files is made (at most 40,000, and at most --megabytes), read file by
file in the order of names and shuffled, then packed, and read by the path reader in stored order and shuffled, and
through a feeder. Warm rows have everything in the page cache; cold rows begin with an empty one (root drops it; they
are left out otherwise). Packing stands beside `cp -r` of the same tree. Each read is a process of its own, with one
thread of its own for the plain reads; the best of the rounds counts. MB/s are bytes of samples.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from feed import ROOT, start_feeder
from make_tree import make_tree

UNITS = (1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20)
MOST_FILES = 40_000
DROP = Path("/proc/sys/vm/drop_caches")
SYSTEMS = ("files, in order", "files, shuffled", "chunks, in order", "chunks, shuffled", "feed, shuffled")


def read_files(tree: str, order: str) -> dict:
    files = sorted(str(f) for f in Path(tree).rglob("*.jpg"))
    if order == "shuffled":
        random.Random(0).shuffle(files)
    began, total = time.perf_counter(), 0
    for name in files:
        with open(name, "rb", buffering=0) as file:
            total += len(file.read())
    return {"seconds": time.perf_counter() - began, "bytes": total}


def read_feed(target: str, order: str) -> dict:
    from stoker import Feed

    given = {"shuffle": "none"} if order == "in order" else {}
    with Feed(target, batch_size=16, tail="keep", **given) as feed:
        began, total = time.perf_counter(), 0
        for batch in feed:
            for sample in batch["image"]:
                total += sample.nbytes
        return {"seconds": time.perf_counter() - began, "bytes": total}


def child(*arguments: str) -> float:
    """Runs one read in a process of its own and returns MB/s."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", *arguments], check=True, capture_output=True, text=True, timeout=900
    )
    result = json.loads(done.stdout.splitlines()[-1])
    return result["bytes"] / result["seconds"] / 1e6


def forget() -> bool:
    """Empties the page cache, where this process may."""
    os.sync()
    try:
        DROP.write_text("3")
    except OSError:
        return False
    return True


def timed(*command: str | Path) -> float:
    began = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - began


def measure_unit(unit: int, options: argparse.Namespace, folder: Path) -> dict:
    files = min(MOST_FILES, options.megabytes * 1_000_000 // unit)
    tree, packed, copy = folder / "tree", folder / "packed", folder / "copy"
    for old in (tree, packed, copy):
        shutil.rmtree(old, ignore_errors=True)
    make_tree(str(tree), files, unit)
    total = files * unit / 1e6
    row: dict = {"unit": unit, "files": files, "warm": {}, "cold": {}}
    row["packing"] = total / timed(ROOT / "stoker", "ingest", tree, packed)
    row["cp -r"] = total / timed("cp", "-r", tree, copy)
    shutil.rmtree(copy)
    feeder, address, _ = start_feeder(str(packed), 16, name="units")
    reads = {
        "files, in order": ("files", str(tree), "in order"),
        "files, shuffled": ("files", str(tree), "shuffled"),
        "chunks, in order": ("feed", str(packed), "in order"),
        "chunks, shuffled": ("feed", str(packed), "shuffled"),
        "feed, shuffled": ("feed", address, "shuffled"),
    }
    try:
        child(*reads["feed, shuffled"])
        for number in range(options.rounds):
            for name, arguments in reads.items():
                if number == 0:
                    child(*arguments)
                row["warm"][name] = max(row["warm"].get(name, 0), child(*arguments))
                # What another system has just read of this tree must not count.
                if forget():
                    row["cold"][name] = max(row["cold"].get(name, 0), child(*arguments))
                    child(*arguments)
    finally:
        feeder.terminate()
        feeder.wait(60)
    return row


def size(unit: int) -> str:
    return f"{unit >> 20} MB" if unit >= 1 << 20 else f"{unit >> 10} KB"


def report(rows: list[dict]) -> None:
    for state in ("cold", "warm"):
        if not rows[0][state]:
            continue
        print(f"\n| read, {state}, MB/s | " + " | ".join(size(r["unit"]) for r in rows) + " |")
        print("| --- |" + " --- |" * len(rows))
        for name in SYSTEMS:
            print(f"| {name} | " + " | ".join(f"{r[state][name]:,.0f}" for r in rows) + " |")
    print("\n| write, MB/s | " + " | ".join(size(r["unit"]) for r in rows) + " |")
    print("| --- |" + " --- |" * len(rows))
    for name in ("packing", "cp -r"):
        print(f"| {name} | " + " | ".join(f"{r[name]:,.0f}" for r in rows) + " |")


def picture(rows: list[dict], file: str) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "stoker"
    from matplotlib import pyplot

    states = [state for state in ("cold", "warm") if rows[0][state]]
    figure, all_axes = pyplot.subplots(
        1, len(states), figsize=(5 * len(states), 3.8), layout="constrained", squeeze=False
    )
    colours = dict(zip(SYSTEMS, ("tab:gray", "black", "tab:cyan", "tab:blue", "tab:orange"), strict=True))
    for axes, state in zip(all_axes[0], states, strict=True):
        for name in SYSTEMS:
            axes.plot(
                [r["unit"] for r in rows], [r[state][name] for r in rows], color=colours[name], marker="o", label=name
            )
        axes.set(
            title=f"Reading, {state} page cache", xscale="log", yscale="log", xlabel="size of a sample", ylabel="MB/s"
        )
        axes.set_xticks([r["unit"] for r in rows], [size(r["unit"]) for r in rows])
        axes.minorticks_off()
        axes.grid(alpha=0.3)
    all_axes[0][0].legend(frameon=False, fontsize=9)
    figure.savefig(file, metadata={"Date": None})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", help="an SVG file for the picture")
    options = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for unit in UNITS:
            rows.append(measure_unit(unit, options, Path(folder)))
            print(f"{size(unit)} done", file=sys.stderr, flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    report(rows)
    if options.picture:
        picture(rows, options.picture)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        system, given, order = sys.argv[2:]
        print(json.dumps(read_files(given, order) if system == "files" else read_feed(given, order)))
        sys.exit(0)
    sys.exit(main())
