"""Pinned memory, from which a GPU copies while the processor continues to work.

torch allocates it, and only if CUDA is available. Otherwise ordinary memory is used, with one warning.
"""

from __future__ import annotations

import importlib
import logging
import sys
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from stoker._memory.buffers import BufferPool
from stoker._source.position import worker_of

_LOG = logging.getLogger("stoker")
_said: set[str] = set()


def cuda() -> Any:
    """The module torch if it has CUDA in this process, else None. DataLoader workers must not touch CUDA."""
    if worker_of() is not None:
        return None
    torch: Any = sys.modules.get("torch")
    if torch is None:
        try:
            torch = importlib.import_module("torch")
        except ImportError:
            return None
    return torch if torch.cuda.is_available() else None


def allocator(torch: Any) -> Callable[[int], Any]:
    """What gives a `BufferPool` pinned memory; the buffer keeps the tensor alive."""
    return lambda nbytes: torch.empty(nbytes, dtype=torch.uint8, pin_memory=True).numpy()


def pool_of(limit_bytes: int, pin_memory: bool) -> BufferPool:
    """The memory that batches are received into."""
    torch = cuda() if pin_memory else None
    if pin_memory and torch is None and worker_of() is None:
        _say("pin_memory=True: torch finds no CUDA here, so batches are received into ordinary memory")
    return BufferPool(limit_bytes, allocator(torch) if torch is not None else None)


def mover() -> Callable[[Any], Any] | None:
    """Returns a function that copies an array into pinned memory; None, after one warning, without CUDA."""
    torch = cuda()
    if torch is None:
        _say("Batch.pin_memory: torch finds no CUDA here, so the batch stays in ordinary memory")
        return None
    return lambda array: torch.from_numpy(array).pin_memory().numpy()


class Sources:
    """Pinned memory that a GPU copies from. A pool would give it to the next batch as soon as nothing refers to it.

    Safe for several threads. Keeps the memory of all copies that the GPU has not made yet.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: deque[tuple[Any, Callable[[], bool]]] = deque()

    def keep(self, source: Any, copied: Callable[[], bool]) -> None:
        """Keeps `source` until `copied` returns True. Only later calls of this method ask it."""
        with self._lock:
            self._kept.append((source, copied))
            while self._kept and self._kept[0][1]():
                self._kept.popleft()

    def __len__(self) -> int:
        return len(self._kept)


_SOURCES = Sources()


class Moves:
    """Moves torch tensors to a device. When it ends, pinned memory is kept until the GPU has copied from it."""

    def __init__(self, device: Any, non_blocking: bool) -> None:
        self._device, self._non_blocking = device, non_blocking
        self._pinned: list[Any] = []
        self._to: Any = None

    def __call__(self, tensor: Any) -> Any:
        copy = tensor.to(self._device, non_blocking=self._non_blocking)
        if self._non_blocking and copy.is_cuda and not tensor.is_cuda and tensor.is_pinned():
            self._pinned.append(tensor)
            self._to = copy.device
        return copy

    def __enter__(self) -> Moves:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pinned:
            torch = sys.modules["torch"]
            copied = torch.cuda.Event()
            copied.record(torch.cuda.current_stream(self._to))
            _SOURCES.keep(self._pinned, copied.query)


def _say(what: str) -> None:
    if what not in _said:
        _said.add(what)
        _LOG.warning(what)
