"""The part of `Feed` that reports waits and throughput."""

from __future__ import annotations

from stoker._feed.reading import Reading
from stoker._feed.report import report


class Reporting:
    """Reports how the feed does."""

    _reading: Reading

    def stats(self) -> dict[str, float]:
        """Returns batches, samples and bytes handed out, seconds since the first batch, and seconds waited.

        The waits are given in total and, if known, by cause.
        """
        return self._reading.stats()

    def stall_report(self) -> str:
        """Returns the first line of `report`: how long the trainer waited for data, and for what."""
        return self.report().partition("\n")[0]

    def report(self) -> str:
        """Returns a readable report: how long the trainer waited, for which feeder, lane and cause, and what may help.

        With STOKER_REPORT=1 in the environment, `close` prints it. `stoker.prometheus` exports the same as metrics.
        """
        return report(self._reading.figures())
