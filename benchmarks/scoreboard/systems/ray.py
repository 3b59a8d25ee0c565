"""Ray Data: Parquet files, and `iter_batches` with a shuffle of files and of a buffer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from scoreboard.job import Job, Loader

BUFFER = 1000


def start() -> None:
    import ray

    if not ray.is_initialized():
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR", configure_logging=False)
        ray.data.DataContext.get_current().enable_progress_bars = False


class RayReader:
    """Streams the dataset; Ray's own tasks read, so `workers` has no meaning."""

    def __init__(self, target: str, job: Job) -> None:
        import ray

        start()
        self.job = job
        self.dataset = ray.data.read_parquet(target, columns=["bytes"], shuffle="files")

    def epoch(self, number: int) -> Iterator[Sequence[Any]]:
        for batch in self.dataset.iter_batches(
            batch_size=self.job.batch, batch_format="pyarrow", local_shuffle_buffer_size=BUFFER
        ):
            yield [value.as_buffer() for value in batch["bytes"]]

    def state(self) -> Any:
        raise AssertionError("not offered")

    def resume(self, states: Sequence[Any], saved: Job) -> None:
        raise AssertionError("not offered")


class RayData(Loader):
    """Only Anyscale's runtime documents a resume within an epoch, and only in its own Ray Train."""

    name = "ray"
    title = "Ray Data"
    about_resume = "https://docs.anyscale.com/rayturbo/mid-epoch-resumption"
    modules = ("ray.data",)
    packages = ("ray",)
    no_resume = "Ray Data has no state of an iteration; only Anyscale's runtime resumes in an epoch"

    def pack(self, tree: str, target: str, shards: int) -> None:
        import ray

        start()
        ray.data.read_binary_files(tree, include_paths=True).write_parquet(target)

    def open(self, target: str, job: Job) -> RayReader:
        return RayReader(target, job)


SYSTEM = RayData()
