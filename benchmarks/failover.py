"""Measures how long a trainer waits for the next batch of a lane after its feeder is killed (kill -9), including the
detection. Also measures how long a resubmitted feed, and a cluster that was killed and restarted, take to deliver
again.

    python/.venv/bin/python benchmarks/failover.py [--rounds 10] [--work DIRECTORY]

The cluster has one JobManager and three TaskManagers, each a process. They use a separate network if this user may
create one (root), and loopback addresses otherwise; ZooKeeper provides high availability. The dataset is small and in
the page cache, because the benchmark measures the change from one feeder to the next, not the disk. One trainer reads
over TCP, with two batches in flight, so that it waits at once.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python" / "tests" / "system"))

from clusters import Cluster  # noqa: E402
from machines import Machine  # noqa: E402
from make_tree import make_tree  # noqa: E402
from stoker_processes import until  # noqa: E402

from stoker import Feed  # noqa: E402

SAMPLES, SAMPLE_BYTES = 20_000, 4096
OPTIONS = ["--batch-size", 64, "--lanes", 12, "--shuffle-window", "16mb", "--parallelism", 3, "--idle-timeout", "0 s"]


def whole(cluster: Cluster, job: str) -> None:
    """Waits until the feed has its initial state again: three machines, each with a feeder."""
    until(lambda: len(set(cluster.tasks(job).values())) == 3, "every machine has a feeder", 300)
    until(lambda: len(cluster.serving("failover")) == 3, "the feed's file names all", 300)


def waits(feed: Feed) -> Iterator[tuple[float, int, str]]:
    """Endless: seconds waited for a batch, its lane, and the feeder that it came from."""
    while True:
        batches = iter(feed)
        while True:
            began = time.perf_counter()
            batch = next(batches, None)
            waited = time.perf_counter() - began
            if batch is None:
                break
            span = feed._reading.source._subscriptions.reading
            index = span.index(batch.number)
            yield waited, span.planned(index)[-1].lane, span.arrivals[index][-1].connection.address


def kill_one(cluster: Cluster, came: Iterator[tuple[float, int, str]]) -> tuple[Machine, float, float]:
    """Kills the feeder of the last batch; seconds to the next batch of one of its lanes, and the longest other wait."""
    home: dict[int, str] = {}
    for _, (_, lane, address) in zip(range(200), came):  # noqa: B905
        home[lane] = address
    victim = next(w for w in cluster.workers if w.address == home[lane].partition(":")[0])
    victim.kill()
    began, others = time.perf_counter(), 0.0
    for waited, lane, address in came:
        lost = home.get(lane, "").partition(":")[0] == victim.address
        if lost and address != home[lane]:
            return victim, time.perf_counter() - began, others
        if not lost:
            others = max(others, waited)
    raise AssertionError("the feed has ended")


def after_what_was_in_flight(came: Iterator[tuple[float, int, str]], began: float) -> float:
    """Seconds until the first batch that had not arrived before."""
    for _ in range(3):
        next(came)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.work) as temporary:
        work = Path(temporary)
        home = work / "home"
        os.environ |= {"STOKER_HOME": str(home), "STOKER_TRANSPORT": "tcp"}
        make_tree(str(work / "files"), SAMPLES, SAMPLE_BYTES)
        command = [ROOT / "stoker", "ingest", work / "files", work / "data", "--label-from", "parent-dir"]
        subprocess.run([*command, "--chunk-size", "256kb"], check=True, stdout=subprocess.DEVNULL)
        with Cluster(work / "cluster", home, slots=1) as cluster:
            cluster.start()
            job = cluster.submit("failover", work / "data", *OPTIONS)
            with Feed("failover", buffer_bytes=1) as feed:
                came = waits(feed)
                kills, others = [], []
                for i in range(options.rounds):
                    whole(cluster, job)
                    # The newest lane map is with the trainer when it has moved lanes back, or after the next tick.
                    began = time.monotonic()
                    while time.monotonic() - began < 6:
                        next(came)
                    victim, seconds, other = kill_one(cluster, came)
                    kills.append(seconds)
                    others.append(other)
                    print(f"kill {i + 1}: {seconds:.2f} s; other lanes waited {other:.2f} s at most", flush=True)
                    cluster.start_worker(victim)
                whole(cluster, job)
                cluster.flink("cancel", job)
                began = time.perf_counter()
                job = cluster.submit("failover", work / "data", *OPTIONS)
                resubmitted = after_what_was_in_flight(came, began)
                whole(cluster, job)
                for machine in cluster.network.machines:
                    machine.kill()
                began = time.perf_counter()
                cluster.start()
                restarted = after_what_was_in_flight(came, began)
        median, worst = statistics.median(kills), max(kills)
        print(f"kill -9 of a feeder to the next batch of its lanes: median {median:.2f} s, worst {worst:.2f} s")
        print(f"other lanes meanwhile: worst {max(others):.2f} s")
        print(f"feed cancelled and submitted again, to the next batch: {resubmitted:.1f} s")
        print(f"all processes of the cluster restarted, to the next batch: {restarted:.1f} s")


if __name__ == "__main__":
    main()
