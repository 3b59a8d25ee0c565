"""Small fields that `stoker update` has set: every reader gives the same values, of each version."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from stoker_processes import until

import stoker
from stoker import Feed, Writer
from stoker._dataset.snapshot import open_snapshot
from stoker._dataset.versions import newest_version

FIELDS = {"label": "categorical", "score": "float32?", "note": "utf8?", "tags": "utf8[]", "image": "binary"}
ORDER = {"batch_size": 7, "lanes": 3, "shuffle_window": 8 << 10}
ROWS = 60


def first():
    """The values as they were packed."""
    return {
        f"k/{n:03}": {
            "label": f"c{n % 3}",
            "score": n / 4,
            "note": None if n % 2 else f"note {n}",
            "tags": [f"t{n}"] * (n % 3),
            "image": bytes([n]) * (100 + n),
        }
        for n in range(ROWS)
    }


def updated():
    """New values of some keys: of another class, of null, and of another length."""
    return {
        f"k/{n:03}": {
            "label": "neu ä" if n % 10 else "c1",
            "score": None if n % 4 else -1.0,
            "note": "long " * 30 if n % 3 else None,
            "tags": ["x", "", "yy"][: n % 4],
        }
        for n in range(0, ROWS, 5)
    }


@pytest.fixture(scope="module")
def data(cli, tmp_path_factory):
    """1: sixty samples. 2: twelve updated. 3: one deleted. 4: scores updated again, from JSON. 5: compacted."""
    root = tmp_path_factory.mktemp("updates")
    path = root / "data"
    for part in range(3):
        with Writer(path, FIELDS, append=True, payload=["image"], chunk_size=2 << 10, shuffle=False) as writer:
            for n, (key, sample) in enumerate(first().items()):
                if n % 3 == part:
                    writer.write({"key": key, **sample})
    versions = {3: first()}
    # The index is of the samples as they were packed, whether it was built before an update or after it.
    cli.run("index", path)
    new = [{"key": key, **values} for key, values in updated().items()]
    schema = pa.schema({
        "key": pa.utf8(), "label": pa.utf8(), "score": pa.float32(), "note": pa.utf8(),
        "tags": pa.list_(pa.field("item", pa.utf8(), False)),
    })  # fmt: skip
    pq.write_table(pa.Table.from_pylist(new, schema=schema), root / "new.parquet")
    told = json.loads(cli.run("update", path, root / "new.parquet", "--json", "--yes"))
    assert told["version"] == 4
    cli.run("index", path, "--check")
    versions[4] = {key: {**sample, **updated().get(key, {})} for key, sample in first().items()}
    cli.run("delete", path, "k/005", "--yes")
    versions[5] = {key: sample for key, sample in versions[4].items() if key != "k/005"}
    (root / "scores.jsonl").write_text('{"name": "k/010", "score": 7}\n{"name": "k/011", "score": 8.5}\n')
    cli.run("update", path, root / "scores.jsonl", "--key", "name", "--yes")
    versions[6] = {key: dict(sample) for key, sample in versions[5].items()}
    versions[6]["k/010"]["score"], versions[6]["k/011"]["score"] = 7.0, 8.5
    cli.run("index", path, "--rebuild")
    cli.run("index", path, "--check")
    stat = json.loads(cli.run("stat", path, "k/010", "--json"))
    assert str(stoker.open(path).stat("k/010").length) in json.dumps(stat)
    cli.run("compact", path, "--chunk-size", "64kb", "--below", "32kb")
    versions[7] = versions[6]
    cli.run("verify", path)
    return path, versions


@pytest.mark.cells
@pytest.mark.parametrize("version", [3, 4, 5, 6, 7])
@pytest.mark.full("stores")
def test_single_samples_and_tables(data, version):
    path, versions = data
    samples = stoker.open(path, version=version)
    assert {s["key"]: {k: v for k, v in s.items() if k != "key"} for s in samples} == versions[version]
    rows = {row.pop("key"): row for row in samples.to_arrow().to_pylist()}
    assert rows == versions[version]
    assert samples["k/010"]["score"] == versions[version]["k/010"]["score"]


@pytest.mark.cells
@pytest.mark.parametrize("version", [3, 6, 7])
@pytest.mark.full("stores")
def test_get_export_and_sql(cli, data, tmp_path, version):
    path, versions = data
    got = json.loads(cli.run("get", path, "k/010", "--version", version, "--json"))
    assert json.dumps(versions[version]["k/010"]["label"]) in json.dumps(got)
    cli.run("export", f"{path}@{version}", tmp_path / "out", "--format", "parquet")
    (file,) = (tmp_path / "out").rglob("*.parquet")
    table = pq.read_table(file)
    rows = {row["key"]: {name: row[name] for name in FIELDS} for row in table.to_pylist()}
    assert rows == versions[version]
    cli.run(
        "export",
        f"{path}@{version}",
        tmp_path / "where",
        "--format",
        "jsonl",
        "--columns",
        "key,label",
        "--where",
        "label = 'neu ä'",
    )
    lines = "".join(f.read_text() for f in (tmp_path / "where").rglob("*.jsonl")).splitlines()
    keys = {json.loads(line)["key"] for line in lines}
    assert keys == {key for key, sample in versions[version].items() if sample["label"] == "neu ä"}


def rows_of(feed):
    out = []
    for batch in feed:
        names = feed.classes["label"]
        for row in batch.arrow.to_pylist():
            out.append((row["key"], names[row["label"]], row["score"], row["note"], row["tags"], bytes(row["image"])))
    return out


@pytest.mark.cells
@pytest.mark.parametrize("tier", [[], ["--tier", "memory:16m"]], ids=["mapped", "tier"])
def test_a_feeder_and_a_path_give_the_values(cli, data, start_feeder, tier):
    path, versions = data
    streams = [f"v{v}={path}@{v}" for v in (3, 4, 6, 7)]
    options = ["--batch-size", 7, "--lanes", 3, "--shuffle-window", "8kb", *tier]
    feeder = start_feeder(f"updates{len(tier)}", *streams, *options).ready()
    for version in (3, 4, 6, 7):
        expected = {(k, s["label"], s["score"], s["note"], tuple(s["tags"])) for k, s in versions[version].items()}
        with Feed(path, version=version, **ORDER, tail="keep") as feed:
            seen = rows_of(feed)
        with Feed(feeder.address, f"v{version}", tail="keep") as feed:
            assert rows_of(feed) == seen
        assert {(*row[:4], tuple(row[4])) for row in seen} == expected
        assert len(seen) == len(expected)
    feeder.stop()
    # The receipts have checksums of the values that the trainers received.
    assert json.loads(cli.run("audit", feeder.name, "--json"))["clean"]


@pytest.mark.full("stores")
def test_a_killed_update_leaves_nothing_or_one_version(cli, tmp_path):
    path = tmp_path / "data"
    with Writer(path, {"label": "categorical", "image": "binary"}, payload=["image"], chunk_size=4 << 10) as writer:
        for n in range(600):
            writer.write({"key": f"k{n}", "label": "old", "image": bytes(900)})
    table = tmp_path / "labels.csv"
    table.write_text("key,label\n" + "".join(f"k{n},new\n" for n in range(600)))

    def overlays():
        return {file.name for file in path.glob("overlays/*/*.arrow")}

    def labels(version=None):
        return {sample["label"] for sample in stoker.open(path, version=version)}

    process = cli.start("update", path, table, "--yes", "--ingest-id", "killed", "--threads", 1)
    until(lambda: overlays() or process.poll() is not None, "an overlay")
    process.kill()
    process.communicate()
    assert newest_version(path) in (1, 2)
    assert labels() == ({"old"} if newest_version(path) == 1 else {"new"})
    left = overlays()
    cli.run("gc", path, "--older-than", "0s", "--yes")
    # The lease protects them.
    assert overlays() == left

    cli.run("update", path, table, "--yes", "--ingest-id", "killed")
    assert newest_version(path) == 2
    assert labels() == {"new"}
    assert labels(1) == {"old"}
    cli.run("gc", path, "--older-than", "0s", "--yes")
    used = open_snapshot(path).chunks.overlays
    assert len(overlays()) == len(used) == len(list(path.glob("chunks/*/*.arrow")))
    cli.run("verify", path)


@pytest.mark.full("stores")
def test_a_feeder_names_a_damaged_overlay(cli, start_feeder, tmp_path):
    path = tmp_path / "data"
    with Writer(path, {"label": "categorical", "image": "binary"}, payload=["image"]) as writer:
        for n in range(20):
            writer.write({"key": f"k{n}", "label": "old", "image": bytes(50)})
    (tmp_path / "labels.csv").write_text("key,label\nk3,new\n")
    cli.run("update", path, tmp_path / "labels.csv", "--yes")
    (overlay,) = path.glob("overlays/*/*.arrow")
    content = bytearray(overlay.read_bytes())
    content[len(content) // 2] ^= 1
    overlay.write_bytes(content)
    feeder = start_feeder("damaged-overlay", f"new={path}", f"old={path}@1", "--batch-size", 5).ready()
    with Feed(feeder.address, "old") as feed:
        assert sum(len(batch.keys) for batch in feed) == 20
    with pytest.raises(stoker.errors.StokerError, match=overlay.name), Feed(feeder.address, "new") as feed:
        list(feed)
    assert overlay.name in cli.fails("verify", path)
