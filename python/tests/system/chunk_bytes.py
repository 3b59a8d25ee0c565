"""Chunk files as bytes on disk: where what lies, and damage done in place, as rot does it, in files that are mapped."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from stoker._dataset.snapshot import open_snapshot


@dataclass(frozen=True)
class Chunk:
    path: Path
    id: str
    head_length: int
    content: bytes
    keys: tuple[str, ...]
    places: tuple[tuple[int, int], ...]
    """Of each row's payload: offset in the file, length."""

    def flip(self, offset: int, rng: random.Random) -> None:
        """Flips one bit of a byte."""
        self.write(offset, bytes([self.content[offset] ^ 1 << rng.randrange(8)]))

    def write(self, offset: int, data: bytes) -> None:
        with self.path.open("r+b") as file:
            file.seek(offset)
            file.write(data)

    def truncate(self, length: int) -> None:
        os.truncate(self.path, length)

    def restore(self) -> None:
        """The same file, so that mappings of it see its bytes again."""
        with self.path.open("r+b") as file:
            file.write(self.content)


def chunks_of(dataset: Path) -> list[Chunk]:
    snapshot = open_snapshot(dataset)
    return [_chunk(snapshot, index) for index in range(len(snapshot.chunks))]


def _chunk(snapshot, index: int) -> Chunk:
    path = Path(snapshot.chunk_path(index))
    content = path.read_bytes()
    whole = pa.py_buffer(content)
    batch = pa.ipc.open_file(whole).get_batch(0)
    payload = batch.column("data")
    values = payload.buffers()[2].address - whole.address
    lengths = [len(value.as_py()) for value in payload]
    starts = [values + sum(lengths[:row]) for row in range(len(lengths))]
    for row, (start, length) in enumerate(zip(starts, lengths, strict=True)):
        assert content[start : start + length] == payload[row].as_py()
    return Chunk(
        path,
        snapshot.chunks.id_of(index),
        int(snapshot.chunks.columns["head_length"][index]),
        content,
        tuple(batch.column("key").to_pylist()),
        tuple(zip(starts, lengths, strict=True)),
    )
