"""Trains and validates with Lightning. Lightning's checkpoints contain the position of the feed.

    python examples/python/with_lightning.py examples/quickstart/target/data --checkpoint run.ckpt

The program counts steps. `batches` has no end, so Lightning does not need the length of a partial epoch.
"""

from __future__ import annotations

import argparse
import io
import os
from typing import Any

import lightning
import torch
from torch import nn

import numpy as np
from PIL import Image

from stoker import Feed


def picture(data: Any) -> Any:
    """Decodes an image, of whatever size, and brings it to one size."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB").resize((64, 64)))


class Classifier(lightning.LightningModule):
    def __init__(self, target: str) -> None:
        super().__init__()
        decode = {"image": picture}
        self.feed = Feed(target, "train", batch_size=16, decode=decode)
        self.val = Feed(target, "val", batch_size=32, decode=decode, shuffle="none", tail="keep")
        self.net = nn.Sequential(nn.AvgPool2d(4), nn.Flatten(), nn.Linear(768, len(self.feed.classes["label"])))
        self.seen: list[tuple[int, int]] = []

    def train_dataloader(self) -> Any:
        return self.feed.batches()

    def val_dataloader(self) -> Any:
        return self.val

    def on_save_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        checkpoint["feed"] = self.position

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        self.feed.load_state_dict(checkpoint["feed"])

    def loss(self, batch: Any) -> torch.Tensor:  # Lightning has moved it to the device with Batch.to
        scores = self.net(batch["image"].permute(0, 3, 1, 2).float() / 255)
        return nn.functional.cross_entropy(scores, batch["label"].long())

    def training_step(self, batch: Any, _: int) -> torch.Tensor:
        self.position = batch.state  # of this batch, because Lightning reads ahead
        self.seen.append((batch.epoch, batch.number))
        return self.loss(batch)

    def validation_step(self, batch: Any, _: int) -> None:
        self.log("val_loss", self.loss(batch), batch_size=len(batch))

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters())


def main() -> Classifier:
    parser = argparse.ArgumentParser(description="Trains an image classifier with Lightning.")
    parser.add_argument("target", help="a dataset of images in classes, with the splits train and val, or a feed of it")
    parser.add_argument("--checkpoint", default="run.ckpt")
    parser.add_argument("--steps", type=int, default=40, help="steps in total, including earlier runs")
    options = parser.parse_args()
    model = Classifier(options.target)
    quiet = {
        "logger": False,
        "enable_checkpointing": False,
        "enable_progress_bar": False,
        "enable_model_summary": False,
    }
    trainer = lightning.Trainer(
        max_steps=options.steps, val_check_interval=10, check_val_every_n_epoch=None, devices=1, **quiet
    )
    trainer.fit(model, ckpt_path=options.checkpoint if os.path.exists(options.checkpoint) else None)
    if not model.seen:
        print(f"{options.checkpoint} has {trainer.global_step} steps already; more with --steps")
        return model
    trainer.save_checkpoint(options.checkpoint)
    loss = trainer.callback_metrics.get("val_loss")  # absent if the run ended before a validation
    print(f"{trainer.global_step} steps, validation loss {'not taken' if loss is None else f'{loss:.3f}'}")
    return model


if __name__ == "__main__":
    main()
