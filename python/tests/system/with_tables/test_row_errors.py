"""Rows and files that cannot become samples: they end the ingest, or are left out and listed."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest


def keys(path: Path) -> list[str]:
    tables = [pyarrow.ipc.open_file(file).read_all() for file in path.glob("chunks/*/*.arrow")]
    return sorted(key for table in tables for key in table["key"].to_pylist())


def items(location: str) -> list[dict]:
    return [json.loads(line) for line in Path(location).read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("order", ["shuffled", "listed"])
def test_each_row_that_is_left_out_is_listed_with_place_and_reason(cli, tmp_path, order):
    ages = [300 if i % 100 == 7 else i % 90 for i in range(3000)]
    pq.write_table(pa.table({"age": pa.array(ages, pa.int32())}), tmp_path / "rows.parquet", row_group_size=500)
    arguments = ("ingest", tmp_path / "rows.parquet", tmp_path / "data", "--type", "age=int8", "--order", order)
    said = cli.fails(*arguments)
    assert "rows.parquet#" in said
    assert "07 cannot be a sample: column age: " in said or "#7 cannot be a sample: column age: " in said
    report = cli.run(*arguments, "--on-error", "skip")
    assert "left out: 30 rows that cannot be samples" in report
    shown = [line for line in report.splitlines() if line.startswith("  ")]
    assert len(shown) == 20
    assert all("rows.parquet#" in line and ": column age: " in line for line in shown)
    location = report.split("the whole list: ")[1].splitlines()[0]
    listed = items(location)
    assert len(keys(tmp_path / "data")) == 2970
    wanted = [f"rows.parquet#{i}" for i in range(7, 3000, 100)]
    assert sorted(place(item) for item in listed) == sorted(wanted)
    assert {"reason"} <= listed[0].keys()
    said = json.loads(cli.run(*arguments, "--on-error", "skip", "--replace", "--json"))
    assert said["skipped"][0]["reason"] == "bad_row"
    assert len(items(said["skip_list"])) == 30


def place(item: dict) -> str:
    return item.get("key") or f"{Path(item['file']).name}#{item['position']}"


@pytest.mark.full("stores")
def test_damaged_parts_and_files_are_listed(cli, tmp_path):
    (tmp_path / "source").mkdir()
    for name in "ab":
        rows = pa.table({"id": [f"{name}{i:03d}" for i in range(300)], "n": range(300)})
        file = tmp_path / "source" / f"{name}.parquet"
        pq.write_table(rows, file, row_group_size=100, use_dictionary=False, compression="none")
    (tmp_path / "source" / "c.parquet").write_bytes((tmp_path / "source" / "a.parquet").read_bytes()[:-20])
    damaged = tmp_path / "source" / "b.parquet"
    column = pq.read_metadata(damaged).row_group(1).column(0)
    content = bytearray(damaged.read_bytes())
    content[column.data_page_offset : column.data_page_offset + 10] = b"\xff" * 10
    damaged.write_bytes(content)
    arguments = ("ingest", tmp_path / "source", tmp_path / "data", "--key", "id", "--format", "parquet")
    assert "c.parquet" in cli.fails(*arguments)
    assert "row group 1" in cli.fails("ingest", damaged, tmp_path / "other", "--key", "id")
    plan = cli.run(*arguments, "--on-error", "skip", "--dry-run")
    assert "left out: 1 file that cannot be read, such as " in plan
    said = json.loads(cli.run(*arguments, "--on-error", "skip", "--json"))
    assert {entry["reason"]: entry["count"] for entry in said["skipped"]} == {"damaged": 1, "unreadable": 1}
    listed = {Path(item["file"]).name: item for item in items(said["skip_list"])}
    assert listed.keys() == {"b.parquet", "c.parquet"}
    assert listed["b.parquet"]["part"] == 1
    assert "row group 1" in listed["b.parquet"]["reason"]
    assert keys(tmp_path / "data") == [
        *(f"a{i:03d}" for i in range(300)),
        *(f"b{i:03d}" for i in range(100)),
        *(f"b{i:03d}" for i in range(200, 300)),
    ]


@pytest.mark.full("stores")
def test_nothing_is_listed_without_errors_and_nothing_is_left_of_a_failed_ingest(cli, tmp_path):
    pq.write_table(pa.table({"id": ["a", None]}), tmp_path / "rows.parquet")
    arguments = ("ingest", tmp_path / "rows.parquet", tmp_path / "data")
    cli.run(*arguments)
    assert not (tmp_path / "data" / "_stoker" / "skipped").exists()
    pq.write_table(pa.table({"id": pa.array([None], pa.string())}), tmp_path / "rows.parquet")
    said = cli.fails(*arguments, "--key", "id", "--columns", "id", "--append", "--on-error", "skip")
    assert "all were left out, 1 row that cannot be a sample; nothing was committed" in said


@pytest.mark.full("stores")
def test_lost_lines_of_json_are_listed(cli, tmp_path):
    lines = [json.dumps({"id": i}) for i in range(50)]
    lines[20] = '{"id": '
    lines[30] = '{"id": "x"}'
    (tmp_path / "rows.jsonl").write_text("\n".join(lines) + "\n")
    arguments = ("ingest", tmp_path / "rows.jsonl", tmp_path / "data", "--type", "id=int64")
    said = json.loads(cli.run(*arguments, "--on-error", "skip", "--json"))
    assert said["samples"] == 48
    assert len(items(said["skip_list"])) == 2
    report = cli.run(*arguments, "--on-error", "skip", "--replace")
    shown = [line for line in report.splitlines() if line.startswith("  ")]
    assert [line.count("rows.jsonl") for line in shown] == [1, 1]
