"""What a feed has handed out, and how long the trainer waited for it."""

from __future__ import annotations

import time

from stoker._batch.batch import Batch
from stoker._source.batch_source import BatchSource


class ClientStats:
    """Counts of one feed in one process."""

    def __init__(self) -> None:
        self._began = self._waited = 0.0
        self._batches = self._samples = self._bytes = 0

    def begin(self) -> float:
        """A wait begins; returns the time for `end`."""
        now = time.perf_counter()
        if not self._began:
            self._began = now
        return now

    def end(self, began: float) -> None:
        """The wait is over."""
        self._waited += time.perf_counter() - began

    def count(self, batch: Batch) -> None:
        """A batch is handed out."""
        self._batches += 1
        self._samples += len(batch)
        self._bytes += batch.nbytes

    def stats(self, source: BatchSource | None) -> dict[str, float]:
        """See `Feed.stats`."""
        lasted = time.perf_counter() - self._began if self._began else 0.0
        out: dict[str, float] = dict(source.stats()) if source is not None else {}
        out |= {"batches": self._batches, "samples": self._samples, "bytes": self._bytes}
        out |= {"seconds": lasted, "wait_s": self._waited, "wait_share": self._waited / lasted if lasted else 0.0}
        return out
