"""MosaicML Streaming: `MDSWriter`, and `StreamingDataset` in its `StreamingDataLoader`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scoreboard.data import paths, samples
from scoreboard.job import Job, Loader
from scoreboard.systems._torch import identity, join_ranks


class MosaicReader:
    """Iterates the loader; it counts the epochs itself."""

    def __init__(self, target: str, job: Job) -> None:
        from streaming import StreamingDataLoader, StreamingDataset

        join_ranks()
        dataset = StreamingDataset(
            local=target, shuffle=True, shuffle_seed=job.seed, batch_size=job.batch, num_canonical_nodes=2
        )
        self.loader = StreamingDataLoader(
            dataset, batch_size=job.batch, num_workers=job.workers, collate_fn=columns, drop_last=False
        )

    def epoch(self, number: int) -> Iterator[Sequence[Any]]:
        for batch in self.loader:
            yield batch["image"]

    def state(self) -> Any:
        return self.loader.state_dict()

    def resume(self, states: Sequence[Any], saved: Job) -> None:
        self.loader.load_state_dict(states[0])


def columns(batch: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """Collates as `StreamingDataLoader` counts samples: a dict of columns."""
    return {"image": identity([sample["image"] for sample in batch])}


class Mosaic(Loader):
    """Rank 0 saves the state, and every rank loads it. The documentation keeps the batch of all ranks."""

    name = "mosaicml"
    title = "MosaicML Streaming"
    about_resume = "https://docs.mosaicml.com/projects/streaming/en/stable/distributed_training/fast_resumption.html"
    modules = ("streaming",)
    packages = ("mosaicml-streaming",)
    keeps_global_batch = True

    def pack(self, tree: str, target: str, shards: int) -> None:
        from streaming import MDSWriter

        limit: dict[str, Any] = {}
        if shards:
            files = paths(tree)
            each = len(files) // shards
            with open(files[0], "rb") as file:
                size = len(file.read())
            limit = {"size_limit": each * (size + 32) + 1024}
        with MDSWriter(out=target, columns={"key": "str", "image": "bytes"}, **limit) as writer:
            for key, data in samples(tree):
                writer.write({"key": key, "image": data})

    def open(self, target: str, job: Job) -> MosaicReader:
        return MosaicReader(target, job)

    def keeps_order(self, saved: Job, resumed: Job) -> bool:
        return saved.batch * saved.world == resumed.batch * resumed.world

    def clean(self) -> None:
        from streaming.base.util import clean_stale_shared_memory

        clean_stale_shared_memory()


SYSTEM = Mosaic()
