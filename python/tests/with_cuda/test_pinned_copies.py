"""A GPU that is behind copies from pinned memory after the program has let go of the batch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import stoker

pytestmark = pytest.mark.full("programs")

BATCHES, ROWS, SHAPE = 48, 16, (3, 100, 100)
BUSY_CYCLES = 20_000_000


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("pinned") / "data"
    schema = {"image": "uint8(3,100,100)", "tokens": "int32[]", "label": "int64"}
    generator = np.random.default_rng(1)
    with stoker.Writer(root, schema=schema) as writer:
        for number in range(BATCHES * ROWS):
            image = generator.integers(0, 256, SHAPE, np.uint8)
            tokens = generator.integers(0, 1000, 2000 + number % 7, np.int32)
            writer.write({"key": f"{number:06d}", "image": image, "tokens": tokens, "label": number})
    return root


def sums(values: Any) -> Any:
    return values.reshape(-1).long().sum()


def behind(copies: Iterator[tuple[stoker.Batch, Any]]) -> None:
    """Compares sums on the GPU, which always has more to do first, with sums on the CPU."""
    wanted, got = [], []
    for batch, data in copies:
        wanted.append((int(batch.image.astype(np.int64).sum()), int(batch.tokens.values.sum()), int(batch.label.sum())))
        got.append(tuple(map(sums, (data.image, data.tokens.values(), data.label))))
        del batch, data
    assert len(wanted) == 2 * BATCHES
    assert [tuple(map(int, each)) for each in got] == wanted


def test_the_memory_of_a_copy_is_not_used_again_before_the_copy_is_over(dataset: Path) -> None:
    def copies() -> Iterator[tuple[stoker.Batch, Any]]:
        with stoker.Feed(dataset, batch_size=ROWS, pin_memory=True, buffer_bytes=1 << 20) as feed:
            for _ in range(2):
                pinned = 0
                for batch in feed:
                    pinned += torch.from_numpy(batch.image).is_pinned()
                    torch.cuda._sleep(BUSY_CYCLES)
                    yield batch, batch.to("cuda", non_blocking=True)
                assert pinned > BATCHES * 3 // 4  # not a batch of two windows, whose columns are put together

    behind(copies())


def test_nor_that_of_tensors_on_the_cpu_that_are_moved_later(dataset: Path) -> None:
    def copies() -> Iterator[tuple[stoker.Batch, Any]]:
        with stoker.Feed(dataset, batch_size=ROWS, pin_memory=True, buffer_bytes=1 << 20) as feed:
            for _ in range(2):
                for batch in feed:
                    torch.cuda._sleep(BUSY_CYCLES)
                    yield batch, batch.to("cpu").to("cuda", non_blocking=True)

    behind(copies())


def test_nor_that_of_a_batch_that_was_copied_into_pinned_memory(dataset: Path) -> None:
    def copies() -> Iterator[tuple[stoker.Batch, Any]]:
        with stoker.Feed(dataset, batch_size=ROWS, buffer_bytes=1 << 20) as feed:
            for _ in range(2):
                for batch in feed:
                    torch.cuda._sleep(BUSY_CYCLES)
                    pinned = batch.pin_memory()
                    yield pinned, pinned.to("cuda", non_blocking=True)

    behind(copies())


def test_a_loader_pins_and_moves_what_the_feed_has(dataset: Path) -> None:
    def copies() -> Iterator[tuple[stoker.Batch, Any]]:
        with stoker.Feed(dataset, batch_size=ROWS) as feed:
            for _ in range(2):
                for batch in torch.utils.data.DataLoader(feed, batch_size=None, num_workers=2, pin_memory=True):
                    torch.cuda._sleep(BUSY_CYCLES)
                    yield batch, batch.to("cuda", non_blocking=True)

    behind(copies())
