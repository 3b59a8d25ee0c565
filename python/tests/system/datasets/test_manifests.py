"""Tables whose columns name files: the contents of the files become fields."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pyarrow as pa
import pyarrow.ipc
import pyarrow.parquet as pq
import pytest

FILES = 3000


def stored(path: Path) -> dict[str, dict]:
    """Key -> fields of a dataset with one version, read by pyarrow."""
    rows = {}
    for file in path.glob("chunks/*/*.arrow"):
        for row in pyarrow.ipc.open_file(file).read_all().to_pylist():
            key = row.pop("key")
            rows[key] = {name: value for name, value in row.items() if ":" not in name}
    return rows


def write_files(directory: Path, count: int = FILES) -> dict[str, bytes]:
    """Path relative to the directory -> content; lengths between nothing and 40 KB."""
    contents = {}
    for i in range(count):
        path = directory / f"d{i % 7}" / f"{i} ü.bin"
        path.parent.mkdir(parents=True, exist_ok=True)
        content = random.Random(i).randbytes((i * 37) % 40_000)
        path.write_bytes(content)
        contents[str(path.relative_to(directory))] = content
    return contents


def write_table(path: Path, rows: list[dict]) -> Path:
    if path.suffix == ".csv":
        lines = [",".join(rows[0]), *(",".join("" if v is None else str(v) for v in row.values()) for row in rows)]
        path.write_text("\n".join(lines) + "\n")
    elif path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=1000)
    return path


@pytest.mark.cells
@pytest.mark.parametrize("order", ["shuffled", "listed"])
@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
@pytest.mark.full("stores")
def test_each_row_has_the_content_of_its_file(cli, tmp_path, suffix, order):
    contents = write_files(tmp_path)
    rows = [{"path": path, "label": f"c{i % 3}", "weight": i} for i, path in enumerate(contents)]
    table = write_table(tmp_path / f"table{suffix}", rows)
    arguments = ("ingest", table, tmp_path / "data", "--read", "path=image", "--key", "path", "--label", "label")
    assert "is empty; take empty files with --empty include" in cli.fails(*arguments)
    cli.run(*arguments, "--empty", "include", "--order", order, "--parallelism", 2)
    found = stored(tmp_path / "data")
    assert {key: row["image"] for key, row in found.items()} == contents
    assert all(found[row["path"]]["weight"] == row["weight"] for row in rows)
    info = json.loads((tmp_path / "data" / "_stoker" / "dataset.json").read_text())
    assert {field["name"]: field["payload"] for field in info["fields"]} == {
        "label": False, "weight": False, "image": True,
    }  # fmt: skip


@pytest.mark.full("stores")
def test_the_listed_order_and_positions_are_those_of_the_table(cli, tmp_path):
    contents = write_files(tmp_path)
    rows = [{"path": path} for path in contents]
    write_table(tmp_path / "table.csv", rows)
    options = ["--read", "path=image", "--order", "listed", "--empty", "include"]
    cli.run("ingest", tmp_path / "table.csv", tmp_path / "data", *options)
    found = stored(tmp_path / "data")
    assert {key: row["image"] for key, row in found.items()} == {
        f"table.csv#{i}": content for i, content in enumerate(contents.values())
    }


def test_several_columns_text_and_missing_paths(cli, tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89image")
    (tmp_path / "a.txt").write_text("a caption, ü\n")
    rows = [
        {"id": "1", "image_path": "a.png", "caption_path": "a.txt"},
        {"id": "2", "image_path": "./sub/../a.png", "caption_path": None},
    ]
    table = write_table(tmp_path / "table.jsonl", rows)
    cli.run(
        *("ingest", table, tmp_path / "data", "--key", "id", "--columns", "image_path"),
        *("--read", "image_path=image", "--read", "caption_path=caption", "--type", "caption=utf8"),
    )
    assert stored(tmp_path / "data") == {
        "1": {"image_path": "a.png", "caption": "a caption, ü\n", "image": b"\x89image"},
        "2": {"image_path": "./sub/../a.png", "caption": None, "image": b"\x89image"},
    }


@pytest.mark.full("stores")
def test_a_file_that_is_missing_is_an_error_or_is_left_out(cli, tmp_path):
    contents = write_files(tmp_path, 20)
    (tmp_path / "directory").mkdir()
    rows = [{"path": path} for path in [*contents, "gone.bin", "directory"]]
    table = write_table(tmp_path / "table.csv", rows)
    options = ("--read", "path=image", "--key", "path", "--empty", "include")
    arguments = ("ingest", table, tmp_path / "data", *options)
    said = cli.fails(*arguments)
    assert "table.csv" in said
    assert "column image: " in said
    assert f"there is no file {tmp_path}/gone.bin" in said or f"{tmp_path}/directory is not a file" in said
    said = json.loads(cli.run(*arguments, "--on-error", "skip", "--json"))
    assert sum(entry["count"] for entry in said["skipped"]) == 2
    assert {key: row["image"] for key, row in stored(tmp_path / "data").items()} == contents


@pytest.mark.cells
@pytest.mark.parametrize("path", ["../secret.txt", "sub/../../secret.txt", "{}/secret.txt"])
def test_paths_do_not_leave_the_directory(cli, tmp_path, path):
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "in").mkdir()
    table = write_table(tmp_path / "in" / "table.jsonl", [{"path": path.format(tmp_path)}])
    arguments = ("ingest", table, tmp_path / "data", "--read", "path=text")
    said = cli.fails(*arguments)
    step = "name the directory" if path.startswith("{") else "write the paths from one directory"
    assert f"is not below {tmp_path}/in; {step} that has all files" in said
    if path.startswith("{"):
        cli.run(*arguments, "--read-root", tmp_path)
        assert [row["text"] for row in stored(tmp_path / "data").values()] == [b"secret"]


@pytest.mark.full("stores")
def test_wrong_options_are_refused_with_the_next_step(cli, tmp_path):
    (tmp_path / "a").write_bytes(b"a")
    table = write_table(tmp_path / "table.csv", [{"path": "a", "number": 5}])
    arguments = ("ingest", table, tmp_path / "data")
    assert "--read: the source has no column pth; it has path, number" in cli.fails(*arguments, "--read", "pth=image")
    assert "the column number is int64; paths are text" in cli.fails(*arguments, "--read", "number=image")
    assert "--read: path is not column=field" in cli.fails(*arguments, "--read", "path")
    assert "--read-root needs --read" in cli.fails(*arguments, "--read-root", tmp_path)
    assert "rename" in cli.fails(*arguments, "--read", "path=number")
    said = cli.fails(*arguments, "--read", "path=image", "--type", "image=int8")
    assert "can be binary or utf8, not int8" in said
    assert "image: binary, nullable, payload (from the file in column path)" in cli.run(
        *arguments, "--read", "path=image", "--dry-run"
    )


@pytest.mark.full("stores")
def test_a_table_in_a_bucket_names_objects(cli, tmp_path, s3):
    source = tmp_path / "source"
    contents = write_files(source, 50)
    write_table(source / "table.csv", [{"path": path} for path in [*contents, "gone"]])
    remote = s3.upload(source)
    options = ("--read", "path=image", "--key", "path", "--empty", "include")
    arguments = ("ingest", f"{remote}/table.csv", tmp_path / "data", *options)
    assert f"there is no file {remote}/gone" in cli.fails(*arguments)
    cli.run(*arguments, "--on-error", "skip")
    assert {key: row["image"] for key, row in stored(tmp_path / "data").items()} == contents
