"""Small image datasets for the tests of examples and pages."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
from PIL import Image

from small_datasets import IMAGES, DatasetWriter

CLASSES = ("circle", "cross", "square")


def encoded(number: int, side: int) -> bytes:
    """A picture whose brightness tells its class, so that any model learns it."""
    rng = np.random.default_rng(number)
    pixels = rng.integers(0, 40, (side, side, 3)) + 80 * (number % len(CLASSES))
    out = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(out, "PNG")
    return out.getvalue()


def image_dataset(root: Path, train: int = 150, val: int = 40, side: int = 64) -> DatasetWriter:
    """Splits train and val of pictures in classes."""
    writer = DatasetWriter(root, IMAGES)
    for split, numbers in (("train", range(train)), ("val", range(train, train + val))):
        rows = [{"key": f"{n:05}.png", "label": CLASSES[n % len(CLASSES)], "image": encoded(n, side)} for n in numbers]
        writer.commit([rows[at : at + 20] for at in range(0, len(rows), 20)], split=split)
    return writer


def image_tree(root: Path, count: int = 240, side: int = 48) -> Path:
    """A directory of pictures for each class."""
    for n in range(count):
        file = root / CLASSES[n % len(CLASSES)] / f"{n:05}.png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encoded(n, side))
    return root
