"""Measures one job with 1, 2 and 4 feeder processes over a dataset in S3: their requests to the store in total, and the
cost of a byte sent. Then measures throughput by chunk size and number of feeders, and a job that is started again.

    ./mvnw -q -Dfast -DskipTests package && python/env
    python/.venv/bin/python benchmarks/scale.py [--megabytes 330] [--feeders 1 2 4] [--json FILE]
    PYTHON benchmarks/scale.py --found FILE --picture docs/images/scale.svg     # PYTHON has matplotlib

The Flink cluster has one JobManager and as many TaskManagers as the largest job needs, each a process with one slot and
a separate loopback address. An S3 server (s3proxy over a directory) runs behind a proxy that delays every request and
counts requests and bytes. Samples have 110 KB. Everything runs on this machine, and more feeders share its processors:
times say nothing about more machines. The benchmark counts work:

1. Three groups read the first epoch at once, each with a separate trainer, from feeders with an empty cache. The proxy
   counts requests and bytes; the feeders count metadata operations. Failovers are the times that a trainer has left a
   silent feeder: the chunks of the lane's own feeder are then read twice. Then the groups read further epochs from the
   memory tiers, each epoch at once: CPU is the time of the feeder processes divided by the bytes sent. The number of
   epochs is the number of feeders times --epochs, so that each process serves the same number of bytes, after twice as
   many to warm up. More processes take longer for that on the same processors, and each has a cost even at rest
   (heartbeats, checkpoints, the JVM). On separate machines this cost would depend on the machines and not on the bytes.
   So two parts are subtracted, and shown: the cost of the same processes at rest for the same time, and the cost of the
   JVM's compilers, which finish eventually. The rest is the work of sending.
2. One trainer, chunks of 1 and 10 MB: MB/s of samples in the first epoch (cold: from S3) and in later ones (warm: from
   memory).
3. The largest job, with a disk tier of lifetime `node`, is submitted again once its chunks are placed, and again after
   a kill -9 of all its TaskManagers: the requests to the store, and the seconds from the command to the first batch.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
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
from scale_job import BATCH, FarCluster, Job, Trainer, together
from stoker_processes import until

SAMPLE_BYTES = 110_000
GROUPS = ("training", "validation", "other")
CHUNKS = {"1 MB": "1mb", "10 MB": "10mb"}
PARTS = ("work", "rates", "restarts")


class Bench:
    def __init__(self, options: argparse.Namespace, folder: Path, origin: Origin) -> None:
        self.options = options
        self.origin = origin
        self.home = folder / "home"
        self.cache = folder / "cache"
        near, far = (folder / name for name in ("near", "far"))
        into_store = self.origin.hadoop(self.origin.near, near) | {"STOKER_HOME": str(self.home)}
        # `flink run` opens the dataset, too.
        self.origin.hadoop(self.origin.far, far)
        files = options.megabytes * 1_000_000 // SAMPLE_BYTES
        make_tree(str(folder / "tree"), files, SAMPLE_BYTES)
        self.sizes = {}
        for name, size in CHUNKS.items():
            if not any(part in options.parts for part in ("rates", "work" if size == "1mb" else "restarts")):
                continue
            command = [ROOT / "stoker", "ingest", folder / "tree", self.dataset(name), "--label-from", "parent-dir"]
            subprocess.run([*command, "--chunk-size", size], check=True, env=into_store, capture_output=True)
            chunks = list((folder / "bucket" / BUCKET / size / "chunks").rglob("*.arrow"))
            self.sizes[name] = (len(chunks), sum(chunk.stat().st_size for chunk in chunks))
        shutil.rmtree(folder / "tree")
        tier_mb = 1 + max(total for _, total in self.sizes.values()) // (1 << 20)
        self.memory = ("--tier", f"memory:{tier_mb}m")
        self.cluster = FarCluster(folder / "cluster", self.home, far, max(options.feeders), tier_mb)
        (self.home / "feeds").mkdir(parents=True, exist_ok=True)

    def dataset(self, chunk: str) -> str:
        return f"s3a://{BUCKET}/{CHUNKS[chunk]}"

    def job(self, chunk: str, feeders: int, *tier: str) -> Job:
        return Job(self.cluster, self.home, self.dataset(chunk), feeders, *tier)

    def work(self, feeders: int) -> dict[str, Any]:
        """Three groups: requests and bytes of their first epoch, and CPU per byte of later ones."""
        chunks, size = self.sizes["1 MB"]
        with self.job("1 MB", feeders, *self.memory) as job:
            trainers = [Trainer(group, self.home) for group in GROUPS]
            try:
                for trainer in trainers:
                    trainer.connected()
                self.origin.counts()
                together(trainers, 1)
                first, metadata = self.origin.counts(), job.total("origin_metadata")
                reads = [feeder["origin_reads"] for feeder in job.totals()]
                # The JVM compiles as it serves.
                together(trainers, 2 * self.options.epochs * feeders)
                before, sent, began = job.cpu(), job.total("bytes"), time.perf_counter()
                failovers = together(trainers, self.options.epochs * feeders)
                seconds = time.perf_counter() - began
                sent = job.total("bytes") - sent
                cpu = {kind: used - before[kind] for kind, used in job.cpu().items()}
                return {
                    "feeders": feeders,
                    "chunks": chunks,
                    "requests": first["requests"],
                    "of_dataset": first["bytes"] / size,
                    "reads_of_each": reads,
                    "later_requests": self.origin.counts()["requests"],
                    "later_metadata": job.total("origin_metadata") - metadata,
                    "failovers": failovers,
                    "gb": sent / 1e9,
                    "seconds": seconds,
                    "cpu_s": cpu,
                    "cpu_at_rest": job.at_rest(10),
                }
            finally:
                for trainer in trainers:
                    trainer.close()

    def rates(self, chunk: str, feeders: int) -> dict[str, Any]:
        """One trainer: MB/s cold and warm."""
        with self.job(chunk, feeders, *self.memory):
            trainer = Trainer(GROUPS[0], self.home)
            try:
                trainer.connected()
                cold = trainer.read(1)
                trainer.read(self.options.epochs * feeders)
                warm = [trainer.read(self.options.epochs) for _ in range(2)]
            finally:
                trainer.close()
        speeds = [read["bytes"] / read["seconds"] / 1e6 for read in (cold, *warm)]
        return {"chunk": chunk, "feeders": feeders, "cold": speeds[0], "warm": max(speeds[1:])}

    def restarts(self, feeders: int) -> dict[str, Any]:
        """Starts the job again on the same machines, which have the chunks."""
        tier = ("--tier", f"disk:{self.cache}:100g", "--cache-lifetime", "node")
        chunks, size = self.sizes["10 MB"]
        with self.job("10 MB", feeders, *tier):
            first_batch(self.home, whole=True)
            until(lambda: len(list(self.cache.rglob("*.arrow"))) == chunks, "all chunks are placed", 300)
        again = self.restarted(feeders, size, *tier)
        for worker in self.cluster.workers:
            worker.kill()
            self.cluster.start_worker(worker)
        return {"submitted again": again, "all TaskManagers restarted": self.restarted(feeders, size, *tier)}

    def restarted(self, feeders: int, size: int, *tier: str) -> dict[str, Any]:
        self.origin.counts()
        found: list[float] = []
        (self.home / "feeds" / "scale.json").unlink()
        began = time.perf_counter()
        watch = threading.Thread(target=lambda: found.append(first_batch(self.home)))
        watch.start()
        with self.job("10 MB", feeders, *tier) as job:
            watch.join()
            opening = self.origin.counts()
            first_batch(self.home, whole=True)
            return {
                "first_batch_s": found[0] - began,
                "opening_requests": opening["requests"],
                "of_dataset": (opening["bytes"] + self.origin.counts()["bytes"]) / size,
                "chunks_read": job.total("origin_reads"),
            }


def first_batch(home: Path, *, whole: bool = False) -> float:
    """Waits for the feed's file and reads a batch, or an epoch; the moment when the first one was there."""
    from stoker import Feed

    until((home / "feeds" / "scale.json").exists, "the feed's file is there", 300)
    with Feed("scale", batch_size=BATCH, tail="keep") as feed:
        batches = iter(feed)
        next(batches)
        came = time.perf_counter()
        for _ in batches if whole else ():
            pass
    return came


def report(found: dict[str, Any]) -> None:
    if found["work"]:
        report_work(found["work"])
    if found["rates"]:
        report_rates(found["rates"])
    if found["restarts"]:
        print("\n| node cache, job of the most feeders | chunks read | bytes, of the dataset | first batch |")
        print("| --- |" + " --- |" * 3)
        for name, row in found["restarts"].items():
            print(f"| {name} | {row['chunks_read']} | {row['of_dataset']:.4f} | {row['first_batch_s']:.1f} s |")


def report_work(rows: list[dict[str, Any]]) -> None:
    heads = ("feeders", "origin requests, epoch 1", "bytes, of the dataset", "most of one feeder", "later epochs")
    print("\n| " + " | ".join(heads) + " | failovers |")
    print("| --- |" + " --- |" * 5)
    for row in rows:
        later = f"{row['later_requests']} requests, {row['later_metadata']} metadata operations"
        most = f"{max(row['reads_of_each'])} of {row['chunks']}"
        first = f"{row['requests']} | {row['of_dataset']:.3f} | {most}"
        print(f"| {row['feeders']} | {first} | {later} | {row['failovers']} |")
    print("\n| feeders | CPU s/GB sent | of it the compiler | at rest | work | work, of one feeder's |")
    print("| --- |" + " --- |" * 5)
    alone = cpu_per_gb(rows[0])["work"]
    for row in rows:
        cpu = cpu_per_gb(row)
        parts = " | ".join(f"{cpu[part]:.3f}" for part in ("whole", "compiler", "rest", "work"))
        print(f"| {row['feeders']} | {parts} | {cpu['work'] / alone:.2f} |")


def cpu_per_gb(row: dict[str, Any]) -> dict[str, float]:
    """CPU seconds of all feeder processes a GB sent, and their parts: see the module."""
    whole, compiler = sum(row["cpu_s"].values()), row["cpu_s"].get("compiler", 0.0)
    rest = row["cpu_at_rest"] * row["seconds"]
    parts = {"whole": whole, "compiler": compiler, "rest": rest, "work": whole - compiler - rest}
    return {name: seconds / row["gb"] for name, seconds in parts.items()}


def report_rates(rows: list[dict[str, Any]]) -> None:
    feeders = sorted({row["feeders"] for row in rows})
    print("\n| MB/s, one trainer | " + " | ".join(f"{n} feeder{'s' * (n > 1)}" for n in feeders) + " |")
    print("| --- |" + " --- |" * len(feeders))
    for state in ("cold", "warm"):
        for chunk in CHUNKS:
            speeds = [row[state] for row in rows if row["chunk"] == chunk]
            print(f"| {state}, chunks of {chunk} | " + " | ".join(f"{speed:,.0f}" for speed in speeds) + " |")


def picture(found: dict[str, Any], file: str) -> None:
    import pictures

    figure, ((left, right),) = pictures.panels(2, 10, 3.8)
    feeders = [row["feeders"] for row in found["work"]]
    rows = {
        "origin bytes, of the dataset": [row["of_dataset"] for row in found["work"]],
        "origin requests, of the chunks": [row["requests"] / row["chunks"] for row in found["work"]],
        "CPU per byte sent, of one feeder's": [
            cpu_per_gb(row)["work"] / cpu_per_gb(found["work"][0])["work"] for row in found["work"]
        ],
    }
    for (name, values), style in zip(rows.items(), ("s-", "x--", "o-"), strict=True):
        left.plot(feeders, values, style, label=name)
    left.axhspan(0.9, 1.1, color="tab:gray", alpha=0.15, lw=0)
    left.set(title="Work of one job, three groups", xlabel="feeder processes", xticks=feeders, ylim=(0, 1.5))
    left.legend(frameon=False, fontsize=9, loc="lower left")
    for chunk, style in zip(CHUNKS, ("--", "-"), strict=True):
        for state, colour in (("cold", "tab:blue"), ("warm", "tab:orange")):
            speeds = {row["feeders"]: row[state] for row in found["rates"] if row["chunk"] == chunk}
            right.plot(list(speeds), list(speeds.values()), style, color=colour, marker="o", label=f"{state}, {chunk}")
    right.set(title="One trainer, all on the same processors", xlabel="feeder processes", ylabel="MB/s", ylim=(0, None))
    right.set_xticks(sorted({row["feeders"] for row in found["rates"]}))
    right.legend(frameon=False, fontsize=9)
    for axes in (left, right):
        axes.grid(alpha=0.3)
    pictures.save(figure, file)


def measure(options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    origin = Origin(folder, options.latency_ms, link_mbit=0)
    try:
        bench = Bench(options, folder, origin)
        found: dict[str, Any] = {"work": [], "rates": [], "restarts": {}}
        with bench.cluster as cluster:
            cluster.start()
            for feeders in options.feeders if "work" in options.parts else ():
                found["work"].append(bench.work(feeders))
                print(found["work"][-1], file=sys.stderr, flush=True)
            for feeders in options.feeders if "rates" in options.parts else ():
                for chunk in CHUNKS:
                    found["rates"].append(bench.rates(chunk, feeders))
                    print(found["rates"][-1], file=sys.stderr, flush=True)
            if "restarts" in options.parts:
                found["restarts"] = bench.restarts(max(options.feeders))
        return found
    finally:
        origin.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--megabytes", type=int, default=330)
    parser.add_argument("--feeders", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--epochs", type=int, default=4, help="measured, for each feeder")
    parser.add_argument("--latency-ms", type=int, default=20, help="that every request to the store waits")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--picture", help="an SVG file for the picture; needs matplotlib")
    parser.add_argument("--found", type=Path, help="what --json left of another run, instead of a new one")
    options = parser.parse_args()
    if options.found:
        found = json.loads(options.found.read_text())
    else:
        with tempfile.TemporaryDirectory() as temporary:
            folder = Path(temporary)
            os.environ |= {"STOKER_HOME": str(folder / "home"), "STOKER_TRANSPORT": "tcp"}
            found = measure(options, folder)
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))
    report(found)
    if options.picture:
        picture(found, options.picture)


if __name__ == "__main__":
    main()
