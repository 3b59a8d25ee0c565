"""Measures how fast a lost cache fills again: Memcached from objects, and a feeder's memory tier from chunks.

    apt-get install memcached; python/.venv/bin/python -m pip install pylibmc matplotlib
    python/.venv/bin/python benchmarks/cold_boot.py [--bytes 4096 110000] [--latency-ms 20] [--link-mbit 2500]

The samples are objects, and the same samples are a dataset, in one S3 server behind a proxy that delays each request
and limits the bandwidth. In each round both caches start empty, as after a crash:

- *Memcached*: 16 threads read an epoch in a random order. A thread asks Memcached for a sample, fetches the object if
  Memcached does not have it, over a connection that stays open, and stores it.
- *Stoker*: a feeder is started, which sends at most 16 requests at a time and keeps chunks in memory. A trainer reads
  an epoch over TCP, shuffled within windows of a sixteenth of the samples, in four lanes.

The clock starts with the process of the cache, so the start of the feeder's JVM counts. The table has the times of the
first sample, of half of the epoch, and of its end, when the cache is complete, and then the time of the next epoch.
Both readers compute a CRC-32C of each sample. Medians of the rounds, with their range.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from feed import ROOT, start_feeder
from make_tree import make_tree
from memcached import SIZES, Memcached, client, keys_of
from origin import BUCKET, Origin
from units import files_of

BATCH = 64
CONNECTIONS = 16
SHARES = [share / 20 for share in range(1, 21)]
SYSTEMS = ("Memcached", "Stoker")

# --- runs in a separate process and prints one JSON object ------------------------------------------------------------


class ReadThrough:
    """Reads samples from Memcached, and those that it does not have from the store."""

    def __init__(self, port: str, far: str) -> None:
        self.servers = [client(port) for _ in range(CONNECTIONS)]
        self.connections = [http.client.HTTPConnection(urlsplit(far).netloc) for _ in range(CONNECTIONS)]
        self.misses = 0

    def epoch(self, keys: list[str]) -> list[float]:
        """Returns the times at which samples were there, ascending."""
        times: list[float] = []
        failures: list[BaseException] = []
        left, lock = iter(keys), threading.Lock()

        def work(number: int) -> None:
            try:
                while True:
                    with lock:
                        key = next(left, None)
                    if key is None:
                        return
                    self._read(number, key)
                    times.append(time.time())
            except BaseException as e:
                failures.append(e)

        threads = [threading.Thread(target=work, args=(number,)) for number in range(CONNECTIONS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]
        return sorted(times)

    def _read(self, number: int, key: str) -> None:
        from google_crc32c import value

        sample = self.servers[number].get(key)
        if sample is None:
            self.misses += 1
            connection = self.connections[number]
            connection.request("GET", f"/{BUCKET}/tree/{quote(key)}")
            answer = connection.getresponse()
            sample = answer.read()
            if answer.status != 200 or not self.servers[number].set(key, sample):
                raise RuntimeError(f"{key}: status {answer.status}")
        value(sample)


def read_memcached(port: str, far: str, tree: str) -> dict[str, Any]:
    keys = keys_of(tree)
    reader = ReadThrough(port, far)
    epochs = []
    for epoch in range(2):
        random.Random(epoch).shuffle(keys)
        epochs.append([time.time(), *reader.epoch(keys)])
    return {"times": epochs[0][1:], "next": epochs[1][-1] - epochs[1][0], "fetched": reader.misses}


def read_feed(address: str) -> dict[str, Any]:
    from google_crc32c import value

    from stoker import Feed

    times: list[float] = []
    with Feed(address, batch_size=BATCH, tail="keep") as feed:
        for _ in range(2):
            for batch in feed:
                for sample in batch["image"]:
                    value(sample)
                    times.append(time.time())
    half = len(times) // 2
    return {"times": times[:half], "next": times[-1] - times[half - 1]}


# --- the measuring process --------------------------------------------------------------------------------------------


def child(*arguments: object) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, __file__, "--child", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=900,
        env=os.environ | {"STOKER_TRANSPORT": "tcp"},
    )
    if done.returncode:
        raise RuntimeError(f"{arguments}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def milestones(found: dict[str, Any], began: float, files: int) -> dict[str, Any]:
    """Returns when each share of the epoch was complete, in seconds from the start of the cache."""
    times = [t - began for t in found.pop("times")]
    if len(times) != files:
        raise RuntimeError(f"{len(times)} of {files} samples were read")
    return found | {"first": times[0], "shares": [times[round(share * files) - 1] for share in SHARES]}


def boot_memcached(origin: Origin, tree: Path, files: int, megabytes: int) -> dict[str, Any]:
    began = time.time()
    with Memcached(4 * megabytes) as server:
        return milestones(child("memcached", server.port, origin.far, tree), began, files)


def boot_feeder(dataset: str, files: int, megabytes: int) -> dict[str, Any]:
    order = ["--shuffle-window", f"{megabytes * 1_000_000 // 16} bytes", "--lanes", "4"]
    limits = ["--tier", f"memory:{2 * megabytes}m", "--origin-concurrency", str(CONNECTIONS)]
    began = time.time()
    feeder, address, _ = start_feeder(dataset, BATCH, *order, *limits, name="boot")
    try:
        return milestones(child("feed", address), began, files)
    finally:
        feeder.terminate()
        feeder.wait(60)
        feeder.stdout.close()  # type: ignore[union-attr]


def measure(size: int, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    files = min(options.most_samples, options.megabytes * 1_000_000 // size)
    megabytes = max(64, files * size // 1_000_000)
    tree = folder / "tree"
    make_tree(str(tree), files, size)
    origin = Origin(folder, options.latency_ms, options.link_mbit)
    try:
        origin.put(tree, "tree", files_of(str(tree)))
        subprocess.run(
            [ROOT / "stoker", "ingest", tree, f"s3a://{BUCKET}/packed"],
            check=True,
            env=origin.hadoop(origin.near, folder / "near"),
            capture_output=True,
        )
        os.environ.update(origin.hadoop(origin.far, folder / "far"))
        boots: dict[str, Callable[[], dict[str, Any]]] = {
            "Memcached": lambda: boot_memcached(origin, tree, files, megabytes),
            "Stoker": lambda: boot_feeder(f"s3a://{BUCKET}/packed", files, megabytes),
        }
        rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in SYSTEMS}
        for number in range(options.rounds):
            for name, boot in boots.items():
                origin.counts()
                rounds[name].append(boot() | {"requests": origin.counts()["requests"]})
            print(f"{size} bytes: round {number + 1} of {options.rounds} done", file=sys.stderr, flush=True)
    finally:
        origin.close()
    return {"size": size, "files": files, "rounds": rounds}


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}–{max(values):.2f})"


def report(results: list[dict[str, Any]]) -> None:
    for found in results:
        rounds = found["rounds"]
        print(f"\n| {found['files']:,} samples of {found['size']:,} bytes | Memcached | Stoker | ratio |")
        print("| --- | --- | --- | --- |")
        rows: dict[str, Callable[[dict[str, Any]], float]] = {
            "first sample, s": lambda r: r["first"],
            "half of the epoch, s": lambda r: r["shares"][SHARES.index(0.5)],
            "end of the epoch, cache complete, s": lambda r: r["shares"][-1],
            "the same, after the first sample, s": lambda r: r["shares"][-1] - r["first"],
            "next epoch, s": lambda r: r["next"],
            "requests to the store": lambda r: r["requests"],
        }
        for name, of in rows.items():
            theirs, ours = ([of(r) for r in rounds[system]] for system in SYSTEMS)
            if "requests" in name:
                shown = [f"{max(theirs):,.0f}", f"{max(ours):,.0f}", f"{max(theirs) / max(ours):.1f}"]
            else:
                shown = [spread(theirs), spread(ours), spread([a / b for a, b in zip(theirs, ours, strict=True)])]
            print(f"| {name} | {' | '.join(shown)} |")


def picture(results: list[dict[str, Any]], file: str) -> None:
    import pictures

    figure, axes = pictures.panels(len(results), 5 * len(results), 3.8)
    for ax, found in zip(axes[0], results, strict=True):
        for system, colour in zip(SYSTEMS, ("tab:gray", "tab:blue"), strict=True):
            for number, r in enumerate(found["rounds"][system]):
                times = [r["first"], *r["shares"]]
                ax.plot(times, [0, *(100 * s for s in SHARES)], color=colour, label=None if number else system)
        ax.set(title=f"{found['files']:,} samples of {found['size']:,} bytes", xlabel="seconds after the cache starts")
        ax.set(ylabel="read and cached, % of the samples", xlim=(0, None), ylim=(0, 102))
        ax.grid(alpha=0.3)
        ax.legend(frameon=False, fontsize=9)
    pictures.save(figure, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, nargs="+", default=SIZES, help="sizes of samples")
    parser.add_argument("--megabytes", type=int, default=256, help="of samples, for each size")
    parser.add_argument("--most-samples", type=int, default=8_000, help="less than --megabytes if samples are small")
    parser.add_argument("--latency-ms", type=int, default=20)
    parser.add_argument("--link-mbit", type=int, default=2500, help="of all connections together")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--picture", help="an SVG file for the picture; needs matplotlib")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--found", type=Path, help="what --json left of another run, instead of a new one")
    options = parser.parse_args()
    results = json.loads(options.found.read_text()) if options.found else []
    for size in () if options.found else options.bytes:
        with tempfile.TemporaryDirectory() as folder:
            results.append(measure(size, options, Path(folder)))
    report(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    if options.picture:
        picture(results, options.picture)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps({"memcached": read_memcached, "feed": read_feed}[sys.argv[2]](*sys.argv[3:])))
    else:
        main()
