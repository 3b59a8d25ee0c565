"""A data loader for DLIO (`dlio_benchmark`) that reads from Stoker.

A workload selects it with `reader.data_loader_classname: stoker_dlio.StokerDataLoader`, see `workload/stoker.yaml`.
The dataset is the one that `STOKER_DLIO` names (a path, or a running feeder), by default `stoker` beside the folder
`train` of DLIO's files. DLIO still counts the files in its data folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dlio_benchmark.common.enumerations import DataLoaderType, DatasetType, Shuffle
from dlio_benchmark.data_loader.base_data_loader import BaseDataLoader

from stoker import Feed

DECODED = {"jpeg": "gray", "png": "gray"}
"""Image formats, which DLIO's own reader decodes too. Samples of other formats stay bytes."""


class StokerDataLoader(BaseDataLoader):
    """Delivers the batches of one rank. Stoker's own threads read and decode ahead, instead of `read_threads`."""

    def __init__(self, format_type: Any, dataset_type: DatasetType, epoch_number: int) -> None:
        super().__init__(format_type, dataset_type, epoch_number, DataLoaderType.PYTORCH)
        self._feed: Feed | None = None
        self._batches: Iterator[Any] = iter(())

    def read(self) -> None:
        """Opens the feed; DLIO calls this once, before the first epoch."""
        arguments = self._args
        split = "train" if self.dataset_type is DatasetType.TRAIN else "valid"
        default = os.path.join(arguments.data_folder, "stoker")
        decoder = DECODED.get(str(self.format_type))
        self._feed = Feed(
            os.environ.get("STOKER_DLIO", default),
            split,
            rank=arguments.my_rank,
            world_size=arguments.comm_size,
            batch_size=self.batch_size,
            tail="drop",  # DLIO counts whole steps of all ranks
            seed=arguments.seed,
            shuffle="none" if arguments.sample_shuffle is Shuffle.OFF else "window",
            columns=["image"],
            decode={"image": decoder} if decoder else None,
            decode_threads=max(1, arguments.read_threads),
        )
        self._batches = self._feed.batches()

    def next(self) -> Iterator[Any]:
        """Yields the batches of an epoch. DLIO may leave it early, so the next call continues after it."""
        super().next()
        assert self._feed is not None
        for batch in islice(self._batches, len(self._feed)):
            yield batch["image"]

    def finalize(self) -> None:
        """Keeps the feed open: DLIO calls this after each epoch."""
