"""Measures the feed from an S3 server that is far away, against plain downloads and other loaders, in one run.

    ./mvnw -q -Dfast -DskipTests package     # the command line, the S3 server and the proxy in front of it
    python3 -m venv PEERS && PEERS/bin/pip install mosaicml-streaming litdata torch boto3 ./python
    PEERS/bin/python benchmarks/stores.py [--files 5000] [--bytes 110000] [--latency-ms 20] [--concurrency 16]

A real S3 server (s3proxy over a directory) stands behind a proxy that lets every request wait and counts requests and
bytes. A tree of equal files is packed by `stoker ingest` straight into the bucket, and by the others' own writers,
whose shards are copied there; some files lie there as objects of their own too. Rows:

- *plain download*: curl fetches the same chunk files, as many at a time as the feeder may (`--origin-concurrency`):
  the ceiling of a cold epoch.
- *feed*: a feeder with nothing cached and a memory tier for all of it; epoch 1 from the first request of the trainer to
  its last sample, then epochs 2 and 3.
- *local feed*: epoch 2 and 3 of a feeder whose dataset lies on this machine's disk, in the page cache.
- *objects*: curl fetches files one by one as objects, keys known, as many at a time.
- *mosaicml*, *litdata*: epochs 1 and 2 with an empty cache directory, the better of 0 and 2 DataLoader workers.

Every row runs in processes of its own; rounds alternate, the best counts. Requests and bytes are those of epoch 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import peers
from feed import LIB, ROOT, start_feeder
from make_tree import make_tree

BUCKET = "bench"
KEYS = {"AWS_ACCESS_KEY_ID": "local-identity", "AWS_SECRET_ACCESS_KEY": "local-credential", "AWS_REGION": "us-east-1"}


class Origin:
    """An S3 server and, in front of it, a proxy that delays and counts."""

    def __init__(self, folder: Path, latency_ms: int) -> None:
        jars = Path.home().glob(".m2/repository/org/gaul/s3proxy/*/s3proxy-*-jar-with-dependencies.jar")
        store = folder / "bucket"
        (store / BUCKET).mkdir(parents=True)
        port = free_port()
        settings = folder / "s3proxy.conf"
        settings.write_text(
            f"s3proxy.authorization=none\ns3proxy.endpoint=http://127.0.0.1:{port}\n"
            f"jclouds.provider=filesystem-nio2\njclouds.filesystem.basedir={store}\n"
            "jclouds.identity=local-identity\njclouds.credential=local-credential\n"
        )
        self.near = f"http://127.0.0.1:{port}"
        self.server = subprocess.Popen(
            ["java", "-Xmx512m", "-jar", str(max(jars)), "--properties", str(settings)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while subprocess.run(["curl", "-sf", "-o", "/dev/null", self.near + "/"]).returncode:
            time.sleep(0.1)
        path = f"{LIB}/*:{ROOT}/storage/target/test-classes"
        self.proxy = subprocess.Popen(
            [
                *["java", "-Xmx512m", "-cp", path, "dev.stoker.storage.hadoop.FaultProxyCommand"],
                *["--to", f"127.0.0.1:{port}", "--latency-ms", str(latency_ms)],
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self.proxy.stdout is not None
        self.far = self.proxy.stdout.readline().strip().rstrip("/")
        self.environment = os.environ | KEYS | {"AWS_DEFAULT_REGION": "us-east-1", "S3_ENDPOINT_URL": self.far}

    def hadoop(self, endpoint: str, folder: Path) -> dict[str, str]:
        """Returns an environment in which s3a: leads to this server."""
        folder.mkdir(exist_ok=True)
        values = {
            "fs.s3a.endpoint": endpoint,
            "fs.s3a.access.key": KEYS["AWS_ACCESS_KEY_ID"],
            "fs.s3a.secret.key": KEYS["AWS_SECRET_ACCESS_KEY"],
        }
        rows = "".join(f"<property><name>{n}</name><value>{v}</value></property>" for n, v in values.items())
        (folder / "core-site.xml").write_text(f"<configuration>{rows}</configuration>")
        return os.environ | {"HADOOP_CONF_DIR": str(folder)}

    def counts(self) -> dict[str, int]:
        """Returns requests and bytes since the last call."""
        assert self.proxy.stdin is not None
        assert self.proxy.stdout is not None
        self.proxy.stdin.write("reset\n")
        self.proxy.stdin.flush()
        return json.loads(self.proxy.stdout.readline())

    def close(self) -> None:
        self.proxy.kill()
        self.server.kill()


def free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


def upload(origin: Origin, folder: Path, prefix: str, files: list[Path]) -> None:
    import boto3

    client = boto3.client(
        "s3",
        endpoint_url=origin.near,
        region_name="us-east-1",
        aws_access_key_id=KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=KEYS["AWS_SECRET_ACCESS_KEY"],
    )
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda f: client.upload_file(str(f), BUCKET, f"{prefix}/{f.relative_to(folder)}"), files))


def files_below(folder: Path) -> list[Path]:
    return sorted(f for f in folder.rglob("*") if f.is_file())


# --- rows: each returns seconds of epochs, bytes of samples in an epoch, and samples ----------------------------------


def download(origin: Origin, keys: list[str], concurrency: int, folder: Path) -> float:
    """Fetches objects with curl and returns the seconds."""
    lines = "".join(f'url = "{origin.far}/{BUCKET}/{key}"\noutput = "/dev/null"\n' for key in keys)
    listed = folder / "urls"
    listed.write_text(lines)
    began = time.perf_counter()
    subprocess.run(["curl", "-sf", "-Z", "--parallel-max", str(concurrency), "-K", str(listed)], check=True)
    return time.perf_counter() - began


def epochs_of_feed(target: str) -> dict:
    """Reads three epochs; says when the first is over and waits until that is noted."""
    from stoker import Feed

    seconds = []
    with Feed(target, batch_size=peers.BATCH) as feed:
        for epoch in range(3):
            if epoch == 1:
                print("first epoch", flush=True)
                sys.stdin.readline()
            began, samples, total = time.perf_counter(), 0, 0
            for batch in feed:
                for sample in batch["image"]:
                    samples += 1
                    total += sample.nbytes
            seconds.append(time.perf_counter() - began)
    return {"seconds": seconds, "samples": samples, "bytes": total}


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
    seconds = []
    for _ in range(2):
        began, samples, total = time.perf_counter(), 0, 0
        for batch in DataLoader(dataset, peers.BATCH, num_workers=workers, collate_fn=peers.identity):
            for sample in batch:
                samples += 1
                total += len(sample["image"])
        seconds.append(time.perf_counter() - began)
    return {"seconds": seconds, "samples": samples, "bytes": total}


# --- the measuring process -------------------------------------------------------------------------------------------


def child(*arguments: str, environment: dict[str, str]) -> dict:
    done = subprocess.run(
        [sys.executable, __file__, "--child", *arguments], capture_output=True, text=True, env=environment, timeout=1800
    )
    if done.returncode:
        raise RuntimeError(f"{arguments[0]}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def feed(dataset: str, origin: Origin, *options: str) -> dict:
    process, address, _ = start_feeder(dataset, peers.BATCH, *options)
    try:
        origin.counts()
        command = [sys.executable, __file__, "--child", "feed", address]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as trainer:
            assert trainer.stdin is not None
            assert trainer.stdout is not None
            trainer.stdout.readline()
            counted = origin.counts()
            result = json.loads(trainer.communicate("\n")[0])
        return result | {"counts": counted, "later": origin.counts()}
    finally:
        process.terminate()
        process.wait(60)


def measure(options: argparse.Namespace, folder: Path) -> dict:
    origin = Origin(folder, options.latency_ms)
    try:
        tree = folder / "tree"
        make_tree(tree, options.files, options.bytes)
        near = origin.hadoop(origin.near, folder / "near")
        os.environ.update(origin.hadoop(origin.far, folder / "far"))
        label = ["--label-from", "parent-dir"]
        for target in (f"s3a://{BUCKET}/stoker", str(folder / "local")):
            subprocess.run([ROOT / "stoker", "ingest", tree, target, *label], check=True, env=near, capture_output=True)
        chunks = [
            str(f.relative_to(folder / "bucket" / BUCKET))
            for f in (folder / "bucket" / BUCKET / "stoker" / "chunks").rglob("*.arrow")
        ]
        objects = files_below(tree)[: options.objects]
        upload(origin, tree, "objects", objects)
        names = [n for n in ("mosaicml", "litdata") if n in options.peers.split(",")]
        for name in names:
            code = f"import peers; peers.pack_{name}({str(tree)!r}, {str(folder / name)!r})"
            subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT / "benchmarks", capture_output=True)
            upload(origin, folder / name, name, files_below(folder / name))
        results: dict[str, list[dict]] = {}
        for number in range(options.rounds):
            seconds = download(origin, chunks, options.concurrency, folder)
            results.setdefault("plain download", []).append({"seconds": [seconds], "counts": origin.counts()})
            limits = ["--tier", f"memory:{max(64, 2 * options.files * options.bytes >> 20)}m"]
            limits += ["--origin-concurrency", str(options.concurrency)]
            results.setdefault("feed", []).append(feed(f"s3a://{BUCKET}/stoker", origin, *limits))
            results.setdefault("local feed", []).append(feed(str(folder / "local"), origin))
            results["local feed"][-1].pop("counts")
            keys = [f"objects/{f.relative_to(tree)}" for f in objects]
            seconds = download(origin, keys, options.concurrency, folder) * options.files / len(objects)
            results.setdefault("objects", []).append({"seconds": [seconds], "counts": origin.counts()})
            for name in names:
                rounds = []
                for workers in ("0", "2"):
                    cache = folder / f"cache-{name}-{workers}"
                    shutil.rmtree(cache, ignore_errors=True)
                    subprocess.run("rm -rf /dev/shm/0000*", shell=True, check=True)
                    origin.counts()
                    try:
                        rounds.append(child(name, workers, str(cache), origin.far, environment=origin.environment))
                    except RuntimeError as e:
                        print(f"{name} with {workers} workers failed: {str(e).strip().splitlines()[-1]}", flush=True)
                        continue
                    rounds[-1]["counts"] = origin.counts()
                if rounds:
                    results.setdefault(name, []).append(min(rounds, key=lambda r: sum(r["seconds"])))
            print(f"round {number + 1} of {options.rounds} done", file=sys.stderr, flush=True)
        return results
    finally:
        origin.close()


def report(results: dict[str, list[dict]], files: int, size: int) -> None:
    best = {
        name: [min(r["seconds"][i] for r in rounds) for i in range(len(rounds[0]["seconds"]))]
        for name, rounds in results.items()
    }
    plain, first = best["plain download"][0], best["feed"][0]
    print(f"{files:,} samples of {size:,} bytes")
    print(f"{'row':<16}{'epoch 1 s':>10}{'samples/s':>11}{'epoch 2 s':>10}{'samples/s':>11}{'requests':>10}{'MB':>9}")
    for name, seconds in best.items():
        second = f"{seconds[1]:>10.2f}{files / seconds[1]:>11,.0f}" if len(seconds) > 1 else " " * 21
        counted = results[name][0].get("counts")
        moved = f"{counted['requests']:>10,}{counted['bytes'] / 1e6:>9,.1f}" if counted else ""
        print(f"{name:<16}{seconds[0]:>10.2f}{files / seconds[0]:>11,.0f}{second}{moved}")
    print(f"cold epoch / plain download: {plain / first:.2f}")
    print(f"cold epoch / objects one by one: {best['objects'][0] / first:.1f}")
    for name in ("mosaicml", "litdata"):
        if name in best:
            print(
                f"cold epoch / {name}: {best[name][0] / first:.1f}, second epoch {best[name][1] / best['feed'][1]:.1f}"
            )
    later = min(best["feed"][1:]) / min(best["local feed"][1:])
    print(f"later epochs, cached / local feed: {1 / later:.2f}")
    print(f"origin requests of epochs 2 and 3: {results['feed'][0]['later']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--bytes", type=int, default=110_000)
    parser.add_argument("--objects", type=int, default=2000, help="files that are fetched one by one")
    parser.add_argument("--latency-ms", type=int, default=20)
    parser.add_argument("--concurrency", type=int, default=16)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peers", default="mosaicml,litdata", help="none leaves them out")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        results = measure(options, Path(folder))
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    report(results, options.files, options.bytes)
    return 0


def run_child(arguments: list[str]) -> dict:
    match arguments:
        case ["feed", target]:
            return epochs_of_feed(target)
        case [name, workers, cache, far]:
            return epochs_of_peer(name, int(workers), cache, far)
    raise ValueError(f"unknown measurement {arguments}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(run_child(sys.argv[2:])))
        sys.exit(0)
    sys.exit(main())
