"""The twelve resume cases, as `docs/results/scoreboard.md` defines them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from scoreboard.job import Job, NotOfferedError, System
from scoreboard.judge import NOT_OFFERED, PASS, Verdict, exactly_once, failed, in_order, same_order
from scoreboard.training import AT_END, Life, LifeError, Log, Save, run_life

SAMPLES = 1536
SAMPLE_BYTES = 1024
SHARDS = 48
"""Every number of ranks and workers below gets whole shards and whole batches, so that no system must fill any up."""
LOST = 5
"""Steps between a save and the crash."""

TWO = Job(world=2, batch=8)
AHEAD = replace(TWO, workers=2)


@dataclass(frozen=True)
class Case:
    """Lives of a job, and the epoch that is judged; the last life runs to the end."""

    title: str
    lives: Sequence[Life]
    epoch: int = 0
    other_order_than: int | None = None


def _crash(job: Job, step: int, epochs: Sequence[int] = (0,), lost: int = LOST, wait_s: float = 0) -> Life:
    return Life(job, epochs, Save(epochs[-1], step, wait_s=wait_s), crash_after=lost)


CASES = (
    Case("middle of an epoch", (_crash(TWO, 40), Life(TWO, (0,)))),
    Case("2 ranks, then 4", (_crash(TWO, 40), Life(replace(TWO, world=4), (0,)))),
    Case("4 ranks, then 2", (_crash(replace(TWO, world=4), 20), Life(TWO, (0,)))),
    Case("0 workers, then 2", (_crash(TWO, 40), Life(AHEAD, (0,)))),
    Case("2 workers, then 4", (_crash(AHEAD, 40), Life(replace(TWO, workers=4), (0,)))),
    Case("batches of 16, then 8", (_crash(replace(TWO, batch=16), 20), Life(TWO, (0,)))),
    Case("border of two epochs", (Life(TWO, (0,), Save(0, AT_END)), Life(TWO, (1,))), epoch=1),
    Case(
        "after the last batch",
        (_crash(TWO, SAMPLES // 16, lost=0), Life(TWO, (0, 1), first_delivery=True)),
        epoch=1,
    ),
    Case("resumed twice", (_crash(TWO, 24), _crash(TWO, 16), Life(TWO, (0,)))),
    Case("second epoch", (_crash(TWO, 40, (0, 1)), Life(TWO, (1,))), epoch=1, other_order_than=0),
    Case("workers read ahead", (_crash(AHEAD, 40, wait_s=0.3), Life(AHEAD, (0,)))),
    Case("kill -9", (Life(AHEAD, (0,), Save(0, 8, every=True), kill_at=30), Life(AHEAD, (0,)))),
)


class Referee:
    """Runs cases of one system on one target."""

    def __init__(self, system: System, target: str, folder: Path) -> None:
        self.system = system
        self.target = target
        self.folder = folder
        self._whole: dict[tuple[Job, int], list[int]] = {}

    def judge(self, number: int) -> Verdict:
        """Runs case `number`, counted from 1."""
        if self.system.no_resume:
            return Verdict(NOT_OFFERED, self.system.no_resume)
        folder = self.folder / f"case{number}"
        shutil.rmtree(folder, ignore_errors=True)
        try:
            return self._judge(CASES[number - 1], folder)
        except NotOfferedError as e:
            return Verdict(NOT_OFFERED, str(e))
        except LifeError as e:
            return failed(str(e))

    def _judge(self, case: Case, folder: Path) -> Verdict:
        lives = [replace(life, job=self._job(life.job, case)) for life in case.lives]
        logs: list[Log] = []
        before = None
        for number, life in enumerate(lives):
            logs.append(run_life(self.system, self.target, life, folder / str(number), before))
            before = (logs[-1].states, life.job)
        delivered = [sample for log in logs for sample in in_order(log.steps.get(case.epoch, []))]
        last = lives[-1]
        if last.first_delivery:  # the trainer cannot know whether an epoch without further batches still comes
            delivered = [sample for steps in logs[-1].steps.values() for sample in in_order(steps)]
        verdict = exactly_once(delivered, SAMPLES)
        if verdict.passed and self.system.keeps_order(lives[0].job, last.job):
            unit = max(life.job.world * life.job.batch for life in lives)
            verdict = same_order(delivered, self.whole(lives[0].job, case.epoch), unit)
        if verdict.passed and case.other_order_than is not None:
            earlier = in_order(logs[0].steps[case.other_order_than])
            if not exactly_once(earlier, SAMPLES).passed or earlier[:64] == delivered[:64]:
                return failed("the second epoch has the order of the first")
        return verdict

    def _job(self, job: Job, case: Case) -> Job:
        """Keeps the batch of all ranks where the system documents that a change of ranks keeps it."""
        first = case.lives[0].job
        if self.system.keeps_global_batch and job.world != first.world:
            return replace(job, batch=first.batch * first.world // job.world)
        return job

    def whole(self, job: Job, epoch: int) -> list[int]:
        """Returns an epoch of a job that was not interrupted."""
        key = (job, epoch)
        if key not in self._whole:
            folder = self.folder / f"whole{len(self._whole)}"
            shutil.rmtree(folder, ignore_errors=True)
            log = run_life(self.system, self.target, Life(job, range(epoch + 1)), folder, None)
            for number, steps in log.steps.items():
                self._whole[job, number] = in_order(steps)
        return self._whole[key]


def passes(verdicts: Sequence[Verdict]) -> int:
    return sum(verdict.result == PASS for verdict in verdicts)
