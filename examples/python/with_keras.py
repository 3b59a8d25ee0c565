"""Trains with Keras 3 on any backend (KERAS_BACKEND=jax, torch or tensorflow).

KERAS_BACKEND=jax python examples/python/with_keras.py examples/quickstart/target/data
"""

from __future__ import annotations

import argparse
import io
from collections.abc import Iterator
from typing import Any

import keras

import numpy as np
from PIL import Image

from stoker import Feed


def picture(data: Any) -> Any:
    """Decodes an image, of whatever size, and brings it to one size."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB").resize((64, 64)))


def pairs(feed: Feed) -> Iterator[tuple[Any, Any]]:
    """Yields (inputs, targets) for `fit`, batch after batch, without end."""
    for batch in feed.batches():
        yield batch["image"], batch["label"]


def main() -> dict[str, list[float]]:
    parser = argparse.ArgumentParser(description="Trains an image classifier with Keras.")
    parser.add_argument("target", help="a dataset of images in classes, with the splits train and val, or a feed of it")
    parser.add_argument("--epochs", type=int, default=2)
    options = parser.parse_args()
    decode = {"image": picture}
    with (
        Feed(options.target, "train", batch_size=16, decode=decode) as train,
        Feed(options.target, "val", batch_size=32, decode=decode, shuffle="none", tail="keep") as val,
    ):
        layers = keras.layers
        model = keras.Sequential(
            [
                keras.Input((64, 64, 3)),
                layers.Rescaling(1 / 255),
                layers.AveragePooling2D(4),
                layers.Flatten(),
                layers.Dense(len(train.classes["label"])),
            ]
        )
        model.compile(
            keras.optimizers.Adam(0.01),
            keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            metrics=["accuracy"],
        )
        # Keras reads ahead and counts the epochs, so it needs the number of steps.
        history = model.fit(
            pairs(train),
            steps_per_epoch=len(train),
            epochs=options.epochs,
            validation_data=pairs(val),
            validation_steps=len(val),
            verbose=0,
        )
    print(f"{keras.backend.backend()}: loss {history.history['loss'][0]:.2f} → {history.history['loss'][-1]:.2f}")
    return history.history


if __name__ == "__main__":
    main()
