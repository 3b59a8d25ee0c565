"""Trains with Hugging Face Accelerate.

    accelerate launch --num_processes 2 examples/python/with_accelerate.py examples/quickstart/target/data

Accelerate prepares the model and the optimizer, but not the data. Each process already gets its own share from the
feed. `prepare` would divide this share again, and most samples would never be used. Stoker refuses that.
"""

from __future__ import annotations

import argparse
import io
from typing import Any

import torch
from accelerate import Accelerator
from torch import nn

import numpy as np
from PIL import Image

from stoker import Feed


def picture(data: Any) -> Any:
    """Decodes an image, of whatever size, and brings it to one size."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB").resize((64, 64)))


def main() -> list[tuple[int, int]]:
    parser = argparse.ArgumentParser(description="Trains an image classifier with Accelerate.")
    parser.add_argument("target", help="a dataset of images in classes, or a feed of it")
    parser.add_argument("--epochs", type=int, default=1)
    options = parser.parse_args()
    accelerator = Accelerator()
    seen = []
    with Feed(
        options.target,
        batch_size=16,
        decode={"image": picture},
        rank=accelerator.process_index,
        world_size=accelerator.num_processes,
    ) as feed:
        model = nn.Sequential(nn.AvgPool2d(4), nn.Flatten(), nn.Linear(3 * 16 * 16, len(feed.classes["label"])))
        model, optimizer = accelerator.prepare(model, torch.optim.AdamW(model.parameters()))
        for _ in range(options.epochs):
            for batch in feed:
                data = batch.to(accelerator.device, non_blocking=True)
                loss = nn.functional.cross_entropy(
                    model(data["image"].permute(0, 3, 1, 2).float() / 255), data["label"].long()
                )
                optimizer.zero_grad()
                accelerator.backward(loss)
                optimizer.step()
                seen.append((batch.epoch, batch.number))
        accelerator.print(f"{len(seen)} steps on each of {accelerator.num_processes}, last loss {loss.item():.3f}")
    return seen


if __name__ == "__main__":
    main()
