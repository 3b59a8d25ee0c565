"""A feed over a path warns where chunks are sorted by class and windows hold too few of them."""

from __future__ import annotations

import json
import logging
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoker
from stoker import Feed
from stoker._dataset.snapshot import open_snapshot
from stoker._order.spec import OrderSpec
from stoker._path.mixing import chosen, lane_chunks, measure, mixing, window_chunks
from stoker._path.path_stream import PathStream

VECTORS = json.loads(
    (Path(__file__).parents[2] / "schemas/src/test/resources/vectors/mixing.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: str(case["name"]))
def test_the_vectors_come_out(case: dict[str, Any]) -> None:
    window = window_chunks(case["shuffle_window"], case["lanes"], case["length"], case["chunks"])
    assert window == pytest.approx(case["window_chunks"], rel=1e-12)
    names = sorted({name for chunk in case["counts"] for name in chunk})
    counts = [np.array([float(chunk.get(name, 0)) for name in names]) for chunk in case["counts"]]
    lane = lane_chunks(case["lanes"], case["chunks"])
    found, expected = measure(case["field"], counts, case["classes"], case["chunks"], window, lane), case["expected"]
    if expected is None:
        assert found is None
        return
    assert found is not None
    assert found.dataset == pytest.approx(expected["dataset_classes"], rel=1e-9)
    assert found.window == pytest.approx(expected["window_classes"], rel=1e-9)
    assert found.is_poor == expected["poor"]
    assert found.warning() == expected["warning"]


def test_heads_are_chosen_evenly() -> None:
    for case in VECTORS["chosen"]:
        assert chosen(case["chunks"]) == case["places"]


def written(root: Path, classes: int, *, shuffle: bool, field: str = "categorical") -> Path:
    with stoker.Writer(root, {"label": field, "data": "binary"}, chunk_size=4096, shuffle=shuffle) as w:
        for n in range(2000):
            name = n * classes // 2000
            w.write({"label": f"class{name}" if field == "categorical" else name, "data": bytes(80)})
    return root


def warnings(caplog: pytest.LogCaptureFixture, root: Path, **options: Any) -> list[str]:
    caplog.clear()
    with caplog.at_level(logging.WARNING, "stoker"), Feed(root, **options):
        return [r.getMessage() for r in caplog.records]


@pytest.mark.parametrize("classes", [2, 10, 100])
def test_sorted_chunks_are_warned_of_unless_the_window_is_large(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, classes: int
) -> None:
    root = written(tmp_path / "sorted", classes, shuffle=False)
    if classes > 2:
        (said,) = warnings(caplog, root, lanes=1, shuffle_window=8192)
        assert "sorted by label" in said
        assert "stoker.Writer" in said
        assert "read with a larger shuffle_window or fewer lanes" in said
    if classes == 100:
        (said,) = warnings(caplog, root, lanes=16, shuffle_window=1 << 30)
        assert "read with fewer lanes: a window already holds its whole lane" in said
    assert warnings(caplog, root, lanes=1, shuffle_window=1 << 30) == []
    assert warnings(caplog, root, lanes=1, shuffle_window=4096, shuffle=False) == []


def test_what_is_mixed_or_has_no_classes_is_not_warned_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mixed = written(tmp_path / "mixed", 10, shuffle=True)
    numbers = written(tmp_path / "numbers", 10, shuffle=False, field="int64")
    for root in (mixed, numbers):
        assert warnings(caplog, root, lanes=1, shuffle_window=4096) == []


def test_the_measure_is_what_windows_hold(tmp_path: Path) -> None:
    """Compared with windows of chunks drawn at random from the samples themselves."""
    root = written(tmp_path / "sorted", 10, shuffle=False)
    stream = PathStream(open_snapshot(root, None), "train", OrderSpec(lanes=1, shuffle_window=20_000))
    (measured,) = mixing(stream)
    labels = [s["label"] for s in stoker.open(root)]
    rows = stream.snapshot.chunks.columns["rows"].tolist()
    chunks, at = [], 0
    for n in rows:
        chunks.append(labels[at : at + n])
        at += n
    rng = random.Random(1)
    same = trials = 0
    for _ in range(20_000):
        window = rng.sample(chunks, round(measured.chunks))
        every = [label for chunk in window for label in chunk]
        a, b = rng.sample(every, 2)
        same += a == b
        trials += 1
    assert measured.dataset == pytest.approx(10, rel=0.1)
    assert measured.window == pytest.approx(trials / same, rel=0.15)


def test_a_window_below_a_chunk_is_named_with_both_sizes(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    root = written(tmp_path / "data", 4, shuffle=True, field="int32")
    (said,) = warnings(caplog, root, shuffle_window=64)
    assert "data@1, split train: the shuffle window (64 bytes) is smaller than a chunk (" in said
    assert said.endswith("give a larger shuffle_window, which is in bytes, such as '1g'")
    for fine in ({}, {"shuffle_window": 1 << 16}, {"shuffle_window": 0}, {"shuffle_window": 64, "shuffle": "none"}):
        stoker._feed.sources._LOOKED_AT.clear()
        assert warnings(caplog, root, **fine) == []
