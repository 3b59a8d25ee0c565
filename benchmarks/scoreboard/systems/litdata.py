"""LitData: `optimize`, and `StreamingDataset` in its `StreamingDataLoader`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from scoreboard.data import paths
from scoreboard.job import Job, Loader
from scoreboard.systems._torch import identity, join_ranks


def read_file(path: str) -> dict[str, Any]:
    """Returns a sample; a function of this module, so that the workers of `optimize` can be sent it."""
    return {"key": Path(path).stem, "image": Path(path).read_bytes()}


class LitReader:
    """Iterates the loader; it counts the epochs itself."""

    def __init__(self, target: str, job: Job) -> None:
        import litdata

        join_ranks()
        dataset = litdata.StreamingDataset(target, shuffle=True, seed=job.seed, drop_last=job.world > 1)
        self.loader = litdata.StreamingDataLoader(
            dataset, batch_size=job.batch, num_workers=job.workers, collate_fn=identity
        )

    def epoch(self, number: int) -> Iterator[Sequence[Any]]:
        for batch in self.loader:
            yield [sample["image"] for sample in batch]

    def state(self) -> Any:
        return self.loader.state_dict()

    def resume(self, states: Sequence[Any], saved: Job) -> None:
        self.loader.load_state_dict(states[0])


class LitData(Loader):
    """The state of rank 0 is loaded by every rank, as Fabric and Lightning save checkpoints."""

    name = "litdata"
    title = "LitData"
    about_resume = "https://lightning.ai/docs/litdata/features/pause-resume"
    modules = ("litdata",)
    packages = ("litdata",)

    def pack(self, tree: str, target: str, shards: int) -> None:
        import litdata

        files = paths(tree)
        size: dict[str, Any] = {"chunk_size": len(files) // shards} if shards else {"chunk_bytes": "64MB"}
        litdata.optimize(fn=read_file, inputs=files, output_dir=target, num_workers=2, **size)

    def open(self, target: str, job: Job) -> LitReader:
        return LitReader(target, job)

    def keeps_order(self, saved: Job, resumed: Job) -> bool:
        return saved == resumed


SYSTEM = LitData()
