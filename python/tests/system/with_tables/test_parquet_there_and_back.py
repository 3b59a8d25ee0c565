"""An exported Parquet file gives its dataset again, and other readers find what a good writer leaves in it."""

from __future__ import annotations

import datetime as dt

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import stoker

ROWS = 60
TYPES = {
    "score": "float32?",
    "half": "bfloat16",
    "when": "timestamp[us,Europe/Berlin]?",
    "tensor": "float32[2,3]",
    "counts": "int32?[]",
    "words": "utf8?[]?",
    "label": "categorical?",
    "text": "utf8",
    "image": "binary",
}


def row(n):
    return {
        "key": f"k{n:03d}",
        "score": None if n % 7 == 0 else n / 3,
        "half": n / 2,
        "when": None if n % 5 == 0 else dt.datetime(2024, 2, 29, 12, n % 60, tzinfo=dt.timezone.utc),
        "tensor": np.arange(6, dtype=np.float32).reshape(2, 3) + n,
        "counts": [n, None] if n % 2 else [],
        "words": None if n % 3 == 0 else ["a", None],
        # The last class of the list comes first in the data.
        "label": None if n % 4 == 0 else ("zebra", "cat", "dog")[n % 3],
        "text": "ü" * 700 + str(n),
        "image": bytes([n]) * 2000,
    }


@pytest.fixture(scope="module")
def exported(cli, tmp_path_factory):
    path = tmp_path_factory.mktemp("there-and-back")
    with stoker.Writer(path / "data", TYPES, payload=["image"]) as writer:
        for n in range(ROWS):
            writer.write(row(n))
    cli.run("export", path / "data", path / "out", "--format", "parquet")
    return path


def values(path):
    found = {}
    for sample in stoker.open(path):
        row = {name: sample[name] for name in TYPES}
        row["tensor"] = row["tensor"].tolist()
        row["counts"] = np.ma.asarray(row["counts"]).tolist()
        found[sample["key"]] = {name: x.tolist() if hasattr(x, "tolist") else x for name, x in row.items()}
    return found


def described(path):
    opened = stoker.open(path)
    return sorted((f.name, str(f.type), f.nullable, f.payload) for f in opened.fields), dict(opened.classes)


def test_an_export_is_ingested_without_options(cli, exported, tmp_path):
    cli.run("ingest", exported / "out", tmp_path / "again")
    assert described(tmp_path / "again") == described(exported / "data")
    assert values(tmp_path / "again") == values(exported / "data")


def test_the_footer_has_what_a_good_writer_stores(exported):
    (file,) = (exported / "out").glob("*.parquet")
    found = pq.ParquetFile(file).metadata
    assert found.created_by.startswith("stoker version ")
    for number in range(found.num_columns):
        column = found.row_group(0).column(number)
        assert column.has_offset_index, column.path_in_schema
        assert column.has_column_index == (column.path_in_schema != "image"), column
    text = found.row_group(0).column([f.name for f in found.schema.to_arrow_schema()].index("text")).statistics
    assert text.has_min_max
    assert text.min <= "ü" * 700 <= text.max
    assert len(text.max.encode()) <= 64


def test_other_readers_read_an_export(exported):
    duckdb = pytest.importorskip("duckdb")
    polars = pytest.importorskip("polars")
    (file,) = (exported / "out").glob("*.parquet")
    wanted = {f"k{n:03d}": row(n)["text"] for n in range(ROWS)}
    table = pq.read_table(file, page_checksum_verification=True)
    assert dict(zip(table["key"].to_pylist(), table["text"].to_pylist(), strict=True)) == wanted
    assert dict(duckdb.sql(f"select key, text from '{file}'").fetchall()) == wanted
    assert dict(polars.read_parquet(file, columns=["key", "text"]).rows()) == wanted
    # The bounds of text are shorter than its values; a filter must not skip them.
    some = wanted["k059"]
    assert duckdb.sql(f"select key from '{file}' where text = '{some}'").fetchall() == [("k059",)]
    assert polars.scan_parquet(file).filter(polars.col("text") == some).select("key").collect().rows() == [("k059",)]
    assert pq.read_table(file, filters=[("text", "=", some)])["key"].to_pylist() == ["k059"]


@pytest.mark.full("stores")
def test_columns_are_encoded_in_the_way_that_makes_them_small(cli, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    polars = pytest.importorskip("polars")
    rows = 200_000
    random = np.random.default_rng(1)
    table = pa.table(
        {
            "key": [f"photos/{n:08d}.jpg" for n in range(rows)],
            "sorted": np.cumsum(random.integers(0, 4, rows)),
            "wave": np.sin(np.arange(rows) / 1000),
            "vector": pa.FixedSizeListArray.from_arrays(random.normal(size=2 * rows).astype(np.float32), 2),
            "text": [f"row {7 * n:09d}" for n in range(rows)],
            "random": random.integers(-(2**63), 2**63, rows),
        }
    )
    schema = {"sorted": "int64", "wave": "float64", "vector": "float32[2]", "text": "utf8", "random": "int64"}
    with stoker.Writer(tmp_path / "data", schema, shuffle=False) as writer:
        writer.write_batch(table)
    cli.run("export", tmp_path / "data", tmp_path / "out", "--format", "parquet")
    (file,) = (tmp_path / "out").glob("*.parquet")

    group = pq.ParquetFile(file).metadata.row_group(0)
    columns = {group.column(c).path_in_schema.partition(".")[0]: group.column(c) for c in range(group.num_columns)}
    for name, encoding in {
        "key": "DELTA_BYTE_ARRAY",
        "sorted": "DELTA_BINARY_PACKED",
        "wave": "BYTE_STREAM_SPLIT",
        "text": "DELTA_BYTE_ARRAY",
        "random": "PLAIN",
    }.items():
        assert encoding in columns[name].encodings, (name, columns[name].encodings)
    assert columns["sorted"].total_compressed_size < rows / 2
    assert pq.read_table(file, page_checksum_verification=True).to_pydict() == table.to_pydict()
    names = ", ".join(table.column_names)
    assert duckdb.sql(f"select {names} from '{file}'").arrow().read_all().to_pydict() == table.to_pydict()
    assert polars.read_parquet(file).to_dict(as_series=False) == table.to_pydict()


def test_files_of_arrow_writers_keep_what_parquet_has_no_types_for(cli, tmp_path):
    table = pa.table({
        "when": pa.array([0], pa.timestamp("us", "Europe/Berlin")),
        "pair": pa.array([[1, 2]], pa.list_(pa.float32(), 2)),
        "label": pa.array(["cat"]).dictionary_encode(),
    })  # fmt: skip
    pq.write_table(table, tmp_path / "in.parquet")
    cli.run("ingest", tmp_path / "in.parquet", tmp_path / "data")
    kinds = {field.name: str(field.type) for field in stoker.open(tmp_path / "data").fields}
    assert kinds == {"when": "timestamp[us,Europe/Berlin]", "pair": "float32[2]", "label": "categorical"}
    pq.write_table(pa.table({"wait": pa.array([1], pa.duration("s"))}), tmp_path / "wait.parquet")
    assert "durations cannot be stored" in cli.fails("ingest", tmp_path / "wait.parquet", tmp_path / "other")
