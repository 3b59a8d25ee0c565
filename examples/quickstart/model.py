"""Two small classifiers in NumPy: one learns shapes, the other sees only mean colours and cannot learn them."""

from __future__ import annotations

import numpy as np

BINS, HIDDEN, RATE = 24, 48, 0.02


def features(images: np.ndarray) -> np.ndarray:
    """Maps uint8 images (n, height, width, 3) to float32 features (n, 37), independent of colour, position and size.

    The features are a histogram of the gradient directions and the amplitudes of the histogram's harmonics.
    """
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


class Classifier:
    """One hidden layer on `features`, trained with Adam (Kingma and Ba, 2015)."""

    def __init__(self, classes: int, seed: int = 0) -> None:
        random = np.random.default_rng(seed)
        self.parameters = [
            random.normal(0, 0.3, (BINS + BINS // 2 + 1, HIDDEN)),
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

    def classify(self, x: np.ndarray) -> np.ndarray:
        """Returns the class numbers (n)."""
        return self.scores(x)[1].argmax(1)

    def train(self, x: np.ndarray, labels: np.ndarray) -> float:
        """Makes one optimizer step on the cross entropy and returns the loss."""
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


class MeanColours:
    """Assigns an image to the class with the nearest mean colour."""

    def __init__(self, classes: int) -> None:
        self.sums, self.counts = np.zeros((classes, 3)), np.zeros((classes, 1))

    def train(self, images: np.ndarray, labels: np.ndarray) -> None:
        np.add.at(self.sums, labels, images.mean((1, 2)))
        np.add.at(self.counts, labels, 1)

    def classify(self, images: np.ndarray) -> np.ndarray:
        """Returns the class numbers (n)."""
        means = self.sums / np.maximum(self.counts, 1)
        return ((images.mean((1, 2))[:, None] - means) ** 2).sum(2).argmin(1)
