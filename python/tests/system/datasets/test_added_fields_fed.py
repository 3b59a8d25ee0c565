"""Fields that `stoker update --add` has added: every reader gives the same values and nulls, of each version."""

import json

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import stoker
from stoker import Feed, Writer
from stoker._commit.table import encode_table
from stoker._dataset.snapshot import open_snapshot
from stoker._dataset.versions import newest_version

pytestmark = pytest.mark.full("stores")

FIELDS = {"label": "categorical", "image": "binary"}
ADDED = {
    "score": "float64",
    "reviewer": "categorical",
    "ok": "bool",
    "tags": "utf8[]",
    "box": "int32[]",
    "note": "utf8",
}
ORDER = {"batch_size": 7, "lanes": 3, "shuffle_window": 8 << 10}
ROWS = 40


def packed(n):
    return {"label": f"c{n % 3}", "image": bytes([n]) * (100 + n)}


def added(n):
    """The values of a table row."""
    return {
        "score": n / 4,
        "reviewer": "ada" if n % 2 else "zoë",
        "ok": n % 3 == 0 if n % 4 else None,
        "tags": ["x", "yy"][: n % 3],
        "box": list(range(n % 5)),
        "note": None if n % 4 else f"note {n}",
    }


NONE = dict.fromkeys(ADDED)
SCHEMA = pa.schema({
    "key": pa.utf8(), "score": pa.float64(), "reviewer": pa.utf8(), "ok": pa.bool_(),
    "tags": pa.list_(pa.field("item", pa.utf8(), False)), "box": pa.list_(pa.field("item", pa.int32(), False)),
    "note": pa.utf8(),
})  # fmt: skip


def key(n):
    return f"k/{n:03}"


@pytest.fixture(scope="module")
def data(cli, tmp_path_factory):
    """1, 2: samples. 3: fields added to some of the first part. 4: more samples, which have one. 5: deleted by an added
    field. 6: compacted."""
    root = tmp_path_factory.mktemp("added")
    path = root / "data"
    for part in range(2):
        with Writer(path, FIELDS, append=True, payload=["image"], chunk_size=2 << 10, shuffle=False) as writer:
            for n in range(part, ROWS, 2):
                writer.write({"key": key(n), **packed(n)})
    cli.run("index", path)
    rows = [{"key": key(n), **added(n)} for n in range(0, ROWS // 2, 2)]
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), root / "new.parquet")
    refused = cli.fails("update", path, root / "new.parquet", "--yes")
    assert "the dataset has no field score" in refused
    assert "--add score" in refused
    assert newest_version(path) == 2
    flags = [flag for name in ADDED for flag in ("--add", f"{name}=categorical" if name == "reviewer" else name)]
    told = json.loads(cli.run("update", path, root / "new.parquet", *flags, "--json", "--yes"))
    assert told["version"] == 3
    versions = {2: {key(n): packed(n) for n in range(ROWS)}}
    versions[3] = {key(n): packed(n) | (added(n) if n % 2 == 0 and n < ROWS // 2 else NONE) for n in range(ROWS)}
    with Writer(path, append=True, chunk_size=2 << 10) as writer:
        for n in range(ROWS, ROWS + 6):
            writer.write({"key": key(n), **packed(n), "score": float(n)})
    versions[4] = versions[3] | {key(n): packed(n) | NONE | {"score": float(n)} for n in range(ROWS, ROWS + 6)}
    cli.run("delete", path, "--where", "score = 1 OR reviewer = 'zoë' AND score > 4", "--yes")
    versions[5] = {
        k: s for k, s in versions[4].items() if not (s["score"] == 1 or (s["reviewer"] == "zoë" and s["score"] > 4))
    }
    assert len(versions[5]) < len(versions[4]) - 1
    cli.run("compact", path, "--chunk-size", "64kb", "--below", "32kb")
    versions[6] = versions[5]
    for flag in ("--check", "--rebuild", "--check"):
        cli.run("index", path, flag)
    cli.run("verify", path)
    return path, versions


def plain(samples):
    return {
        s["key"]: {k: v.tolist() if hasattr(v, "tolist") else v for k, v in s.items() if k != "key"} for s in samples
    }


@pytest.mark.cells
@pytest.mark.parametrize("version", [2, 3, 4, 5, 6])
def test_single_samples_and_tables(data, version):
    path, versions = data
    samples = stoker.open(path, version=version)
    assert plain(samples) == versions[version]
    rows = {row.pop("key"): row for row in samples.to_arrow().to_pylist()}
    assert rows == versions[version]
    if version > 2:
        scored = samples.to_arrow(columns=["key", "score"], filter=pc.field("score") >= 1)
        assert {row["key"]: row["score"] for row in scored.to_pylist()} == {
            k: s["score"] for k, s in versions[version].items() if s["score"] is not None and s["score"] >= 1
        }
        assert "score" not in {field.name for field in stoker.open(path, version=2).fields}


def test_a_stat_has_the_length_of_the_packed_sample(cli, data):
    path, versions = data
    for k in (key(2), key(1), key(ROWS + 1)):
        for version in (3, 4):
            if k in versions[version]:
                stat = json.loads(cli.run("stat", f"{path}@{version}", k, "--json"))
                assert str(stoker.open(path, version=version).stat(k).length) in json.dumps(stat)


@pytest.mark.cells
@pytest.mark.parametrize("version", [2, 3, 4, 6])
def test_get_info_export_and_sql(cli, data, tmp_path, version):
    path, versions = data
    got = json.loads(cli.run("get", path, key(2), "--version", version, "--json"))
    text = json.dumps(got)
    assert ("reviewer" in text) == (version > 2)
    info = json.loads(cli.run("info", f"{path}@{version}", "--json"))
    names = [field["name"] for field in info["fields"]]
    assert names == ["label", *(ADDED if version > 2 else ()), "image"]
    cli.run("export", f"{path}@{version}", tmp_path / "out", "--format", "parquet")
    (file,) = (tmp_path / "out").rglob("*.parquet")
    rows = {row["key"]: {name: row[name] for name in names} for row in pq.read_table(file).to_pylist()}
    assert rows == versions[version]
    cli.run("show", f"{path}@{version}", "--json")


def test_differences_and_copies(cli, data, tmp_path):
    path, versions = data
    told = cli.run("diff", path, 2, 3, "--keys")
    changed = {line.split()[-1] for line in told.splitlines() if line.startswith("~")}
    assert changed == {key(n) for n in range(0, ROWS // 2, 2)}
    cli.run("copy", path, tmp_path / "copy")
    assert plain(stoker.open(tmp_path / "copy")) == versions[6]
    cli.run("verify", tmp_path / "copy")


def rows_of(feed):
    out = {}
    for batch in feed:
        for row in batch.arrow.to_pylist():
            k = row.pop("key")
            for name, names in feed.classes.items():
                if name in row:
                    row[name] = None if row[name] is None else names[row[name]]
            out[k] = row
    return out


@pytest.mark.cells
@pytest.mark.parametrize("tier", [[], ["--tier", "memory:16m"]], ids=["mapped", "tier"])
def test_a_feeder_and_a_path_give_the_values(cli, data, start_feeder, tier):
    path, versions = data
    streams = [f"v{v}={path}@{v}" for v in (2, 3, 4, 6)]
    options = ["--batch-size", 7, "--lanes", 3, "--shuffle-window", "8kb", *tier]
    feeder = start_feeder(f"added{len(tier)}", *streams, *options).ready()
    for version in (2, 3, 4, 6):
        with Feed(path, version=version, **ORDER, tail="keep") as feed:
            assert rows_of(feed) == versions[version]
        with Feed(feeder.address, f"v{version}", tail="keep") as feed:
            assert rows_of(feed) == versions[version]
    for where in ((path, None), (feeder.address, "v4")):
        more = {"version": 4, **ORDER} if where[1] is None else {}
        with Feed(*[part for part in where if part], columns=["key", "score"], tail="keep", **more) as feed:
            assert rows_of(feed) == {k: {"score": s["score"]} for k, s in versions[4].items()}
    feeder.stop()
    # The receipts have checksums of the values that the trainers received.
    assert json.loads(cli.run("audit", feeder.name, "--json"))["clean"]


def test_a_following_feed_has_the_fields_of_each_version(cli, start_feeder, tmp_path):
    path = tmp_path / "data"
    with Writer(path, FIELDS, payload=["image"]) as writer:
        for n in range(20):
            writer.write({"key": key(n), **packed(n)})
    feeder = start_feeder("follow-added", path, "--follow", "--epochs", 2, "--batch-size", 5).ready()
    (tmp_path / "new.csv").write_text(f"key,score\n{key(3)},1.5\n")
    with Feed(feeder.address, tail="keep") as feed:
        first = rows_of(feed)
        cli.run("update", path, tmp_path / "new.csv", "--add", "score", "--yes")
        second = rows_of(feed)
    assert first == {key(n): packed(n) for n in range(20)}
    assert second == {key(n): packed(n) | {"score": 1.5 if n == 3 else None} for n in range(20)}
    feeder.stop()
    assert json.loads(cli.run("audit", feeder.name, "--json"))["clean"]


def test_appends_of_rows_can_have_the_field_or_leave_it_out(cli, tmp_path):
    path = tmp_path / "data"
    (tmp_path / "a.jsonl").write_text('{"key": "a", "n": 1}\n')
    cli.run("ingest", tmp_path / "a.jsonl", path, "--key", "key")
    (tmp_path / "new.csv").write_text("key,score\na,2\n")
    cli.run("update", path, tmp_path / "new.csv", "--add", "score=float32", "--yes")
    (tmp_path / "b.jsonl").write_text('{"key": "b", "n": 2, "score": 3.5}\n')
    cli.run("ingest", tmp_path / "b.jsonl", path, "--key", "key", "--append", "--type", "score=float32")
    (tmp_path / "c.jsonl").write_text('{"key": "c", "n": 3}\n')
    cli.run("ingest", tmp_path / "c.jsonl", path, "--key", "key", "--append")
    rows = stoker.open(path).to_arrow(columns=["key", "n", "score"]).to_pylist()
    assert sorted(rows, key=lambda row: row["key"]) == [
        {"key": "a", "n": 1, "score": 2.0},
        {"key": "b", "n": 2, "score": 3.5},
        {"key": "c", "n": 3, "score": None},
    ]
    cli.run("verify", path)
    # A typo is no field.
    (tmp_path / "typo.csv").write_text("key,scoer\na,2\n")
    assert "--add scoer" in cli.fails("update", path, tmp_path / "typo.csv", "--yes")
    (tmp_path / "text.csv").write_text("key,score\na,high\n")
    assert "float32" in cli.fails("update", path, tmp_path / "text.csv", "--add", "score=utf8", "--yes")
    assert newest_version(path) == 4


def test_a_chunk_table_keeps_the_fields(cli, data):
    path, _ = data
    snapshot = open_snapshot(path)
    table = path / "_stoker" / "tables" / f"{snapshot.version:020d}.arrow"
    assert not table.exists()
    table.parent.mkdir(exist_ok=True)
    table.write_bytes(encode_table(snapshot))
    try:
        again = open_snapshot(path)
        assert again.info.fields == snapshot.info.fields
        assert [field.name for field in again.added] == [*ADDED]
        cli.run("verify", path)
        info = json.loads(cli.run("info", path, "--json"))
        assert "score" in [field["name"] for field in info["fields"]]
    finally:
        table.unlink()
