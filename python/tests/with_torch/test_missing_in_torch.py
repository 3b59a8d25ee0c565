"""Values that samples lack, in tensors of torch."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch.utils.data import DataLoader

from stoker import Feed, Writer


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("missing") / "d"
    with Writer(root, {"label": "categorical?", "x": "float32?"}, shuffle=False) as writer:
        for i in range(8):
            writer.write({"key": f"k{i}", "label": None if i == 2 else "cat", "x": None if i == 5 else 1.0})
    return root


def test_losses_ignore_a_missing_class(root: Path) -> None:
    with Feed(root, batch_size=8, shuffle="none", columns=["label"]) as feed:
        batch = next(iter(feed))
    labels = batch.to("cpu")["label"]
    assert labels.tolist() == [0, 0, -100, 0, 0, 0, 0, 0]
    assert torch.as_tensor(batch["label"]).tolist() == labels.tolist()  # drops the mask
    scores = torch.zeros(8, 3, requires_grad=True)
    torch.nn.functional.cross_entropy(scores, labels.long()).backward()
    assert scores.grad is not None
    assert scores.grad[2].abs().sum() == 0 < scores.grad[1].abs().sum()


def test_other_missing_values_are_an_error_or_the_given_one(root: Path) -> None:
    with Feed(root, batch_size=8, shuffle="none") as feed:
        batch = next(iter(feed))
    with pytest.raises(ValueError, match=r"1 value of field 'x' .*to\(missing=\{'x': 0.0\}\)"):
        batch.to("cpu")
    tensors = batch.to("cpu", missing={"x": -1})
    assert tensors["x"].tolist() == [1, 1, 1, 1, 1, -1, 1, 1]
    assert tensors.validity("x").tolist() == [True] * 5 + [False] + [True] * 2
    assert torch.as_tensor(batch["x"]).isnan().tolist() == [False] * 5 + [True] + [False] * 2


def test_batches_of_workers_tell_what_is_missing(root: Path) -> None:
    with Feed(root, batch_size=4, shuffle="none", columns=["label"]) as feed:
        found = [b.to("cpu")["label"].tolist() for b in DataLoader(feed, batch_size=None, num_workers=2)]
    assert found == [[0, 0, -100, 0], [0, 0, 0, 0]]
