"""Lance: a LanceDB table, and LanceDB's `StreamingDataset` in its `StreamingDataLoader`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scoreboard.data import samples
from scoreboard.job import Job, Loader
from scoreboard.systems._torch import identity

TABLE = "samples"
SPLITS = 8
"""Of all ranks and workers together; the number must stay the same, so it is the largest that a case needs."""
ROWS = 256


def images(batch: Any) -> list[Any]:
    """Returns the bytes of the rows of a record batch."""
    return batch.column("image").to_pylist()


class LanceReader:
    """A new dataset for each epoch, as its constructor takes the epoch."""

    def __init__(self, target: str, job: Job) -> None:
        import lancedb

        self.job = job
        self.table = lancedb.connect(target).open_table(TABLE)
        self.dataset: Any = None
        self.before: Any = None

    def epoch(self, number: int) -> Iterator[Sequence[Any]]:
        from lancedb.streaming import StreamingDataLoader, StreamingDataset

        self.dataset = StreamingDataset(
            self.table,
            num_splits=SPLITS,
            shuffle_seed=self.job.seed,
            epoch=number,
            rank=self.job.rank,
            world_size=self.job.world,
            columns=["image"],
            transform=images,
        )
        if self.before is not None and self.before["epoch"] == number:
            self.dataset.load_state_dict(self.before)
        yield from StreamingDataLoader(
            self.dataset,
            self.job.batch,
            num_workers=self.job.workers,
            collate_fn=identity,
            multiprocessing_context="forkserver" if self.job.workers else None,  # lancedb advises against fork
        )

    def state(self) -> Any:
        return self.dataset.state_dict()

    def resume(self, states: Sequence[Any], saved: Job) -> None:
        from lancedb.streaming import StreamingDataset

        self.before = StreamingDataset.merge_state_dicts(list(states))


class Lance(Loader):
    """The states of all ranks are merged. The documentation keeps the batch of all ranks."""

    name = "lance"
    title = "LanceDB"
    about_resume = "https://docs.lancedb.com/training/resuming"
    modules = ("lancedb.streaming",)
    packages = ("lancedb", "pylance")
    keeps_global_batch = True

    def pack(self, tree: str, target: str, shards: int) -> None:
        import lancedb
        import pyarrow as pa

        schema = pa.schema({"key": pa.string(), "image": pa.binary()})

        def batches() -> Iterator[Any]:
            rows: list[dict[str, Any]] = []
            for key, data in samples(tree):
                rows.append({"key": key, "image": data})
                if len(rows) == ROWS:
                    yield pa.RecordBatch.from_pylist(rows, schema)
                    rows = []
            if rows:
                yield pa.RecordBatch.from_pylist(rows, schema)

        lancedb.connect(target).create_table(TABLE, data=batches(), schema=schema)

    def open(self, target: str, job: Job) -> LanceReader:
        return LanceReader(target, job)

    def keeps_order(self, saved: Job, resumed: Job) -> bool:
        return saved.batch * saved.world == resumed.batch * resumed.world


SYSTEM = Lance()
