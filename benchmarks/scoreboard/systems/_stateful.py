"""torchdata's `StatefulDataLoader`, for systems whose loader has no state."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scoreboard.job import Job, same_share
from scoreboard.systems._torch import identity


class StatefulReader:
    """Iterates a `StatefulDataLoader`, whose state belongs to a rank."""

    def __init__(self, dataset: Any, job: Job, title: str, sampler: Any = None, collate: Any = identity) -> None:
        from torchdata.stateful_dataloader import StatefulDataLoader

        self.job = job
        self.title = title
        self.dataset = dataset
        self.sampler = sampler
        self.loader = StatefulDataLoader(
            dataset, job.batch, sampler=sampler, num_workers=job.workers, collate_fn=collate
        )

    def epoch(self, number: int) -> Iterator[Sequence[Any]]:
        shuffled = self.sampler if self.sampler is not None else self.dataset
        if hasattr(shuffled, "set_epoch"):
            shuffled.set_epoch(number)
        yield from self.loader

    def state(self) -> Any:
        return self.loader.state_dict()

    def resume(self, states: Sequence[Any], saved: Job) -> None:
        self.loader.load_state_dict(same_share(states, saved, self.job, self.title))
