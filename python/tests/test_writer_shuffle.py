"""`Writer` shuffles within a bounded block: each row whole and once, the same for the same seed, and mixed."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import stoker
from rounds import Round, rounds
from stoker.errors import DuplicateKeyError

SCHEMA = {
    "label": "categorical?",
    "n": "int64",
    "text": "utf8?",
    "tokens": "int32[]",
    "box": "float32(2)",
    "data": "binary",
}


def sample(n: int, rng: random.Random) -> dict[str, Any]:
    return {
        "key": f"k{n:05}",
        "label": None if n % 7 == 3 else f"class{n // 100}",
        "n": n,
        "text": None if n % 5 == 2 else f"text of {n}",
        "tokens": np.arange(n % 4, dtype=np.int32) + n,
        "box": np.array([n, -n], np.float32),
        "data": bytes([n % 256]) * rng.randrange(2000),
    }


def table(samples: list[dict[str, Any]]) -> pa.Table:
    box = pa.list_(pa.float32(), 2)
    return pa.table(
        {
            "key": [s["key"] for s in samples],
            "label": pa.array([s["label"] for s in samples], pa.utf8()).dictionary_encode(),
            "n": [s["n"] for s in samples],
            "text": pa.array([s["text"] for s in samples], pa.utf8()),
            "tokens": pa.array([s["tokens"] for s in samples], pa.list_(pa.int32())),
            "box": pa.array([s["box"] for s in samples], box),
            "data": [s["data"] for s in samples],
        }
    )


def plain(sample: Any) -> Any:
    return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in sample.items()}


def written(root: Path, samples: list[dict[str, Any]], how: random.Random, **options: Any) -> list[Any]:
    """Writes by rows and tables of random lengths; returns what is stored, in its order."""
    with stoker.Writer(root, SCHEMA, payload=["data"], chunk_size=20_000, **options) as w:
        at = 0
        while at < len(samples):
            few = samples[at : at + how.randrange(1, 60)]
            if how.random() < 0.5:
                w.write_batch(table(few))
            else:
                for one in few:
                    w.write(one)
            at += len(few)
    return [plain(s) for s in stoker.open(root)]


@pytest.mark.parametrize("buffer", [1, 90_000, 1 << 30])
def test_every_row_comes_back_whole_and_the_order_is_that_of_the_seed(tmp_path: Path, buffer: int) -> None:
    def one(rng: Round) -> None:
        path = Path(tempfile.mkdtemp(dir=tmp_path))
        samples = [sample(n, rng) for n in range(600)]
        how = rng.getrandbits(32)
        found = [
            written(path / f"x{i}", samples, random.Random(how), shuffle_buffer=buffer, seed=s)
            for i, s in enumerate((4, 4, 5))
        ]
        expected = [plain(s) for s in samples]
        for each in found:
            assert sorted(each, key=lambda s: s["n"]) == expected
        assert found[0] == found[1] != found[2]
        assert found[0] != expected
        kept = written(path / "kept", samples, random.Random(how), shuffle=False)
        assert kept == expected

    rounds(one, seconds=0.5)


def test_sorted_samples_are_mixed_in_every_chunk(tmp_path: Path) -> None:
    with stoker.Writer(tmp_path / "x", {"label": "categorical", "data": "binary"}, chunk_size=20_000) as w:
        for n in range(2000):
            w.write({"label": f"class{n // 200}", "data": bytes(500)})
    samples = stoker.open(tmp_path / "x")
    labels = [s["label"] for s in samples]
    chunks = [labels[at : at + 40] for at in range(0, 2000, 40)]
    assert min(len(set(c)) for c in chunks) >= 7
    assert Counter(labels) == Counter({f"class{n}": 200 for n in range(10)})
    assert sorted(s["key"] for s in samples) == [f"{n:08d}" for n in range(2000)]
    rows = samples._snapshot.chunks.columns["rows"].tolist()
    assert min(rows[:-1]) > max(rows) * 0.8


def test_splits_are_shuffled_apart_and_share_the_buffer(tmp_path: Path) -> None:
    with stoker.Writer(tmp_path / "x", {"n": "int64", "data": "binary"}, chunk_size=5000, shuffle_buffer=30_000) as w:
        for n in range(900):
            w.write({"n": n, "data": bytes(100)}, split=("train", "val", "test")[n % 3])
            assert sum(c.bytes for c in w._chunks.open.values()) <= 30_000 + 3 * 5000
    for i, split in enumerate(("train", "val", "test")):
        numbers = [s["n"] for s in stoker.open(tmp_path / "x", split=split)]
        assert sorted(numbers) == list(range(i, 900, 3))
        assert numbers != sorted(numbers)


def test_a_key_that_comes_twice_is_named_without_places(tmp_path: Path) -> None:
    w = stoker.Writer(tmp_path / "x", {"n": "int64"})
    for n in range(30):
        w.write({"key": "seven" if n in (7, 29) else str(n), "n": n})
    with pytest.raises(DuplicateKeyError, match="key 'seven' occurs twice"):
        w.close()


@pytest.mark.parametrize("options", [{"shuffle": "window"}, {"shuffle_buffer": 0}, {"seed": -1}])
def test_what_cannot_be_asked_for(tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected True or False, at least 1 byte, and 0 to"):
        stoker.Writer(tmp_path / "x", {"n": "int64"}, **options)


@pytest.mark.parametrize("size", [40, 200_000])
def test_the_buffer_bounds_the_memory(tmp_path: Path, size: int) -> None:
    """Of small samples as of large ones: the buffer, some chunks, and less than twice that for what holds them."""
    program = (
        "import resource, stoker\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        f"w = stoker.Writer({str(tmp_path / 'x')!r}, {{'data': 'binary'}}, payload=['data'], shuffle_buffer=32 << 20)\n"
        f"rows = (256 << 20) // {max(size, 400)}\n"
        f"for n in range(rows // 20): w.write({{'data': n.to_bytes(4, 'little') * {size // 4}}})\n"
        "before = peak()\n"
        f"for n in range(rows): w.write({{'data': n.to_bytes(4, 'little') * {size // 4}}})\n"
        "print(peak() - before)\n"
        "w.abort()\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 150 << 10, "KiB"
