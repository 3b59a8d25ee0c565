"""Measures single samples: `get` of random keys against files, and `stoker delete` of a file of keys.

    python/.venv/bin/python benchmarks/samples.py [--files 4000] [--rows 10000000] [--rounds 9] [--work DIRECTORY]

`get`: a tree of files of 110 KB is ingested. In each round the same 256 random keys are read from the tree, one
`open` and `read` each, and from the dataset with one `stoker.open(path).get(keys)`; the dataset stays open, everything
is in the page cache, and the two alternate. The ratio is the files' time divided by Stoker's.

`delete`: a Parquet file of rows with a key and a number is ingested, and `stoker delete --keys-from` commits a version
without 1 % of them. The time is the whole command's, with the start of the JVM. Each round deletes other keys.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from feed import ROOT
from make_tree import make_tree

import stoker

SAMPLE = 110_000
KEYS = 256


def command(*arguments: object) -> str:
    done = subprocess.run(
        [str(ROOT / "stoker"), *map(str, arguments)], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    )
    return done.stdout.decode()


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def spread(values: list[float], unit: float = 1, digits: int = 2) -> str:
    shown = [value * unit for value in (statistics.median(values), min(values), max(values))]
    return "{0:.{3}f} ({1:.{3}f} to {2:.{3}f})".format(*shown, digits)


def measure_get(work: Path, files: int, rounds: int) -> None:
    tree = work / "tree"
    if not tree.exists():
        make_tree(tree, files, SAMPLE)
        command("ingest", tree, work / "images", "--label-from", "parent-dir")
    paths = {str(path.relative_to(tree)): path for path in tree.rglob("*") if path.is_file()}
    names = sorted(paths)
    samples = stoker.open(work / "images")
    field = next(field.name for field in samples.fields if field.payload)
    choose = random.Random(1)
    plain: list[float] = []
    ours: list[float] = []
    for number in range(rounds + 1):
        keys = choose.sample(names, KEYS)
        contents: list[bytes] = []
        found: list[object] = []
        a = seconds(lambda: contents.extend(paths[key].read_bytes() for key in keys))  # noqa: B023
        b = seconds(lambda: found.extend(samples.get(keys)))  # noqa: B023
        if [bytes(sample[field]) for sample in found] != contents:  # type: ignore[index]
            sys.exit("the samples differ from the files")
        if number > 0:  # the first round opens the index
            plain.append(a)
            ours.append(b)
    ratios = [a / b for a, b in zip(plain, ours, strict=True)]
    print(f"get of {KEYS} keys of {SAMPLE:,} bytes, {rounds} rounds, median (spread)")
    print(f"  files        {spread(plain, 1000)} ms")
    print(f"  stoker       {spread(ours, 1000)} ms")
    print(f"  ratio        {spread(ratios)}")


def measure_delete(work: Path, rows: int, rounds: int) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    source = work / "rows.parquet"
    if not source.exists():
        keys = pa.array([f"sample/{number:018d}" for number in range(rows)])
        pq.write_table(pa.table({"id": keys, "value": np.arange(rows)}), source, row_group_size=1 << 20)
        command("ingest", source, work / "rows", "--key", "id", "--order", "listed")
    order = np.random.default_rng(2).permutation(rows)
    times = []
    for number in range(rounds):
        chosen = order[number * rows // 100 : (number + 1) * rows // 100]
        (work / "keys.txt").write_text("".join(f"sample/{key:018d}\n" for key in chosen))
        deletion = ("delete", work / "rows", "--keys-from", work / "keys.txt", "--yes", "--json")
        texts: list[str] = []
        times.append(seconds(lambda: texts.append(command(*deletion))))  # noqa: B023
        print(f"  {json.loads(texts[0])}", file=sys.stderr)
    print(f"delete of {rows // 100:,} of {rows:,} samples, {rounds} rounds: {spread(times)} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=4000)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--work", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        if options.files:
            measure_get(work, options.files, options.rounds)
        if options.rows:
            measure_delete(work, options.rows, min(options.rounds, 3))


if __name__ == "__main__":
    main()
