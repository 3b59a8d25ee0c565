"""Measures reading and packing by the size of a sample, as the tables that chunks are argued with.

    python/.venv/bin/python benchmarks/units.py [--megabytes 256] [--rounds 2] [--json FILE]
    PYTHON benchmarks/units.py --found FILE --picture docs/images/units.svg     # PYTHON has matplotlib

For each size from 1 KB to 16 MB a tree of equal files is made (at most 40,000, and at most --megabytes), read file by
file in the order of names and shuffled, then packed, and read by the path reader in stored order and shuffled, and
through a feeder. Warm rows have everything in the page cache; cold rows begin with no content in it (names and inodes
stay), and with a feeder that has just been started, as one that has served keeps pages mapped. Packing, by `stoker
ingest` (without Flink's start, which does not depend on the data) and by `stoker.Writer`, is compared with `cp -r` of
the same tree; all are forced to the disk. Each read is a separate process, and plain reads use one thread; the best of
the rounds counts. MB/s are bytes of samples.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from feed import ROOT, start_feeder
from make_tree import make_tree

UNITS = (1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20)
MOST_FILES = 40_000
FEED = "feed, shuffled"
SYSTEMS = ("files, in order", "files, shuffled", "chunks, in order", "chunks, shuffled", FEED)
WRITERS = {"cp -r": "copy", "stoker ingest": "ingest", "stoker.Writer": "write"}
COLOURS = dict(zip(SYSTEMS, ("tab:gray", "black", "tab:cyan", "tab:blue", "tab:orange"), strict=True)) | {
    "cp -r": "tab:gray",
    "stoker ingest": "tab:orange",
    "stoker.Writer": "tab:blue",
}
BATCH = 16


def read_files(tree: str, order: str, passes: str = "1") -> dict:
    files = [str(file) for file in files_of(tree)]
    if order == "shuffled":
        random.Random(0).shuffle(files)
    began, total = time.perf_counter(), 0
    for name in files * int(passes):
        with open(name, "rb", buffering=0) as file:
            total += len(file.read())
    return {"seconds": time.perf_counter() - began, "bytes": total}


def read_feed(target: str, order: str, passes: str = "1") -> dict:
    from stoker import Feed

    given = {"shuffle": "none"} if order == "in order" else {}
    with Feed(target, batch_size=BATCH, tail="keep", **given) as feed:
        began, total = time.perf_counter(), 0
        for _ in range(int(passes)):
            for batch in feed:
                for sample in batch["image"]:
                    total += sample.nbytes
        return {"seconds": time.perf_counter() - began, "bytes": total}


def child(*arguments: str) -> float:
    """Runs one read in a separate process and returns MB/s."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", *arguments], check=True, capture_output=True, text=True, timeout=900
    )
    result = json.loads(done.stdout.splitlines()[-1])
    return result["bytes"] / result["seconds"] / 1e6


def forget(folder: Path) -> None:
    """Makes the kernel drop the cached content of the files, which was forced to the disk before."""
    for path in folder.rglob("*"):
        if path.is_file():
            with open(path, "rb", buffering=0) as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def copy_files(tree: str, target: str) -> dict:
    """Copies a tree and forces it to the disk."""
    began = time.perf_counter()
    subprocess.run(["cp", "-r", tree, target], check=True)
    subprocess.run(["sync", "-f", target], check=True)
    return {"seconds": time.perf_counter() - began, "bytes": sum(f.stat().st_size for f in files_of(tree))}


def ingest(tree: str, target: str) -> dict:
    """Packs with the command; its own word for the time without Flink's start."""
    said = subprocess.run([ROOT / "stoker", "ingest", tree, target], check=True, capture_output=True, text=True).stdout
    found = re.search(r"B, ([0-9.]+) s \(start-up", said)
    assert found is not None, said
    return {"seconds": float(found[1]), "bytes": sum(f.stat().st_size for f in files_of(tree))}


def write(tree: str, target: str) -> dict:
    """Packs what a Python program reads from the files."""
    from stoker import Writer  # before the time is taken

    files, total = files_of(tree), 0
    began = time.perf_counter()
    with Writer(target, schema={"image": "binary"}, payload=["image"]) as writer:
        for file in files:
            content = file.read_bytes()
            total += len(content)
            writer.write({"key": file.name, "image": content})
    return {"seconds": time.perf_counter() - began, "bytes": total}


def files_of(tree: str) -> list[Path]:
    return sorted(Path(tree).rglob("*.jpg"))


def measure_unit(unit: int, options: argparse.Namespace, folder: Path) -> dict:
    files = min(MOST_FILES, max(1, options.megabytes * 1_000_000 // unit))
    tree, packed = folder / "tree", folder / "packed"
    for old in (tree, packed):
        shutil.rmtree(old, ignore_errors=True)
    make_tree(str(tree), files, unit)
    subprocess.run(["sync", "-f", tree], check=True)
    row: dict = {"unit": unit, "files": files, "write": {}, "warm": {}, "cold": {}}
    for _ in range(options.rounds):
        for name, system in WRITERS.items():
            target = folder / system
            shutil.rmtree(target, ignore_errors=True)
            row["write"][name] = max(row["write"].get(name, 0), child(system, str(tree), str(target)))
    (folder / "ingest").rename(packed)
    for left in WRITERS.values():
        shutil.rmtree(folder / left, ignore_errors=True)
    reads = {
        "files, in order": ("files", str(tree), "in order"),
        "files, shuffled": ("files", str(tree), "shuffled"),
        "chunks, in order": ("feed", str(packed), "in order"),
        "chunks, shuffled": ("feed", str(packed), "shuffled"),
    }
    # As many bytes of small samples as of large ones, so that nothing is over in a moment.
    passes = str(-(-options.megabytes * 1_000_000 // (files * unit)))
    for number in range(options.rounds):
        for name, arguments in reads.items():
            forget(Path(arguments[1]))
            row["cold"][name] = max(row["cold"].get(name, 0), child(*arguments))
        feeder, address, _ = start_feeder(str(packed), BATCH, name="units")
        served = ("feed", address, "shuffled")
        try:
            forget(packed)
            row["cold"][FEED] = max(row["cold"].get(FEED, 0), child(*served))
            for name, arguments in (reads | {FEED: served}).items():
                for _ in range(2 if number == 0 or name == FEED else 1):
                    speed = child(*arguments, passes)
                row["warm"][name] = max(row["warm"].get(name, 0), speed)
        finally:
            feeder.terminate()
            feeder.wait(60)
    return row


def size(unit: int) -> str:
    return f"{unit >> 20} MB" if unit >= 1 << 20 else f"{unit >> 10} KB"


def report(rows: list[dict]) -> None:
    for state in ("cold", "warm"):
        print(f"\n| read, {state}, MB/s | " + " | ".join(size(r["unit"]) for r in rows) + " |")
        print("| --- |" + " --- |" * len(rows))
        for name in SYSTEMS:
            print(f"| {name} | " + " | ".join(f"{r[state][name]:,.0f}" for r in rows) + " |")
        for name in SYSTEMS:
            speeds = {r["unit"]: r[state][name] for r in rows}
            least, most = min(speeds, key=speeds.__getitem__), max(speeds, key=speeds.__getitem__)
            print(f"{name}, {state}: {size(most)} is {speeds[most] / speeds[least]:.1f} times as fast as {size(least)}")
    print("\n| write, MB/s | " + " | ".join(size(r["unit"]) for r in rows) + " |")
    print("| --- |" + " --- |" * len(rows))
    for name in WRITERS:
        print(f"| {name} | " + " | ".join(f"{r['write'][name]:,.0f}" for r in rows) + " |")


def picture(rows: list[dict], file: str) -> None:
    import pictures

    titles = {
        "cold": "Reading from the disk",
        "warm": "Reading from the page cache",
        "write": "Writing, forced to the disk",
    }
    figure, ((*all_axes,),) = pictures.panels(len(titles), 5 * len(titles), 3.8)
    for axes, state in zip(all_axes, titles, strict=True):
        for name in rows[0][state]:
            speeds = [row[state][name] for row in rows]
            axes.plot([row["unit"] for row in rows], speeds, color=COLOURS[name], marker="o", markersize=4, label=name)
        axes.set(title=titles[state], xscale="log", yscale="log", xlabel="size of a sample", ylabel="MB/s")
        axes.set_xticks([row["unit"] for row in rows], [size(row["unit"]) for row in rows], fontsize=8)
        axes.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        axes.minorticks_off()
        axes.grid(alpha=0.3)
        axes.legend(frameon=False, fontsize=8)
    pictures.save(figure, file)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--units", type=int, nargs="+", default=UNITS, help="sizes of a sample in bytes")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", help="an SVG file for the picture; needs matplotlib")
    parser.add_argument("--found", type=Path, help="what --json left of another run, instead of a new one")
    options = parser.parse_args()
    rows = json.loads(options.found.read_text()) if options.found else []
    with tempfile.TemporaryDirectory() as folder:
        for unit in () if options.found else options.units:
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
        does = {"files": read_files, "feed": read_feed, "copy": copy_files, "ingest": ingest, "write": write}
        print(json.dumps(does[sys.argv[2]](*sys.argv[3:])))
        sys.exit(0)
    sys.exit(main())
