"""Compares `stoker copy` with `cp -r`, which verifies nothing, on one machine.

    python/.venv/bin/python benchmarks/copies.py [--bytes 2e9] [--rounds 3] [--work DIRECTORY]

A dataset of 110-KB samples is made and packed first in the work directory; it is kept for the next time. Source and
target are on the same disk, and the source is in the page cache. Rows:

- *cp*: `cp -r`, then `sync` of the target's file system, since `stoker copy` returns when its files are durable.
- *cp, verify*: the same, and then `stoker verify` of the target, which reads every byte.
- *copy*: `stoker copy` to a new target. It verifies each chunk on the way. The start of its Java process is included.
- *copy again*: the same command when the target has everything.

Rounds alternate. Prints the best wall time, and the least processor time (user and system) of the processes.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from start import ROOT, make_dataset, warm


def measured(work: Callable[[], object]) -> tuple[float, float]:
    """Returns wall and processor seconds of the processes that a function starts and waits for."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    work()
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def run(*command: object) -> None:
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)


def cp(dataset: Path, target: Path) -> None:
    run("cp", "-r", dataset, target)
    run("sync", "-f", target)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--bytes", type=float, default=2e9)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path, default=Path(os.environ.get("TMPDIR", "/tmp")) / "stoker-benchmark")
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    dataset = make_dataset(options.work, int(options.bytes))
    chunks, size = warm(dataset)
    print(f"{chunks} chunks, {size / 1e9:.2f} GB")
    stoker = ROOT / "stoker"
    target = options.work / "copies-target"

    def cp_and_verify() -> None:
        cp(dataset, target)
        run(stoker, "verify", target)

    rows: dict[str, tuple[bool, Callable[[], object]]] = {
        "cp": (True, lambda: cp(dataset, target)),
        "cp, verify": (True, cp_and_verify),
        "copy": (True, lambda: run(stoker, "copy", dataset, target)),
        "copy again": (False, lambda: run(stoker, "copy", dataset, target)),
    }
    best: dict[str, tuple[float, float]] = {}
    for _ in range(options.rounds):
        for name, (is_new, work) in rows.items():
            if is_new:
                shutil.rmtree(target, ignore_errors=True)
            os.sync()
            found = measured(work)
            best[name] = tuple(map(min, best.get(name, found), found))  # type: ignore[assignment]
    shutil.rmtree(target, ignore_errors=True)
    for name, (wall, cpu) in best.items():
        rate = f", {size / 1e6 / wall:.0f} MB/s" if name != "copy again" else ""
        print(f"{name:12} {wall:6.2f} s{rate}; {cpu:.2f} s of processors, {cpu / (size / 1e9):.2f} s/GB")


if __name__ == "__main__":
    main()
