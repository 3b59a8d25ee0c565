"""Exports have the selected samples in their order, and are complete or absent."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import signal

import pyarrow.parquet as pq
import pytest
from export_tables import ROWS, START, expected, files, keys_of
from stoker_processes import until

import stoker
from stoker import Feed


@pytest.mark.cells
@pytest.mark.parametrize(("shards", "epoch"), [(1, 0), (5, 3)])
@pytest.mark.full("stores")
def test_the_order_of_an_epoch_is_that_of_a_feed(cli, tmp_path, everything, shards, epoch):
    data, _ = everything
    order = {"seed": 7, "batch_size": 9, "lanes": 3, "shuffle_window": 96 << 10}
    fed: list[str] = []
    with Feed(data, tail="keep", epochs=epoch + 1, columns=["key"], **order) as feed:
        for number in range(epoch + 1):
            keys = [key for batch in feed for key in batch.keys]
            if number == epoch:
                fed = keys
    options = [f"--{name.replace('_', '-')}={value}" for name, value in order.items()]
    options[3] = "--shuffle-window=96kb"
    cli.run(
        *("export", f"{data}:train", tmp_path / "out", "--format", "jsonl", "--columns", "key,f32"),
        *("--order", f"epoch:{epoch}", *options, "--shards", shards, "--parallelism", 2),
    )
    found = [
        json.loads(line)["key"]
        for file in files(tmp_path / "out", ".jsonl")
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    assert found == fed
    assert len(found) == len(set(found)) > ROWS / 2


def test_only_selected_samples_are_exported_in_the_order_of_the_epoch(cli, tmp_path, everything):
    data, source = everything
    where = "label IN ('cat', 'öwl') AND i8 IS NOT NULL AND (when >= '2020-01-01 00:05:00' OR NOT flag)"
    epoch = ("--order", "epoch:2", "--seed", 3, "--lanes", 2, "--shuffle-window", "96kb", "--columns", "key,label")
    arguments = ("export", f"{data}:train")
    cli.run(*arguments, tmp_path / "all", "--format", "arrow", *epoch)
    said = json.loads(cli.run(*arguments, tmp_path / "some", "--format", "arrow", *epoch, "--where", where, "--json"))
    limit = START + dt.timedelta(minutes=5)
    chosen = {
        key
        for key, row in expected(source).items()
        if row["label"] != "dog"
        and row["i8"] is not None
        and ((row["when"] is not None and row["when"] >= limit) or row["flag"] is False)
    }
    before = [key for file in files(tmp_path / "all", ".arrow") for key in keys_of(file)]
    after = [key for file in files(tmp_path / "some", ".arrow") for key in keys_of(file)]
    assert after == [key for key in before if key in chosen]
    assert (said["samples"], said["excluded"]) == (len(after), len(before) - len(after))
    assert 0 < len(after) < len(before)
    description = json.loads((tmp_path / "some" / "_SUCCESS").read_text())
    assert (description["where"], description["excluded"]) == (where, said["excluded"])


@pytest.mark.full("stores")
def test_a_condition_is_checked_and_its_share_is_estimated_without_an_export(cli, tmp_path, everything):
    data, source = everything
    arguments = ("export", data, tmp_path / "out", "--format", "parquet", "--where")
    said = cli.run(*arguments, "\"größe\" = '„7“\n' OR u64 > 18446744073709551610", "--dry-run")
    assert f"rows   6 of the first {ROWS} samples satisfy --where" in said
    assert "compared with 'old', which is text; give a number" in cli.fails(*arguments, "i8 = 'old'")
    assert "the dataset has no column id; it has key, " in cli.fails(*arguments, "id = 'a'", "--dry-run")
    assert "option --where: SQL compares with a single =" in cli.fails(*arguments, "i8 == 3")
    assert list(tmp_path.iterdir()) == []
    cli.run(*arguments, "image IS NOT NULL AND tags IS NULL AND price < 0.5", "--columns", "key")
    wanted = {
        key
        for key, row in expected(source).items()
        if row["tags"] is None and row["price"] is not None and row["price"] < decimal.Decimal("0.5")
    }
    found = [key for file in files(tmp_path / "out", ".parquet") for key in pq.read_table(file)["key"].to_pylist()]
    assert sorted(found) == sorted(wanted)


@pytest.mark.full("stores")
def test_the_stored_order_is_that_of_the_dataset(cli, tmp_path, everything):
    data, _ = everything
    options = ("--format", "arrow", "--columns", "key", "--shards", 7, "--parallelism", 3)
    cli.run("export", f"{data}@1:train", tmp_path / "out", *options)
    found = [key for file in files(tmp_path / "out", ".arrow") for key in keys_of(file)]
    assert found == [sample["key"] for sample in stoker.open(data, split="train")]


@pytest.mark.full("stores")
def test_wrong_options_are_named_together_and_nothing_is_written(cli, tmp_path, everything):
    data, _ = everything
    said = cli.fails("export", data, tmp_path / "out", "--format", "xml", "--seed", 3, "--shards", 0)
    assert "xml is unknown; the format is one of parquet, arrow, webdataset, tfrecord, avro, jsonl, files" in said
    assert "option --seed needs the order of an epoch" in said
    assert "option --shards: 0 is not between" in said
    said = cli.fails("export", data, tmp_path / "out", "--format", "arrow", "--columns", "key,nope")
    assert "the dataset has no column nope; it has key, label" in said
    said = cli.fails("export", data, tmp_path / "out", "--format", "arrow", "--order", "epoch:0")
    assert "an epoch has the samples of one split; name it" in said
    assert "splits train, val" in cli.run("export", data, tmp_path / "out", "--format", "arrow", "--dry-run")
    assert "contain each other" in cli.fails("export", data, data / "out", "--format", "arrow")
    assert not (tmp_path / "out").exists()


@pytest.mark.full("stores")
def test_only_an_earlier_export_is_replaced(cli, tmp_path, everything):
    data, _ = everything
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    arguments = ("--format", "arrow", "--columns", "key")
    assert "is not empty" in cli.fails("export", data, mine, *arguments, "--overwrite")
    assert (mine / "thesis.txt").read_text() == "years of work"
    cli.run("export", data, tmp_path / "out", *arguments)
    assert "replace it with --overwrite" in cli.fails("export", data, tmp_path / "out", *arguments)
    cli.run("export", f"{data}:val", tmp_path / "out", *arguments, "--overwrite")
    assert [file.name for file in files(tmp_path / "out", ".arrow")] == ["val-00000-of-00001.arrow"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine", "out"]


@pytest.mark.parametrize("sign", [signal.SIGKILL, signal.SIGINT])
@pytest.mark.full("stores")
def test_an_export_that_is_ended_leaves_nothing_or_a_complete_one(cli, tmp_path, everything, sign):
    data, _ = everything
    arguments = ("export", data, tmp_path / "out", "--format", "files", "--columns", "key,image", "--parallelism", 1)
    with cli.start(*arguments) as process:
        until(
            lambda: any(tmp_path.glob(".out.export-*/**/*.x")) or process.poll() is not None,
            "a file of the export",
        )
        process.send_signal(sign)
        process.wait()
    if (tmp_path / "out").exists():
        assert json.loads((tmp_path / "out" / "_SUCCESS").read_text())["samples"] == ROWS
    elif sign == signal.SIGINT:
        assert list(tmp_path.iterdir()) == []
    cli.run(*arguments, "--overwrite")
    assert len(list((tmp_path / "out").rglob("*.x"))) == ROWS


@pytest.mark.full("stores")
def test_a_split_without_samples_and_a_damaged_chunk_are_errors(cli, tmp_path, everything):
    data, _ = everything
    assert "has no split 'nope'; it has train, val" in cli.fails(
        "export", f"{data}:nope", tmp_path / "out", "--format", "arrow"
    )
    cli.run("export", data, tmp_path / "first", "--format", "parquet", "--columns", "key,label,image")
    cli.run("ingest", tmp_path / "first", tmp_path / "data", "--key", "key", "--payload", "image")
    chunk = next((tmp_path / "data").glob("chunks/*/*.arrow"))
    content = bytearray(chunk.read_bytes())
    content[len(content) * 3 // 4] ^= 1
    chunk.chmod(0o644)
    chunk.write_bytes(content)
    said = cli.fails("export", tmp_path / "data", tmp_path / "out", "--format", "arrow")
    assert "corrupt" in said
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".out*"))


@pytest.mark.full("stores")
def test_an_export_to_s3_is_complete_with_its_last_file(cli, tmp_path, everything, s3):
    data, _ = everything
    remote = s3.upload(data)
    location, directory = s3.place("out")
    options = ("--format", "arrow", "--columns", "key,label", "--shards", 2, "--order", "epoch:1", "--seed", 5)
    cli.run("export", f"{data}:val", tmp_path / "local", *options)
    cli.run("export", f"{remote}:val", location, *options)
    written = {file.name: file.read_bytes() for file in directory.iterdir()}
    description = json.loads(written.pop("_SUCCESS"))
    assert [shard["name"] for shard in description["shards"]] == sorted(written)
    for name in written:
        assert keys_of(directory / name) == keys_of(tmp_path / "local" / name)
    assert "already has an export" in cli.fails("export", f"{data}:val", location, *options)
    # As a killed export leaves it.
    (directory / "_SUCCESS").unlink()
    (directory / "_EXPORTING").write_text("its id")
    assert "is running or was interrupted" in cli.fails("export", f"{data}:train", location, *options)
    cli.run("export", f"{data}:train", location, *options, "--overwrite")
    files(directory, ".arrow")
    assert sum(len(keys_of(file)) for file in directory.glob("train-*-of-00002.arrow")) > ROWS / 2
