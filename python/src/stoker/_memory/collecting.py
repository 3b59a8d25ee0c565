"""Collects ranges of memory into a new buffer, without a call to the kernel.

pyarrow's `take` copies variable-size rows with the processor's own instructions and does not hold the GIL. Here the
rows are ranges at any address: a column whose values are all of memory, with offsets (begin, end) of each range in
turn, has the ranges as its even rows. Nothing must be able to cut the ranges short (`stoker._memory.leases`).
"""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from stoker._format import arrow_arrays

_WHOLE: Final = 1 << 56
"""More than any address in user space."""


class _Memory:
    """An Arrow buffer as the base of an array."""

    def __init__(self, buffer: Any, address: int) -> None:
        self._buffer = buffer
        self.__array_interface__ = {"data": (address, False), "shape": (buffer.size,), "typestr": "|u1", "version": 3}


@functools.cache
def _tools() -> tuple[Any, Any, Any, Any] | None:
    """(take, its options, all of memory, a memory pool that uses freed memory again); None without such a pool."""
    try:
        pool = pa.mimalloc_memory_pool()
    except NotImplementedError:
        return None
    # Address 0 may be taken for "no values", so values begin at 1.
    tools = pc.get_function("take"), pc.TakeOptions(boundscheck=False), pa.foreign_buffer(1, _WHOLE), pool
    return tools if _works(tools) else None


def _works(tools: Any) -> bool:
    there = np.arange(192, dtype=np.uint8)
    at = there.ctypes.data
    ranges = np.array([[at + 128, 64], [at + 3, 0], [at, 64]], np.int64)
    try:
        found = _collect(ranges, 128, tools)[0]
    except pa.ArrowException:
        return False
    return bool((found[:64] == there[128:]).all() and (found[64:] == there[:64]).all())


def supported() -> bool:
    """Whether this pyarrow can do it without getting fresh memory from the kernel each time."""
    return _tools() is not None


def collect(ranges: npt.NDArray[np.int64], total: int) -> tuple[npt.NDArray[np.uint8], int]:
    """A new array with ranges of memory, one after the other, and its address, which is a multiple of 64.

    `ranges` has an (address, length) pair in each line; the lengths sum to `total`, which is not 0. Safe for several
    threads; does not hold the GIL.
    """
    return _collect(ranges, total, _tools())


def _collect(ranges: npt.NDArray[np.int64], total: int, tools: Any) -> tuple[npt.NDArray[np.uint8], int]:
    take, options, memory, pool = tools
    count = len(ranges)
    offsets = np.empty(2 * count + 1, np.int64)
    np.subtract(ranges[:, 0], 1, out=offsets[:-1:2])
    np.add(offsets[:-1:2], ranges[:, 1], out=offsets[1::2])
    # `take` reserves memory for rows of average length; this average makes that the length of the result.
    offsets[-1] = offsets[0] + 2 * total + 1
    column = pa.Array.from_buffers(pa.large_binary(), 2 * count, [None, pa.py_buffer(offsets), memory])
    taken = take.call([column, _even(count)], options, pool)
    buffer = taken.buffers()[2]
    address: int = buffer.address
    return np.asarray(_Memory(buffer, address)), address


@functools.lru_cache(64)
def _even(count: int) -> Any:
    return arrow_arrays.fixed(np.arange(0, 2 * count, 2, dtype=np.int64))
