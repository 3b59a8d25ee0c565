"""Passes of a DataLoader that overlap or lose a worker: each has one whole epoch, or is refused."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from rounds import rounds
from stoker import errors
from stoker._source.position import Start
from stoker._source.shared_epochs import _PASSES, SharedEpochs

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning"),
]


def following(start: Start) -> Start:
    return Start(start.epoch + 1)


def worker(shared: SharedEpochs) -> SharedEpochs:
    """As a worker process has it."""
    return SharedEpochs(os.dup(shared._fd), shared._seen)


def in_a_worker(shared: SharedEpochs, what: Callable[[SharedEpochs], Any]) -> int:
    """Runs a function in a process that is killed at its end; returns its pid."""
    ready, tell = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        try:
            what(shared)
            os.write(tell, b"!")
            signal.pause()
        finally:
            os._exit(1)
    os.close(tell)
    assert os.read(ready, 1) == b"!"
    os.close(ready)
    return pid


def end(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def test_a_late_worker_belongs_to_the_pass_that_it_was_started_for() -> None:
    shared = SharedEpochs()
    one, two = [worker(shared) for _ in range(2)], [worker(shared) for _ in range(2)]
    assert one[0].begin(11, following) == Start(0)
    assert two[0].begin(12, following) == Start(1)
    assert one[1].begin(11, following) == Start(0)
    assert two[1].begin(12, following) == Start(1)
    assert shared.read() == (True, Start(2))


def test_passes_are_whole_in_any_order_of_their_workers() -> None:
    rounds(check_order, seconds=0.5, at_least=30)


def check_order(chance: Random) -> None:
    shared = SharedEpochs()
    passes = chance.randrange(1, min(12, _PASSES))
    begins = [number for number in range(1, passes + 1) for _ in range(chance.randrange(1, 5))]
    chance.shuffle(begins)
    epochs: dict[int, set[int]] = {}
    for number in begins:
        epochs.setdefault(number, set()).add(worker(shared).begin(number, following).epoch)
    assert sorted(epochs.values(), key=min) == [{epoch} for epoch in range(len(epochs))]
    assert shared.read()[1] == Start(len(epochs))


def test_a_killed_worker_is_noticed_by_the_next_pass() -> None:
    shared = SharedEpochs()
    killed = in_a_worker(shared, lambda s: s.begin(11, following))
    lives = in_a_worker(shared, lambda s: s.begin(11, following))
    assert not shared.has_failed()
    end(killed)
    assert shared.has_failed()
    assert worker(shared).begin(11, following) == Start(0)  # the same pass continues
    with pytest.raises(errors.StokerError, match=r"worker that was killed in epoch 0.*set_epoch\(0\).*set_epoch\(1\)"):
        worker(shared).begin(12, following)
    shared.set(Start(5))
    assert not shared.has_failed()
    assert worker(shared).begin(13, following) == Start(5)
    end(lives)
    assert not shared.has_failed()  # of a pass before the position was set


def test_a_worker_that_ends_in_good_order_is_not_missed() -> None:
    shared = SharedEpochs()

    def begin_and_leave(mine: SharedEpochs) -> None:
        mine.begin(11, following)
        mine.leave()

    end(in_a_worker(shared, begin_and_leave))
    assert not shared.has_failed()
    assert worker(shared).begin(12, following) == Start(1)


def test_a_state_of_workers_forgives_a_killed_one() -> None:
    shared = SharedEpochs()
    end(in_a_worker(shared, lambda s: s.begin(11, following)))
    worker(shared).adopt(12, Start(0, 7), following)
    assert not shared.has_failed()
    assert worker(shared).begin(13, following) == Start(1)
