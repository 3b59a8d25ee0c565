"""Runs lives of a training job: one process for each rank, which logs what it consumed, saves states and crashes."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import signal
import socket
import time
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from scoreboard import forks
from scoreboard.data import id_of
from scoreboard.job import Job, NotOfferedError, System

LIFE_S = 90
LOOK_S = 0.01
AT_END = -1


@dataclass(frozen=True)
class Save:
    """When each rank saves its state: in an epoch, after some steps of this life, or when the iteration has ended."""

    epoch: int
    step: int
    every: bool = False
    """Again after as many steps."""
    wait_s: float = 0
    """How long the trainer computes before it saves, so that workers read ahead."""


@dataclass(frozen=True)
class Life:
    """A job from its start to its end or crash."""

    job: Job
    epochs: Sequence[int]
    save: Save | None = None
    crash_after: int = 0
    """Steps that are lost: the ranks end so long after the save, without cleaning up."""
    kill_at: int = 0
    """The step after which all ranks are killed, if not 0."""
    first_delivery: bool = False
    """Whether the job ends after the first epoch that has a batch."""


@dataclass
class Log:
    """What the ranks of a life consumed: by epoch, rank and step the numbers of the samples."""

    steps: dict[int, list[list[list[int]]]]
    states: list[Any]
    """Those that the ranks saved at the same step."""


class LifeError(Exception):
    """A rank failed or did not end."""


def run_life(system: System, target: str, life: Life, folder: Path, before: tuple[Sequence[Any], Job] | None) -> Log:
    """Runs a life, resumed from the states before; returns the samples consumed until its last save, or its end."""
    folder.mkdir(parents=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    system.clean()
    pids = []
    for rank in range(life.job.world):
        job = replace(life.job, rank=rank)
        pids.append(forks.fork(lambda job=job: _rank(system, target, life, job, folder, before, port)))
    try:
        _wait(life, pids, folder)
    finally:
        for pid in pids:
            forks.kill_group(pid)
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, 0)
    return _collect(life, folder)


def _wait(life: Life, pids: Sequence[int], folder: Path) -> None:
    end = time.monotonic() + LIFE_S
    alive = list(pids)
    while alive:
        if life.kill_at and all(_steps(folder, rank) >= life.kill_at for rank in range(len(pids))):
            for pid in alive:
                os.kill(pid, signal.SIGKILL)
            life = replace(life, kill_at=0)
        alive = [pid for pid in alive if os.waitpid(pid, os.WNOHANG)[0] == 0]
        if alive and any((folder / f"{rank}.error").exists() for rank in range(len(pids))):
            return  # the other ranks may wait for this one forever
        if alive and time.monotonic() > end:
            raise LifeError(f"no end within {LIFE_S} s")
        time.sleep(LOOK_S)


def _steps(folder: Path, rank: int) -> int:
    try:
        return (folder / f"{rank}.log").read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


def _collect(life: Life, folder: Path) -> Log:
    ranks = range(life.job.world)
    for rank in ranks:
        error = folder / f"{rank}.error"
        if error.exists():
            kind, message = json.loads(error.read_text())
            raise NotOfferedError(message) if kind == NotOfferedError.__name__ else LifeError(f"{kind}: {message}")
    states: list[Any] = []
    saved = 0
    if life.save:
        common = set.intersection(*({int(f.suffix[1:]) for f in folder.glob(f"{rank}.state.*")} for rank in ranks))
        if not common:
            raise LifeError("a rank ended before it saved its state")
        saved = max(common)
        states = [pickle.loads((folder / f"{rank}.state.{saved}").read_bytes()) for rank in ranks]
    steps: dict[int, list[list[list[int]]]] = {epoch: [[] for _ in ranks] for epoch in life.epochs}
    for rank in ranks:
        with contextlib.suppress(FileNotFoundError):
            for line in (folder / f"{rank}.log").read_text().splitlines():
                epoch, step, ids = json.loads(line)
                if not (life.save and saved and epoch == life.save.epoch and step > saved):
                    steps[epoch][rank].append(ids)
        if not life.save and not (folder / f"{rank}.end").exists():
            raise LifeError(f"rank {rank} died")
    return Log(steps, states)


def _rank(system: System, target: str, life: Life, job: Job, folder: Path, before: Any, port: int) -> None:
    local = {"RANK": job.rank, "LOCAL_RANK": job.rank, "WORLD_SIZE": job.world, "LOCAL_WORLD_SIZE": job.world}
    os.environ.update({name: str(value) for name, value in local.items()})
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    try:
        _train(system, target, life, job, folder, before)
        (folder / f"{job.rank}.end").touch()
    except BaseException as e:
        unfinished = folder / f"{job.rank}.failed"
        where = traceback.extract_tb(e.__traceback__)[-1]
        message = str(e) or f"{Path(where.filename).name}, line {where.lineno}: {where.line}"
        unfinished.write_text(json.dumps((type(e).__name__, message)))
        unfinished.rename(folder / f"{job.rank}.error")
        raise


def _train(system: System, target: str, life: Life, job: Job, folder: Path, before: Any) -> None:
    reader = system.open(target, job)
    if before is not None:
        reader.resume(*before)
    with open(folder / f"{job.rank}.log", "w", buffering=1) as log:
        for epoch in life.epochs:
            step = 0
            for batch in reader.epoch(epoch):
                step += 1
                log.write(json.dumps((epoch, step, [id_of(sample) for sample in batch])) + "\n")
                if life.save and epoch == life.save.epoch:
                    _after_step(reader, life, life.save, step, folder, job.rank)
            if life.save and life.save.epoch == epoch and life.save.step == AT_END:
                _save(reader, folder, job.rank, 0)
            if life.first_delivery and step:
                break


def _after_step(reader: Any, life: Life, save: Save, step: int, folder: Path, rank: int) -> None:
    if step == save.step or (save.every and step % save.step == 0):
        time.sleep(save.wait_s)
        _save(reader, folder, rank, step)
    if save.step > 0 and not save.every and step >= save.step + life.crash_after:
        os._exit(0)
    if life.kill_at and step > life.kill_at:
        signal.pause()  # until it is killed


def _save(reader: Any, folder: Path, rank: int, step: int) -> None:
    unfinished = folder / f"{rank}.unfinished"
    unfinished.write_bytes(pickle.dumps(reader.state()))
    unfinished.rename(folder / f"{rank}.state.{step}")
