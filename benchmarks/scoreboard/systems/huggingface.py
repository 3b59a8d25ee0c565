"""Hugging Face datasets: Arrow files on disk as a map-style dataset, in torchdata's loader.

Its `IterableDataset` has a state, which by its documentation loses the samples of the shuffle buffer. The
map-style dataset with a sampler loses none, so that one runs here.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

from scoreboard.data import samples
from scoreboard.job import Job, Loader
from scoreboard.systems._stateful import StatefulReader


def rows(tree: str) -> Iterator[dict[str, Any]]:
    """Yields the samples of a tree as rows."""
    for key, data in samples(tree):
        yield {"key": key, "image": data}


def images(batch: list[dict[str, Any]]) -> list[Any]:
    """Collates rows as the list of their bytes."""
    return [row["image"] for row in batch]


class HuggingFace(Loader):
    """`save_to_disk` and `load_from_disk`."""

    name = "huggingface"
    title = "HF datasets"
    about_resume = "https://huggingface.co/docs/datasets/use_with_pytorch#checkpoint-and-resume"
    modules = ("datasets", "torchdata.stateful_dataloader.sampler")
    packages = ("datasets", "torchdata")

    def pack(self, tree: str, target: str, shards: int) -> None:
        import datasets

        datasets.disable_progress_bars()
        cache = f"{target}.cache"
        packed = datasets.Dataset.from_generator(rows, gen_kwargs={"tree": tree}, cache_dir=cache)
        packed.save_to_disk(target, num_shards=shards or None)
        shutil.rmtree(cache)

    def open(self, target: str, job: Job) -> StatefulReader:
        import datasets
        from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler

        dataset = datasets.load_from_disk(target).select_columns("image")
        sampler = StatefulDistributedSampler(dataset, job.world, job.rank, shuffle=True, seed=job.seed)
        return StatefulReader(dataset, job, self.title, sampler, images)


SYSTEM = HuggingFace()
