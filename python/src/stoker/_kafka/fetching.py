"""How much a consumer fetches at a time. Pure.

No single limit suits all topics. With 1 MiB and record batches of 786 kB, every fourth byte was sent for nothing; a
large limit fills the queue with the first few of many partitions. docs/decisions/0022-kafka-topic-layout.md.
"""

from __future__ import annotations

from typing import Any, NamedTuple

_PRODUCER_BYTES = 1 << 20
"""What a feed's producer puts into a batch of records, unless one of them is larger."""
_RECORD_BYTES = 700
"""Bytes of a record's headers."""


class Fetching(NamedTuple):
    """Limits in bytes of what a consumer fetches: of each partition at a time, and in the queue of all partitions."""

    partition_bytes: int
    queue_bytes: int

    @staticmethod
    def ahead(buffer_bytes: int, partitions: int, batch_bytes: int) -> Fetching:
        """Divides a buffer of `buffer_bytes` among partitions.

        A broker cuts its response at the limit, and a record batch that is cut was sent in vain. The limit is therefore
        a multiple of the size of a record batch.
        """
        batches = min(4 << 20, buffer_bytes // (8 * partitions)) // batch_bytes
        return Fetching(max(1, batches) * batch_bytes, buffer_bytes // 8)

    @staticmethod
    def sparing(batch_bytes: int) -> Fetching:
        """Fetches one record batch of each partition, and no more until the consumer has taken it."""
        return Fetching(batch_bytes, 0)

    def settings(self) -> dict[str, Any]:
        """Returns the settings of the Kafka client."""
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
