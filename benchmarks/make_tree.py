"""Makes a tree of equal files of noise, a thousand to a directory, for benchmarks of packing and feeding.

python3 benchmarks/make_tree.py TREE FILES BYTES
"""

from __future__ import annotations

import os
import sys

_SHIFTS = 65536
"""The number of consecutive files that all differ."""


def make_tree(tree: str, files: int, size: int) -> None:
    noise = os.urandom(size + _SHIFTS)
    for first in range(0, files, 1000):
        directory = f"{tree}/class{first // 1000:04d}"
        os.makedirs(directory)
        for i in range(first, min(files, first + 1000)):
            with open(f"{directory}/img_{i:08d}.jpg", "wb", buffering=0) as file:
                file.write(noise[i % _SHIFTS : i % _SHIFTS + size])


if __name__ == "__main__":
    make_tree(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
