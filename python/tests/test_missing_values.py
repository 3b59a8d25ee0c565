"""Values that samples lack: no way out of a batch may turn them into values that a sample could have."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoker
from stoker import Feed
from stoker._batch.batch import Batch
from stoker._batch.missing import NO_CLASS
from stoker._batch.tensors import Converter, Tensors

SCHEMA = {
    "label": "categorical?", "half": "float16?", "brain": "bfloat16?", "single": "float32?", "double": "float64?",
    "tiny": "int8?", "long": "int64?", "byte": "uint8?", "yes": "bool?", "box": "float32[2]?", "at": "timestamp[us]?",
    "clock": "time[ms]?", "ids": "int32?[]", "tokens": "int32[]?",
}  # fmt: skip
EXPLICIT = {
    "half": 1.5, "brain": -2.5, "single": 3, "double": 4, "tiny": -1, "long": -100, "byte": 255, "yes": True,
    "box": 7.0, "ids": 9,
}  # fmt: skip


def a_sample(i: int) -> dict[str, Any]:
    values: dict[str, Any] = {
        "label": ["cat", "dog"][i % 2], "half": 1.0, "brain": 1.0, "single": 1.0, "double": 1.0, "tiny": 1, "long": 1,
        "byte": 1, "yes": False, "box": np.ones(2, np.float32), "at": np.datetime64("2024-02-03T00:00:00", "us"),
        "clock": np.timedelta64(5, "ms"), "ids": [1, None, 3], "tokens": [i],
    }  # fmt: skip
    if i % 3 == 1:
        values |= dict.fromkeys(set(SCHEMA) - {"ids"})
    return values | {"key": f"k{i}"}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("missing") / "d"
    with stoker.Writer(root, SCHEMA, shuffle=False) as writer:
        for i in range(12):
            writer.write(a_sample(i))
    return root


def the_batch(root: Path, **options: Any) -> Batch:
    with Feed(root, batch_size=12, shuffle="none", lanes=1, **options) as feed:
        return next(iter(feed))


def tensors(batch: Batch, missing: Any) -> Tensors:
    """What a framework gets, as arrays."""
    return batch._converted(Converter(lambda array, _: array, lambda values, _: values), batch.filling(missing, "to"))


def test_below_a_mask_is_no_value_of_a_sample(root: Path) -> None:
    batch = the_batch(root)
    below = {name: batch[name].data[1] for name in SCHEMA if isinstance(batch[name], np.ma.MaskedArray)}
    assert set(below) == set(SCHEMA) - {"ids", "tokens"}
    assert below["label"] == batch["label"].filled()[1] == NO_CLASS
    for name in ("half", "single", "double", "at", "clock"):
        assert np.isnan(below[name]) if name not in ("at", "clock") else np.isnat(below[name]), name
    assert np.isnan(below["box"]).all()
    assert (below["brain"], below["tiny"], below["long"], below["byte"]) == (0xFFFF, -128, -(2**63), 255)
    assert batch["label"].mask.tolist() == [i % 3 == 1 for i in range(12)]
    assert batch["single"].sum() == 8.0
    assert batch.arrow.column(batch.arrow.schema.get_field_index("label")).null_count == 4


def test_a_missing_class_is_ignored_by_losses(root: Path) -> None:
    batch = the_batch(root, columns=["label"])
    assert tensors(batch, None)["label"].tolist() == [0, -100, 0, 1, -100, 1, 0, -100, 0, 1, -100, 1]
    assert tensors(batch, 5)["label"][1] == NO_CLASS  # a number for all fields would make it a class
    assert tensors(batch, {"label": 7})["label"][1] == 7
    assert tensors(batch, {"label": 7}).validity("label").tolist() == batch.validity("label").tolist()


@pytest.mark.parametrize("name", EXPLICIT)
def test_other_missing_values_need_a_value(root: Path, name: str) -> None:
    batch = the_batch(root, columns=[name])
    with pytest.raises(ValueError, match=rf"batch 0: \d+ values of field '{name}' are missing.*to\(missing="):
        tensors(batch, None)
    found = tensors(batch, {name: EXPLICIT[name]})[name]
    absent = ~(batch.item_validity(name).values if name == "ids" else batch.validity(name))
    expected = 0xC020 if name == "brain" else EXPLICIT[name]
    assert (found[absent] == expected).all()
    before = batch[name].values if name == "ids" else batch[name].data
    np.testing.assert_array_equal(found[~absent], before[~absent])


def test_a_number_is_for_all_fields(root: Path) -> None:
    batch = the_batch(root, columns=["single", "tiny", "label"])
    found = tensors(batch, -1)
    assert (found["single"][1], found["tiny"][1], found["label"][1]) == (-1.0, -1, NO_CLASS)


def test_values_that_do_not_fit_are_refused(root: Path) -> None:
    batch = the_batch(root)
    for missing, said in (
        ({"byte": -100}, "the field's type uint8 does not have it"),
        ({"yes": 2}, "type bool does not have it"),
        ({"tiny": 0.5}, "type int8 does not have it"),
        ({"long": float("nan")}, "type int64 does not have it"),
        ({"lable": 1}, "missing names field 'lable'; there are label, "),
        ({"single": "no"}, "expected a number"),
        ("no", "expected a number"),
    ):
        whole = dict(EXPLICIT) | missing if isinstance(missing, dict) else missing
        with pytest.raises((TypeError, ValueError), match=said):
            tensors(batch, whole)


def test_decoded_rows_with_a_mask_need_a_value(root: Path) -> None:
    def decode(row: Any) -> Any:
        return np.ma.MaskedArray([1, 2], mask=[True, False])

    with Feed(root, batch_size=12, columns=["ids"], decode={"ids": decode}) as feed:
        batch = next(iter(feed))
    with pytest.raises(ValueError, match="12 values of field 'ids' are missing"):
        tensors(batch, None)
    assert tensors(batch, {"ids": -1})["ids"].tolist() == [[-1, 2]] * 12


def test_a_feed_warns_once_of_samples_without_a_class(root: Path, caplog: pytest.LogCaptureFixture) -> None:
    with Feed(root, batch_size=3, shuffle="none", lanes=1, epochs=2) as feed:
        for _ in feed.batches():
            pass
    said = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(said) == 1
    assert "epoch 0, batch 0: 1 of 3 samples without a class in field 'label', such as 'k1'" in said[0]
    caplog.clear()
    with Feed(root, batch_size=3, columns=["single"]) as feed:
        next(iter(feed))
    assert not caplog.records
