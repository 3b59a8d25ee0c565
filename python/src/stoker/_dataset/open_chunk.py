"""Reads single rows of the chunks of a version."""

from __future__ import annotations

import os

import numpy as np
import numpy.typing as npt

from stoker._dataset.chunk import ChunkReader
from stoker._dataset.values import read_bytes


class OpenChunk:
    """The chunk file that was read last, open until another one is needed."""

    def __init__(self, reader: ChunkReader) -> None:
        self._reader = reader
        self._index = self._fd = -1

    def __enter__(self) -> OpenChunk:
        return self

    def __exit__(self, *_: object) -> None:
        if self._index >= 0:
            os.close(self._fd)
            self._index = -1

    def read(self, index: int, start: int, length: int, fixed: bool) -> bytes | npt.NDArray[np.uint8]:
        """A part of a chunk, as `read_bytes` returns it. Few parts of a far chunk are read without the rest of it."""
        far = self._reader.far
        data = None if far is None or index == self._index else far.part(index, start, length)
        if data is None:
            return read_bytes(self._file(index), length, start, fixed)
        return data if fixed else np.frombuffer(bytearray(data), np.uint8)

    def renew(self, index: int) -> bool:
        """After a mismatch: has a far chunk read again. False for a chunk in a directory."""
        if self._reader.far is None:
            return False
        self._reader.renew(self._file(index), index)
        return True

    def _file(self, index: int) -> int:
        """The descriptor of a chunk file."""
        if index != self._index:
            self.__exit__()
            self._fd = self._reader.open(index)
            self._index = index
        return self._fd
