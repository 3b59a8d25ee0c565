"""What a user of `Writer` sees."""

from __future__ import annotations

import functools
import json
import pickle
import resource
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import stoker
from stoker import Feed
from stoker._dataset.snapshot import newest_version, open_snapshot
from stoker.errors import CommitRefusedError, DuplicateKeyError, InvalidSampleError, NotADatasetError, StokerError

Writer = functools.partial(stoker.Writer, shuffle=False)
"""What is said here of chunks holds for samples in the order in which they come."""

PHOTOS = {"label": "categorical", "weight": "float32?", "image": "binary"}


def photo(n: int) -> dict[str, Any]:
    return {
        "key": f"{n:05d}.jpg",
        "label": "cat" if n % 3 else "dog",
        "weight": None if n % 5 == 0 else n / 4,
        "image": bytes([n % 256]) * (n % 7 + 2000),
    }


def contents(path: Path, version: int | None = None) -> dict[str, dict[str, Any]]:
    return {s.pop("key"): s for s in stoker.open(path, version)}


def chunk_files(path: Path) -> set[str]:
    return {f.name for f in path.glob("chunks/*/*")}


def test_samples_come_back(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", PHOTOS, chunk_size=20_000) as w:
        for n in range(50):
            w.write(photo(n))
    assert w.version == 1
    assert w.samples == 50
    samples = stoker.open(tmp_path / "x")
    assert [(f.name, f.payload) for f in samples.fields] == [("label", False), ("weight", False), ("image", True)]
    assert samples.classes["label"] == ("cat", "dog")
    assert samples.name == "x"
    assert list(samples.keys()) == [photo(n)["key"] for n in range(50)], "in the order in which they were written"
    for n in range(50):
        assert samples[photo(n)["key"]] == photo(n)
    table = open_snapshot(tmp_path / "x").chunks.columns
    for path in (tmp_path / "x").glob("chunks/*/*.arrow"):
        with pa.ipc.open_file(str(path)) as file:
            batch = file.get_batch(0)
        batch.validate(full=True)
        for key, image in zip(batch.column("key").to_pylist(), batch.column("image").to_pylist(), strict=True):
            assert image == samples[key]["image"]
    assert len(table["rows"]) > 5
    assert table["length"].max() <= 20_000


def test_a_feed_delivers_what_was_written(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", {"tokens": "int32[]", "pixels": "uint8(2,3)"}, payload=["tokens"]) as w:
        for n in range(40):
            w.write({"tokens": range(n), "pixels": np.full((2, 3), n, np.uint8)})
    seen = {}
    with Feed(tmp_path / "x", batch_size=7, tail="keep", epochs=1) as feed:
        for batch in feed:
            for row, key in enumerate(batch.keys):
                seen[key] = (batch["tokens"][row].tolist(), int(batch["pixels"][row][1][2]))
    assert seen == {f"{n:08d}": (list(range(n)), n) for n in range(40)}


def test_batches_and_samples_mix_and_are_cut_alike(tmp_path: Path) -> None:
    rows = [photo(n) for n in range(60)]
    with Writer(tmp_path / "rows", PHOTOS, payload=["image"], chunk_size=20_000) as w:
        for row in rows:
            w.write(row)
    table = pa.Table.from_pylist(rows).cast(
        pa.schema([("key", pa.utf8()), ("label", pa.utf8()), ("weight", pa.float32()), ("image", pa.binary())])
    )
    with Writer(tmp_path / "batches", PHOTOS, payload=["image"], chunk_size=20_000) as w:
        w.write_batch(table.slice(0, 7))
        w.write(rows[7])
        w.write_batch(table.slice(8, 30).to_batches()[0])
        for row in rows[38:]:
            w.write(row)
    one, other = open_snapshot(tmp_path / "rows").chunks, open_snapshot(tmp_path / "batches").chunks
    assert one.columns["rows"].tolist() == other.columns["rows"].tolist()
    assert one.columns["length"].tolist() == other.columns["length"].tolist()
    assert contents(tmp_path / "rows") == contents(tmp_path / "batches")


def test_nothing_is_visible_after_an_exception_or_within(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Writer(tmp_path / "x", PHOTOS, chunk_size=5_000) as w:  # noqa: PT012
        for n in range(30):
            w.write(photo(n))
        assert newest_version(tmp_path / "x") == 0
        1 / 0  # noqa: B018
    assert newest_version(tmp_path / "x") == 0
    assert chunk_files(tmp_path / "x") == set()
    assert w.version is None
    with pytest.raises(ValueError, match="closed"):
        w.write(photo(1))
    assert list((tmp_path / "x/_stoker/leases").iterdir()) == []
    with pytest.raises(ValueError, match=r"Another writer began this dataset .* if it is dead, delete"):
        Writer(tmp_path / "x", {"text": "utf8"})
    with Writer(tmp_path / "x", PHOTOS) as w:
        w.write(photo(1))
    assert w.version == 1


def test_ctrl_c_leaves_nothing(tmp_path: Path) -> None:
    program = (
        "import stoker, sys\n"
        f"with stoker.Writer({str(tmp_path / 'x')!r}, {{'image': 'binary'}}, chunk_size=5000, shuffle=False) as w:\n"
        "    for n in range(30): w.write({'image': bytes(2000)})\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        # The process that started the tests may ignore the signal.
        ["env", "--default-signal=INT", sys.executable, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in err
    assert newest_version(tmp_path / "x") == 0
    assert chunk_files(tmp_path / "x") == set()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"label": 3}, "sample 'k', field 'label': expected str, not int 3"),
        ({"image": "text"}, "sample 'k', field 'image': expected bytes, not str 'text'"),
        ({"weight": "heavy"}, "sample 'k', field 'weight': expected a number, not str 'heavy'"),
        ({"image": None}, "sample 'k', field 'image': there is no value, but the field is not nullable"),
        ({"other": 1}, "sample 'k': there is no field 'other'; there are ['image', 'label', 'weight']"),
        ({"key": ""}, "sample '', field 'key': the key is empty"),
        ({"key": "\ud800"}, "field 'key': the text has half a surrogate pair"),
        ({"key": 7}, "sample 7, field 'key': expected str"),
    ],
)
def test_a_value_that_does_not_fit_names_sample_and_field(tmp_path: Path, change: dict[str, Any], says: str) -> None:
    with Writer(tmp_path / "x", PHOTOS) as w:
        w.write(photo(1))
        with pytest.raises(InvalidSampleError) as error:
            w.write({**photo(2), "key": "k"} | change)
        assert says in str(error.value)
        w.write(photo(3))
    assert contents(tmp_path / "x").keys() == {"00001.jpg", "00003.jpg"}, "the others are taken"


@pytest.mark.parametrize(
    ("kind", "value", "says"),
    [
        ("int8", 128, "128 is not between -128 and 127"),
        ("uint64", -1, "-1 is not between 0 and 18446744073709551615"),
        ("int32", 1.5, "expected a whole number"),
        ("bool", 2, "expected True or False"),
        ("int32[]", [1, 2**31], "2147483648 is not between"),
        ("int32[]", [1.5], "expected whole numbers"),
        ("int32[]", [[1]], "expected one dimension"),
        ("float32(2,2)", [1, 2, 3, 4], "expected shape (2, 2), not (4,)"),
        ("uint8(2)", np.array([1, 256]), "256 is not between 0 and 255"),
        ("float32[]", ["a"], "expected numbers"),
        ("utf8", b"bytes", "expected str"),
    ],
)
def test_what_fits_no_type(tmp_path: Path, kind: str, value: Any, says: str) -> None:
    w = Writer(tmp_path / "x", {"f": kind})
    with pytest.raises(InvalidSampleError) as error:
        w.write({"key": "k", "f": value})
    assert says in str(error.value)
    assert "sample 'k', field 'f'" in str(error.value)
    w.abort()


@pytest.mark.parametrize(
    ("kind", "column", "says"),
    [
        ("int8", pa.array([1, 200]), "sample 'b' (row 1), field 'f': 200 is not between -128 and 127"),
        ("binary", pa.array([b"a", None]), "sample 'b' (row 1), field 'f': there is no value"),
        ("int32[]", pa.array([[1, 2], [3, 2**40]]), "sample 'b' (row 1), field 'f': 1099511627776 is not between"),
        ("int32[]", pa.array([[1, 2], [None]]), "sample 'b' (row 1), field 'f': an element is missing"),
        ("utf8", pa.array([1, 2]), "column 'f': expected a column of utf8, not int64"),
        ("categorical", pa.array([1, 2]), "column 'f': expected class names"),
        ("float32(3)", pa.array([[1.0], [2.0]]), "column 'f': expected a column of tensors"),
        ("int64", pa.array([1.0, 2.0]), "column 'f': expected a column of whole numbers, not double"),
    ],
)
def test_columns_that_do_not_fit(tmp_path: Path, kind: str, column: pa.Array, says: str) -> None:
    with Writer(tmp_path / "x", {"f": kind + "?" if kind == "none" else kind}) as w:
        with pytest.raises(InvalidSampleError) as error:
            w.write_batch(pa.table({"key": ["a", "b"], "f": column}))
        assert says in str(error.value)
        with pytest.raises(InvalidSampleError, match="no field 'g'"):
            w.write_batch(pa.table({"key": ["a"], "g": [1]}))
        with pytest.raises(InvalidSampleError, match="key is empty"):
            w.write_batch(pa.table({"key": [""], "f": column.slice(0, 1)}))
        w.abort()


def test_keys_are_all_given_or_all_numbers(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", {"n": "int64"}) as w:
        w.write({"n": 1})
        with pytest.raises(InvalidSampleError, match="all samples a key, or none"):
            w.write({"key": "a", "n": 2})
        w.write_batch(pa.table({"n": [3, 4]}))
    assert list(contents(tmp_path / "x")) == ["00000000", "00000001", "00000002"]
    for n in (5, 6):
        with Writer(tmp_path / "x", append=True, ingest_id=f"more-{n}") as w:
            w.write({"n": n})
    keys = list(contents(tmp_path / "x"))
    assert len(set(keys)) == 5, "later runs do not repeat the numbers of earlier ones"
    assert all(k.endswith("-00000000") for k in keys[3:])


@pytest.mark.parametrize("chunk_size", [200, 100_000])
def test_a_key_that_comes_twice_is_refused(tmp_path: Path, chunk_size: int) -> None:
    w = Writer(tmp_path / "x", {"n": "int64"}, chunk_size=chunk_size)
    for n in range(40):
        w.write({"key": "seven" if n in (7, 30) else str(n), "n": n})
    with pytest.raises(DuplicateKeyError, match="key 'seven' occurs twice, in samples 7 and 30"):
        w.close()
    assert newest_version(tmp_path / "x") == 0
    assert chunk_files(tmp_path / "x") == set()


def test_a_key_that_the_dataset_has_is_refused_unless_it_was_removed(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", {"n": "int64"}) as w:
        w.write_batch(pa.table({"key": ["a", "b"], "n": [1, 2]}))
    with (
        pytest.raises(DuplicateKeyError, match="the dataset already has a sample with the key 'b', since version 1"),
        Writer(tmp_path / "x", append=True) as w,
    ):
        w.write_batch(pa.table({"key": ["c", "b"], "n": [1, 2]}))
    with Writer(tmp_path / "x", replace=True) as w:
        w.write_batch(pa.table({"key": ["b", "c"], "n": [5, 6]}))
    assert w.version == 2
    assert {k: s["n"] for k, s in contents(tmp_path / "x").items()} == {"b": 5, "c": 6}
    assert {k: s["n"] for k, s in contents(tmp_path / "x", 1).items()} == {"a": 1, "b": 2}
    with Writer(tmp_path / "x", append=True) as w:
        w.write({"key": "a", "n": 7})
    assert {k: s["n"] for k, s in contents(tmp_path / "x").items()} == {"b": 5, "c": 6, "a": 7}


def test_a_dataset_with_a_version_wants_append_or_replace(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", {"n": "int64"}) as w:
        w.write({"n": 1})
    with pytest.raises(CommitRefusedError, match="already has version 1; add to it with append=True"):
        Writer(tmp_path / "x", {"n": "int64"})
    with pytest.raises(ValueError, match=r"field 'n' is int64 in the dataset .*, but int32 in the schema"):
        Writer(tmp_path / "x", {"n": "int32"}, append=True)
    with pytest.raises(ValueError, match="exclude each other"):
        Writer(tmp_path / "x", append=True, replace=True)
    (tmp_path / "y").mkdir()
    (tmp_path / "y" / "holiday.txt").touch()
    with pytest.raises(CommitRefusedError, match=r"is not a dataset and contains holiday\.txt"):
        Writer(tmp_path / "y", {"n": "int64"})
    with pytest.raises(ValueError, match="its fields must be given"):
        Writer(tmp_path / "z")


def test_the_first_of_two_creators_wins(tmp_path: Path) -> None:
    one, other = Writer(tmp_path / "x", {"n": "int64"}), Writer(tmp_path / "x", {"n": "int64"})
    for w in (one, other):
        w.write({"n": 1})
    one.close()
    with pytest.raises(CommitRefusedError, match="already has version 1; add to it with append"):
        other.close()
    assert len(chunk_files(tmp_path / "x")) == 1
    stoker.open(tmp_path / "x")[0]


def test_a_pickled_copy_opens_the_same_version(tmp_path: Path) -> None:
    for first in (0, 10):
        with Writer(tmp_path / "x", PHOTOS, append=bool(first)) as w:
            for n in range(first, first + 10):
                w.write(photo(n), split="val" if n % 2 else None)
        if not first:
            samples = stoker.open(tmp_path / "x", split="val")
    copied = pickle.loads(pickle.dumps(samples))
    assert (copied.version, len(copied)) == (1, 5)
    assert list(copied) == list(samples)


def test_the_second_creator_is_refused_before_it_packs(tmp_path: Path) -> None:
    one, other = (Writer(tmp_path / "x", {"data": "binary"}, chunk_size=1000) for _ in range(2))
    for _ in range(2):
        one.write({"data": bytes(1000)})
    description = (tmp_path / "x/_stoker/dataset.json").read_bytes()
    other.write({"data": bytes(1000)})
    with pytest.raises(CommitRefusedError, match=r"another writer is at work .*Nothing was packed.*append=True"):
        other.write({"data": bytes(1000)})
    other.abort()
    one.close()
    assert len(chunk_files(tmp_path / "x")) == 2
    assert (tmp_path / "x/_stoker/dataset.json").read_bytes() == description
    assert list((tmp_path / "x/_stoker/leases").iterdir()) == []


@pytest.mark.parametrize("mode", ["append", "replace"])
def test_writers_of_different_chunk_sizes_share_a_new_dataset(tmp_path: Path, mode: str) -> None:
    writers = [Writer(tmp_path / "x", {"data": "binary"}, chunk_size=1000 + n, **{mode: True}) for n in range(4)]
    for _ in range(3):
        for n, w in enumerate(writers):
            w.write({"data": bytes(1000) + bytes([n])})
    for w in reversed(writers):
        w.close()
    assert sorted(w.version or 0 for w in writers) == [1, 2, 3, 4]
    assert len(stoker.open(tmp_path / "x")) == (12 if mode == "append" else 3)


def test_who_appends_beside_the_first_writer_takes_nothing_from_it(tmp_path: Path) -> None:
    first = Writer(tmp_path / "x", {"data": "binary"}, chunk_size=1000)
    for n in range(2):
        first.write({"key": f"f{n}", "data": bytes(1000)})
    with Writer(tmp_path / "x", append=True) as w:
        w.write({"key": "a", "data": bytes(1000)})
    first.close()
    assert (w.version, first.version) == (1, 2)
    assert {s["key"] for s in stoker.open(tmp_path / "x")} == {"f0", "f1", "a"}


def test_a_lost_description_is_never_written_anew(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", {"n": "int64"}) as w:
        w.write({"n": 1})
    lost = (tmp_path / "x/_stoker/dataset.json").read_bytes()
    assert (tmp_path / "x/_stoker/dataset-copy.json").read_bytes() == lost
    (tmp_path / "x/_stoker/dataset.json").unlink()
    with pytest.raises(CommitRefusedError, match="stoker recover"):
        Writer(tmp_path / "x", {"n": "int64"}, append=True)
    with pytest.raises(NotADatasetError, match="stoker recover"):
        stoker.open(tmp_path / "x")


def test_an_empty_writer_commits_nothing(tmp_path: Path) -> None:
    with pytest.raises(CommitRefusedError, match="no sample"), Writer(tmp_path / "x", {"n": "int64"}):
        pass
    assert not (tmp_path / "x").exists()


def test_one_ingest_id_commits_once(tmp_path: Path) -> None:
    for _ in range(2):
        with Writer(tmp_path / "x", {"n": "int64"}, ingest_id="monday", append=True) as w:
            w.write({"key": "a", "n": 1})
        assert w.version == 1
    assert newest_version(tmp_path / "x") == 1
    with pytest.raises(ValueError, match="not an ingest id"):
        Writer(tmp_path / "x", {"n": "int64"}, ingest_id="../x", append=True)


@pytest.mark.parametrize(("size", "payload"), [(1024, False), (1025, True)])
def test_fields_above_a_kibibyte_are_payload(tmp_path: Path, size: int, payload: bool) -> None:
    with Writer(tmp_path / "x", {"a": "binary", "b": "utf8", "c": "int8(2000)", "d": "binary?"}) as w:
        for _ in range(1000):
            w.write({"a": bytes(size), "b": "text", "c": np.zeros(2000, np.int8), "d": bytes(size)})
        w.write({"a": bytes(100_000), "b": "t", "c": np.zeros(2000, np.int8)})
    found = {f.name: f.payload for f in stoker.open(tmp_path / "x").fields}
    assert found == {"a": payload, "b": False, "c": True, "d": False}


def test_a_pyarrow_schema_says_the_same(tmp_path: Path) -> None:
    schema = pa.schema(
        [
            pa.field("key", pa.utf8()),
            pa.field("label", pa.dictionary(pa.int8(), pa.utf8()), False),
            pa.field("tokens", pa.list_(pa.uint16())),
            pa.field("image", pa.large_binary()),
            pa.field("pixels", pa.fixed_shape_tensor(pa.float32(), (2, 3)), False),
            pa.field("half", pa.float16(), False),
        ]
    )
    with Writer(tmp_path / "x", schema) as w:
        for n in range(3):
            w.write(
                {"key": str(n), "label": "x", "tokens": [n], "image": bytes(4000), "pixels": np.ones((2, 3)), "half": 1}
            )
    fields = {f.name: (f.type, f.nullable, f.payload) for f in stoker.open(tmp_path / "x").fields}
    assert fields == {
        "label": ("categorical", False, False),
        "tokens": ("uint16[]", True, False),
        "pixels": ("float32[2,3]", False, False),
        "half": ("float16", False, False),
        "image": ("binary", False, True),
    }
    with pytest.raises(ValueError, match="no type for duration"):
        Writer(tmp_path / "y", pa.schema([("day", pa.duration("s"))]))


def test_splits_have_chunks_of_their_own(tmp_path: Path) -> None:
    with Writer(tmp_path / "x", {"n": "int64"}, split="fit") as w:
        for n in range(10):
            w.write({"key": str(n), "n": n}, split="val" if n % 3 == 0 else None)
        w.write_batch(pa.table({"key": ["t"], "n": [9]}), split="test")
        with pytest.raises(ValueError, match="split is ''"):
            w.write({"key": "x", "n": 1}, split="")
    assert stoker.open(tmp_path / "x").splits == ("fit", "val", "test") or set(stoker.open(tmp_path / "x").splits) == {
        "fit",
        "val",
        "test",
    }
    assert list(stoker.open(tmp_path / "x", split="val").keys()) == ["0", "3", "6", "9"]


def test_parts_become_one_version_in_their_order(tmp_path: Path) -> None:
    parts = []
    for label in ("b", "a", "c"):
        w = Writer(tmp_path / "x", {"label": "categorical", "data": "binary"}, part=True, chunk_size=3000)
        for n in range(5):
            w.write({"key": f"{label}{n}", "label": label, "data": bytes(2000)})
        w.close()
        parts.append(json.loads(json.dumps(pickle.loads(pickle.dumps(w.part)))))
        assert newest_version(tmp_path / "x") == 0
    assert stoker.commit(tmp_path / "x", parts) == 1
    assert stoker.commit(tmp_path / "x", parts) == 1, "the same parts are committed once"
    assert newest_version(tmp_path / "x") == 1
    assert list(contents(tmp_path / "x")) == [f"{label}{n}" for label in "bac" for n in range(5)]
    assert stoker.open(tmp_path / "x").classes["label"] == ("a", "b", "c")


def test_parts_without_keys_do_not_meet(tmp_path: Path) -> None:
    parts = []
    for _ in range(3):
        with Writer(tmp_path / "x", {"n": "int64"}, part=True, ingest_id="run") as w:
            w.write({"n": 1})
        parts.append(w.part)
    stoker.commit(tmp_path / "x", parts)
    assert len(contents(tmp_path / "x")) == 3


def test_parts_that_do_not_go_together_are_refused(tmp_path: Path) -> None:
    def part(path: str, key: str, kind: str = "int64") -> Any:
        with Writer(tmp_path / path, {"n": kind}, part=True) as w:
            w.write({"key": key, "n": 1})
        return w.part

    a, b = part("x", "a"), part("x", "a")
    with pytest.raises(DuplicateKeyError, match="key 'a' occurs twice"):
        stoker.commit(tmp_path / "x", [a, b])
    with pytest.raises(CommitRefusedError, match="given twice"):
        stoker.commit(tmp_path / "x", [a, a])
    with pytest.raises(CommitRefusedError, match="was written for dataset"):
        stoker.commit(tmp_path / "x", [a, part("y", "b")])
    with pytest.raises(ValueError, match="field 'n' is int64 in the dataset"):
        part("x", "c", "int32")
    with pytest.raises(ValueError, match="expected the `part` of a writer"):
        stoker.commit(tmp_path / "x", [{}])
    next(iter((tmp_path / "x").glob(f"chunks/*/{b['chunks'][0]['id']}.arrow"))).unlink()
    with pytest.raises(StokerError, match="no longer exists"):
        stoker.commit(tmp_path / "x", [b])
    assert stoker.commit(tmp_path / "x", [a]) == 1


def test_one_open_chunk_bounds_the_memory(tmp_path: Path) -> None:
    """Writes 256 MB in chunks of 4 MB, in a separate process."""
    program = (
        "import resource, stoker\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"with stoker.Writer({str(tmp_path / 'x')!r}, {{'image': 'binary'}}, chunk_size=4 << 20, shuffle=False) as w:\n"
        "    for n in range(200): w.write({'image': n.to_bytes(4, 'little') * 16384})\n"
        "    before = peak()\n"
        "    for n in range(200, 4000): w.write({'image': n.to_bytes(4, 'little') * 16384})\n"
        "print(peak() - before)\n"
    )
    out = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=120)
    assert int(out.stdout) < 32 << 10, "KiB more than with the first chunks"
    assert resource.getpagesize() > 0
