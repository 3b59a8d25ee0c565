"""Compares an export to Parquet with pyarrow, which writes the same table from memory, and one to WebDataset with tar.

    PYTHON benchmarks/export.py [--work DIRECTORY] [--rounds 3] [--images 10000] [--rows 4000000]

Two tables: images of 100 KB with a label, and 20 narrow columns of numbers and short text. Both are packed once. In
each round Stoker exports the dataset, and `pyarrow.parquet.write_table` writes the table, which is in memory, with the
same compression and row groups of the same number of rows; both force their files to the disk. Stoker's time is from
the first task to the end, without the start of Flink. The ratio is pyarrow's time divided by Stoker's; the median of
the rounds counts. `tar -cf` and `sync` of a tree with the images as files is compared in the same way.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROOT = Path(__file__).resolve().parent.parent


def images(count: int) -> pa.Table:
    random = np.random.default_rng(1)
    size = 100_000
    blocks = [random.bytes(size) for _ in range(200)]
    payload = [i.to_bytes(8, "little") + blocks[i % len(blocks)][8:] for i in range(count)]
    return pa.table({
        "id": [f"class{i % 10}/{i:08d}.jpg" for i in range(count)],
        "label": [f"class{i % 10}" for i in range(count)],
        "image": pa.array(payload, pa.binary()),
    })  # fmt: skip


def narrow(count: int) -> pa.Table:
    random = np.random.default_rng(2)
    columns = {"id": pa.array(np.char.mod("%09d", np.arange(count)).tolist())}
    columns |= {f"i{c}": pa.array(random.integers(0, 10 ** (c + 1), count)) for c in range(8)}
    columns |= {f"f{c}": pa.array(random.random(count).astype(np.float32)) for c in range(7)}
    columns |= {f"t{c}": pa.array(np.char.mod(f"t{c}-%d", random.integers(0, 500, count)).tolist()) for c in range(4)}
    return pa.table(columns)


def stoker(*arguments: object) -> str:
    command = [str(ROOT / "stoker"), *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def exported(dataset: Path, target: Path, *options: str) -> float:
    shutil.rmtree(target, ignore_errors=True)
    return float(json.loads(stoker("export", dataset, target, *options, "--json"))["seconds"])


def group_rows(target: Path) -> int:
    return int(pq.read_metadata(next(target.glob("*.parquet"))).row_group(0).num_rows)


def archived(tree: Path, target: Path) -> float:
    target.unlink(missing_ok=True)
    begin = time.perf_counter()
    subprocess.run(["tar", "-cf", target, tree.name], cwd=tree.parent, check=True)
    subprocess.run(["sync", target], check=True)
    return time.perf_counter() - begin


def report(name: str, number: int, mine: float, theirs: float) -> float:
    print(f"{name} {number}: export {mine:.2f} s, yardstick {theirs:.2f} s, ratio {theirs / mine:.2f}", flush=True)
    return theirs / mine


def compare_archives(table: pa.Table, dataset: Path, work: Path, rounds: int) -> None:
    for key, image in zip(table["id"].to_pylist(), table["image"], strict=True):
        file = work / "tree" / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(image.as_buffer())
    os.sync()
    ratios = []
    for number in range(rounds):
        mine = exported(dataset, work / "out", "--format", "webdataset", "--columns", "key,image")
        ratios.append(report("archive", number, mine, archived(work / "tree", work / "out.tar")))
    print(f"archive: median ratio {statistics.median(ratios):.2f}")


def written(table: pa.Table, target: Path, compression: str, group: int) -> float:
    target.unlink(missing_ok=True)
    # Images are not compressed by either; page checksums are written by both.
    codecs: str | dict[str, str] = compression
    if "image" in table.column_names:
        codecs = {name: "none" if name == "image" else compression for name in table.column_names}
    begin = time.perf_counter()
    dictionary = [name for name in table.column_names if name != "image"]
    pq.write_table(
        table, target, compression=codecs, row_group_size=group, use_dictionary=dictionary, write_page_checksum=True
    )
    with target.open("rb+") as file:
        os.fsync(file.fileno())
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir()) / "stoker-benchmark" / "export")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--images", type=int, default=10_000)
    parser.add_argument("--rows", type=int, default=4_000_000)
    options = parser.parse_args()
    shutil.rmtree(options.work, ignore_errors=True)
    options.work.mkdir(parents=True)
    for name, make, count in (("images", images, options.images), ("narrow", narrow, options.rows)):
        if count == 0:
            continue
        table = make(count)
        source = options.work / f"{name}.parquet"
        pq.write_table(table, source, row_group_size=max(1, count // 16), compression="zstd")
        dataset = options.work / name
        stoker("ingest", source, dataset, "--key", "id", *(("--payload", "image") if name == "images" else ()))
        source.unlink()
        ratios = []
        for number in range(options.rounds):
            mine = exported(dataset, options.work / "out", "--format", "parquet", "--compression", "zstd")
            theirs = written(table, options.work / "out.parquet", "zstd", group_rows(options.work / "out"))
            ratios.append(report(name, number, mine, theirs))
        print(f"{name}: {table.nbytes / 1e6:.0f} MB, median ratio {statistics.median(ratios):.2f}")
        if name == "images":
            compare_archives(table, dataset, options.work, options.rounds)
    shutil.rmtree(options.work)


if __name__ == "__main__":
    main()
