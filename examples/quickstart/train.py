"""Trains a small NumPy model for two epochs from a running feed, then scores it on the validation split.

Run by ``stoker run DATASET -- python train.py DATASET``: the feeder's address comes from ``STOKER_FEED``.
The model sees only edge directions: a histogram of the gradient's directions and the strengths of its harmonics,
followed by one hidden layer trained with Adam (Kingma and Ba, 2015).
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np

from stoker import Feed

EPOCHS, HIDDEN, BINS, RATE = 2, 48, 24, 0.02


def features(images: np.ndarray) -> np.ndarray:
    """Maps uint8 images (n, height, width, 3) to float32 features (n, 37) that know no colour, place or size."""
    x = images.astype(np.float32).transpose(0, 3, 1, 2) / 255
    x = (x[..., :-1:2, :-1:2] + x[..., 1::2, :-1:2] + x[..., :-1:2, 1::2] + x[..., 1::2, 1::2]) / 4
    gx = x[..., 1:-1, 2:] - x[..., 1:-1, :-2]
    gy = x[..., 2:, 1:-1] - x[..., :-2, 1:-1]
    strength = np.hypot(gx, gy)
    strongest = strength.argmax(1)[:, None]
    gx, gy, strength = (np.take_along_axis(a, strongest, 1)[:, 0] for a in (gx, gy, strength))
    strength = np.where(strength > 0.3 * strength.max((1, 2), keepdims=True), strength, 0)
    direction = ((np.arctan2(gy, gx) / (2 * np.pi) + 0.5) * BINS).astype(int) % BINS
    histogram = np.zeros((len(images), BINS), np.float32)
    np.add.at(histogram, (np.arange(len(images))[:, None, None], direction), strength)
    histogram /= histogram.sum(1, keepdims=True) + 1e-6
    harmonics = np.abs(np.fft.rfft(histogram, axis=1)).astype(np.float32)
    return np.concatenate([histogram * BINS - 1, harmonics * 4 - 1], 1)


class Model:
    """A classifier with one hidden layer; parameters and Adam's moments live in plain arrays."""

    def __init__(self, inputs: int, classes: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.parameters = [
            random.normal(0, 0.3, (inputs, HIDDEN)),
            np.zeros(HIDDEN),
            random.normal(0, 0.3, (HIDDEN, classes)),
            np.zeros(classes),
        ]
        self.first = [np.zeros_like(p) for p in self.parameters]
        self.second = [np.zeros_like(p) for p in self.parameters]
        self.step = 0

    def scores(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Returns the hidden layer (n, HIDDEN) and the unnormalised scores (n, classes)."""
        w1, b1, w2, b2 = self.parameters
        hidden = np.maximum(x @ w1 + b1, 0)
        return hidden, hidden @ w2 + b2

    def train(self, x: np.ndarray, labels: np.ndarray) -> float:
        """Makes one step of Adam on the cross entropy and returns that loss."""
        hidden, z = self.scores(x)
        z -= z.max(1, keepdims=True)
        p = np.exp(z)
        p /= p.sum(1, keepdims=True)
        rows = np.arange(len(labels))
        loss = float(-np.log(p[rows, labels] + 1e-9).mean())
        p[rows, labels] -= 1
        p /= len(labels)
        back = p @ self.parameters[2].T * (hidden > 0)
        self.step += 1
        gradients = (x.T @ back, back.sum(0), hidden.T @ p, p.sum(0))
        for value, gradient, m, v in zip(self.parameters, gradients, self.first, self.second, strict=True):
            m += 0.1 * (gradient - m)
            v += 0.01 * (gradient * gradient - v)
            value -= RATE * (m / (1 - 0.9**self.step)) / (np.sqrt(v / (1 - 0.99**self.step)) + 1e-8)
        return loss


def images_and_labels(batch) -> tuple[np.ndarray, np.ndarray]:
    return np.stack(batch["image"]), np.asarray(batch["label"])


def main(dataset: str) -> int:
    began = time.perf_counter()
    colours: list[tuple[np.ndarray, np.ndarray]] = []
    waited = samples = payload = 0
    model = None
    with Feed(os.environ["STOKER_FEED"], batch_size=64, decode={"image": "rgb"}) as feed:
        classes = feed.classes["label"]
        for epoch in range(EPOCHS):
            losses = []
            asked = time.perf_counter()
            for batch in feed:
                arrived = time.perf_counter()
                if model is None:
                    print(f"first batch after    {arrived - began:.2f} s")
                waited += arrived - asked
                images, labels = images_and_labels(batch)
                x = features(images)
                model = model or Model(x.shape[1], len(classes))
                losses.append(model.train(x, labels))
                if epoch == 0:
                    colours.append((images.mean((1, 2)), labels))
                samples += len(labels)
                payload += batch.nbytes
                asked = time.perf_counter()
            print(f"epoch {epoch}: {len(losses)} batches, loss {losses[0]:.2f} -> {losses[-1]:.2f}", flush=True)
    seconds = time.perf_counter() - began

    right = by_colour = total = 0
    mean, seen = np.concatenate([c for c, _ in colours]), np.concatenate([y for _, y in colours])
    means = np.stack([mean[seen == k].mean(0) for k in range(len(classes))])
    for batch in Feed(dataset, split="val", batch_size=64, shuffle="none", tail="keep", decode={"image": "rgb"}):
        images, labels = images_and_labels(batch)
        right += int((model.scores(features(images))[1].argmax(1) == labels).sum())
        distance = ((images.mean((1, 2))[:, None] - means) ** 2).sum(2)
        by_colour += int((distance.argmin(1) == labels).sum())
        total += len(labels)

    print(f"fed                  {samples:,} samples, {payload / 1e6:.1f} MB in {seconds:.1f} s,"
          f" decoding and training included")
    print(f"waited for data      {100 * waited / seconds:.1f} % of the time (decoding included)")
    print(f"validation accuracy  {100 * right / total:.1f} % of {total} images; chance is {100 / len(classes):.0f} %")
    print(f"nearest mean colour  {100 * by_colour / total:.1f} %: colour tells nothing, the shapes were learned")
    if right / total < 2 / len(classes):
        print("the model is not clearly above chance: the feed or the model is broken", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
