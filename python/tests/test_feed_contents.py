"""The contents of the batches of a `Feed` over a path: fields, splits, and separate memory for each batch."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from small_datasets import MANY, DatasetWriter, sample, small_dataset
from stoker import Feed, errors

SPEC: dict[str, Any] = {"batch_size": 3, "lanes": 3, "shuffle_window": 6000, "seed": 5}


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> DatasetWriter:
    return small_dataset(tmp_path_factory.mktemp("feed") / "d")


def test_memory_of_a_batch_is_never_used_again_while_referred_to(writer: DatasetWriter) -> None:
    with Feed(writer.root, **SPEC) as feed:
        expected = {(b.epoch, b.number): (b["image"].tolist(), b.label.copy()) for _ in range(3) for b in feed}
    with Feed(writer.root, **SPEC) as feed:
        kept = []
        for i in range(3 * 13):
            if i % 13 == 0:
                iterator = iter(feed)
            b = next(iterator)
            which = (b.epoch, b.number)
            kept.append((which, b["image"][0], b.label[:1], b.arrow.column("label") if i % 3 == 0 else None))
            del b
        for which, image, label, column in kept:
            assert image.tobytes() == expected[which][0][0]
            assert label[0] == expected[which][1][0]
            if column is not None:
                assert column.to_pylist() == expected[which][1].tolist()


def test_all_fields_of_a_batch(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d", MANY)
    live = {s["key"]: s for s in writer.live().values()}
    with Feed(writer.root, batch_size=7, lanes=3, tail="keep") as feed:
        joint = 0
        for b in feed:
            joint += len(b._pieces) > 1
            rows = [live[k] for k in b.keys]
            for name in ("label", "flag", "score", "half", "caption", "text"):
                values = b[name] if isinstance(b[name], list) else b[name].tolist()
                expected = [r[name] for r in rows]
                assert [None if v is np.ma.masked else v for v in values] == expected
            for name in ("blob", "image"):
                assert b[name].tolist() == [r[name] for r in rows]
            for name in ("tokens", "ids"):
                assert [v.tolist() for v in b[name]] == [list(r[name]) for r in rows]
            for name, shape in (("box", (2, 2)), ("pixels", (3, 4))):
                assert b[name].shape == (len(b), *shape)
                assert b[name].tolist() == [r[name].tolist() for r in rows]
                assert b[name].flags.writeable
                assert b[name].flags.c_contiguous
                assert len(b._pieces) > 1 or b[name].ctypes.data % 64 == 0
            arrow = b.arrow
            arrow.validate(full=True)
            assert arrow.column("key").to_pylist() == b.keys
            assert arrow.column("caption").to_pylist() == [r["caption"] for r in rows]
            assert arrow.column("image").to_pylist() == [r["image"] for r in rows]
            assert b.image is b["image"]
            assert "image" in b
            with pytest.raises(KeyError, match="no field 'nothing'"):
                b["nothing"]
            with pytest.raises(AttributeError):
                b.nothing  # noqa: B018
            copy = pickle.loads(pickle.dumps(b))
            assert copy.keys == b.keys
            assert copy.state == b.state
            assert copy["pixels"].tolist() == b["pixels"].tolist()
        assert joint


def test_splits_and_streams(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    writer = small_dataset(tmp_path / "d")
    writer.commit([[sample(rng, 1000 + i) for i in range(5)]], split="val")
    for given in ({"split": "val"}, {"stream": "val"}):
        with Feed(writer.root, tail="keep", **given) as feed:
            assert sorted(k for b in feed for k in b.keys) == [f"dir/{1000 + i:05d}-é.jpg" for i in range(5)]


def test_an_empty_split_has_no_batches(tmp_path: Path) -> None:
    writer = small_dataset(tmp_path / "d", chunks=(3,))
    writer.commit([], removed={0: None})
    with Feed(writer.root) as feed:
        assert len(feed) == 0
        assert list(feed) == []
        assert list(feed) == []
        assert feed.state_dict()["epoch"] == 2


def test_an_empty_dataset_says_so(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path / "d", [])
    with pytest.raises(errors.UnknownVersionError, match="no version yet"):
        Feed(writer.root)
