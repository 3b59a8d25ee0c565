"""Measures what a trainer feels: utilisation of emulated accelerators, waits at a fixed rate, and resuming.

    python/.venv/bin/python benchmarks/trainer.py accelerators [--seconds 30] [--work DIRECTORY]
    python/.venv/bin/python benchmarks/trainer.py pace DATASET [--seconds 600] [--rate 1786]
    python/.venv/bin/python benchmarks/trainer.py resume DATASET [--rounds 5]

accelerators: the shapes of MLPerf Storage for one H100: bytes of a sample, samples of a step, seconds of computation,
which are slept. Utilisation is computation over all the time from the first step on, after an epoch that is not
counted: a virtual machine may take seconds to give the first memory for batches of 1 GB. The datasets are made and
packed the first time (12 GB of disk).

pace: batches of 64 at the rate of one H100 that trains ResNet-50. A step waits as long as its batch comes later than
it was asked for; the trainer asks when it is due, or at once when it is late.

resume: a new process loads a position deep in an epoch; seconds from there to the first batch, a connection included.

Both the feeder and the path reader are measured, the page cache warm.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from feed import start_feeder
from make_tree import make_tree

from stoker import Feed

ROOT = Path(__file__).resolve().parents[1]


class Shape(NamedTuple):
    """What one accelerator asks for."""

    sample_bytes: int
    batch_size: int
    compute_s: float
    wanted: float
    """Utilisation that the benchmark's rules ask for."""
    samples: int
    """Of the dataset that is made."""


SHAPES = {
    "ResNet-50": Shape(114_660, 400, 0.224, 0.90, 20_000),
    "CosmoFlow": Shape(2_828_486, 1, 0.0035, 0.70, 1_000),
    "U-Net3D": Shape(146_600_628, 7, 0.323, 0.90, 28),
}


def dataset_of(name: str, shape: Shape, work: Path) -> Path:
    dataset, tree = work / name, work / f"tree-{name}"
    if not dataset.exists():
        shutil.rmtree(tree, ignore_errors=True)
        make_tree(str(tree), shape.samples, shape.sample_bytes)
        partial = work / f"{name}.partial"
        shutil.rmtree(partial, ignore_errors=True)
        command = [ROOT / "stoker", "ingest", tree, partial, "--label-from", "parent-dir"]
        subprocess.run(command, check=True, capture_output=True)
        partial.rename(dataset)
        shutil.rmtree(tree)
    return dataset


def accelerate(target: str, batch_size: int, compute_s: float, seconds: float) -> dict:
    """Trains with sleeps; returns utilisation and rate."""
    buffer = 2_500 << 20 if batch_size == SHAPES["U-Net3D"].batch_size else 256 << 20
    with Feed(target, batch_size=batch_size, tail="drop", buffer_bytes=buffer) as feed:
        steps = total = 0
        for batch in feed:
            total += sum(sample.nbytes for sample in batch["image"])
            time.sleep(compute_s)
        total = 0
        began = 0.0
        while not began or time.perf_counter() < began + seconds:
            for batch in feed:
                if not began:
                    began = time.perf_counter()
                total += sum(sample.nbytes for sample in batch["image"])
                time.sleep(compute_s)
                steps += 1
                if time.perf_counter() >= began + seconds:
                    break
        spent = time.perf_counter() - began
        return {"utilisation": steps * compute_s / spent, "bytes_per_s": total / spent}


def keep_pace(target: str, batch_size: int, rate: float, seconds: float) -> dict:
    """Asks for batches at a fixed rate; returns the waits."""
    with Feed(target, batch_size=batch_size, tail="drop") as feed:
        waits = []
        step = batch_size / rate
        due = end = asked = 0.0
        while not end or due < end:
            for batch in feed:
                arrived = time.perf_counter()
                if not end:
                    due, end = arrived, arrived + seconds
                else:
                    waits.append(arrived - asked)
                    batch["image"]
                due += step
                time.sleep(max(0.0, due - time.perf_counter()))
                asked = time.perf_counter()
                if due >= end:
                    break
        waits.sort()
        late = sum(wait > 0.001 for wait in waits)
        return {
            "steps": len(waits),
            "late": late / len(waits),
            "p50_ms": 1e3 * waits[len(waits) // 2],
            "p999_ms": 1e3 * waits[int(len(waits) * 0.999)],
            "max_ms": 1e3 * waits[-1],
        }


def resume(target: str) -> dict:
    """Takes a position deep in an epoch, then times a fresh feed from there."""
    with Feed(target, batch_size=64) as feed:
        iterator = iter(feed)
        state = next(iterator).state | {"epoch": 5}
        state["batch"] = len(feed) * 3 // 4
    began = time.perf_counter()
    with Feed(target, batch_size=64) as feed:
        feed.load_state_dict(state)
        batch = next(iter(feed))
        seconds = time.perf_counter() - began
        assert (batch.epoch, batch.number) == (5, state["batch"]), (batch.epoch, batch.number)
    return {"seconds": seconds}


# --- the measuring process --------------------------------------------------------------------------------------------


def child(*arguments: str) -> dict:
    command = [sys.executable, __file__, "--child", *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def run_child(arguments: list[str]) -> dict:
    match arguments:
        case ["accelerate", target, batch_size, compute_s, seconds]:
            return accelerate(target, int(batch_size), float(compute_s), float(seconds))
        case ["pace", target, batch_size, rate, seconds]:
            return keep_pace(target, int(batch_size), float(rate), float(seconds))
        case ["resume", target]:
            return resume(target)
    raise ValueError(f"unknown measurement {arguments}")


def both(dataset: str, batch_size: int, measure: Callable[[str], dict]) -> dict[str, dict]:
    """Measures the path reader, then the feeder."""
    out = {"path": measure(dataset)}
    feeder, address, _ = start_feeder(dataset, batch_size)
    try:
        out["feed"] = measure(address)
    finally:
        feeder.terminate()
        feeder.wait(60)
    return out


def accelerators(options: argparse.Namespace) -> None:
    work = Path(options.work)
    work.mkdir(parents=True, exist_ok=True)
    print(f"{'shape':<12}{'source':<8}{'utilisation':>12}{'wanted':>8}{'GB/s':>8}{'needs':>8}")
    for name, shape in SHAPES.items():
        dataset = str(dataset_of(name, shape, work))
        arguments = (str(shape.batch_size), str(shape.compute_s), str(options.seconds))
        found = both(dataset, shape.batch_size, lambda target, a=arguments: child("accelerate", target, *a))
        needs = shape.sample_bytes * shape.batch_size / shape.compute_s / 1e9
        for source, f in found.items():
            rate = f["bytes_per_s"] / 1e9
            print(f"{name:<12}{source:<8}{f['utilisation']:>12.1%}{shape.wanted:>8.0%}{rate:>8.2f}{needs:>8.2f}")


def pace(options: argparse.Namespace) -> None:
    arguments = ("64", str(options.rate), str(options.seconds))
    found = both(options.dataset, 64, lambda target: child("pace", target, *arguments))
    print(f"{'source':<8}{'steps':>8}{'waited > 1 ms':>15}{'P50 ms':>10}{'P99.9 ms':>10}{'longest ms':>12}")
    for source, f in found.items():
        times = f"{f['p50_ms']:>10.3f}{f['p999_ms']:>10.3f}{f['max_ms']:>12.3f}"
        print(f"{source:<8}{f['steps']:>8,}{f['late']:>15.3%}{times}")


def resumes(options: argparse.Namespace) -> None:
    def measure(target: str) -> dict:
        return {"seconds": [child("resume", target)["seconds"] for _ in range(options.rounds)]}

    print(f"{'source':<8}{'best s':>8}{'median s':>10}{'worst s':>9}")
    for source, f in both(options.dataset, 64, measure).items():
        s = f["seconds"]
        print(f"{source:<8}{min(s):>8.3f}{statistics.median(s):>10.3f}{max(s):>9.3f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True)
    verb = verbs.add_parser("accelerators")
    verb.set_defaults(run=accelerators)
    verb.add_argument("--seconds", type=float, default=30)
    verb.add_argument("--work", default=os.path.join(os.environ.get("TMPDIR", "/tmp"), "stoker-accelerators"))
    verb = verbs.add_parser("pace")
    verb.set_defaults(run=pace)
    verb.add_argument("dataset")
    verb.add_argument("--seconds", type=float, default=600)
    verb.add_argument("--rate", type=float, default=1786, help="samples a second")
    verb = verbs.add_parser("resume")
    verb.set_defaults(run=resumes)
    verb.add_argument("dataset")
    verb.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    options.run(options)
    return 0


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(run_child(sys.argv[2:])))
        sys.exit(0)
    sys.exit(main())
