"""Rows and files of a source that an ingest selects: by a condition, and by the directories of a partitioned tree."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.dataset
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

ROWS = 1000


def table() -> pa.Table:
    numbers = range(ROWS)
    return pa.table({
        "id": [f"s{i:04d}" for i in numbers],
        "label": [("cat", "dog", "öwl")[i % 3] for i in numbers],
        "age": pa.array([None if i % 7 == 0 else i for i in numbers], pa.int32()),
        "image": [bytes([i % 251]) * 200 for i in numbers],
    })  # fmt: skip


def stored(path: Path) -> dict[str, dict]:
    """Key -> row of a dataset with one version, read by pyarrow."""
    rows = {}
    for file in path.glob("chunks/*/*.arrow"):
        rows |= {row["key"]: row for row in pyarrow.ipc.open_file(file).read_all().to_pylist()}
    return rows


def left_out(said: str) -> dict[str, int]:
    return {entry["reason"]: entry["count"] for entry in json.loads(said)["skipped"]}


@pytest.mark.parametrize("order", ["shuffled", "listed"])
@pytest.mark.full("stores")
def test_rows_that_do_not_satisfy_the_condition_are_left_out_and_counted(cli, tmp_path, order):
    pq.write_table(table(), tmp_path / "rows.parquet", row_group_size=100)
    where = "age BETWEEN 250 AND 449 AND (label = 'cat' OR NOT label IN ('dog', 'cat'))"
    arguments = ("ingest", tmp_path / "rows.parquet", tmp_path / "data", "--key", "id", "--columns", "image")
    said = cli.run(*arguments, "--where", where, "--order", order, "--json")
    wanted = {
        row["id"]: row["image"]
        for row in table().to_pylist()
        if row["age"] is not None and 250 <= row["age"] <= 449 and row["label"] != "dog"
    }
    assert {key: row["image"] for key, row in stored(tmp_path / "data").items()} == wanted
    assert left_out(said) == {"excluded": ROWS - len(wanted)}
    assert f"where  {where} (leaves out 7 of 10 parts without reading them)" in cli.run(
        *arguments, "--where", where, "--append", "--dry-run"
    )


@pytest.mark.full("stores")
def test_row_groups_that_statistics_exclude_are_not_read(cli, tmp_path):
    path = tmp_path / "rows.parquet"
    pq.write_table(table(), path, row_group_size=100, compression="none", use_dictionary=False)
    meta = pq.read_metadata(path)
    content = bytearray(path.read_bytes())
    for group in [*range(3), *range(4, 10)]:
        first = meta.row_group(group).column(0).data_page_offset
        last = meta.row_group(group).column(3)
        end = last.data_page_offset + last.total_compressed_size
        content[first:end] = b"\xff" * (end - first)
    path.write_bytes(content)
    arguments = ("ingest", path, tmp_path / "data", "--key", "id")
    assert "row group 0: the header of a page is corrupt" in cli.fails(*arguments)
    cli.run(*arguments, "--where", "age >= 300 AND age < 400")
    assert len(stored(tmp_path / "data")) == len([i for i in range(300, 400) if i % 7])


@pytest.mark.full("stores")
def test_a_condition_that_does_not_fit_is_refused_with_the_column_and_its_type(cli, tmp_path):
    pq.write_table(table(), tmp_path / "rows.parquet", row_group_size=100)
    arguments = ("ingest", tmp_path / "rows.parquet", tmp_path / "data", "--where")
    said = cli.fails(*arguments, "age = 'old'")
    assert "--where: the column age of type int32 cannot be compared with 'old', which is text; give a number" in said
    assert "the source has no column colour; it has id, label, age, image" in cli.fails(*arguments, "colour = 1")
    assert "expected a value, at character 7" in cli.fails(*arguments, "age > ")
    assert "no row of the source satisfies --where age > 5000" in cli.fails(*arguments, "age > 5000")
    assert "all were left out, 1,000 rows that --where excludes" in cli.fails(*arguments, "label = 'pig'")


@pytest.mark.full("stores")
def test_a_condition_on_a_column_that_the_csv_ingest_does_not_take(cli, tmp_path):
    lines = ["id,age,note", *(f"s{i},{i if i % 2 else ''},n{i}" for i in range(50))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    arguments = ("ingest", tmp_path / "rows.csv", tmp_path / "data", "--key", "id", "--columns", "note")
    said = cli.run(*arguments, "--where", "NOT age < 40", "--json")
    assert stored(tmp_path / "data").keys() == {f"s{i}" for i in range(41, 50, 2)}
    assert left_out(said) == {"excluded": 45}


def partitioned(path: Path) -> dict[str, dict]:
    """A tree that pyarrow writes: id -> row."""
    rows = table().append_column("year", pa.array([2020 + i % 4 for i in range(ROWS)], pa.int32()))
    rows = rows.append_column("city", pa.array([("Bern", "Zürich West", None)[i % 3] for i in range(ROWS)]))
    pyarrow.dataset.write_dataset(
        rows, path, format="parquet", partitioning=["year", "city"], partitioning_flavor="hive"
    )
    return {row["id"]: row for row in rows.to_pylist()}


def test_directories_of_a_partitioned_tree_become_columns(cli, tmp_path):
    rows = partitioned(tmp_path / "tree")
    cli.run("ingest", tmp_path / "tree", tmp_path / "data", "--key", "id")
    found = stored(tmp_path / "data")
    assert found.keys() == rows.keys()
    for key, row in found.items():
        wanted = rows[key]
        assert (row["year"], row["city"], row["age"]) == (wanted["year"], wanted["city"], wanted["age"])


@pytest.mark.full("stores")
def test_directories_give_key_label_split_and_condition(cli, tmp_path):
    rows = partitioned(tmp_path / "tree")
    for broken in (tmp_path / "tree").glob("year=2020/*/*.parquet"):
        content = broken.read_bytes()
        broken.write_bytes(content[:10] + b"\xff" * (len(content) - 10))
    options = ("--key", "year,id", "--label", "city", "--split-by", "year", "--columns", "city,age")
    where = "year <> 2020 AND city IS NOT NULL AND age < 500"
    # The first file has the columns, so it must be sound.
    sources = (tmp_path / "tree" / "year=2021", tmp_path / "tree")
    said = cli.run("ingest", *sources, tmp_path / "data", *options, "--where", where, "--json")
    wanted = {
        f"{row['year']}/{key}": row
        for key, row in rows.items()
        if row["year"] != 2020 and row["city"] and row["age"] is not None and row["age"] < 500
    }
    found = stored(tmp_path / "data")
    assert found.keys() == wanted.keys()
    assert {key: row["age"] for key, row in found.items()} == {key: row["age"] for key, row in wanted.items()}
    assert left_out(said)["excluded_file"] == 6
    info = json.loads(cli.run("info", tmp_path / "data", "--json"))
    assert {"2021", "2022", "2023"} <= set(info["splits"])


@pytest.mark.full("stores")
def test_a_partitioned_tree_in_a_bucket_is_read_by_its_directories_and_by_a_pattern(cli, tmp_path, s3):
    rows = partitioned(tmp_path / "tree")
    remote = s3.upload(tmp_path / "tree")
    condition = ("--where", "year >= 2022 AND city IS NOT NULL")
    said = cli.run("ingest", remote, tmp_path / "data", "--key", "id", "--label", "city", *condition, "--json")
    cli.run("ingest", f"{remote}/year=202[23]/city=Bern/*.parquet", tmp_path / "some", "--key", "id")
    assert "/no does not exist" in cli.fails("ingest", f"{remote}/no/*.parquet", tmp_path / "none")
    # An eighth file, the first one, is opened for its columns.
    assert left_out(said)["excluded_file"] == 7
    wanted = {key: row for key, row in rows.items() if row["year"] >= 2022 and row["city"]}
    found = stored(tmp_path / "data")
    assert found.keys() == wanted.keys()
    for key, row in found.items():
        assert {name: row[name] for name in ("year", "city", "age")} == {
            name: wanted[key][name] for name in ("year", "city", "age")
        }
    assert stored(tmp_path / "some").keys() == {key for key, row in wanted.items() if row["city"] == "Bern"}


@pytest.mark.full("stores")
def test_a_column_in_the_file_must_agree_with_its_directory(cli, tmp_path):
    for year, own in ((2020, 2020), (2021, 2022)):
        (tmp_path / "tree" / f"year={year}").mkdir(parents=True)
        rows = pa.table({"id": [f"{year}-{i}" for i in range(3)], "year": [own] * 3})
        pq.write_table(rows, tmp_path / "tree" / f"year={year}" / "a.parquet")
    said = cli.fails("ingest", tmp_path / "tree", tmp_path / "data", "--key", "id", "--order", "listed")
    assert "year=2021/a.parquet#0 cannot be a sample: column year: the value in the file differs" in said
    assert "directory year=2021" in said
    cli.run("ingest", tmp_path / "tree" / "year=2020", tmp_path / "data", "--key", "id")
    assert {row["year"] for row in stored(tmp_path / "data").values()} == {2020}


@pytest.mark.full("stores")
def test_the_type_of_a_directory_can_be_given(cli, tmp_path):
    for day, code in (("2026-01-31", "007"), ("2026-02-01", "008")):
        (tmp_path / "tree" / f"day={day}" / f"code={code}").mkdir(parents=True)
        (tmp_path / "tree" / f"day={day}" / f"code={code}" / "rows.csv").write_text(f"id\n{day}\n")
    arguments = ("ingest", tmp_path / "tree", tmp_path / "data", "--key", "id", "--type")
    cli.run(*arguments, "day=date", "--type", "code=utf8", "--where", "day > DATE '2026-01-31'")
    rows = stored(tmp_path / "data")
    assert [(row["day"].isoformat(), row["code"]) for row in rows.values()] == [("2026-02-01", "008")]
    said = cli.fails(*arguments, "day=bool", "--append")
    assert "option --type: the directory day=2026-0" in said
    assert "is not bool" in said
