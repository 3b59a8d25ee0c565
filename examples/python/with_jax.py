"""Trains with JAX. On the CPU, the arrays are views of the receive buffer, without a copy.

python examples/python/with_jax.py examples/quickstart/target/data
"""

from __future__ import annotations

import argparse
import io
from typing import Any

import jax
import jax.numpy as jnp

import numpy as np
from PIL import Image

from stoker import Feed


def picture(data: Any) -> Any:
    """Decodes an image, of whatever size, and brings it to one size."""
    with Image.open(io.BytesIO(data)) as image:
        return np.asarray(image.convert("RGB").resize((64, 64)))


def loss(weights: dict[str, Any], images: Any, labels: Any) -> Any:
    pooled = images.astype(jnp.float32).reshape(len(images), 16, 4, 16, 4, 3).mean((2, 4)) / 255 - 0.5
    scores = pooled.reshape(len(images), -1) @ weights["w"] + weights["b"]
    return -jax.nn.log_softmax(scores)[jnp.arange(len(labels)), labels].mean()


@jax.jit
def step(weights: dict[str, Any], images: Any, labels: Any) -> tuple[dict[str, Any], Any]:
    value, slope = jax.value_and_grad(loss)(weights, images, labels)
    return jax.tree.map(lambda w, g: w - 0.01 * g, weights, slope), value


def main() -> list[float]:
    parser = argparse.ArgumentParser(description="Trains an image classifier with JAX.")
    parser.add_argument("target", help="a dataset of images in classes, or a feed of it")
    parser.add_argument("--epochs", type=int, default=1)
    options = parser.parse_args()
    losses = []
    # All batches have the same shape (tail "pad"), so JAX compiles the step once.
    with Feed(
        options.target,
        batch_size=16,
        decode={"image": picture},
        rank=jax.process_index(),
        world_size=jax.process_count(),
        epochs=options.epochs,
    ) as feed:
        weights = {
            "w": jnp.zeros((16 * 16 * 3, len(feed.classes["label"]))),
            "b": jnp.zeros(len(feed.classes["label"])),
        }
        for batch in feed.batches():
            data = batch.to_jax()
            weights, value = step(weights, data["image"], data["label"])
            losses.append(float(value))
    print(f"{len(losses)} steps, loss {losses[0]:.2f} → {losses[-1]:.2f}")
    return losses


if __name__ == "__main__":
    main()
