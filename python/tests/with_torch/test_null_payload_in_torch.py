"""What a missing value of a payload field becomes in torch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

import stoker
from stoker import Feed


def test_validity_tells_which_rows_of_a_tensor_or_list_have_a_value(tmp_path: Path) -> None:
    schema = {"ids": "int32[]?", "box": "uint8[2,3]?", "image": "binary?", "n": "int64"}
    with stoker.Writer(tmp_path / "d", schema, payload=["ids", "box", "image"]) as writer:
        for i in range(6):
            there = {"ids": np.arange(i), "box": np.full((2, 3), i), "image": bytes(i)} if i % 2 else {}
            writer.write({"key": str(i), "n": i, **there})
    with Feed(tmp_path / "d", batch_size=6, shuffle="none") as feed:
        batch = next(iter(feed)).to("cpu", missing={"box": 0})
    valid = batch["n"] % 2 == 1
    for name in ("ids", "box", "image"):
        assert torch.equal(torch.as_tensor(batch.validity(name)), valid), name
    assert batch.validity("n") is None
    expected = torch.where(valid, batch["n"], 0).to(torch.uint8).reshape(-1, 1, 1).expand(-1, 2, 3)
    assert torch.equal(batch["box"], expected)
    assert [len(row) for row in batch["ids"].unbind()] == torch.where(valid, batch["n"], 0).tolist()
    assert [len(row) for row in batch["image"]] == torch.where(valid, batch["n"], 0).tolist()
