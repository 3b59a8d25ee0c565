"""Writes small samples to files, to Memcached and to a dataset, and reads them shuffled.

    apt-get install memcached; python/.venv/bin/python -m pip install pylibmc matplotlib
    python/.venv/bin/python benchmarks/memcached.py [--bytes 4096 110000] [--megabytes 256] [--rounds 3]

Memcached listens on a TCP port of this machine. Its client is pylibmc (libmemcached, in C). All writers but `stoker
ingest` have the samples in memory: a file for each sample on the disk of --work, without and with a `sync` at the end,
one `set` for each sample, `set_multi` of 64, and `stoker.Writer`, which synchronizes and commits. `stoker ingest` packs
the files; its time is without the start of Flink.

Readers read all samples once, in a random order: `open` and `read` of the files; `get` and `get_multi` of 64 keys; the
path reader; a feeder over TCP, as Memcached; and a feeder with local reads. Files and chunks are in the page cache. A
reader computes a CRC-32C of each sample, so it reads each byte, and the script compares the sums of all readers. Each
reads the data twice, and the second pass counts. The CPU seconds include Memcached or the feeder.

Every row is a separate process, rounds alternate, and the table has the medians of the rounds. The ratio is to `get` or
`set` of the same round, with its range.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from feed import cpu_of, start_feeder
from make_tree import make_tree
from origin import free_port
from units import files_of, ingest

SIZES = (4096, 110_000)
BATCH = 64
GET, SET = "Memcached, get", "Memcached, set"


class Memcached:
    """A server that has room for all samples."""

    def __init__(self, megabytes: int) -> None:
        self.port = free_port()
        command = ["memcached", "-u", "root", "-U", "0", "-l", "127.0.0.1", "-p", str(self.port), "-t", "2"]
        self.process = subprocess.Popen([*command, "-m", str(megabytes), "-I", "16m"])
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                time.sleep(0.01)

    def __enter__(self) -> Memcached:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()


def client(port: str) -> Any:
    import pylibmc

    return pylibmc.Client([f"127.0.0.1:{port}"], behaviors={"tcp_nodelay": True})


def keys_of(tree: str) -> list[str]:
    return [str(file.relative_to(tree)) for file in files_of(tree)]


def batches(values: list[Any]) -> Iterator[list[Any]]:
    return (values[first : first + BATCH] for first in range(0, len(values), BATCH))


# --- runs in a separate process and prints one JSON object ------------------------------------------------------------


def write(system: str, tree: str, target: str) -> float:
    """Returns the seconds for all samples, which are in memory before."""
    from stoker import Writer

    samples = [(key, Path(tree, key).read_bytes()) for key in keys_of(tree)]
    server = client(target) if system.startswith("set") else None
    began = time.perf_counter()
    match system:
        case "files" | "files, sync":
            for folder in dict.fromkeys(os.path.dirname(key) for key, _ in samples):
                os.makedirs(f"{target}/{folder}")
            for key, content in samples:
                with open(f"{target}/{key}", "wb", buffering=0) as file:
                    file.write(content)
            if system == "files, sync":
                subprocess.run(["sync", "-f", target], check=True)
        case "set":
            for key, content in samples:
                if not server.set(key, content):
                    raise RuntimeError(f"Memcached refused {key}")
        case "set_multi":
            for some in batches(samples):
                if server.set_multi(dict(some)):
                    raise RuntimeError("Memcached refused samples")
        case "Writer":
            with Writer(target, schema={"image": "binary"}, payload=["image"]) as writer:
                for key, content in samples:
                    writer.write({"key": key, "image": content})
    return time.perf_counter() - began


def samples_of(system: str, target: str, tree: str) -> Callable[[], Iterator[Any]]:
    """Returns what reads all samples once in a random order."""
    if system == "feed":
        from stoker import Feed

        feed = Feed(target, batch_size=BATCH, tail="keep")
        return lambda: (sample for batch in feed for sample in batch["image"])
    keys = keys_of(tree)
    random.Random(1).shuffle(keys)
    if system == "files":
        return lambda: (read_file(f"{target}/{key}") for key in keys)
    server = client(target)
    if system == "get":
        return lambda: (server.get(key) for key in keys)
    return lambda: (sample for some in batches(keys) for sample in server.get_multi(some).values())


def read_file(name: str) -> bytes:
    with open(name, "rb", buffering=0) as file:
        return file.read()


def read(system: str, target: str, tree: str) -> dict[str, Any]:
    samples = samples_of(system, target, tree)
    consume(samples())
    began, cpu = time.perf_counter(), time.process_time()
    found = consume(samples())
    return {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu} | found


def consume(samples: Iterable[Any]) -> dict[str, int]:
    """Reads each byte of each sample once; the sum of the checksums does not depend on the order."""
    from google_crc32c import value

    count = total = checksum = 0
    for sample in samples:
        checksum += value(sample)
        total += len(sample)
        count += 1
    return {"samples": count, "bytes": total, "checksum": checksum}


# --- the measuring process --------------------------------------------------------------------------------------------


def child(*arguments: object, transport: str = "auto") -> Any:
    done = subprocess.run(
        [sys.executable, __file__, "--child", *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=900,
        env=os.environ | {"STOKER_TRANSPORT": transport},
    )
    if done.returncode:
        raise RuntimeError(f"{arguments}: {done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def measure_writes(server: Memcached, tree: Path, target: Path) -> dict[str, float]:
    """Returns seconds by writer, and leaves the dataset of `stoker ingest` in the target."""
    writers = {
        "files, ext4": ("files", target),
        "files, ext4, sync": ("files, sync", target),
        SET: ("set", server.port),
        "Memcached, set_multi": ("set_multi", server.port),
        "stoker.Writer": ("Writer", target),
    }
    seconds = {}
    for name, (system, where) in writers.items():
        shutil.rmtree(target, ignore_errors=True)
        seconds[name] = child("write", system, tree, where)
    shutil.rmtree(target)
    seconds["stoker ingest, of files"] = ingest(str(tree), str(target))["seconds"]
    return seconds


def measure_reads(server: Memcached, tree: Path, packed: Path) -> dict[str, dict]:
    """Returns what each reader has found."""
    feeder, address, _ = start_feeder(str(packed), BATCH, name="memcached")
    readers = {
        "files, ext4": ("files", tree, "auto", None),
        GET: ("get", server.port, "auto", server.process.pid),
        "Memcached, get_multi": ("get_multi", server.port, "auto", server.process.pid),
        "Stoker path": ("feed", packed, "auto", None),
        "Stoker feed, TCP": ("feed", address, "tcp", feeder.pid),
        "Stoker feed, local reads": ("feed", address, "local-reads", feeder.pid),
    }
    rows = {}
    try:
        for _ in range(2):  # until the feeder's code is compiled
            child("read", "feed", address, tree, transport="tcp")
        for name, (system, where, transport, serves) in readers.items():
            before = cpu_of(serves) if serves else 0.0
            rows[name] = child("read", system, where, tree, transport=transport)
            # One of the two passes counts.
            rows[name]["cpu"] += (cpu_of(serves) - before) / 2 if serves else 0.0
    finally:
        feeder.terminate()
        feeder.wait(60)
    return rows


def measure(size: int, options: argparse.Namespace, folder: Path) -> dict[str, Any]:
    files = options.megabytes * 1_000_000 // size
    tree, packed = folder / "tree", folder / "packed"
    make_tree(str(tree), files, size)
    subprocess.run(["sync", "-f", folder], check=True)
    writes: dict[str, list[float]] = {}
    reads: dict[str, list[dict]] = {}
    for number in range(options.rounds):
        with Memcached(4 * options.megabytes) as server:
            for name, seconds in measure_writes(server, tree, packed).items():
                writes.setdefault(name, []).append(seconds)
            for name, found in measure_reads(server, tree, packed).items():
                reads.setdefault(name, []).append(found)
        print(f"{size} bytes: round {number + 1} of {options.rounds} done", file=sys.stderr, flush=True)
    seen = {(r["samples"], r["bytes"], r["checksum"]) for rounds in reads.values() for r in rounds}
    if len(seen) != 1 or next(iter(seen))[0] != files:
        sys.exit(f"the readers disagree about the samples: {seen}")
    return {"size": size, "files": files, "write": writes, "read": reads}


def ratios(ours: list[float], theirs: list[float]) -> str:
    found = [b / a for a, b in zip(ours, theirs, strict=True)]
    if ours == theirs:
        return "1"
    return f"{statistics.median(found):.2f} ({min(found):.2f}–{max(found):.2f})"


def report(results: list[dict[str, Any]]) -> None:
    for found in results:
        files, megabytes = found["files"], found["files"] * found["size"] / 1e6
        print(f"\n| write, {files:,} of {found['size']:,} bytes | samples/s | MB/s | of `set` |")
        print("| --- | --- | --- | --- |")
        for name, seconds in found["write"].items():
            s = statistics.median(seconds)
            print(f"| {name} | {files / s:,.0f} | {megabytes / s:,.0f} | {ratios(seconds, found['write'][SET])} |")
        print(f"\n| read, {files:,} of {found['size']:,} bytes | samples/s | MB/s | of `get` | CPU s/GB |")
        print("| --- | --- | --- | --- | --- |")
        base = [r["seconds"] for r in found["read"][GET]]
        for name, rounds in found["read"].items():
            seconds = [r["seconds"] for r in rounds]
            s, cpu = statistics.median(seconds), statistics.median(r["cpu"] for r in rounds) / megabytes * 1e3
            print(f"| {name} | {files / s:,.0f} | {megabytes / s:,.0f} | {ratios(seconds, base)} | {cpu:.2f} |")


def picture(results: list[dict[str, Any]], file: str) -> None:
    import pictures

    figure, axes = pictures.panels(2, 11, 2.6 * len(results), len(results))
    for row, found in zip(axes, results, strict=True):
        size, megabytes = found["size"], found["files"] * found["size"] / 1e6
        speeds = {n: megabytes / statistics.median(s) for n, s in found["write"].items()}
        pictures.bars(row[0], f"writing samples of {size:,} bytes, MB/s", speeds)
        speeds = {n: megabytes / statistics.median(r["seconds"] for r in rs) for n, rs in found["read"].items()}
        pictures.bars(row[1], "reading them shuffled, MB/s", speeds)
    pictures.save(figure, file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=int, nargs="+", default=SIZES, help="sizes of samples")
    parser.add_argument("--megabytes", type=int, default=256, help="of samples, for each size")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path, help="a directory of the disk that is measured")
    parser.add_argument("--picture", help="an SVG file for the picture; needs matplotlib")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--found", type=Path, help="what --json left of another run, instead of a new one")
    options = parser.parse_args()
    results = json.loads(options.found.read_text()) if options.found else []
    for size in () if options.found else options.bytes:
        with tempfile.TemporaryDirectory(dir=options.work) as folder:
            results.append(measure(size, options, Path(folder)))
    report(results)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    if options.picture:
        picture(results, options.picture)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps({"write": write, "read": read}[sys.argv[2]](*sys.argv[3:])))
    else:
        main()
