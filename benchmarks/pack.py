"""Measures how fast samples are packed: stoker's Writer, and the writers of other systems where they are installed.

    python/.venv/bin/python benchmarks/pack.py [--samples 20000] [--size 110000] [--rounds 3] [--work DIRECTORY]

Every system gets the same samples, random bytes of `--size` under a class name, from memory (a pool of 64, so that
making them costs nothing), each through its per-sample call; `write_batch` gets them as Arrow tables of 64 rows. Each
runs in a separate process with its default settings, without compression, in chunks or shards of 8 MiB. Rounds
alternate, and the best counts. Measured from the first sample until the data set is complete. Only Stoker's files are
forced to disk by then; a `sync` of the file system is added to every system for the last column. `plain` writes the
same bytes with one call per 8 MiB. A `--work` below /dev/shm leaves the disk out of it.
"""

from __future__ import annotations

import argparse
import functools
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

CHUNK = 8 << 20
CLASSES = [f"class-{n}" for n in range(10)]


def samples(count: int, size: int) -> Iterator[tuple[str, bytes, str]]:
    pool = [os.urandom(size) for _ in range(64)]
    for n in range(count):
        yield f"{n:09d}", pool[n % 64], CLASSES[n % 10]


def plain(out: Path, count: int, size: int) -> None:
    out.mkdir(parents=True)
    part = os.urandom(size) * max(1, CHUNK // size)
    left = count * size
    with open(out / "bytes", "wb", buffering=0) as file:
        while left > 0:
            left -= file.write(part[:left])


def stoker_write(out: Path, count: int, size: int) -> None:
    from stoker import Writer

    with Writer(out, schema={"label": "categorical", "data": "binary"}, payload=["data"], shuffle=False) as w:
        for key, data, label in samples(count, size):
            w.write({"key": key, "data": data, "label": label})


def stoker_batch(out: Path, count: int, size: int) -> None:
    import pyarrow as pa

    from stoker import Writer

    with Writer(out, schema={"label": "categorical", "data": "binary"}, payload=["data"], shuffle=False) as w:
        rows = 64
        pool = pa.array([os.urandom(size) for _ in range(rows)], pa.binary())
        labels = pa.array([CLASSES[n % 10] for n in range(rows)])
        for start in range(0, count, rows):
            end = min(count, start + rows)
            keys = pa.array([f"{n:09d}" for n in range(start, end)])
            n = end - start
            w.write_batch(pa.table({"key": keys, "label": labels.slice(0, n), "data": pool.slice(0, n)}))


def webdataset(out: Path, count: int, size: int) -> None:
    import webdataset as wds

    out.mkdir(parents=True)
    with wds.ShardWriter(str(out / "%06d.tar"), maxsize=CHUNK, maxcount=10**9, verbose=0) as w:
        for key, data, label in samples(count, size):
            w.write({"__key__": key, "bin": data, "txt": label})


def tar(out: Path, count: int, size: int) -> None:
    """WebDataset's format from the standard library, as many projects write it."""
    import io

    out.mkdir(parents=True)
    archive, shard = None, 0
    for key, data, label in samples(count, size):
        if archive is None or archive.offset > CHUNK:
            if archive is not None:
                archive.close()
            archive = tarfile.open(out / f"{shard:06d}.tar", "w")  # noqa: SIM115
            shard += 1
        for name, content in ((f"{key}.bin", data), (f"{key}.txt", label.encode())):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    if archive is not None:
        archive.close()


def streaming(out: Path, count: int, size: int) -> None:
    from streaming import MDSWriter

    with MDSWriter(out=str(out), columns={"key": "str", "data": "bytes", "label": "str"}, size_limit=CHUNK) as w:
        for key, data, label in samples(count, size):
            w.write({"key": key, "data": data, "label": label})


@functools.cache
def pool_of(size: int) -> list[bytes]:
    return [os.urandom(size) for _ in range(64)]


def sample_of(size: int, n: int) -> dict:
    return {"key": f"{n:09d}", "data": pool_of(size)[n % 64], "label": CLASSES[n % 10]}


def litdata(out: Path, count: int, size: int) -> None:
    """Its workers are processes that import everything again; this time is included."""
    import litdata as ld

    ld.optimize(
        fn=functools.partial(sample_of, size),
        inputs=list(range(count)),
        output_dir=str(out),
        chunk_bytes=CHUNK,
        num_workers=os.cpu_count(),
    )


SYSTEMS: dict[str, tuple[str, Callable[[Path, int, int], None]]] = {
    "plain": ("os", plain),
    "stoker": ("stoker", stoker_write),
    "stoker write_batch": ("stoker", stoker_batch),
    "tarfile": ("tarfile", tar),
    "webdataset": ("webdataset", webdataset),
    "mosaicml-streaming": ("streaming", streaming),
    "litdata": ("litdata", litdata),
}


def child(system: str, out: Path, count: int, size: int) -> dict:
    """Runs one system here; the imports are not counted."""
    module, pack = SYSTEMS[system]
    imported = importlib.import_module(module)
    if module == "stoker":
        imported.Writer  # noqa: B018 - which the package imports when it is first used
    began, cpu = time.perf_counter(), time.process_time()
    pack(out, count, size)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    os.sync()
    return {"seconds": seconds, "cpu": cpu, "synced": time.perf_counter() - began}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=10_000)
    parser.add_argument("--size", type=int, default=110_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir(), "stoker-benchmark", "pack"))
    parser.add_argument("--only", help="systems, separated by commas")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(child(options.child, options.work, options.samples, options.size)))
        return
    names = options.only.split(",") if options.only else list(SYSTEMS)
    absent = [name for name in names if importlib.util.find_spec(SYSTEMS[name][0]) is None]
    best: dict[str, dict] = {}
    for _ in range(options.rounds):
        for name in (n for n in names if n not in absent):
            shutil.rmtree(options.work, ignore_errors=True)
            options.work.parent.mkdir(parents=True, exist_ok=True)
            os.sync()
            sizes = ["--samples", str(options.samples), "--size", str(options.size), "--work", str(options.work)]
            done = subprocess.run(
                [sys.executable, __file__, "--child", name, *sizes], capture_output=True, text=True, timeout=1200
            )
            if done.returncode:
                sys.exit(f"{name}: {done.stderr}")
            found = json.loads(done.stdout.splitlines()[-1])
            best[name] = {k: min(v, best.get(name, found)[k]) for k, v in found.items()}
    shutil.rmtree(options.work, ignore_errors=True)
    print(f"{options.samples:,} samples of {options.size:,} bytes, best of {options.rounds}")
    for name, found in best.items():
        rate, synced = (options.samples / found[k] for k in ("seconds", "synced"))
        print(
            f"{name:20} {rate:10,.0f} samples/s {rate * options.size / 1e9:6.2f} GB/s, {found['cpu']:6.2f} s CPU; "
            f"with sync {synced:10,.0f} samples/s"
        )
    for name in absent:
        print(f"{name:20} is not installed")


if __name__ == "__main__":
    main()
