"""Draws the quickstart's images: four classes that differ by shape and by nothing else.

Colour, place, size, a small turn and the noise of every image are random and independent of its class,
so that a model has to look at the shape. The same seed draws the same images.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

SHAPES = ("circle", "cross", "square", "triangle")
SIDE = 64


def outline(shape: str, centre: np.ndarray, radius: float, turn: float) -> list[tuple[float, float]]:
    """Returns the corners, in pixels, of a shape whose area is about that of a circle of ``radius`` pixels."""
    if shape == "triangle":
        angles, reach = [math.pi * (2 * k / 3 - 0.5) for k in range(3)], [radius * 1.45] * 3
    elif shape == "square":
        angles, reach = [math.pi * (k / 2 + 0.25) for k in range(4)], [radius * 1.25] * 4
    else:  # the cross: twelve corners, four of them inner ones
        corners = [(1, 3), (1, 1), (3, 1), (3, -1), (1, -1), (1, -3), (-1, -3), (-1, -1), (-3, -1), (-3, 1), (-1, 1), (-1, 3)]
        angles = [math.atan2(y, x) for x, y in corners]
        reach = [radius * 0.4 * math.hypot(x, y) for x, y in corners]
    return [
        (centre[0] + r * math.cos(a + turn), centre[1] + r * math.sin(a + turn)) for a, r in zip(angles, reach, strict=True)
    ]


def draw(shape: str, random: np.random.Generator) -> Image.Image:
    """Draws one image of ``SIDE`` x ``SIDE`` RGB pixels."""
    back, front = random.integers(0, 256, (2, 3))
    while np.abs(back - front).sum() < 180:  # the shape must be visible at all
        back, front = random.integers(0, 256, (2, 3))
    radius = random.uniform(8, 17)
    centre = random.uniform(radius * 1.5, SIDE - radius * 1.5, 2)
    image = Image.new("RGB", (SIDE, SIDE), tuple(int(c) for c in back))
    pen, fill = ImageDraw.Draw(image), tuple(int(c) for c in front)
    if shape == "circle":
        pen.ellipse([*(centre - radius), *(centre + radius)], fill=fill)
    else:
        pen.polygon(outline(shape, centre, radius, random.uniform(-0.15, 0.15)), fill=fill)
    pixels = np.asarray(image, np.float32) + random.normal(0, 12, (SIDE, SIDE, 3))
    return Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8))


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws an image-per-class directory tree of JPEG files.")
    parser.add_argument("target", type=Path, help="directory to write to, one sub-directory per class")
    parser.add_argument("--images", type=int, default=4000, help="images in all (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=7, help="seed of everything random (default: %(default)s)")
    options = parser.parse_args()
    random = np.random.default_rng(options.seed)
    began = last = time.monotonic()
    for shape in SHAPES:
        (options.target / shape).mkdir(parents=True, exist_ok=True)
    for number in range(options.images):
        shape = SHAPES[number % len(SHAPES)]
        draw(shape, random).save(options.target / shape / f"{number:06d}.jpg", quality=90)
        if time.monotonic() - last > 2:
            last = time.monotonic()
            print(f"  drew {number + 1:,} of {options.images:,} images", file=sys.stderr, flush=True)
    print(f"drew {options.images:,} images of {len(SHAPES)} shapes in {time.monotonic() - began:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
