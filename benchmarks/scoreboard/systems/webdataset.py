"""WebDataset: `ShardWriter`, and a pipeline over the shards in torchdata's loader, as WebDataset has no state."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from scoreboard.data import paths, samples
from scoreboard.job import Job, Loader
from scoreboard.systems._stateful import StatefulReader


def payload(sample: dict[str, Any]) -> Any:
    """Returns the bytes of a sample."""
    return sample["bin"]


class Shards:
    """A pass over the shards of this rank and worker, in an order that depends on seed and epoch only."""

    def __init__(self, target: str, seed: int) -> None:
        import webdataset

        shards = sorted(str(file) for file in Path(target).glob("*.tar"))
        self.pipeline = webdataset.WebDataset(
            shards,
            shardshuffle=len(shards),
            detshuffle=True,
            seed=seed,
            nodesplitter=webdataset.split_by_node,
            empty_check=False,
        ).compose(webdataset.detshuffle(1000, seed=seed))

    def __iter__(self) -> Iterator[Any]:
        return map(payload, self.pipeline)

    def set_epoch(self, number: int) -> None:
        """Sets the epoch that the next pass of each shuffling stage counts up to."""
        import webdataset

        for stage in self.pipeline.pipeline:
            if isinstance(stage, webdataset.detshuffle):
                stage.epoch = number - 1


class WebDataset(Loader):
    """`StatefulDataLoader` counts batches and skips as many when it resumes."""

    name = "webdataset"
    title = "WebDataset"
    about_resume = "https://meta-pytorch.org/data/0.11/torchdata.stateful_dataloader.html"
    modules = ("webdataset", "torchdata.stateful_dataloader.sampler")
    packages = ("webdataset", "torchdata")

    def pack(self, tree: str, target: str, shards: int) -> None:
        import webdataset

        os.makedirs(target)
        limit: dict[str, Any] = {"maxcount": len(paths(tree)) // shards} if shards else {"maxsize": 64 << 20}
        with webdataset.ShardWriter(f"{target}/%06d.tar", verbose=0, **limit) as writer:
            for key, data in samples(tree):
                writer.write({"__key__": key, "bin": data})

    def open(self, target: str, job: Job) -> StatefulReader:
        from torch.utils.data import IterableDataset

        class Iterable(Shards, IterableDataset):
            """Says to torch what kind of dataset it is."""

        return StatefulReader(Iterable(target, job.seed), job, self.title)


SYSTEM = WebDataset()
