"""Pinned memory is not used again while a GPU copies from it. tests/with_cuda has the same with a GPU."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import numpy.typing as npt
import pytest

from stoker._batch import pinned_memory
from stoker._batch.tensors import Delivered, Tensors
from stoker._memory.buffers import BufferPool


class Gpu:
    """Stands for torch: its copies are over when the test says so."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.cuda = SimpleNamespace(Event=lambda: Event(self), current_stream=lambda device: f"stream of {device}")


class Event:
    def __init__(self, gpu: Gpu) -> None:
        self.over = False
        gpu.events.append(self)

    def record(self, stream: str) -> None:
        assert stream == "stream of cuda:0"

    def query(self) -> bool:
        return self.over


class InMemory:
    """A tensor of the CPU."""

    is_cuda = False

    def __init__(self, array: npt.NDArray[Any], pinned: bool = True) -> None:
        self.array, self.pinned = array, pinned

    def is_pinned(self) -> bool:
        return self.pinned

    def to(self, device: str, non_blocking: bool) -> SimpleNamespace:
        return SimpleNamespace(is_cuda=device.startswith("cuda"), device=device)


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    gpu = Gpu()
    monkeypatch.setitem(sys.modules, "torch", gpu)
    monkeypatch.setattr(pinned_memory, "_SOURCES", pinned_memory.Sources())
    return gpu


def move(tensor: InMemory, device: str, non_blocking: bool) -> None:
    with pinned_memory.Moves(device, non_blocking) as moves:
        moves(tensor)


def test_memory_returns_to_the_pool_when_the_copy_is_over(gpu: Gpu) -> None:
    pool = BufferPool(1 << 20)
    for number in range(3):
        array, address = pool.take_at(8192)
        move(InMemory(array), "cuda:0", True)
        del array
        assert pool.kept_bytes == 0, f"copy {number} is not over"
    gpu.events[0].over = True
    move(InMemory(pool.take(4096)), "cuda:0", True)
    assert pool.kept_bytes == 8192
    for event in gpu.events:
        event.over = True
    array, address = pool.take_at(8192)
    move(InMemory(array), "cuda:0", True)
    assert len(pinned_memory._SOURCES) == 1
    assert pool.kept_bytes == 2 * 8192 + 4096
    del array
    assert pool.take_at(8192)[1] != address


@pytest.mark.parametrize(
    ("device", "non_blocking", "pinned"), [("cuda:0", False, True), ("cuda:0", True, False), ("cpu", True, True)]
)
def test_other_copies_keep_nothing(gpu: Gpu, device: str, non_blocking: bool, pinned: bool) -> None:
    pool = BufferPool(1 << 20)
    move(InMemory(pool.take(8192), pinned), device, non_blocking)
    assert not gpu.events
    assert pool.kept_bytes == 8192


def test_tensors_on_the_cpu_are_kept_too(gpu: Gpu) -> None:
    pool = BufferPool(1 << 20)
    columns = {"image": [InMemory(pool.take(8192)), InMemory(pool.take(8192))], "name": ["a"]}
    tensors = Tensors(columns, {"image": InMemory(pool.take(4096))}, {}, Delivered(1, None, 0, 0, 0, 0, {}))
    tensors.to("cuda:0", non_blocking=True)
    del columns, tensors
    assert len(gpu.events) == 1
    assert pool.kept_bytes == 0
