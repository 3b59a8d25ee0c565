"""Measures how long it takes from typing a command until it does its work.

    python/.venv/bin/python benchmarks/start.py [DATASET] [--rounds 5] [--bytes 10e9] [--work DIRECTORY]
        [--stoker COMMAND …]

- `stoker feed`: until a trainer has its first batch. The trainer is this process, which has imported what it needs and
  connects when the feeder says that it is ready.
- `stoker run`: until a trainer that it starts, a Python program of three lines, has its first batch.
- `stoker ingest` of ten files of 20 KB: until its job handles the first file, and until the command has ended.

Processor time is that of the command and of what it starts: with `run`, also of the trainer. With several commands,
for example of a build before and of one after a change, they take turns in each round.

Without a dataset one of 110-KB samples is made and packed first in the work directory, which takes as much disk again
while it is packed; it is kept for the next time. Page cache warm. The first of `stoker ingest`, `feed` and `run` after
a build makes an archive of loaded classes, which takes some seconds once.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
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


def feed(stoker: Path, dataset: Path, work: Path) -> dict[str, float]:
    """Starts `stoker feed` and reads one batch."""
    began = time.perf_counter()
    feeder = subprocess.Popen(
        [stoker, "feed", dataset, "--name", f"start-{os.getpid()}", "--port", "0"],
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
        with Feed(found[1]) as trainer:
            batch = next(iter(trainer))
            assert len(batch) > 0
            first = time.perf_counter() - began
    finally:
        feeder.terminate()
    return {"ready": ready, "first batch": first, "processor": processor_time(feeder)}


def run(stoker: Path, dataset: Path, work: Path) -> dict[str, float]:
    """Starts `stoker run` with a trainer that reads one batch."""
    mark = work / "first-batch"
    trainer = f"import time, stoker\nnext(iter(stoker.Feed()))\nopen({str(mark)!r}, 'w').write(str(time.time()))"
    began = time.time()
    command = subprocess.Popen(
        [stoker, "run", dataset, "--name", f"start-{os.getpid()}", "--", sys.executable, "-c", trainer],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    processor = processor_time(command)
    return {"first batch": float(mark.read_text()) - began, "ended": time.time() - began, "processor": processor}


def ingest(stoker: Path, dataset: Path, work: Path) -> dict[str, float]:
    """Packs ten small files."""
    files, target = work / "ten-files", work / "ten-files-dataset"
    shutil.rmtree(target, ignore_errors=True)
    if not files.exists():
        make_tree(str(files), 10, 20_000)
    began = time.perf_counter()
    command = subprocess.Popen(
        [stoker, "ingest", files, target, "--label-from", "parent-dir"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert command.stdout is not None
    last = command.stdout.read()
    processor = processor_time(command)
    ended = time.perf_counter() - began
    # The command says how long its job took after its first file, and before that from its first look at the options.
    found = re.search(r"([\d.]+) (m?s) \(start-up", last)
    if command.returncode != 0 or found is None:
        raise RuntimeError(f"the ingest failed: {last}")
    job = float(found[1]) / (1000 if found[2] == "ms" else 1)
    return {"first file, at the latest": ended - job, "ended": ended, "processor": processor}


def processor_time(command: subprocess.Popen[str] | subprocess.Popen[bytes]) -> float:
    """Waits for the end of a command; returns the seconds of processor time that it and its children took."""
    _, status, used = os.wait4(command.pid, 0)
    command.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", nargs="?", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--bytes", type=float, default=10e9)
    parser.add_argument("--work", type=Path, default=Path(os.environ.get("TMPDIR", "/tmp"), "stoker-benchmark"))
    parser.add_argument("--stoker", nargs="+", type=Path, default=[ROOT / "stoker"])
    options = parser.parse_args()
    options.work.mkdir(parents=True, exist_ok=True)
    dataset = options.dataset or make_dataset(options.work, int(options.bytes))
    chunks, size = warm(dataset)
    print(f"{dataset}: {chunks:,} chunks, {size / 1e9:.2f} GB", flush=True)
    for stoker in options.stoker:
        ingest(stoker, dataset, options.work)  # the archive of classes
    taken: dict[tuple[str, Path, str], list[float]] = {}
    for _ in range(options.rounds):
        for measure in (feed, run, ingest):
            for stoker in options.stoker:
                for what, seconds in measure(stoker, dataset, options.work).items():
                    taken.setdefault((measure.__name__, stoker, what), []).append(seconds)
    for (verb, stoker, what), seconds in taken.items():
        where = f" of {stoker}" if len(options.stoker) > 1 else ""
        print(
            f"{verb}{where}, {what}: best {min(seconds):.2f} s, median {statistics.median(seconds):.2f} s, "
            f"worst {max(seconds):.2f} s"
        )


if __name__ == "__main__":
    main()
