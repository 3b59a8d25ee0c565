"""Compares the ingest of files of other systems with copies of the files, and with the writers of other systems.

    python/.venv/bin/python benchmarks/formats.py [--gigabytes 1] [--rows 10000000] [--rounds 3] [--work DIRECTORY]

Sources: Parquet with images of 100 KB (random bytes), Parquet with 20 narrow columns, and WebDataset tar files of the
same images. Each system reads and writes the same bytes; sources are in the page cache, and the time until a `sync` of
the target's file system returns counts for every system. Of Stoker's time, the start of the process and of Flink does
not count (`start_up_seconds` of `--json`). Rounds alternate between the systems. The table has the median of the
rounds, their spread, and the ratio of the medians. MosaicML's MDSWriter and LitData's `optimize` run if they can be
imported (`--peers PYTHON` names the Python of an environment that has them).
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
IMAGE = 100_000
FILES = 8


# --- sources ---------------------------------------------------------------------------------------------------------


def make_images(directory: Path, tars: Path, total: int) -> None:
    import io

    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    directory.mkdir(parents=True)
    tars.mkdir(parents=True)
    rng = np.random.default_rng(1)
    rows = total // IMAGE // FILES
    for number in range(FILES):
        images = [rng.bytes(IMAGE) for _ in range(rows)]
        names = [f"{number:02d}-{row:06d}" for row in range(rows)]
        labels = [row % 10 for row in range(rows)]
        table = pa.table({"name": names, "label": pa.array(labels, pa.int32()), "image": pa.array(images, pa.binary())})
        pq.write_table(table, directory / f"{number}.parquet", compression="none", row_group_size=256)
        with tarfile.open(tars / f"{number}.tar", "w") as tar:
            for name, label, image in zip(names, labels, images, strict=True):
                for extension, data in (("jpg", image), ("cls", str(label).encode())):
                    member = tarfile.TarInfo(f"{name}.{extension}")
                    member.size = len(data)
                    tar.addfile(member, io.BytesIO(data))


def make_narrow(directory: Path, rows: int) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    directory.mkdir(parents=True)
    rng = np.random.default_rng(2)
    for number in range(FILES):
        count = rows // FILES
        columns = {f"i{n}": rng.integers(0, 1 << 40, count) for n in range(8)}
        columns |= {f"s{n}": rng.integers(0, 1000, count, dtype=np.int32) for n in range(6)}
        columns |= {f"f{n}": rng.random(count, dtype=np.float32) for n in range(6)}
        pq.write_table(pa.table(columns), directory / f"{number}.parquet")


# --- systems: each returns the seconds that count ---------------------------------------------------------------------


def timed(work: Callable[[], object], target: Path) -> float:
    began = time.perf_counter()
    work()
    subprocess.run(["sync", "-f", str(target)], check=True)
    return time.perf_counter() - began


def stoker(target: Path, *arguments: str) -> float:
    before = time.perf_counter()
    out = subprocess.run([str(ROOT / "stoker"), *arguments, "--json"], check=True, capture_output=True, text=True)
    wall = time.perf_counter() - before
    found = json.loads(out.stdout.splitlines()[-1])
    began = time.perf_counter()
    subprocess.run(["sync", "-f", str(target.parent)], check=True)
    seconds = float(found["seconds"])
    assert seconds < wall
    return seconds + time.perf_counter() - began


def peer(python: str, name: str, source: Path, target: Path) -> float:
    out = subprocess.run(
        [python, __file__, "--peer", name, str(source), str(target)], check=True, capture_output=True, text=True
    )
    return float(out.stdout.splitlines()[-1])


def rows_of(source: str) -> list[tuple[str, int]]:
    import pyarrow.parquet as pq

    return [
        (str(f), group) for f in sorted(Path(source).iterdir()) for group in range(pq.ParquetFile(f).num_row_groups)
    ]


def group_samples(place: tuple[str, int]) -> Iterator[dict[str, object]]:
    """A generator, as LitData takes for inputs with several samples."""
    import pyarrow.parquet as pq

    table = pq.ParquetFile(place[0]).read_row_group(place[1])
    for name, label, image in zip(*(column.to_pylist() for column in table.columns), strict=True):
        yield {"name": name, "label": label, "image": image}


def run_peer(name: str, source: str, target: str) -> None:
    """Prints the seconds of a writer. Imports and the start of the process do not count."""
    if name == "mds":
        from streaming.base.format.mds.writer import MDSWriter

        def work() -> None:
            with MDSWriter(out=target, columns={"name": "str", "label": "int", "image": "bytes"}) as writer:
                for place in rows_of(source):
                    for sample in group_samples(place):
                        writer.write(sample)
    else:
        import litdata

        def work() -> None:
            litdata.optimize(group_samples, rows_of(source), output_dir=target, chunk_bytes="64MB", num_workers=2)

    print(timed(work, Path(target).parent))


def has(python: str, module: str) -> bool:
    return subprocess.run([python, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def copy(source: Path, target: Path) -> float:
    return timed(lambda: subprocess.run(["cp", "-r", str(source), str(target)], check=True), target.parent)


def extract(source: Path, target: Path) -> float:
    target.mkdir()

    def all_of_them() -> None:
        for tar in sorted(source.iterdir()):
            subprocess.run(["tar", "-xf", str(tar), "-C", str(target)], check=True)

    return timed(all_of_them, target)


def to_ipc(source: Path, target: Path) -> float:
    import pyarrow as pa
    import pyarrow.dataset as ds

    def work() -> None:
        dataset = ds.dataset(source)
        with pa.ipc.new_file(target, dataset.schema) as writer:
            for batch in dataset.to_batches():
                writer.write_batch(batch)

    return timed(work, target.parent)


# --- the rows of the table --------------------------------------------------------------------------------------------


def measure(title: str, systems: dict[str, Callable[[Path], float]], work: Path, rounds: int) -> None:
    """The first system is Stoker. Prints how many times as fast it is as each of the others."""
    seconds: dict[str, list[float]] = {name: [] for name in systems}
    for _ in range(rounds):
        for name, run in systems.items():
            target = work / "target"
            try:
                seconds[name].append(run(target))
            finally:
                if target.is_dir():
                    shutil.rmtree(target)
                else:
                    target.unlink(missing_ok=True)
    first = statistics.median(next(iter(seconds.values())))
    print(f"\n{title}")
    for name, found in seconds.items():
        ratio = "" if name == next(iter(seconds)) else f"  {statistics.median(found) / first:6.2f}x"
        print(
            f"  {name:<34}{statistics.median(found):7.2f} s  ({min(found):.2f} to {max(found):.2f}){ratio}", flush=True
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=1)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--work", type=Path, default=None)
    parser.add_argument("--peers", default=sys.executable)
    parser.add_argument("--peer", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.peer:
        run_peer(*options.peer)
        return 0
    work = Path(tempfile.mkdtemp(prefix="formats-", dir=options.work))
    try:
        tables(work, options)
    finally:
        shutil.rmtree(work)
    return 0


def tables(work: Path, options: argparse.Namespace) -> None:
    images, tars, narrow = work / "images", work / "tars", work / "narrow"
    make_images(images, tars, int(options.gigabytes * 1e9))
    make_narrow(narrow, options.rows)
    rounds, python = options.rounds, options.peers

    def ingest(source: Path, *more: str) -> Callable[[Path], float]:
        return lambda target: stoker(target, "ingest", str(source), str(target), *more)

    into: dict[str, Callable[[Path], float]] = {
        "stoker ingest": ingest(images, "--key", "name"),
        "stoker ingest --order listed": ingest(images, "--key", "name", "--order", "listed"),
        "cp -r": lambda target: copy(images, target),
    }
    if has(python, "streaming.base.format.mds.writer"):
        into["pyarrow + MDSWriter"] = lambda target: peer(python, "mds", images, target)
    if has(python, "litdata"):
        into["pyarrow + litdata.optimize"] = lambda target: peer(python, "litdata", images, target)
    measure(f"Parquet, {options.gigabytes:g} GB of images of 100 KB, to a dataset", into, work, rounds)
    measure(
        f"Parquet, 20 narrow columns, {options.rows:,} rows, to a dataset",
        {
            "stoker ingest --order listed": ingest(narrow, "--order", "listed"),
            "pyarrow scan + Arrow IPC write": lambda target: to_ipc(narrow, target),
        },
        work,
        rounds,
    )
    measure(
        "WebDataset, the same images, to a dataset",
        {"stoker ingest": ingest(tars), "tar -xf": lambda target: extract(tars, target)},
        work,
        rounds,
    )


if __name__ == "__main__":
    sys.exit(main())
