"""torch over the files themselves: a map-style dataset, a distributed sampler and torchdata's loader."""

from __future__ import annotations

from scoreboard.data import paths
from scoreboard.job import Job, Loader
from scoreboard.systems._stateful import StatefulReader


class Files:
    """A map-style dataset of a tree."""

    def __init__(self, tree: str) -> None:
        self.paths = paths(tree)

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, at: int) -> bytes:
        with open(self.paths[at], "rb") as file:
            return file.read()


class TorchFiles(Loader):
    """Nothing is packed. The sampler of torchdata has a state."""

    name = "files"
    title = "torch over files"
    about_resume = "https://meta-pytorch.org/data/0.11/stateful_dataloader_tutorial.html"
    modules = ("torch.utils.data", "torchdata.stateful_dataloader.sampler")
    packages = ("torch", "torchdata")

    def pack(self, tree: str, target: str, shards: int) -> None:
        """Does nothing: `open` is given the tree."""

    def open(self, target: str, job: Job) -> StatefulReader:
        from torchdata.stateful_dataloader.sampler import StatefulDistributedSampler

        dataset = Files(target)
        sampler = StatefulDistributedSampler(dataset, job.world, job.rank, shuffle=True, seed=job.seed)
        return StatefulReader(dataset, job, self.title, sampler)


SYSTEM = TorchFiles()
