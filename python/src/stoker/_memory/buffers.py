"""Batch buffers that are used again, but never while anything still refers to them.

A fresh 7-MB buffer costs more in page faults than filling it. A buffer handed out is an array whose
base is not an array, so that every view of it (NumPy, pyarrow, torch, DLPack) keeps exactly that array
alive; when the last view is gone, the memory goes back to the pool by a weak reference's callback.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

ALIGNMENT = 64


class BufferPool:
    """Hands out writable uint8 arrays that start at a multiple of 64. Safe for several threads, and after a fork.

    About `limit_bytes` are kept for use again; what is handed out is not limited here.
    """

    def __init__(self, limit_bytes: int = 256 << 20, allocate: Callable[[int], Any] | None = None) -> None:
        """`allocate(n)` returns any writable buffer of n bytes (pinned memory, say)."""
        self._limit = limit_bytes
        self.ordinary = allocate is None
        """Whether any memory would do as well."""
        self._allocate = allocate or (lambda n: np.empty(n, np.uint8))
        # No lock: a callback may run anywhere, also in a forked child whose parent held one. deque and dict
        # operations are atomic; the count of kept bytes may be a little off, which only shifts the limit.
        self._free: dict[int, deque[tuple[memoryview, int]]] = {}  # block, address
        self._out: dict[int, tuple[Any, int, tuple[memoryview, int]]] = {}
        self._kept = 0
        self._pid = os.getpid()

    def take(self, nbytes: int) -> npt.NDArray[np.uint8]:
        """An array of exactly `nbytes`, contents undefined."""
        return self.take_at(nbytes)[0]

    def take_at(self, nbytes: int) -> tuple[npt.NDArray[np.uint8], int]:
        """An array and the address of its first byte."""
        size = _size_class(nbytes)
        block = self._kept_block(size)
        if block is None:
            larger = sorted(other for other in tuple(self._free) if size < other <= size + (size >> 2))
            for other in larger:
                block = self._kept_block(other)
                if block is not None:
                    size = other
                    break
        if block is None:
            raw = memoryview(self._allocate(size + ALIGNMENT)).cast("B")
            address = int(np.frombuffer(raw, np.uint8).ctypes.data)
            start = -address % ALIGNMENT
            block = raw[start : start + size], address + start
        array = np.frombuffer(block[0], np.uint8)
        token = id(array)
        self._out[token] = (weakref.ref(array, lambda _: self._give_back(token)), size, block)
        return array[:nbytes], block[1]

    def _kept_block(self, size: int) -> tuple[memoryview, int] | None:
        kept = self._free.get(size)
        if not kept:
            return None
        try:
            block = kept.pop()
        except IndexError:  # another thread was quicker
            return None
        self._kept -= size
        return block

    def keep_at_least(self, nbytes: int) -> None:
        """Raises the limit: batches have turned out to be larger than it was made for."""
        self._limit = max(self._limit, nbytes)

    def _give_back(self, token: int, getpid: Callable[[], int] = os.getpid, new: Callable[[], Any] = deque) -> None:
        # Uses no name of this module: at the end of a process those are gone before the last buffers.
        _, size, block = self._out.pop(token)
        if size > self._limit or self._pid != getpid():
            return
        if self._kept + size > self._limit:
            self._make_room(size)
        if self._kept + size <= self._limit:
            self._kept += size
            self._free.setdefault(size, new()).append(block)

    def _make_room(self, size: int) -> None:
        """Drops blocks of other sizes, which batches had before."""
        for other in tuple(self._free):
            blocks = self._free[other]
            while other != size and blocks and self._kept + size > self._limit:
                try:
                    blocks.popleft()
                except IndexError:  # another thread was quicker
                    break
                self._kept -= other

    @property
    def kept_bytes(self) -> int:
        """Bytes lying ready."""
        return self._kept


def _size_class(nbytes: int) -> int:
    """Rounds up to one of eight sizes per power of two, so that batches of varying size share buffers."""
    if nbytes <= 4096:
        return 4096
    step = 1 << max(12, nbytes.bit_length() - 4)
    return -(-nbytes // step) * step
