"""What users are likely to try is answered with what to do instead."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stoker
from small_datasets import small_dataset
from stoker import Feed, errors


@pytest.mark.parametrize(
    ("argument", "says"),
    [
        ({"drop_last": True}, "tail='drop'"),
        ({"transform": len}, "use decode="),
        ({"num_workers": 4}, "decode_threads"),
        ({"collate_fn": len}, "decode="),
        ({"batchsize": 4}, "did you mean 'batch_size'"),
        ({"decode": True}, r"decode=True: expected a decoder for each field, such as \{'image': 'rgb'\}"),
    ],
)
def test_arguments_of_other_loaders(tmp_path: Path, argument: dict[str, Any], says: str) -> None:
    with pytest.raises(TypeError, match=says):
        Feed(tmp_path, **argument)


def test_a_directory_that_was_taken_for_a_feed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STOKER_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "photos").mkdir()
    with pytest.raises(errors.FeedNotFoundError, match=r'\./photos is a directory: .* with Feed\("\./photos"\)'):
        next(iter(Feed("photos")))
    with pytest.raises(errors.FeedNotFoundError, match="does not exist"):
        next(iter(Feed("others")))


def test_a_batch_that_was_taken_for_a_tuple(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "d")
    with Feed(dataset.root) as feed:
        batch = next(iter(feed))
    with pytest.raises(
        TypeError, match=r"not a tuple: take its columns by name, as batch\['label'\]; there are label, image"
    ):
        _, _ = batch
    with pytest.raises(KeyError, match="no field 'labels'"):
        batch["labels"]


def test_samples_by_slices_lists_and_negative_positions(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "d")
    samples = stoker.open(dataset.root)
    keys = [s["key"] for s in samples]
    assert [s["key"] for s in samples[2:9:3]] == keys[2:9:3]
    assert [s["key"] for s in samples[-3:]] == keys[-3:]
    assert [s["key"] for s in samples[[4, -1]]] == [keys[4], keys[-1]]
    assert [s["key"] for s in samples[np.array([4, 0])]] == [keys[4], keys[0]]
    assert samples[np.int64(5)]["key"] == keys[5]
    assert samples[-1]["key"] == keys[-1]
    for wrong in (1.5, None, True, b"key"):
        with pytest.raises(TypeError, match="expected a position"):
            samples[wrong]
    assert 1.5 not in samples


def test_keys_that_are_positions(tmp_path: Path) -> None:
    samples = stoker.open(small_dataset(tmp_path / "d").root)
    with pytest.raises(TypeError, match=r"^key 7: expected a str; a position goes into brackets, such as samples"):
        samples.get(["a", 7])  # type: ignore[list-item]


@pytest.mark.parametrize(
    ("given", "meant"),
    [("string", "utf8"), ("str", "utf8"), ("int", "int64"), ("int[]", "int64[]"), ("float?", "float32?")],
)
def test_types_of_other_libraries(tmp_path: Path, given: str, meant: str) -> None:
    with pytest.raises(ValueError, match=rf"unknown type.*did you mean '{re.escape(meant)}'"):
        stoker.Writer(tmp_path / "x", {"f": given})
