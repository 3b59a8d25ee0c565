"""Stoker over a path: `Writer` packs, `Feed` reads, also in the workers of a DataLoader."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

from scoreboard.data import samples
from scoreboard.job import Job, Loader


class StokerReader:
    """Iterates a feed, and keeps the state of the last batch."""

    def __init__(self, target: str, job: Job, options: dict[str, Any]) -> None:
        from stoker import Feed

        self.job = job
        self.feed = Feed(
            target,
            rank=job.rank,
            world_size=job.world,
            batch_size=job.batch,
            seed=job.seed,
            columns=["image"],
            **options,
        )
        self._state: Any = None
        self._batches: Any = self.feed
        if job.workers:
            from torch.utils.data import DataLoader

            self._batches = DataLoader(self.feed, batch_size=None, num_workers=job.workers)

    def epoch(self, number: int) -> Iterator[Sequence[Any]]:
        for batch in self._batches:
            self._state = batch.state
            yield batch["image"]

    def state(self) -> Any:
        return self._state

    def resume(self, states: Sequence[Any], saved: Job) -> None:
        allow = ("batch_size",) if saved.batch != self.job.batch else ()
        self.feed.load_state_dict(states[0], allow=allow)


class Stoker(Loader):
    """Every rank has the same state, so rank 0 provides it."""

    about_resume = "docs/python.md#resume"

    def __init__(self, name: str, title: str, **options: Any) -> None:
        self.name = name
        self.title = title
        self.options = options

    def versions(self) -> str:
        for module in ("torch.utils.data", "pandas"):  # what the first batch imports otherwise, in each rank
            with suppress(ImportError):
                importlib.import_module(module)
        import stoker
        from stoker import Feed, Writer  # noqa: F401

        return f"stoker {stoker.__version__}"

    def pack(self, tree: str, target: str, shards: int) -> None:
        import stoker

        sized: dict[str, Any] = {}
        if shards:
            total = sum(len(data) for _, data in samples(tree))
            sized = {"chunk_size": total // shards}
        with stoker.Writer(target, schema={"image": "binary"}, **sized) as writer:
            for key, data in samples(tree):
                writer.write({"key": key, "image": data})

    def open(self, target: str, job: Job) -> StokerReader:
        return StokerReader(target, job, self.options)

    def keeps_order(self, saved: Job, resumed: Job) -> bool:
        return saved.batch == resumed.batch


SYSTEM = Stoker("stoker", "Stoker, path")
VARIANTS = {"lanes=1": Stoker("stoker@lanes=1", "Stoker, path, lanes=1", lanes=1)}
