"""A training job as the scoreboard runs it, and what a system's adapter must offer."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import metadata
from typing import Any, Protocol


class NotOfferedError(Exception):
    """The system documents no way to do this."""


@dataclass(frozen=True)
class Job:
    """One process of a job. `batch` counts the samples of a rank."""

    rank: int = 0
    world: int = 1
    workers: int = 0
    batch: int = 64
    seed: int = 1


class Reader(Protocol):
    """Reads epochs, shuffled, in one rank."""

    def epoch(self, number: int) -> Iterator[Sequence[Any]]:
        """Yields the batches of an epoch, or of the rest of it after `resume`: lists of objects of bytes."""

    def state(self) -> Any:
        """Returns the state after the last batch of `epoch`; anything that pickle can write."""

    def resume(self, states: Sequence[Any], saved: Job) -> None:
        """Takes the states of all ranks of the job that saved them; `saved` is that job."""


class System(Protocol):
    """An adapter. It imports its system in its methods only, so that a missing package is an `ImportError` there."""

    name: str
    title: str
    about_resume: str
    """The documentation page on resume that the adapter follows."""
    no_resume: str
    """Why the system cannot resume, if it documents no way at all."""
    keeps_global_batch: bool
    """Whether the documentation keeps the batch of all ranks together when their number changes."""

    def versions(self) -> str:
        """Imports the system, and returns its packages with their versions."""

    def pack(self, tree: str, target: str, shards: int) -> None:
        """Packs the files of a tree; `shards` is a least number of shards, or 0 for the system's own size."""

    def open(self, target: str, job: Job) -> Reader:
        """Opens a target that `pack` has written."""

    def keeps_order(self, saved: Job, resumed: Job) -> bool:
        """Whether the system documents that this resume continues the order of an uninterrupted job."""

    def clean(self) -> None:
        """Does what the system documents before a job starts after a crash."""


class Loader:
    """What most adapters share."""

    modules: tuple[str, ...]
    packages: tuple[str, ...]
    no_resume = ""
    keeps_global_batch = False

    def versions(self) -> str:
        """Imports the modules, and returns the packages with their versions."""
        for module in self.modules:
            importlib.import_module(module)
        return ", ".join(f"{package} {metadata.version(package)}" for package in self.packages)

    def keeps_order(self, saved: Job, resumed: Job) -> bool:
        """Says that no order is documented, so only the samples count."""
        return False

    def clean(self) -> None:
        """Does nothing."""


def same_share(states: Sequence[Any], saved: Job, job: Job, system: str) -> Any:
    """Returns the state of a rank, where a system has one for each rank and worker and can change neither number."""
    if saved.world != job.world:
        raise NotOfferedError(f"{system} documents no resume with another number of ranks")
    return states[job.rank]
