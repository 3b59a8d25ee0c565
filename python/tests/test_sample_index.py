"""Samples by key: the runs of the sample index, and reading without them."""

from __future__ import annotations

import functools
import gc
import pickle
import struct
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import google_crc32c
import numpy as np
import pytest

import stoker
import stoker._dataset.samples as samples_module
from index_prototype import Row, run
from small_datasets import MANY, DatasetWriter, sample, small_dataset
from stoker._dataset.chunk import ChunkReader
from stoker._dataset.index_run import IndexRun, RunIdentity
from stoker.errors import CorruptDataError, FormatTooNewError

GOLDEN = Path(__file__).parents[2] / "schemas" / "src" / "test" / "resources" / "golden" / "index-run-1.arrow"
DATASET = "5e0c8c1e-6f0d-4b51-9a53-0d6f1a2b3c4d"
ROWS: list[Row] = [
    (b"cats/1.jpg", 0, 0, 1000, 0x11111111),
    (b"cats/2.jpg", 0, 1, 2000, 0xFFFFFFFF),
    (b"cats/1.jpg", 7, 3, 1001, 5),
    ("dogs/ü.jpg".encode(), 1, 0, 0, 0),
    (b"a\nb\0c", 2, 4, 17, 9),
]


def index(dataset: DatasetWriter, first: int, last: int, rows: list[Row] | None = None) -> Path:
    """Writes the run of some versions."""
    chunks = [t for t in dataset.table if first <= t["added_in"] <= last]
    ids = b"".join(struct.pack(">q", t["ordinal"]) + t["id"].bytes for t in chunks)
    if rows is None:
        rows = []
        for samples in (stoker.open(dataset.root, version) for version in range(first, last + 1)):
            for stat in map(samples.stat, samples.keys()):
                assert stat is not None
                if dataset.table[stat.chunk] in chunks:
                    rows.append((stat.key.encode(), stat.chunk, stat.row, stat.length, stat.crc32c))
    path = dataset.root / "_stoker" / "index" / f"{first:020d}-{last:020d}.arrow"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(run(dataset.id, first, last, google_crc32c.value(ids), sorted(set(rows))))
    return path


@pytest.fixture
def heads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The chunks whose heads are read."""
    read: list[int] = []
    head: Callable[..., Any] = ChunkReader.head

    def counted(self: ChunkReader, fd: int, at: int) -> Any:
        read.append(at)
        return head(self, fd, at)

    monkeypatch.setattr(ChunkReader, "head", counted)
    return read


def test_the_golden_run_is_the_one_of_the_specification() -> None:
    assert run(DATASET, 2, 5, 0x1234ABCD, ROWS) == GOLDEN.read_bytes()


def test_the_golden_run_is_read() -> None:
    golden = IndexRun(GOLDEN)
    golden.verify_all()
    assert golden.identity == RunIdentity(DATASET, 2, 5, 0x1234ABCD)
    for key, *place in ROWS:
        first = golden.find(key)
        assert tuple(place) in {tuple(golden.row(n)) for n in range(first, golden.rows) if golden.key(n) == key}
    assert golden.find(b"cats/3.jpg") == -1
    assert [golden.ceiling(k) for k in (b"", b"cats/1.jpg", b"cats/1.jpgx", b"x")] == [0, 1, 3, 5]


def read_all(path: Path) -> None:
    found = IndexRun(path)
    found.verify_all()
    if found.identity != RunIdentity(DATASET, 2, 5, 0x1234ABCD):
        raise CorruptDataError("another run")


def test_every_damage_is_noticed(tmp_path: Path) -> None:
    whole = GOLDEN.read_bytes()
    path = tmp_path / "run.arrow"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises((CorruptDataError, FormatTooNewError)):
            read_all(path)
        path.unlink()
    for bit in range(8 * len(whole)):
        damaged = bytearray(whole)
        damaged[bit // 8] ^= 1 << bit % 8
        path.write_bytes(damaged)
        with pytest.raises((CorruptDataError, FormatTooNewError)):
            read_all(path)
        path.unlink()


def test_many_keys_are_found(tmp_path: Path) -> None:
    keys = [f"{n % 7}/{n:x}".encode() * (1 + n % 3) for n in range(8192)]
    path = tmp_path / "run.arrow"
    path.write_bytes(run(DATASET, 1, 1, 0, [(key, n // 100, n % 100, n, n) for n, key in enumerate(keys)]))
    found = IndexRun(path)
    for n, key in enumerate(keys):
        assert found.row(found.find(key)) == (n // 100, n % 100, n, n)
        assert found.find(key + b"\0") == -1


@pytest.mark.parametrize("fields", ["few", "many"])
def test_answers_are_the_same_with_and_without_the_index(tmp_path: Path, heads: list[int], fields: str) -> None:
    dataset = small_dataset(tmp_path / "d") if fields == "few" else small_dataset(tmp_path / "d", MANY)
    without = stoker.open(dataset.root)
    expected = {key: (without.stat(key), without[key]) for key in list(without.keys())}
    index(dataset, 1, 1)
    samples = stoker.open(dataset.root)
    heads.clear()
    for key, (stat, _) in expected.items():
        assert samples.stat(key) == stat
        assert stat is not None
        assert key in samples
    assert heads == []
    for key, (_, content) in expected.items():
        found = samples[key]
        assert {k: np.asarray(v).tolist() for k, v in found.items()} == {
            k: np.asarray(v).tolist() for k, v in content.items()
        }
    assert [entry.name for entry in samples.list()] == sorted(expected, key=str.encode)
    assert "no such key" not in samples
    assert "\ud800" not in samples
    assert samples.stat("nothing") is None
    with pytest.raises(KeyError, match="has no sample 'nothing'"):
        samples["nothing"]


def test_removed_samples_and_other_versions(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "d", chunks=(4, 4))
    rng = np.random.default_rng(5)
    dataset.commit([[sample(rng, 100 + n) for n in range(3)]], "val", removed={0: [1], 1: None})
    dataset.commit([[sample(rng, 1)]], removed={})  # one of the removed samples comes back
    index(dataset, 1, 2)
    for version, count in ((1, 8), (2, 6), (3, 7)):
        samples = stoker.open(dataset.root, version)
        listed = [entry.name for entry in samples.list()]
        assert len(listed) == count
        assert listed == sorted(samples.keys())
        assert all(samples.stat(key) is not None for key in listed)
    key = "dir/00001-é.jpg"
    assert [(s.chunk, s.row) if (s := stoker.open(dataset.root, v).stat(key)) else None for v in (1, 2, 3)] == [
        (0, 1),
        None,
        (3, 0),
    ]
    val = stoker.open(dataset.root, split="val")
    assert len(list(val.list())) == 3
    assert key not in val
    assert val.get([key]) == [None]


def test_list_has_common_prefixes(tmp_path: Path) -> None:
    dataset = DatasetWriter(tmp_path / "d", [{"name": "image", "type": "binary", "payload": True}])
    keys = ["a", "b/1", "b/2", "b/c/3", "b0", "ü/1", "😀/", "/x", "..", "\n"]
    dataset.commit([[{"key": key, "image": b"x"} for key in keys[n::3]] for n in range(3)])
    for _ in range(2):
        samples = stoker.open(dataset.root)
        assert [e.name for e in samples.list(delimiter="/")] == ["\n", "..", "/", "a", "b/", "b0", "ü/", "😀/"]
        assert [(e.name, e.is_prefix) for e in samples.list("b/", "/")] == [
            ("b/1", False),
            ("b/2", False),
            ("b/c/", True),
        ]
        assert [e.name for e in samples.list("b")] == ["b/1", "b/2", "b/c/3", "b0"]
        assert list(samples.list("nothing")) == []
        index(dataset, 1, 1)


@pytest.mark.parametrize("threads", [1, 3])
def test_get_answers_in_the_order_of_the_keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int) -> None:
    monkeypatch.setattr(samples_module, "_THREADS", threads)
    monkeypatch.setattr(samples_module, "_KEYS_PER_THREAD", 2)
    dataset = small_dataset(tmp_path / "d")
    index(dataset, 1, 1)
    samples = stoker.open(dataset.root)
    keys = list(samples.keys())[::-3]
    found = samples.get([*keys, "missing", keys[0]])
    assert [s["key"] if s else None for s in found] == [*keys, None, keys[0]]
    alone = [next(s for s in samples if s["key"] == key) for key in keys]
    assert [describe(s) for s in found[: len(keys)]] == [describe(s) for s in alone]
    assert samples.get([]) == []


def describe(sample: Any) -> dict[str, Any]:
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in sample.items()}


def test_get_in_threads_reports_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(samples_module, "_THREADS", 3)
    monkeypatch.setattr(samples_module, "_KEYS_PER_THREAD", 2)
    dataset = small_dataset(tmp_path / "d")
    samples = stoker.open(dataset.root)
    keys = list(samples.keys())
    path = next((dataset.root / "chunks").rglob("*.arrow"))
    data = bytearray(path.read_bytes())
    for at in range(len(data) * 3 // 5, len(data) * 3 // 4):
        data[at] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorruptDataError):
        stoker.open(dataset.root).get(keys)


@pytest.mark.parametrize("damage", ["cut", "flip", "foreign", "rows", "empty"])
def test_a_damaged_run_is_not_used(tmp_path: Path, damage: str) -> None:
    dataset = small_dataset(tmp_path / "d")
    path = index(dataset, 1, 1)
    data = path.read_bytes()
    keys = sorted(stoker.open(dataset.root).keys())
    path.unlink()
    if damage == "cut":
        path.write_bytes(data[:-7])
    elif damage == "flip":
        path.write_bytes(data[:1200] + bytes([data[1200] ^ 1]) + data[1201:])
    elif damage == "foreign":
        path.write_bytes(GOLDEN.read_bytes())
    elif damage == "empty":
        path.write_bytes(b"")
    else:
        index(dataset, 1, 1, [(key.encode(), 0, 6 - n, 1, 1) for n, key in enumerate(keys[:7])])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        samples = stoker.open(dataset.root)
        assert [s["key"] if s else None for s in samples.get(keys)] == keys
        assert [e.name for e in samples.list()] == keys
    assert len(caught) == 1
    assert "the heads of its chunks are read instead" in str(caught[0].message)


def use_all(samples: stoker.Samples, keys: list[str], seed: int) -> None:
    for n in np.random.default_rng(seed).permutation(len(keys)):
        assert samples[keys[n]]["key"] == keys[n] == samples[int(n)]["key"]


def test_several_threads_use_one_object(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "d", chunks=[3] * 80)
    for _ in range(2):
        samples = stoker.open(dataset.root)
        keys = list(stoker.open(dataset.root).keys())
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(functools.partial(use_all, samples, keys), range(4)))
        assert pickle.loads(pickle.dumps(samples))[keys[0]]["key"] == keys[0]
        index(dataset, 1, 1)


def test_an_object_without_references_maps_no_file(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "d", chunks=[3] * 8)
    index(dataset, 1, 1)
    gc.disable()
    try:
        samples = stoker.open(dataset.root)
        keys = list(samples.keys())
        assert len(samples.get(keys)) == len(keys)
        assert str(dataset.root) in Path("/proc/self/maps").read_text()
        del samples
        assert str(dataset.root) not in Path("/proc/self/maps").read_text()
    finally:
        gc.enable()
