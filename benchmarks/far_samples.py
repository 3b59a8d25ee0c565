"""Measures single samples of a far store: `get` from a feeder against reading objects one by one.

    python/.venv/bin/python benchmarks/far_samples.py [--files 2000] [--rounds 100] [--latency-ms 20] [--mbit 1000]

A tree of files of 110 KB is ingested. The dataset and the files are objects of an S3 server behind a proxy that delays
each answer and limits the bandwidth. A feeder serves the dataset with a memory tier that has room for it. In each round
the same 256 random keys are read in two ways, which alternate: as objects with 16 connections that stay open, and with
one `get` from the feeder, on the same machine over TCP. The first round of the feeder fills its tier; its time is
printed separately. The percentiles are of the rounds after it. `--tier` gives the feeder other tiers.
"""

from __future__ import annotations

import argparse
import http.client
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote, urlsplit

from feed import ROOT
from make_tree import make_tree
from origin import BUCKET, Origin
from samples import KEYS, SAMPLE, seconds

import stoker

CONNECTIONS = 16
NAME = "far-samples"


class Objects:
    """Reads objects, one by one on each of some connections that stay open."""

    def __init__(self, endpoint: str) -> None:
        host = urlsplit(endpoint).netloc
        self.connections = [http.client.HTTPConnection(host) for _ in range(CONNECTIONS)]

    def get(self, names: list[str]) -> list[bytes]:
        found: list[bytes] = [b""] * len(names)
        left = iter(range(len(names)))
        lock = threading.Lock()

        def read(connection: http.client.HTTPConnection) -> None:
            while True:
                with lock:
                    number = next(left, None)
                if number is None:
                    return
                connection.request("GET", f"/{BUCKET}/tree/{quote(names[number])}")
                found[number] = connection.getresponse().read()

        threads = [threading.Thread(target=read, args=(connection,)) for connection in self.connections]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return found


@contextmanager
def feeder(environment: dict[str, str], tiers: list[str]) -> Iterator[None]:
    options = [option for tier in tiers for option in ("--tier", tier)]
    process = subprocess.Popen(
        [str(ROOT / "stoker"), "feed", f"s3a://{BUCKET}/images", "--name", NAME, "--port", "0", *options],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    )
    try:
        subprocess.run([str(ROOT / "stoker"), "wait", NAME, "--timeout", "60s"], check=True, env=environment)
        yield
    finally:
        process.terminate()
        process.wait()


def percentiles(times: list[float]) -> list[float]:
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return [cuts[49], cuts[94], cuts[98]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--latency-ms", type=int, default=20)
    parser.add_argument("--mbit", type=int, default=1000)
    parser.add_argument("--tier", action="append", help="default: memory with room for all chunks")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = Path(temporary)
        make_tree(work / "tree", options.files, SAMPLE)
        files = [path for path in (work / "tree").rglob("*") if path.is_file()]
        origin = Origin(work, options.latency_ms, options.mbit)
        try:
            origin.put(work / "tree", "tree", files)
            into = ("ingest", work / "tree", f"s3a://{BUCKET}/images", "--label-from", "parent-dir")
            subprocess.run(
                [str(ROOT / "stoker"), *map(str, into)],
                check=True,
                env=origin.hadoop(origin.near, work / "near"),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
            )
            tiers = options.tier or [f"memory:{options.files * SAMPLE * 5 // 4 >> 20}m"]
            os.environ["STOKER_TRANSPORT"] = "tcp"
            environment = origin.hadoop(origin.far, work / "hadoop") | {"STOKER_TRANSPORT": "tcp"}
            with feeder(environment, tiers), stoker.open(feed=NAME) as samples:
                measure(options, origin, samples, sorted(str(p.relative_to(work / "tree")) for p in files))
        finally:
            origin.close()


def measure(options: argparse.Namespace, origin: Origin, samples: stoker.FeedSamples, names: list[str]) -> None:
    field = next(field.name for field in samples.fields if field.payload)
    choose = random.Random(1)
    objects = Objects(origin.far)
    cold = seconds(lambda: samples.get(names[:: max(1, len(names) // KEYS)]))
    samples.get(names)
    origin.counts()
    plain: list[float] = []
    ours: list[float] = []
    requests = 0
    for _ in range(options.rounds):
        keys = choose.sample(names, KEYS)
        contents: list[bytes] = []
        found: list[object] = []
        plain.append(seconds(lambda: contents.extend(objects.get(keys))))  # noqa: B023
        origin.counts()
        ours.append(seconds(lambda: found.extend(samples.get(keys))))  # noqa: B023
        requests += origin.counts()["requests"]
        if [bytes(sample[field]) for sample in found] != contents:  # type: ignore[index]
            sys.exit("the samples differ from the objects")
        time.sleep(0.05)
    link = f"{options.latency_ms} ms, {options.mbit} Mbit/s"
    print(f"get of {KEYS} keys of {SAMPLE:,} bytes, {link}, {options.rounds} rounds")
    for name, times in (("objects", plain), ("feeder", ours)):
        shown = ", ".join(f"P{p} {1000 * t:.0f}" for p, t in zip((50, 95, 99), percentiles(times), strict=True))
        print(f"  {name:<12} {shown} ms")
    ratios = [a / b for a, b in zip(percentiles(plain), percentiles(ours), strict=True)]
    print("  ratio        " + ", ".join(f"P{p} {ratio:.1f}" for p, ratio in zip((50, 95, 99), ratios, strict=True)))
    print(
        f"  first get of the feeder, with an empty tier: {1000 * cold:.0f} ms; requests to the store since: {requests}"
    )


if __name__ == "__main__":
    main()
