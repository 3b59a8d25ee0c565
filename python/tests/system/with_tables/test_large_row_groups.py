"""A Parquet row group of 1 GB. Takes a minute and 3 GB of disk: `python/check -m soak`, or `./mvnw -Psoak verify`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stoker_processes import Cli, until

import stoker

IMAGE = 100_000
ROWS = 10_000
MIB = 1 << 20

LIMIT = 1024 * MIB
"""Of memory for one part; also more than Java, Flink and chunks under construction take."""


def image(row: int) -> bytes:
    return np.random.default_rng(row).bytes(IMAGE)


@pytest.fixture(scope="module")
def source(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("large") / "rows.parquet"
    schema = pa.schema([("id", pa.int64()), ("image", pa.binary())])
    with pq.ParquetWriter(file, schema, compression="none", use_dictionary=False) as writer:
        images = pa.array([image(row) for row in range(ROWS)], pa.binary())
        writer.write_table(pa.table([pa.array(range(ROWS)), images], schema), row_group_size=ROWS)
    assert pq.ParquetFile(file).num_row_groups == 1
    return file


def ingest(cli: Cli, *args: object) -> tuple[int, str, int]:
    """Exit code, output and the most memory that the command has taken, in bytes."""
    java = "STOKER_JAVA_OPTS=-XX:+UseSerialGC -Xmx1700m -XX:MaxDirectMemorySize=3g"
    process = cli.start("ingest", *args, "--json", within=("env", java))
    peak = 0

    def has_ended() -> bool:
        nonlocal peak
        found = re.search(r"^VmHWM:\s*(\d+) kB", Path(f"/proc/{process.pid}/status").read_text(), re.M)
        peak = int(found[1]) << 10 if found else peak
        return process.poll() is not None

    try:
        until(has_ended, "the ingest ends")
        out, err = process.communicate()
    finally:
        process.kill()
    return process.returncode, out + err, peak


@pytest.mark.soak
@pytest.mark.parametrize("options", [("--order", "listed"), ("--sort-memory", "0 bytes")], ids=["listed", "shuffled"])
def test_a_row_group_of_a_gigabyte_takes_its_size_and_little_more(cli, tmp_path, source, options):
    code, said, memory = ingest(cli, source, tmp_path / "data", "--key", "id", "--part-memory", LIMIT, *options)
    assert code == 0, said
    assert json.loads(said[said.index("{") :].splitlines()[0])["samples"] == ROWS
    assert memory < LIMIT + ROWS * IMAGE
    dataset = stoker.open(tmp_path / "data")
    for row in range(0, ROWS, 997):
        assert bytes(dataset[str(row)]["image"]) == image(row)


@pytest.mark.soak
def test_a_row_group_above_the_limit_is_refused_before_it_is_read(cli, tmp_path, source):
    code, said, memory = ingest(cli, source, tmp_path / "data", "--part-memory", "512mb", "--order", "listed")
    assert code == 1
    needed = pq.ParquetFile(source).metadata.row_group(0).total_byte_size
    assert f"row group 0 needs {needed} bytes of memory, but the limit is {512 * MIB}" in said
    assert memory < LIMIT // 2
    assert not list(tmp_path.glob("data/_stoker/log/*"))

    code, said, _ = ingest(cli, source, tmp_path / "data", "--part-memory", "512mb", "--columns", "id")
    assert code == 0, said
