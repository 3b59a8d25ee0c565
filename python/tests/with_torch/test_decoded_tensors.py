"""Decoders that return tensors, as the usual transforms do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from stoker import Feed, Writer


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("decoded") / "d"
    with Writer(path, {"image": "binary", "mask": "binary?", "n": "int32"}) as w:
        for n in range(8):
            w.write({"key": f"{n}", "image": bytes([n] * 6), "mask": bytes([n] * 6) if n % 4 else None, "n": n})
    return path


def tensor(row: Any) -> torch.Tensor:
    return torch.from_numpy(np.array(row)).view(2, 3).float()


@pytest.mark.parametrize("workers", [None, 0, 2])
def test_tensors_are_stacked(dataset: Path, workers: int | None) -> None:
    with Feed(dataset, batch_size=4, lanes=1, epochs=1, decode={"image": tensor}) as feed:
        for batch in feed if workers is None else DataLoader(feed, batch_size=None, num_workers=workers):
            images = batch["image"]
            assert isinstance(images, torch.Tensor)
            assert images.shape == (4, 2, 3)
            assert images[:, 0, 0].tolist() == batch["n"].tolist()
            assert torch.as_tensor(images) is images
            assert batch.to("cpu")["image"] is images
            assert batch.to("meta")["image"].device.type == "meta"


def test_tensors_of_different_shapes_move_to_the_device(dataset: Path) -> None:
    with Feed(dataset, batch_size=8, lanes=1, decode={"image": lambda row: torch.zeros(int(row[0]) + 1)}) as feed:
        batch = next(iter(feed))
    assert isinstance(batch["image"], list)
    assert {row.device.type for row in batch.to("meta")["image"]} == {"meta"}
    with pytest.raises(AttributeError, match=r"the rows of field 'image' have shapes such as torch\.Size"):
        _ = batch["image"].shape


def test_missing_rows_leave_a_list(dataset: Path) -> None:
    with Feed(dataset, batch_size=8, lanes=1, decode={"mask": tensor}) as feed:
        batch = next(iter(feed))
    assert [row is None for row in batch["mask"]] == [n % 4 == 0 for n in batch["n"].tolist()]


def test_torch_tensor_of_unequal_rows_names_the_way_out(dataset: Path) -> None:
    with Feed(dataset, batch_size=8, lanes=1, decode={"image": lambda row: np.zeros(int(row[0]) + 1)}) as feed:
        batch = next(iter(feed))
    with pytest.raises(ValueError, match=r"the rows of field 'image' have shapes such as .* so they are a list"):
        torch.tensor(batch["image"])
    with Writer(dataset.parent / "ragged", {"tokens": "int32[]"}) as w:
        for n in range(8):
            w.write({"tokens": list(range(n))})
    with Feed(dataset.parent / "ragged", batch_size=8, lanes=1) as feed:
        batch = next(iter(feed))
    for call in (torch.tensor, torch.as_tensor):
        with pytest.raises(ValueError, match=r"the rows have different lengths and form no array: .*\.padded\(\)"):
            call(batch["tokens"])
    assert torch.as_tensor(batch["tokens"][:1]).shape[0] == 1
