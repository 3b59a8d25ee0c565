"""Times, decimals and nested lists next to tensors: they stay what the batch has."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch.utils.data import DataLoader

import stoker
from stoker import Feed
from test_special_types import SCHEMA, row


def written(path: Path) -> Path:
    with stoker.Writer(path, SCHEMA | {"n": "int32"}, payload=["image"]) as w:
        for n in range(24):
            w.write(row(n) | {"n": n})
    return path


def test_tensors_keep_them_as_the_batch_has_them(tmp_path: Path) -> None:
    with Feed(written(tmp_path / "d"), batch_size=24) as feed:
        batch = next(iter(feed))
        tensors = batch.to("cpu", missing=0)
    assert torch.equal(tensors["n"], torch.from_numpy(batch["n"]))
    assert tensors["us"].dtype == np.dtype("datetime64[us]")
    assert tensors["small"] is batch["small"]
    assert tensors["words"] is batch["words"]
    assert tensors["spans"] is batch["spans"]
    assert tensors.validity("day").tolist() == batch.validity("day").tolist()
    assert tensors["tags"] is batch["tags"]
    counts, valid = tensors["counts"].unbind(), tensors.item_validity("counts").unbind()
    for i, key in enumerate(batch.keys):
        written_items = row(int(key[1:]))["counts"]
        assert counts[i].tolist() == [item or 0 for item in written_items]
        assert valid[i].tolist() == [item is not None for item in written_items]
    again = tensors.pin_memory() if torch.cuda.is_available() else tensors.to("cpu")
    assert again["t_us"].dtype == np.dtype("timedelta64[us]")


def test_workers_of_a_loader_deliver_them(tmp_path: Path) -> None:
    path = written(tmp_path / "d")
    options = {"batch_size": 6, "seed": 4}
    with Feed(path, **options) as feed:
        expected = [(b.keys, b.words, b.us.tolist(), b.small.tolist()) for b in feed]
    with Feed(path, **options) as feed:
        loader = DataLoader(feed, batch_size=None, num_workers=2)
        found = [(b.keys, b.words, b.us.tolist(), b.small.tolist()) for b in loader]
    assert sorted(found, key=str) == sorted(expected, key=str)
