"""Measures the benefit of tiers: the cached feed against the local one, and the remaining requests to the store.

    python/.venv/bin/python benchmarks/tiers.py DATASET [--quota 0.57] [--epochs 4] [--rounds 3] [--warm-up 8]
        [--parts 123] [--work DIRECTORY]

The dataset is a directory of this machine or a URI. A directory can represent a remote store, because the benchmark
counts reads, opens and bytes. Three parts, over the same bytes, with a shuffle window of a sixteenth of the dataset in
four lanes:

1. later epochs from a warm disk tier and from a warm memory tier against the feed that maps a local copy (only for a
   directory). Each feeder first serves as many epochs as the others, with all chunks placed; then rounds alternate,
   each in another order and with an epoch that does not count, and the best round counts. CPU is the least of the
   rounds, of the whole process;
2. bytes and reads of the store at a quota of so much of the dataset: the whole run less one pass, by the epochs after
   the first;
3. a shared directory twice as large as the quota, read three times: reads (each is one open), bytes and time, against
   no tier at all.

The store's reads and bytes are those that the feeder counts, which are all that it makes.
"""

from __future__ import annotations

import argparse
import json
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from feed import ROOT, cpu_of, read_feed, start_feeder

LANES = 4


def size_of(dataset: str) -> tuple[int, int]:
    """Bytes and chunks of the train split."""
    out = subprocess.check_output([ROOT / "stoker", "info", dataset, "--chunks", "--json"], text=True)
    split = json.loads(out)["splits"]["train"]
    return split["bytes"], split["chunks"]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Feeder:
    """A feeder process and its page."""

    def __init__(self, dataset: str, batch_size: int, window: int, name: str, *options: str) -> None:
        self.ui = f"127.0.0.1:{free_port()}"
        order = ["--lanes", str(LANES), "--shuffle-window", f"{window} bytes", "--ui", self.ui]
        self.process, self.address, _ = start_feeder(dataset, batch_size, *order, *options, name=name)

    def status(self) -> dict:
        with urllib.request.urlopen(f"http://{self.ui}/status.json", timeout=10) as answer:
            return json.load(answer)

    def __enter__(self) -> Feeder:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.communicate()


def placed(feeder: Feeder) -> int:
    return sum(tier["loads"] for tier in feeder.status()["tiers"] if "loads" in tier)


def child(feeder: Feeder, batch_size: int, warm_up: int, epochs: int) -> dict:
    numbers = [str(batch_size), str(warm_up), str(epochs)]
    before = cpu_of(feeder.process.pid)
    out = subprocess.check_output([sys.executable, __file__, "--child", feeder.address, *numbers], text=True)
    spent = cpu_of(feeder.process.pid) - before
    # The feeder has served the epochs that do not count as well.
    return json.loads(out.splitlines()[-1]) | {"server_cpu": spent * epochs / (warm_up + epochs)}


def cached_against_local(dataset: str, work: Path, size: int, window: int, args: argparse.Namespace) -> None:
    tiers = {
        "local, mapped": [],
        "disk tier": ["--tier", f"disk:{work}/tier:{2 * size}"],
        "memory tier": ["--tier", f"memory:{2 * size}"],
    }
    results: dict[str, list[dict]] = {name: [] for name in tiers}
    feeders = {
        name: Feeder(dataset, args.batch_size, window, name.split()[0].strip(","), *options)
        for name, options in tiers.items()
    }
    chunks = size_of(dataset)[1]
    try:
        served = dict.fromkeys(tiers, 0)

        def serve(name: str, epochs: int) -> None:
            child(feeders[name], args.batch_size, 0, epochs)
            served[name] += epochs

        for name, feeder in feeders.items():
            serve(name, 2)
            # A disk that is slower than the store may leave chunks to a later epoch.
            while name != "local, mapped" and placed(feeder) < args.placed * chunks:
                if served[name] > 40:
                    raise RuntimeError(f"{name}: {placed(feeder)} of {chunks} chunks are placed")
                time.sleep(0.5)
                serve(name, 1)
        most = max(args.warm_up, *served.values())
        for name in tiers:
            if served[name] < most:
                serve(name, most - served[name])
        for number in range(args.rounds):
            names = list(feeders)
            for name in names[number % len(names) :] + names[: number % len(names)]:
                results[name].append(child(feeders[name], args.batch_size, 1, args.epochs))
    finally:
        for feeder in feeders.values():
            feeder.__exit__()
    rates = {name: [r["bytes"] / r["seconds"] / 1e9 for r in rounds] for name, rounds in results.items()}
    local = rates["local, mapped"]
    print(f"\n{most} epochs before, {args.rounds} rounds of {args.epochs} epochs after one that does not count")
    head = f"{'later epochs':<16}{'GB/s best':>12}{'median':>10}{'of local':>10}{'by median':>11}"
    print(f"{head}{'trainer CPU s/GB':>18}{'feeder CPU s/GB':>17}{'local reads':>13}")
    for name, found in rates.items():
        ratios = f"{max(found) / max(local):>10.2f}{statistics.median(found) / statistics.median(local):>11.2f}"
        trainer, server = (min(r[key] / r["bytes"] * 1e9 for r in results[name]) for key in ("cpu", "server_cpu"))
        handed = statistics.median(r["local"] for r in results[name])
        print(
            f"{name:<16}{max(found):>12.2f}{statistics.median(found):>10.2f}{ratios}"
            f"{trainer:>18.3f}{server:>17.3f}{handed:>13.0%}"
        )


def run(dataset: str, window: int, name: str, epochs: int, tier: str, args: argparse.Namespace) -> dict:
    """Reads all epochs of a feed with this number of epochs."""
    with Feeder(dataset, args.batch_size, window, name, "--epochs", str(epochs), "--tier", tier) as feeder:
        measured = child(feeder, args.batch_size, 0, epochs)
        totals = feeder.status()["totals"]
        return {"bytes": totals["origin_bytes"], "reads": totals["origin_reads"], "seconds": measured["seconds"]}


def quota(size: int, chunks: int, window: int, args: argparse.Namespace) -> None:
    found = run(args.dataset, window, "quota", args.epochs, f"memory:{int(size * args.quota)}", args)
    later = (found["bytes"] - size) / (args.epochs - 1)
    reads = (found["reads"] - chunks) / (args.epochs - 1)
    print(f"\nquota of {args.quota:.0%}: a later epoch reads {later / size:.3f} of the dataset's bytes", end="")
    print(f" in {reads / chunks:.3f} of its chunks", flush=True)


def shared_directory(work: Path, size: int, window: int, args: argparse.Namespace) -> None:
    print(f"\n{'3 epochs, quota 50 %':<22}{'reads = opens':>14}{'GB':>8}{'seconds':>10}")
    shape = {
        "no tier": run(args.dataset, window, "none", 3, "memory:1b", args),
        "memory tier": run(args.dataset, window, "half", 3, f"memory:{size // 2}", args),
        "disk tier": run(args.dataset, window, "halfdisk", 3, f"disk:{work}/half:{size // 2}", args),
    }
    for name, it in shape.items():
        less = f"  {it['reads'] / shape['no tier']['reads'] - 1:+.0%}"
        print(f"{name:<22}{it['reads']:>14,}{it['bytes'] / 1e9:>8.2f}{it['seconds']:>10.2f}{less}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--quota", type=float, default=0.57, help="share of the dataset")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--warm-up", type=int, default=8, help="epochs that each feeder serves before the rounds")
    parser.add_argument("--placed", type=float, default=1, help="share of chunks that a tier must hold at first")
    parser.add_argument("--parts", default="123", help="which of the three")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--work", type=Path, help="a directory of a local disk for the disk tier")
    args = parser.parse_args()
    size, chunks = size_of(args.dataset)
    window = size // 16
    print(f"{args.dataset}: {chunks:,} chunks, {size / 1e9:.2f} GB", flush=True)
    work = Path(tempfile.mkdtemp(prefix="stoker-tiers-", dir=args.work))
    try:
        if "1" in args.parts and "://" not in args.dataset:
            cached_against_local(args.dataset, work, size, window, args)
        if "2" in args.parts:
            quota(size, chunks, window, args)
        if "3" in args.parts:
            shared_directory(work, size, window, args)
    finally:
        shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(read_feed(sys.argv[2], *(int(n) for n in sys.argv[3:6]))))
    else:
        main()
