"""Compares the feed from a remote S3 server with plain downloads and other loaders, in one run.

    ./mvnw -q -Dfast -DskipTests package && python/env     # the command line, the S3 server, the proxy in front of it
    python/.venv/bin/python benchmarks/stores.py [--bytes 110000 4096] [--gb 1.1] [--rounds 2] [--link-mbit 2500]
    PEERS/bin/pip install mosaicml-streaming litdata torch ./python
    PEERS/bin/python benchmarks/stores.py --peers mosaicml,litdata

A real S3 server (s3proxy over a directory) runs behind a proxy that delays every request (`--latency-ms`), counts
requests and bytes, and can limit the bandwidth (`--link-mbit`, all connections together). `stoker ingest` packs a tree
of equal files directly into the bucket. The other systems' writers pack it too, and their shards are uploaded. Some
files are also uploaded as separate objects. Rows, for each sample size:

- *plain download*: curl fetches the same chunk files, as many at a time as the feeder may (`--origin-concurrency`):
  the ceiling of a cold epoch.
- *feed, new JVM*: a feeder that has just been started, with nothing cached and a memory tier for all of it; epoch 1
  from the first request of the trainer to its last sample, then epochs 2 and 3.
- *feed, warm JVM*: the same with a feeder that has served another stream of the same server before, so that what it
  runs is compiled; of this stream nothing is cached.
- *local feed*: epochs 1 to 3 of a feeder whose dataset lies on this machine's disk, in the page cache.
- *objects*: curl fetches files one by one as objects, keys known, as many at a time.
- *mosaicml*, *litdata*: epochs 1 and 2 with an empty cache directory, the better of 0 and 2 DataLoader workers.

Feeds shuffle within windows of a sixteenth of the samples, in four lanes, since a dataset is larger than its window.
With a feed's defaults, `--shuffle-window 1gb --lanes 16`, 1.1 GB are one window, so that the first batches wait for
all of it.

Every row runs in separate processes; rounds alternate, and the best counts. Requests and bytes are counted in epoch 1.
The CPU seconds (user and system) per GB are also measured in epoch 1: for the server with its proxy, for the feeder,
and for the reader of the samples. Store, feeder and trainer share this machine, so on a few cores their sum limits an
epoch. The feeder's CPU seconds are also reported by thread.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import peers
from feed import ROOT, TICKS, cpu_of, start_feeder
from make_tree import make_tree
from origin import BUCKET, KEYS, Origin


def threads_of(pid: int) -> dict[str, float]:
    """Returns the CPU seconds of a process's living threads, by their names without numbers."""
    used: dict[str, float] = {}
    for stat in Path(f"/proc/{pid}/task").glob("*/stat"):
        try:
            name, rest = stat.read_text().split("(", 1)[1].rsplit(")", 1)
        except OSError:  # it has ended
            continue
        fields = rest.split()
        name = re.sub(r"[-#\s]*\d+$", "", name)
        used[name] = used.get(name, 0.0) + (int(fields[11]) + int(fields[12])) / TICKS
    return used


def files_below(folder: Path) -> list[Path]:
    return sorted(f for f in folder.rglob("*") if f.is_file())


# --- rows: each returns seconds of epochs, bytes of samples in an epoch, and samples ----------------------------------


def download(origin: Origin, keys: list[str], concurrency: int, folder: Path) -> dict:
    """Fetches objects with curl."""
    lines = "".join(f'url = "{origin.far}/{BUCKET}/{key}"\noutput = "/dev/null"\n' for key in keys)
    listed = folder / "urls"
    listed.write_text(lines)
    command = ["curl", "-sf", "--no-progress-meter", "-Z", "--parallel-max", str(concurrency), "-K", str(listed)]
    before, cpu, began = own_cpu(resource.RUSAGE_CHILDREN), origin.cpu(), time.perf_counter()
    subprocess.run(command, check=True)
    seconds = time.perf_counter() - began
    used = {"store": origin.cpu() - cpu, "reader": own_cpu(resource.RUSAGE_CHILDREN) - before}
    return {"seconds": [seconds], "cpu": used, "counts": origin.counts()}


def own_cpu(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def read_epoch(feed: object) -> tuple[float, float, int]:
    """Returns seconds, CPU seconds and samples."""
    began, cpu, samples = time.perf_counter(), own_cpu(), 0
    for batch in feed:  # type: ignore[attr-defined]
        for sample in batch["image"]:
            samples += len(sample) > 0
    return time.perf_counter() - began, own_cpu() - cpu, samples


def epochs_of_feed(target: str, warm_up: int) -> dict:
    """Reads epochs of another stream, and then three; says before and after the first of them, and waits."""
    from stoker import Feed

    if warm_up:
        with Feed(target, batch_size=peers.BATCH, stream="other") as feed:
            for _ in range(warm_up):
                read_epoch(feed)
    seconds, first = [], 0.0
    with Feed(target, batch_size=peers.BATCH, stream="main") as feed:
        for epoch in range(3):
            if epoch < 2:
                print(epoch, flush=True)
                sys.stdin.readline()
            took, cpu, samples = read_epoch(feed)
            seconds.append(took)
            first = first or cpu
    return {"seconds": seconds, "samples": samples, "reader": first}


def epochs_of_peer(name: str, workers: int, cache: str, far: str) -> dict:
    from torch.utils.data import DataLoader

    if name == "mosaicml":
        from streaming import StreamingDataset

        dataset = StreamingDataset(
            remote=f"s3://{BUCKET}/mosaicml", local=cache, shuffle=True, batch_size=peers.BATCH, shuffle_seed=1
        )
    else:
        import litdata
        from litdata.streaming import downloader

        # Its reader speaks TLS alone unless told otherwise, and has no option for that.
        downloader._OBSTORE_CLIENT_OPTIONS["allow_http"] = True
        options = {"endpoint_url": far} | {k.lower(): v for k, v in KEYS.items() if k != "AWS_REGION"}
        dataset = litdata.StreamingDataset(
            f"s3://{BUCKET}/litdata",
            cache_dir=cache,
            shuffle=True,
            max_cache_size="100GB",
            storage_options=options | {"region_name": "us-east-1"},
        )
    seconds, first = [], 0.0
    for _ in range(2):
        began, cpu, samples = time.perf_counter(), own_cpu() + own_cpu(resource.RUSAGE_CHILDREN), 0
        for batch in DataLoader(dataset, peers.BATCH, num_workers=workers, collate_fn=peers.identity):
            for sample in batch:
                samples += len(sample["image"]) > 0
        seconds.append(time.perf_counter() - began)
        first = first or own_cpu() + own_cpu(resource.RUSAGE_CHILDREN) - cpu
    return {"seconds": seconds, "samples": samples, "cpu": {"reader": first}}


# --- the measuring process -------------------------------------------------------------------------------------------


def child(*arguments: str, environment: dict[str, str]) -> dict:
    done = subprocess.run(
        [sys.executable, __file__, "--child", *arguments], capture_output=True, text=True, env=environment, timeout=1800
    )
    if done.returncode:
        raise RuntimeError(f"{arguments[0]}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def feed(streams: list[str], origin: Origin, *options: str, warm_up: int = 0) -> dict:
    process, address, _ = start_feeder(streams[0], peers.BATCH, *streams[1:], *options)
    try:
        command = [sys.executable, __file__, "--child", "feed", address, str(warm_up)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as trainer:
            assert trainer.stdin is not None
            assert trainer.stdout is not None
            trainer.stdout.readline()
            origin.counts()
            feeder, store, threads = cpu_of(process.pid), origin.cpu(), threads_of(process.pid)
            trainer.stdin.write("\n")
            trainer.stdin.flush()
            trainer.stdout.readline()
            used = {"store": origin.cpu() - store, "feeder": cpu_of(process.pid) - feeder}
            after = threads_of(process.pid)
            counted = origin.counts()
            result = json.loads(trainer.communicate("\n")[0])
        used["reader"] = result.pop("reader")
        spent = {name: cpu - threads.get(name, 0.0) for name, cpu in after.items()}
        return result | {"cpu": used, "threads": spent, "counts": counted, "later": origin.counts()}
    finally:
        process.terminate()
        process.wait(60)
        process.stdout.close()


def peer(name: str, origin: Origin, folder: Path) -> dict | None:
    """The better of 0 and 2 workers; None if neither works."""
    rounds = []
    for workers in ("0", "2"):
        cache = folder / f"cache-{name}-{workers}"
        shutil.rmtree(cache, ignore_errors=True)
        # Where MosaicML Streaming keeps what it remembers of a data set.
        subprocess.run("rm -rf /dev/shm/0000*", shell=True, check=True)
        origin.counts()
        try:
            rounds.append(child(name, workers, str(cache), origin.far, environment=origin.environment))
        except RuntimeError as e:
            print(f"{name} with {workers} workers failed: {str(e).strip().splitlines()[-1]}", flush=True)
            continue
        rounds[-1]["counts"] = origin.counts()
    return min(rounds, key=lambda r: sum(r["seconds"])) if rounds else None


class Bench:
    """One size of samples: its data, and the rows."""

    def __init__(self, options: argparse.Namespace, folder: Path, origin: Origin, size: int) -> None:
        self.options, self.folder, self.origin, self.size = options, folder, origin, size
        self.files = max(1, int(options.gb * 1e9 / size))
        self.where = f"stoker-{size}"
        tree, self.local = folder / "tree", folder / "local"
        make_tree(str(tree), self.files, size)
        self._ingest(tree, self.where)
        # The same files, on this machine.
        shutil.copytree(origin.bucket / self.where, self.local)
        other = folder / "other"
        make_tree(str(other), min(self.files, max(1, int(0.3e9 / size))), size)
        self._ingest(other, f"other-{size}")
        self.chunks = [str(f.relative_to(origin.bucket)) for f in (origin.bucket / self.where).rglob("*.arrow")]
        self.chunks = [key for key in self.chunks if "/chunks/" in key]
        objects = files_below(tree)[: options.objects]
        origin.put(tree, f"objects-{size}", objects)
        self.objects = [f"objects-{size}/{f.relative_to(tree)}" for f in objects]
        self.peers = [n for n in ("mosaicml", "litdata") if n in options.peers.split(",")]
        for name in self.peers:
            code = f"import peers; peers.pack_{name}({str(tree)!r}, {str(folder / name)!r})"
            subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT / "benchmarks", capture_output=True)
            origin.put(folder / name, name, files_below(folder / name))

    def _ingest(self, tree: Path, name: str) -> None:
        near = self.origin.hadoop(self.origin.near, self.folder / "near")
        command = [ROOT / "stoker", "ingest", tree, f"s3a://{BUCKET}/{name}", "--label-from", "parent-dir"]
        subprocess.run(command, check=True, env=near, capture_output=True)

    def rows(self) -> dict[str, Callable[[], dict | None]]:
        o, origin = self.options, self.origin
        window = o.shuffle_window << 20 or int(o.gb * 1e9 / 16)
        order = ["--shuffle-window", f"{window} bytes", "--lanes", str(o.lanes)]
        far, other = f"main=s3a://{BUCKET}/{self.where}", f"other=s3a://{BUCKET}/other-{self.size}"
        room = max(64, int(2 * (o.gb * 1e9 + 0.3e9)) >> 20)
        limits = ["--tier", f"memory:{room}m", "--origin-concurrency", str(o.concurrency), *order]
        rows: dict[str, Callable[[], dict | None]] = {
            "plain download": lambda: download(origin, self.chunks, o.concurrency, self.folder),
            "feed, new JVM": lambda: feed([far], origin, *limits),
            "feed, warm JVM": lambda: feed([far, other], origin, *limits, warm_up=o.warm_up),
            "local feed": lambda: feed([f"main={self.local}"], origin, *order),
            "objects": self._one_by_one,
        }
        return rows | {name: lambda name=name: peer(name, origin, self.folder) for name in self.peers}

    def _one_by_one(self) -> dict:
        found = download(self.origin, self.objects, self.options.concurrency, self.folder)
        share = self.files / len(self.objects)
        return found | {
            "seconds": [s * share for s in found["seconds"]],
            "cpu": {who: cpu * share for who, cpu in found["cpu"].items()},
        }

    def measure(self) -> dict[str, list[dict]]:
        results: dict[str, list[dict]] = {}
        for number in range(self.options.rounds):
            for name, row in self.rows().items():
                if not self.options.rows or name in self.options.rows.split(";"):
                    found = row()
                    if found:
                        results.setdefault(name, []).append(found)
            print(f"{self.size} bytes: round {number + 1} of {self.options.rounds} done", file=sys.stderr, flush=True)
        return results


def report(results: dict[str, list[dict]], files: int, size: int) -> None:
    best = {
        name: [min(r["seconds"][i] for r in rounds) for i in range(len(rounds[0]["seconds"]))]
        for name, rounds in results.items()
    }
    gb = files * size / 1e9
    print(f"\n{files:,} samples of {size:,} bytes")
    print(
        f"{'row':<16}{'epoch 1 s':>10}{'samples/s':>11}{'later s':>9}{'samples/s':>11}{'requests':>10}{'MB':>9}"
        "   CPU s/GB of epoch 1"
    )
    for name, seconds in best.items():
        second = f"{min(seconds[1:]):>9.2f}{files / min(seconds[1:]):>11,.0f}" if len(seconds) > 1 else " " * 20
        counted = results[name][0].get("counts") or {"requests": 0, "bytes": 0}
        moved = f"{counted['requests']:>10,}{counted['bytes'] / 1e6:>9,.1f}"
        whose = results[name][0]["cpu"]
        cpu = ", ".join(f"{who} {min(r['cpu'][who] for r in results[name]) / gb:.2f}" for who in whose)
        print(f"{name:<16}{seconds[0]:>10.2f}{files / seconds[0]:>11,.0f}{second}{moved}   {cpu}")
    for name in ("feed, new JVM", "feed, warm JVM"):
        if name not in best:
            continue
        for other in ("plain download", "objects", "mosaicml", "litdata"):
            if other in best:
                print(f"first epoch of {name} / {other}: {best[other][0] / best[name][0]:.2f}")
        for other in ("mosaicml", "litdata"):
            if other in best:
                print(f"later epochs of {name} / {other}: {best[other][1] / min(best[name][1:]):.2f}")
        if "local feed" in best:
            print(f"later epochs of {name} / local feed: {min(best['local feed'][1:]) / min(best[name][1:]):.2f}")
        threads = min(results[name], key=lambda r: r["cpu"]["feeder"])["threads"]
        most = sorted(threads.items(), key=lambda t: -t[1])
        shares = ", ".join(f"{who} {cpu / gb:.2f}" for who, cpu in most if cpu / gb >= 0.01)
        print(f"CPU s/GB of its feeder's epoch 1, by threads: {shares}")
        print(f"origin requests of its epochs 2 and 3: {results[name][0]['later']['requests']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, nargs="+", default=[110_000, 4096], help="sizes of samples")
    parser.add_argument("--gb", type=float, default=1.1, help="of samples, for each size")
    parser.add_argument("--objects", type=int, default=2000, help="files that are fetched one by one")
    parser.add_argument("--latency-ms", type=int, default=20)
    parser.add_argument("--link-mbit", type=int, default=0, help="of all connections together; 0 for no limit")
    parser.add_argument("--shuffle-window", type=int, default=0, help="MiB; 0 for a sixteenth of the samples")
    parser.add_argument("--lanes", type=int, default=4)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--warm-up", type=int, default=4, help="epochs of another stream before, for a warm JVM")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--rows", default="", help="these only, separated by ;")
    parser.add_argument("--peers", default="", help="loaders to compare with, if installed: mosaicml,litdata")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    kept = {}
    for size in options.bytes:
        with tempfile.TemporaryDirectory() as folder:
            origin = Origin(Path(folder), options.latency_ms, options.link_mbit)
            try:
                os.environ.update(origin.hadoop(origin.far, Path(folder) / "far"))
                bench = Bench(options, Path(folder), origin, size)
                kept[size] = bench.measure()
            finally:
                origin.close()
        report(kept[size], bench.files, size)
    if options.json:
        options.json.write_text(json.dumps(kept, indent=1))
    return 0


def run_child(arguments: list[str]) -> dict:
    match arguments:
        case ["feed", target, warm_up]:
            return epochs_of_feed(target, int(warm_up))
        case [name, workers, cache, far]:
            return epochs_of_peer(name, int(workers), cache, far)
    raise ValueError(f"unknown measurement {arguments}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(run_child(sys.argv[2:])))
        sys.exit(0)
    sys.exit(main())
