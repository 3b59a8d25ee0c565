"""Read-only mappings that no Python code touches: only addresses, for the kernel to copy from.

A mapped file that is cut short kills the process that touches it (SIGBUS). Here the kernel copies, with
`process_vm_readv` on the process's own mappings: one call for a thousand rows, and a missing page is an error code.
The mappings hold no descriptor, so that windows of thousands of chunks need none.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

_P, _N = ctypes.c_void_p, ctypes.c_size_t
_NORESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000)
_POPULATE_READ = 22  # MADV_POPULATE_READ, Linux 5.14
_REPLACE = 3  # MREMAP_MAYMOVE | MREMAP_FIXED


def _bind() -> tuple[Callable[..., Any], ...] | None:
    """(process_vm_readv, mmap, munmap, mincore, madvise, mremap), if the kernel lets this process read itself."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        read, map_, unmap, core = libc.process_vm_readv, libc.mmap, libc.munmap, libc.mincore
        advise, move = libc.madvise, libc.mremap
    except (AttributeError, OSError, TypeError):
        return None
    read.restype, read.argtypes = ctypes.c_ssize_t, [ctypes.c_int, _P, _N, _P, _N, _N]
    map_.restype, map_.argtypes = ctypes.c_ssize_t, [_P, _N, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int64]
    unmap.restype, unmap.argtypes = ctypes.c_int, [_P, _N]
    core.restype, core.argtypes = ctypes.c_int, [_P, _N, _P]
    advise.restype, advise.argtypes = ctypes.c_int, [_P, _N, ctypes.c_int]
    move.restype, move.argtypes = ctypes.c_ssize_t, [_P, _N, _N, ctypes.c_int, _P]
    here, there = np.zeros(8, np.uint8), np.arange(8, dtype=np.uint8)
    to = np.array([here.ctypes.data, 8], np.uint64)
    of = np.array([there.ctypes.data, 8], np.uint64)
    got = read(os.getpid(), to.ctypes.data, 1, of.ctypes.data, 1, 0)
    return (read, map_, unmap, core, advise, move) if got == 8 and (here == there).all() else None


_LIBC = _bind()
_MOST = 32_765
"""Mappings of a process: half of what Linux allows by default (`vm.max_map_count`), as all need some."""
_MAPPED: set[int] = set()
"""Their addresses."""


def supported() -> bool:
    """Whether this process can read from its own mappings through the kernel."""
    return _LIBC is not None


class Mapping:
    """A file mapped for reading; unmapped with its last reference."""

    __slots__ = ("address", "length", "private")

    def __init__(self, fd: int, length: int, private: bool = False) -> None:
        """Raises OSError if the file cannot be mapped. The caller may close `fd` afterwards.

        `private`: the memory may be written to, which leaves the file as it is.
        """
        self.address = -1
        self.length, self.private = length, private
        assert _LIBC is not None
        if len(_MAPPED) >= _MOST:
            raise OSError(errno.ENOMEM, f"{_MOST} files are mapped")
        access, kind = mmap.PROT_READ, mmap.MAP_SHARED
        if private:
            access, kind = access | mmap.PROT_WRITE, mmap.MAP_PRIVATE | _NORESERVE
        address = _LIBC[1](None, length, access, kind, fd, 0)
        if address == -1:
            raise OSError(ctypes.get_errno(), "mmap")
        self.address = address
        _MAPPED.add(address)

    def __del__(self, unmap: Any = None if _LIBC is None else _LIBC[2], mapped: set[int] = _MAPPED) -> None:
        # At the end of a process the names of modules are gone before the last objects.
        if self.address != -1:
            mapped.discard(self.address)  # first: another thread may get the same address
            unmap(self.address, self.length)

    def cached(self) -> bool:
        """Whether the kernel reports at least 90 % of the mapping in the page cache."""
        pages = self._pages()
        return int(np.count_nonzero(pages & 1)) * 10 >= 9 * len(pages)

    def resident(self) -> bool:
        """Whether all pages are in memory."""
        return bool((self._pages() & 1).all())

    def provided(self) -> bool:
        """Whether all pages are in memory; those that are not are read. Does not hold the GIL while it reads."""
        return populate(self.address, self.length) or self.resident()

    def _pages(self) -> npt.NDArray[np.uint8]:
        assert _LIBC is not None
        pages = np.zeros(-(-self.length // mmap.PAGESIZE), np.uint8)
        _LIBC[3](self.address, self.length, pages.ctypes.data)
        return pages


def copy(local: int, length: int, remote: int, count: int, into: int = 1) -> bool:
    """Copies `count` ranges, one after the other, into one or `into` ranges of `length` bytes in all.

    `local` and `remote` are the addresses of (address, length) pairs of 64 bits. False if a page is missing.
    Does not hold the GIL.
    """
    assert _LIBC is not None
    return bool(_LIBC[0](os.getpid(), local, into, remote, count, 0) == length)


def populate(address: int, length: int) -> bool:
    """Has the kernel provide all pages of a range of mappings. False if one is missing, or if it cannot (Linux < 5.14).

    Does not hold the GIL.
    """
    if _LIBC is None:
        return False
    start = address & -mmap.PAGESIZE
    return _LIBC[4](start, address + length - start, _POPULATE_READ) == 0  # type: ignore[no-any-return]


def copy_over(mapping: Mapping, partly: bool = False) -> bool:
    """Replaces a mapping by a copy in memory, at the same address. False if that is not possible.

    `partly`: if a page is missing, that page and what follows it become zeros.
    """
    assert _LIBC is not None
    access = mmap.PROT_READ | mmap.PROT_WRITE
    address = _LIBC[1](None, mapping.length, access, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    if address == -1:
        return False
    ranges = np.array([address, mapping.length, mapping.address, mapping.length], np.int64)
    at = ranges.ctypes.data
    moved = copy(at, mapping.length, at + 16, 1) or partly
    moved = moved and _LIBC[5](address, mapping.length, mapping.length, _REPLACE, mapping.address) == mapping.address
    if not moved:
        _LIBC[2](address, mapping.length)
    return moved
