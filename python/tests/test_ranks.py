"""Who reads: a feed that comes into another process takes the rank of that process, unless it is a loader worker."""

from __future__ import annotations

import multiprocessing.context
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from small_datasets import small_dataset
from stoker import Feed
from stoker._feed import reading
from stoker._source.position import lonely_task, starting_worker

SPEC: dict[str, Any] = {"batch_size": 4, "lanes": 2}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_dataset(tmp_path_factory.mktemp("ranks") / "d").root


@pytest.fixture(autouse=True)
def _no_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("RANK", "WORLD_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS"):
        monkeypatch.delenv(name, raising=False)


def numbers(feed: Feed) -> list[int]:
    return [batch.number for batch in feed]


def test_a_pickled_feed_takes_the_rank_of_the_process_that_reads(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Feed(root, **SPEC) as feed:
        assert numbers(feed) == list(range(10))
        sent = pickle.dumps(feed)
    found = []
    for rank in range(2):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "2")
        with pickle.loads(sent) as feed:
            assert f"rank {rank} of 2" in repr(feed)
            found.append(numbers(feed))
    assert found == [[0, 2, 4, 6, 8], [1, 3, 5, 7, 9]]


def test_a_rank_that_was_given_stays(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Feed(root, **SPEC, rank=0, world_size=1) as feed:
        sent = pickle.dumps(feed)
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pickle.loads(sent) as feed:
        assert numbers(feed) == list(range(10))


def _worker_loop() -> None:
    """Named as the function of a loader worker."""


class Started:
    """A process as multiprocessing pickles it."""

    def __init__(self, target: Any) -> None:
        self._target = target

    def pickle(self, what: Any) -> bytes:
        process_obj = self  # noqa: F841 - the name in `Popen._launch`
        return pickle.dumps(what)


class Look:
    found: list[bool]

    def __reduce__(self) -> tuple[Any, ...]:
        self.found = [starting_worker()]
        return str, ()


@pytest.mark.parametrize("module", ["torch.utils.data._utils.worker", "torchdata.stateful_dataloader.worker", "mine"])
def test_only_a_loader_worker_is_told_the_rank(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_worker_loop, "__module__", module)
    look = Look()
    Started(_worker_loop).pickle(look)
    assert look.found == [False]  # nothing is being started
    monkeypatch.setattr(multiprocessing.context, "get_spawning_popen", lambda: object())
    Started(_worker_loop).pickle(look)
    assert look.found == [module != "mine"]
    Started(print).pickle(look)
    assert look.found == [False]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_process_has_a_position_of_its_own(root: Path) -> None:
    with Feed(root, **SPEC) as feed:
        feed.set_epoch(3)
        before = feed._reading.progress.shared.read()
        child = os.fork()
        if child == 0:
            code = 1
            try:
                feed.set_epoch(7)
                code = 0 if next(iter(feed)).epoch == 7 else 2
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0
        assert feed._reading.progress.shared.read() == before
        assert next(iter(feed)).epoch == 3


def test_repr_names_the_reader(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Feed(root, **SPEC) as feed:
        assert repr(feed) == f"Feed({str(root)!r}, train@{feed.version}, rank 0 of 1)"
    with Feed("somewhere", rank=2, world_size=3) as feed:
        assert repr(feed) == "Feed('somewhere', rank 2 of 3)"
        monkeypatch.setenv("RANK", "first")
    with Feed("somewhere") as feed:
        assert repr(feed) == "Feed('somewhere')"


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({}, None),
        ({"SLURM_PROCID": "1", "SLURM_NTASKS": "4"}, "task 1 of 4 for Slurm (SLURM_PROCID, SLURM_NTASKS)"),
        ({"SLURM_NTASKS": "4"}, None),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "1"}, None),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "4", "SLURM_STEP_NUM_TASKS": "1"}, None),
        ({"OMPI_COMM_WORLD_RANK": "2", "OMPI_COMM_WORLD_SIZE": "8"}, "task 2 of 8 for MPI"),
        ({"PMI_RANK": "0", "PMI_SIZE": "2"}, "task 0 of 2 for MPI (PMI_RANK, PMI_SIZE)"),
        ({"PMI_RANK": "0", "PMI_SIZE": "two"}, None),
    ],
)
def test_a_launcher_of_several_tasks_is_noticed(environment: dict[str, str], said: str | None) -> None:
    warning = lonely_task(environment)
    assert warning is None if said is None else said in str(warning)


def test_a_task_that_reads_everything_is_warned_once(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(reading, "_is_lonely_said", False)
    monkeypatch.setenv("SLURM_PROCID", "1")
    monkeypatch.setenv("SLURM_NTASKS", "4")
    for given in ({"rank": 0, "world_size": 1}, {"rank": 1, "world_size": 4}):
        with Feed(root, **SPEC, **given) as feed:
            next(iter(feed))
    assert not caplog.records
    for _ in range(2):
        with Feed(root, **SPEC) as feed:
            next(iter(feed))
    (record,) = caplog.records
    assert "every task gets all batches" in record.getMessage()
