"""A topic behind confluent-kafka: records with their places, and the search for a position."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from stoker._format.inherited import never_free
from stoker._format.plural import plural
from stoker._kafka.fetching import LOOKING, Fetching, batch_bytes
from stoker._kafka.guesses import TopicGuesses
from stoker._kafka.record import BATCH, Position, RecordHeader, read_header, why_gone
from stoker._kafka.target import TopicTarget, settings_of
from stoker.errors import BatchTimeoutError, ConnectTimeoutError, CorruptDataError, MissingDependencyError, StokerError

_GUESSES = 4
"""Tries before a search halves what is left."""
_NEAR = 8
"""Records that are read over instead of looked for."""


class Record(NamedTuple):
    """A record and where it stands."""

    header: RecordHeader
    offset: int
    value: bytes

    @property
    def position(self) -> Position:
        """Its position."""
        return self.header.position


class Lost(NamedTuple):
    """The offset asked for is not in the partition (any more)."""

    partition: int


class AtEnd(NamedTuple):
    """There is nothing more in the partition, as yet."""

    partition: int


def same_piece(parts: Sequence[Record], record: Record) -> None:
    """Raises `CorruptDataError` if a record disagrees with the parts before it."""
    if parts and parts[0].header.parts != record.header.parts:
        raise CorruptDataError(
            f"{parts[0].position}, offset {record.offset}: expected {plural(parts[0].header.parts, 'part')} as in the "
            f"records before, found {record.header.parts}: feed the epoch again into a new topic"
        )


class TopicLog:
    """One consumer of explicitly assigned partitions. One thread; not for forked children."""

    def __init__(self, target: TopicTarget, group: str, patience_s: float, *, fetching: Fetching | None = None) -> None:
        """Without `fetching` it is for looking at single records."""
        try:
            import confluent_kafka
        except ImportError as e:
            raise MissingDependencyError(
                f"{target}: reading a topic needs confluent-kafka: pip install 'stoker[kafka]'"
            ) from e
        self._kafka = confluent_kafka
        self.target = target
        self.patience_s = patience_s
        self._pid = os.getpid()
        self._trouble = ""
        self._paused: set[int] = set()
        try:
            self._consumer = confluent_kafka.Consumer(
                settings_of(target, group) | (fetching.settings() if fetching else LOOKING) | {"error_cb": self._note}
            )
        except (confluent_kafka.KafkaException, TypeError, ValueError) as e:
            raise ValueError(f"{target}: {e}") from e
        self.probes = 0
        self.guesses: TopicGuesses | None = None
        """Where `find` begins."""

    def _note(self, error: Any) -> None:
        # That all brokers are down says less than why they are.
        if not self._trouble or error.code() != self._kafka.KafkaError._ALL_BROKERS_DOWN:
            self._trouble = error.str()

    @property
    def trouble(self) -> str:
        """What the client last complained about, as the end of a sentence."""
        return f" ({self._trouble})" if self._trouble else ""

    def partitions(self) -> int:
        """How many the topic has; waits for it to be there."""
        deadline = time.monotonic() + self.patience_s
        while True:
            left = deadline - time.monotonic()
            try:
                found = self._consumer.list_topics(self.target.topic, timeout=min(5.0, max(0.1, left)))
                topic = found.topics[self.target.topic]
                if topic.error is None:
                    return len(topic.partitions)
                why = (
                    f"not there within {self.patience_s:g} s: {topic.error.str()}{self.trouble}. Is the feed running, "
                    "and is the topic's name correct?"
                )
            except self._kafka.KafkaException:
                why = (
                    f"no broker answers there within {self.patience_s:g} s{self.trouble}. Check the address, that "
                    "brokers run there, that their advertised.listeners are reachable from here, and the security "
                    "settings (STOKER_KAFKA_CONFIG)"
                )
            self._consumer.poll(0)  # hears what the client complains of, as of a wrong password
            if time.monotonic() > deadline:
                raise ConnectTimeoutError(f"{self.target}: {why}")
            time.sleep(0.05)

    def where(self, partition: int, offset: int) -> str:
        """For messages."""
        return f"{self.target}, partition {partition}, offset {offset}"

    # ---- reading on

    def read_from(self, offsets: dict[int, int]) -> None:
        """Continues at these offsets, and reads no other partitions. None of them is paused."""
        self._end_pauses(self._paused)
        self._consumer.assign([self._place(partition, offset) for partition, offset in sorted(offsets.items())])

    def seek(self, partition: int, offset: int) -> None:
        """Continues at another offset of an assigned partition, which is no longer paused."""
        self.remove(partition)
        self.add(partition, offset)

    def add(self, partition: int, offset: int) -> None:
        """Reads a partition beside the others."""
        self._consumer.incremental_assign([self._place(partition, offset)])

    def remove(self, partition: int) -> None:
        """Reads a partition no longer."""
        self._end_pauses(self._paused & {partition})
        self._consumer.incremental_unassign([self._place(partition)])

    def _end_pauses(self, partitions: set[int]) -> None:
        """Resumes partitions before they are unassigned: the client keeps a pause until `resume`, whatever is assigned
        in between.
        """
        if partitions:
            self.resume(sorted(partitions))

    def pause(self, partitions: Sequence[int]) -> None:
        """Nothing more of these until `resume`, or until another offset is read."""
        self._paused.update(partitions)
        self._consumer.pause([self._place(partition) for partition in partitions])

    def resume(self, partitions: Sequence[int]) -> None:
        """See `pause`."""
        self._paused.difference_update(partitions)
        self._consumer.resume([self._place(partition) for partition in partitions])

    def poll(self, wait_s: float, count: int = 64) -> list[tuple[int, Record] | Lost | AtEnd]:
        """What has come, by partition."""
        found: list[tuple[int, Record] | Lost | AtEnd] = []
        for message in self._consumer.consume(count, wait_s):
            error = message.error()
            if error is None:
                found.append((message.partition(), self._record(message)))
            elif error.code() in (
                self._kafka.KafkaError._AUTO_OFFSET_RESET,
                self._kafka.KafkaError.OFFSET_OUT_OF_RANGE,
            ):
                found.append(Lost(message.partition()))
            elif error.code() == self._kafka.KafkaError.UNKNOWN_TOPIC_OR_PART:
                self._trouble = f"the topic is gone: {error.str()}"
            elif error.code() == self._kafka.KafkaError._PARTITION_EOF:
                found.append(AtEnd(message.partition()))
            else:
                self._trouble = error.str()
        return found

    def _record(self, message: Any) -> Record:
        partition, offset, value = message.partition(), message.offset(), message.value() or b""
        where = self.where(partition, offset)
        header = read_header(message.headers(), value, where)
        if header.lane != partition:
            raise StokerError(
                f"{where}: {header.position} of lane {header.lane} was misrouted to partition {partition}; a program "
                "other than the feed wrote it: feed into a new topic"
            )
        self._trouble = ""
        return Record(header, offset, value)

    def consumed(self, offsets: dict[int, int]) -> None:
        """Tells the group's progress within two seconds, whatever this thread does; of assigned partitions only."""
        with suppress(self._kafka.KafkaException):
            self._consumer.store_offsets(
                offsets=[self._place(partition, offset) for partition, offset in offsets.items()]
            )

    def commit(self, offsets: dict[int, int], *, wait: bool = False) -> None:
        """Commits the group's offsets, only so that tools can show its progress; never raises."""
        places = [self._place(partition, offset) for partition, offset in offsets.items()]
        try:
            self._consumer.commit(offsets=places, asynchronous=not wait)
        except self._kafka.KafkaException as e:
            self._trouble = str(e)

    def _place(self, partition: int, offset: int | None = None) -> Any:
        if offset is None:
            return self._kafka.TopicPartition(self.target.topic, partition)
        return self._kafka.TopicPartition(self.target.topic, partition, offset)

    # ---- looking

    def bounds(self, partition: int) -> tuple[int, int]:
        """The first offset that is there, and the one after the last."""
        deadline = time.monotonic() + self.patience_s
        while True:
            try:
                found = self._consumer.get_watermark_offsets(self._place(partition), timeout=5.0, cached=False)
            except self._kafka.KafkaException as e:
                self._trouble = str(e.args[0].str())
                found = None
            if found is not None:
                return found  # type: ignore[no-any-return]
            if time.monotonic() > deadline:
                raise BatchTimeoutError(
                    f"{self.target}: no broker answered for partition {partition} within {self.patience_s:g} s"
                    f"{self.trouble}"
                )
            time.sleep(0.05)

    def at(self, partition: int, offset: int) -> Record | None:
        """The first record at or after an offset; None at the end of what is committed."""
        self.probes += 1
        self._consumer.assign([self._place(partition, offset)])
        return self._next(partition)

    def _next(self, partition: int) -> Record | None:
        deadline = time.monotonic() + self.patience_s
        while True:
            message = self._consumer.poll(0.5)
            if message is not None and message.partition() == partition:
                error = message.error()
                if error is None:
                    return self._record(message)
                if error.code() == self._kafka.KafkaError._PARTITION_EOF:
                    return None
                self._trouble = error.str()
                if error.code() in (
                    self._kafka.KafkaError._AUTO_OFFSET_RESET,
                    self._kafka.KafkaError.OFFSET_OUT_OF_RANGE,
                ):
                    self._consumer.assign([self._place(partition, self.bounds(partition)[0])])
            if time.monotonic() > deadline:
                raise BatchTimeoutError(
                    f"{self.target}: partition {partition} could not be read within {self.patience_s:g} s{self.trouble}"
                )

    def batch_bytes(self, partition: int) -> int:
        """Estimates the bytes of the feed producer's record batches from the partition's first piece."""
        record = None
        with suppress(StokerError):  # errors in a record are reported when it is read
            record = self.at(partition, self.bounds(partition)[0])
            while record is not None and record.header.kind != BATCH:
                record = self._next(partition)
        return batch_bytes(len(record.value) if record is not None else 0)

    def find(self, partition: int, wanted: Position) -> tuple[int, Record | None]:
        """Finds a position by guesses and bisection. Returns its offset, and its record if that exists already.

        Raises `StokerError` if the partition has later records, but not this one.
        """
        low, high = self.bounds(partition)
        before, after, found = low - 1, high, None
        for tries in itertools.count():
            if after - before <= 1:
                break
            middle = self._pivot(partition, wanted, tries, before, after)
            record = self._seen(partition, self.at(partition, middle))
            if record is None or record.offset >= after:
                after = middle  # nothing but markers of transactions from there on
            elif record.position == wanted:
                return record.offset, record
            elif record.position > wanted:
                after, found = middle, record
            else:
                before, after, found = self._read_over(partition, wanted, record, after, found)
        if found is None or found.position == wanted:
            return (before + 1, None) if found is None else (found.offset, found)
        if before < low:
            raise StokerError(
                f"{self.target}, partition {partition}: {wanted} is no longer there; the partition begins with "
                f"{found.position} (offset {found.offset}): {why_gone(low)}"
            )
        record = self.scan(partition, wanted, found.offset)
        if record is None:
            raise self.gap(partition, wanted, found)
        return record.offset, record

    def _pivot(self, partition: int, wanted: Position, tries: int, before: int, after: int) -> int:
        """The offset to look at next, between two others."""
        if self.guesses is not None and tries < _GUESSES:
            return min(after - 1, max(before + 1, self.guesses.offset(partition, wanted)))
        return before + 1 if tries == 0 else (before + after) // 2

    def _seen(self, partition: int, record: Record | None) -> Record | None:
        if record is not None and self.guesses is not None:
            self.guesses.saw(partition, record.position, record.offset, record.header.parts)
        return record

    def _read_over(
        self, partition: int, wanted: Position, record: Record, after: int, found: Record | None
    ) -> tuple[int, int, Record | None]:
        """Reads on from an earlier record if the wanted one is near: it was probably fetched with it."""
        before, near = record.offset, 0
        if self.guesses is not None:
            parts = record.header.parts
            distance = self.guesses.place(partition, wanted, parts) - self.guesses.place(
                partition, record.position, parts
            )
            near = distance + 1 if 0 <= distance <= _NEAR else 0
        for _ in range(near):
            following = self._next(partition)
            if following is None or following.offset >= after:
                return before, before + 1, found
            if following.position >= wanted:
                return before, before + 1, following
            before = following.offset
        return before, after, found

    def scan(self, partition: int, wanted: Position, end: int) -> Record | None:
        """The first record of a position before an offset, by reading from the partition's beginning."""
        low, _ = self.bounds(partition)
        record = self.at(partition, low)
        while record is not None and record.offset < end:
            if record.position == wanted:
                return record
            record = self._next(partition)
        return None

    def follow(self, partition: int, wanted: Position) -> Record | None:
        """The record behind the last one that was looked at, if it is at this position."""
        record = self._next(partition)
        return record if record is not None and record.position == wanted else None

    def gap(self, partition: int, wanted: Position, found: Record) -> StokerError:
        """The error for a missing record."""
        return StokerError(
            f"{self.where(partition, found.offset)}: found {found.position} where {wanted} was expected, and no record "
            "before it has that position: the topic has a gap. Records were deleted, or the topic was recreated: feed "
            "into a new topic"
        )

    def close(self) -> None:
        """Idempotent; in a forked child it only forgets."""
        if os.getpid() != self._pid:
            never_free(self._consumer)
        else:
            self._consumer.close()
