"""Draws the quickstart's images: four classes that differ only by shape.

Colour, position, size, a small rotation and noise are random and independent of the class, so a model must recognise
the shape. The same seed draws the same images.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

SHAPES = ("circle", "cross", "square", "triangle")
SIDE = 64


def outline(shape: str, centre: np.ndarray, radius: float, turn: float) -> list[tuple[float, float]]:
    """Returns the corners, in pixels, of a shape that has about the same area as a circle of ``radius`` pixels."""
    if shape == "triangle":
        angles, reach = [math.pi * (2 * k / 3 - 0.5) for k in range(3)], [radius * 1.45] * 3
    elif shape == "square":
        angles, reach = [math.pi * (k / 2 + 0.25) for k in range(4)], [radius * 1.25] * 4
    else:  # the cross: three corners in each of four quarters; the middle one is an inner corner
        corners = [(1, 3), (1, 1), (3, 1)]
        angles = [math.atan2(y, x) - math.pi / 2 * quarter for quarter in range(4) for x, y in corners]
        reach = [radius * 0.4 * math.hypot(x, y) for x, y in corners] * 4
    x, y = centre
    return [(x + r * math.cos(a + turn), y + r * math.sin(a + turn)) for a, r in zip(angles, reach, strict=True)]


def draw(shape: str, random: np.random.Generator) -> Image.Image:
    """Draws one image of ``SIDE`` x ``SIDE`` RGB pixels."""
    back, front = random.integers(0, 256, (2, 3))
    while np.abs(back - front).sum() < 180:  # the shape must be visible
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


def contact_sheet(images: Path, columns: int = 8) -> Image.Image:
    """Pastes the first images of each class into a sheet, one row for each class."""
    sheet = Image.new("RGB", (columns * SIDE, len(SHAPES) * SIDE))
    for row, shape in enumerate(SHAPES):
        for column, file in enumerate(sorted((images / shape).iterdir())[:columns]):
            with Image.open(file) as image:
                sheet.paste(image, (column * SIDE, row * SIDE))
    return sheet


def main() -> int:
    parser = argparse.ArgumentParser(description="Draws an image-per-class directory tree of JPEG files.")
    parser.add_argument("target", type=Path, help="directory to create, one sub-directory per class")
    parser.add_argument("--images", type=int, default=4000, help="total number of images (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=7, help="random seed (default: %(default)s)")
    options = parser.parse_args()
    # The directory gets its final name when it is complete, so nobody uses the result of an interrupted run.
    part = options.target.with_name(options.target.name + ".part")
    shutil.rmtree(part, ignore_errors=True)
    random = np.random.default_rng(options.seed)
    began = last = time.monotonic()
    for shape in SHAPES:
        (part / shape).mkdir(parents=True)
    for number in range(options.images):
        shape = SHAPES[number % len(SHAPES)]
        draw(shape, random).save(part / shape / f"{number:06d}.jpg", quality=90)
        if time.monotonic() - last > 1:
            last = time.monotonic()
            end = "\r" if sys.stdout.isatty() else "\n"
            print(f"drew {number + 1:,} of {options.images:,} images", end=end, flush=True)
    part.rename(options.target)
    print(f"drew {options.images:,} images of {len(SHAPES)} shapes in {time.monotonic() - began:.1f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
