"""Parquet files of numbers are read in blocks of rows. The chunks are those that reading row by row makes."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

pytestmark = pytest.mark.full("stores")

# A condition, even one that each row satisfies, is checked row by row.
BY_ROW = ("--where", "id >= 0")


def table(rows: int) -> pa.Table:
    rng = np.random.default_rng(7)
    some = rng.random(rows) < 0.1
    return pa.table({
        "id": pa.array(range(rows), pa.int64()),
        "small": pa.array(rng.integers(-128, 128, rows), pa.int8(), mask=some),
        "unsigned": pa.array(rng.integers(0, 1 << 32, rows), pa.uint32()),
        "random": pa.array(rng.integers(0, 1 << 62, rows), pa.int64(), mask=np.arange(rows) < rows // 2),
        "few": pa.array(rng.integers(0, 100, rows), pa.int32()),
        "real": pa.array(rng.random(rows), pa.float32(), mask=np.arange(rows) % 1000 == 999),
        "wide": pa.array(rng.random(rows), pa.float64()),
        "day": pa.array(rng.integers(0, 20_000, rows).astype("int32"), pa.int32()).cast(pa.date32()),
        "when": pa.array(rng.integers(0, 1 << 50, rows), pa.timestamp("us", tz="UTC")),
    })  # fmt: skip


def chunks(path: Path) -> list[pa.Table]:
    """The chunks of a dataset in their order, without their identities."""
    log = sorted(path.glob("chunks/*/*.arrow"))
    tables = [pyarrow.ipc.open_file(file).read_all().replace_schema_metadata(None) for file in log]
    return sorted(tables, key=lambda chunk: int(chunk["key"][0].as_py().split("#")[1]))


def require_same(cli, source: Path, work: Path, *more: str) -> list[pa.Table]:
    arguments = ("--order", "listed", "--chunk-size", "1mb", "--on-error", "skip", "--json", *more)
    by_block = json.loads(cli.run("ingest", source, work / "block", *arguments))
    by_row = json.loads(cli.run("ingest", source, work / "row", *arguments, *BY_ROW))
    for name in ("samples", "chunks", "bytes"):
        assert by_block[name] == by_row[name]
    assert [(e["reason"], e["count"]) for e in by_block["skipped"]] == [
        (e["reason"], e["count"]) for e in by_row["skipped"]
    ]
    found = chunks(work / "block")
    assert len(found) > 2
    assert found == chunks(work / "row")
    return found


@pytest.mark.parametrize("variant", ["dictionary", "plain"])
def test_blocks_make_the_chunks_of_rows(cli, tmp_path, variant):
    options = {
        "dictionary": {"compression": "snappy", "dictionary_pagesize_limit": 200_000},
        "plain": {"compression": "zstd", "use_dictionary": False, "data_page_version": "2.0"},
    }[variant]
    rows = table(100_000)
    pq.write_table(rows, tmp_path / "rows.parquet", row_group_size=70_000, data_page_size=100_000, **options)
    found = pa.concat_tables(require_same(cli, tmp_path / "rows.parquet", tmp_path))
    assert found.drop_columns("key").cast(rows.schema).equals(rows)
    assert found["key"].to_pylist() == [f"rows.parquet#{i}" for i in range(100_000)]


def test_bad_rows_and_damage_are_left_out_as_by_row(cli, tmp_path):
    (tmp_path / "source").mkdir()
    file = tmp_path / "source" / "a.parquet"
    rows = table(60_000)
    pq.write_table(rows, file, row_group_size=30_000, compression="none", use_dictionary=False, data_page_size=50_000)
    column = pq.read_metadata(file).row_group(1).column(3)
    content = bytearray(file.read_bytes())
    middle = column.data_page_offset + column.total_compressed_size // 2
    content[middle : middle + 60_000] = b"\xff" * 60_000
    file.write_bytes(content)
    found = require_same(cli, tmp_path / "source", tmp_path)
    assert 30_000 < sum(chunk.num_rows for chunk in found) < 60_000
