"""Trains with the Hugging Face Trainer. Its checkpoints contain the position of the feed.

    python examples/python/with_trainer.py examples/quickstart/target/data --output runs

By default, the Trainer would wrap the feed in its own DataLoader, form batches of batches, and divide them among the
ranks again. `FeedTrainer` passes the batches on unchanged.
"""

from __future__ import annotations

import argparse
import io
import json
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.utils.data import DataLoader
from transformers import Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_utils import get_last_checkpoint

import numpy as np
from PIL import Image

from stoker import Feed


def picture(data: Any) -> Any:
    """Decodes an image, of whatever size, and brings it to one size."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB").resize((64, 64)))


class FeedTrainer(Trainer):
    def get_train_dataloader(self) -> Any:
        return DataLoader(self.train_dataset, batch_size=None, collate_fn=self.model.inputs)


class Position(TrainerCallback):
    """Saves the feed's position beside each checkpoint."""

    def __init__(self, feed: Feed) -> None:
        self.feed = feed

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        folder = Path(args.output_dir, f"checkpoint-{state.global_step}")
        (folder / "feed.json").write_text(json.dumps(self.feed.state_dict()))


class Classifier(nn.Module):
    def __init__(self, classes: int) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.AvgPool2d(4), nn.Flatten(), nn.Linear(3 * 16 * 16, classes))
        self.seen: list[tuple[int, int]] = []

    def inputs(self, batch: Any) -> dict[str, torch.Tensor]:
        self.seen.append((batch.epoch, batch.number))
        data = batch.to("cpu")
        return {"pixels": data["image"].permute(0, 3, 1, 2).float() / 255, "labels": data["label"].long()}

    def forward(self, pixels: torch.Tensor, labels: torch.Tensor) -> dict[str, torch.Tensor]:
        scores = self.net(pixels)
        return {"loss": nn.functional.cross_entropy(scores, labels), "logits": scores}


def main() -> Classifier:
    parser = argparse.ArgumentParser(description="Trains an image classifier with the Hugging Face Trainer.")
    parser.add_argument("target", help="a dataset of images in classes, or a feed of it")
    parser.add_argument("--output", default="runs")
    parser.add_argument("--steps", type=int, default=20, help="steps in total, including earlier runs")
    options = parser.parse_args()
    last = get_last_checkpoint(options.output) if Path(options.output).is_dir() else None
    with Feed(options.target, batch_size=16, decode={"image": picture}) as feed:
        if last:
            feed.load_state_dict(json.loads(Path(last, "feed.json").read_text()))
        model = Classifier(len(feed.classes["label"]))
        arguments = TrainingArguments(
            output_dir=options.output,
            max_steps=options.steps,
            save_steps=10,
            report_to=[],
            disable_tqdm=True,
            ignore_data_skip=True,  # the feed has resumed already; the Trainer would skip batches by reading them
            remove_unused_columns=False,
        )
        trainer = FeedTrainer(model, arguments, train_dataset=feed, callbacks=[Position(feed)])
        trainer.train(resume_from_checkpoint=last)
    return model


if __name__ == "__main__":
    main()
