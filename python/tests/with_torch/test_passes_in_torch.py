"""Passes of a DataLoader that overlap, and a worker that the system kills."""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import threading
from pathlib import Path
from typing import Any

import pytest
from torch.utils.data import DataLoader

from small_datasets import small_dataset
from stoker import Feed, errors

pytestmark = [pytest.mark.full("feeds"), pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_dataset(tmp_path_factory.mktemp("passes") / "d").root


def gate(file: Path, worker: int) -> None:
    """The second worker of a pass begins when the file is there."""
    never = threading.Event()
    while worker == 1 and not file.exists():
        never.wait(0.02)


def test_passes_that_overlap_are_whole(root: Path, tmp_path: Path) -> None:
    with Feed(root, batch_size=4, lanes=2) as feed:
        loader: Any = DataLoader(feed, batch_size=None, num_workers=2)
        passes, read = [], []
        for name in "ab":  # in the unlucky order: a0, b0, a1, b1
            loader.worker_init_fn = functools.partial(gate, tmp_path / name)
            passes.append(iter(loader))
            read.append([next(passes[-1])])
        for name, each, batches in zip("ab", passes, read, strict=True):
            (tmp_path / name).touch()
            batches.append(next(each))
        found = [sorted((b.epoch, b.number) for b in (*batches, *p)) for batches, p in zip(read, passes, strict=True)]
    assert found == [[(epoch, number) for number in range(10)] for epoch in range(2)]


@pytest.mark.parametrize("which", [0, 1])
def test_a_new_pass_after_a_killed_worker_is_refused(root: Path, which: int) -> None:
    with Feed(root, batch_size=4, lanes=2) as feed:
        loader: Any = DataLoader(feed, batch_size=None, num_workers=2)
        batches = iter(loader)
        for _ in range(2):  # both workers have begun
            next(batches)
        os.kill(batches._workers[which].pid, signal.SIGKILL)
        # torch raises one of them, in a handler of signals or as the worker's data does not arrive
        with contextlib.suppress(RuntimeError, OSError, EOFError):
            batches._workers[which].join(60)
            list(batches)
        del batches
        with pytest.raises(errors.StokerError, match=r"worker that was killed in epoch 0.*set_epoch\(0\)"):
            list(loader)
        feed.set_epoch(0)
        assert [(b.epoch, b.number) for b in loader] == [(0, number) for number in range(10)]


def test_a_new_pass_after_a_break_is_the_next_epoch(root: Path) -> None:
    with Feed(root, batch_size=4, lanes=2) as feed:
        loader: Any = DataLoader(feed, batch_size=None, num_workers=2)
        for epoch in range(3):
            for batch in loader:
                assert batch.epoch == epoch
                break
