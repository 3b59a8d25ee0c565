"""The samples that every system packs, and the work that every consumer does with one."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np

ID_BYTES = 8
PER_DIRECTORY = 1000


def make_tree(tree: Path, files: int, size: int) -> None:
    """Writes files of noise that begin with their number, a thousand to a directory."""
    noise = random.Random(files * size).randbytes(size + 65536)
    for number in range(files):
        directory = tree / f"class{number // PER_DIRECTORY:04d}"
        if number % PER_DIRECTORY == 0:
            directory.mkdir(parents=True)
        first = number % 65536
        payload = noise[first : first + size - ID_BYTES]
        (directory / f"sample_{number:08d}.bin").write_bytes(struct.pack("<q", number) + payload)


def paths(tree: str | Path) -> list[str]:
    return [str(file) for directory in sorted(Path(tree).iterdir()) for file in sorted(directory.iterdir())]


def samples(tree: str | Path) -> Iterator[tuple[str, bytes]]:
    """Yields a key and the bytes of each sample."""
    for path in paths(tree):
        yield Path(path).stem, Path(path).read_bytes()


def id_of(sample: object) -> int:
    """Returns the number with which a sample begins."""
    return struct.unpack_from("<q", memoryview(sample))[0]  # type: ignore[arg-type]


def touch(sample: object) -> int:
    """Reads each byte of a sample once and returns their number: the work of the consumer in every system."""
    view = np.frombuffer(sample, np.uint8)  # type: ignore[call-overload]
    view.max()
    return view.nbytes


def bytes_below(directory: str | Path) -> int:
    return sum(file.stat().st_size for file in Path(directory).rglob("*") if file.is_file())
