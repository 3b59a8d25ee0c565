"""How much a consumer fetches at a time. Pure.

No single limit suits all topics. With 1 MiB and record batches of 786 kB, every fourth byte was sent for nothing; a
large limit fills the queue with the first few of many partitions. docs/decisions/0025-reading-a-kafka-topic.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

_PRODUCER_BYTES = 1 << 20
"""What a feed's producer puts into a batch of records, unless one of them is larger."""
_RECORD_BYTES = 700
"""Of headers."""


class Fetching(NamedTuple):
    """How much a consumer that reads on fetches: at a time of each partition, and in all before it is taken."""

    partition_bytes: int
    queue_bytes: int

    @staticmethod
    def ahead(buffer_bytes: int, partitions: int, batch_bytes: int) -> Fetching:
        """Of so many partitions, a share of a buffer.

        A broker cuts what it sends at the limit, and the batch of records that is cut was sent for nothing: so the
        limit is a multiple of their size.
        """
        batches = min(4 << 20, buffer_bytes // (8 * partitions)) // batch_bytes
        return Fetching(max(1, batches) * batch_bytes, buffer_bytes // 8)

    @staticmethod
    def sparing(batch_bytes: int) -> Fetching:
        """A batch of records of each partition, and no more before that is taken."""
        return Fetching(batch_bytes, 0)

    def settings(self) -> dict[str, Any]:
        """For the client."""
        if self.queue_bytes == 0:
            return {
                "fetch.wait.max.ms": 20,
                "fetch.queue.backoff.ms": 1,
                "fetch.message.max.bytes": self.partition_bytes,
                "queued.min.messages": 1,
            }
        return {
            "fetch.wait.max.ms": 100,
            "fetch.queue.backoff.ms": 5,
            "fetch.message.max.bytes": self.partition_bytes,
            "queued.max.messages.kbytes": max(1024, self.queue_bytes >> 10),
        }


LOOKING = {
    # A request that waits for data holds up the next one, at another place.
    "fetch.wait.max.ms": 5,
    "fetch.queue.backoff.ms": 1,
    "fetch.message.max.bytes": 4096,
    "queued.min.messages": 1,
}
"""For looking at single records."""


def batch_bytes(record_bytes: int) -> int:
    """About how much a producer puts into a batch of records of this size."""
    each = record_bytes + _RECORD_BYTES
    return max(1, _PRODUCER_BYTES // each) * each * 33 // 32
