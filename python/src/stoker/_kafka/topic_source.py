"""Batches out of a Kafka topic that a feed was written to: a `BatchSource` over confluent-kafka.

The trainer's thread does everything; the Kafka client's own threads fetch ahead. The partitions of the lanes that a
consumer needs from end to end are read on and on; what it needs of others (pieces of joint batches, the ends of uneven
lanes, repeated rows) is looked for by position.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from stoker._format.plural import plural
from stoker._kafka import epochs
from stoker._kafka.cross_lane_reader import CrossLaneReader
from stoker._kafka.fetching import Fetching
from stoker._kafka.guesses import TopicGuesses
from stoker._kafka.pieces import Message, TopicPieces
from stoker._kafka.plan import LanePlan, PieceRequest, Span, own_lanes, wants_ahead
from stoker._kafka.record import BATCH, Position, TopicInfo
from stoker._kafka.target import TopicTarget
from stoker._kafka.topic_log import Record, TopicLog
from stoker._kafka.topic_reading import Key, TopicReading
from stoker._memory.buffers import BufferPool
from stoker._order.skip import Numbers, Skip
from stoker._order.spec import Tail
from stoker._source.batch_source import Consumer, DeliveredBatch, PieceData, StreamInfo
from stoker._source.position import Start
from stoker.errors import BatchTimeoutError, StokerError

_POLL_S = 0.1
_AHEAD, _AHEAD_MOST = 8, 64
"""Numbers that are planned before they are delivered, at least and at most."""


class TopicSource:
    """Reads one topic. See `BatchSource` for the contract of the public methods; one thread calls it."""

    def __init__(
        self,
        target: TopicTarget,
        *,
        buffer_bytes: int = 256 << 20,
        connect_timeout: float = 30.0,
        batch_timeout: float = 300.0,
        pool: BufferPool | None = None,
    ) -> None:
        """Times are seconds. About `buffer_bytes` are read ahead."""
        self._target = target
        self._buffer_bytes = buffer_bytes
        self._connect_timeout, self._batch_timeout = connect_timeout, batch_timeout
        self._pool = pool or BufferPool(min(buffer_bytes, 256 << 20))
        self._pid = os.getpid()
        self._stream: TopicLog | None = None
        self._look: TopicLog | None = None
        self._info: StreamInfo | None = None
        self._consumer, self._partitions = Consumer(), 0
        self._guesses = TopicGuesses()
        self._cross_lane: CrossLaneReader | None = None
        self._largest = 0
        """Bytes of the largest piece yet."""
        self._lanes: TopicReading | None = None
        """None before there is a topic, and once the feed is closed."""
        self._following: Span | None = None
        self._serial = 0
        self._counts = {"batches": 0, "bytes": 0, "duplicates": 0, "searches": 0, "gaps": 0}
        self._waited = 0.0

    # ---- BatchSource

    def open(self, consumer: Consumer) -> StreamInfo:
        """Waits for the feed's first records.

        Raises `ConnectTimeoutError` if there are none, `OrderMismatchError` if another order was asked for.
        """
        patience = self._connect_timeout
        self._look = look = TopicLog(self._target, consumer.group, patience)
        self._consumer = consumer
        self._partitions = look.partitions()
        topic = epochs.wait_for_first(look, consumer.run, patience)
        info = topic.info
        epochs.require_asked(look, consumer, info)
        self._adopt(topic)
        look.patience_s = self._batch_timeout
        look.guesses = self._guesses
        batch_bytes = look.batch_bytes(0)
        self._cross_lane = CrossLaneReader(
            lambda: TopicLog(self._target, consumer.group, self._batch_timeout, fetching=Fetching.sparing(batch_bytes)),
            self._guesses,
            self._search,
            lambda lane, record: self._pieces.check(lane, record),
        )
        self._stream = TopicLog(
            self._target,
            consumer.group,
            self._batch_timeout,
            fetching=Fetching.ahead(self._buffer_bytes, -(-self._partitions // consumer.world_size), batch_bytes),
        )
        self._lanes = TopicReading(self._stream, look, self._search, self._counts, self._buffer_bytes)
        if info.follows and consumer.epoch is not None:
            return self.move_to(consumer.epoch, consumer.version)
        if info.follows:
            newest = epochs.newest(look, consumer.run) or topic
            return self._adopt(newest._replace(info=replace(newest.info, epoch=None)))
        return info

    def _adopt(self, topic: TopicInfo) -> StreamInfo:
        """Goes over to what a control record says."""
        info = topic.info
        if self._partitions != len(info.lane_rows):
            raise StokerError(
                f"{self._target} has {plural(self._partitions, 'partition')}, but its feed wrote "
                f"{plural(len(info.lane_rows), 'lane')}: "
                "the topic was changed; feed into a new one"
            )
        self._info = info
        self._pieces = TopicPieces(self._target, topic, self._pool, self._consumer.columns)
        self._guesses.adopt(self._pieces.plan, info.lane_rows)
        return info

    def move_to(self, epoch: int, version: int | None) -> StreamInfo:
        """See `BatchSource`. Waits for the epoch's beginning; everything before it counts as consumed."""
        assert self._look is not None
        assert self._info is not None
        reading = self._reading()
        self._following = None
        reading.forget()
        self._serial += 1
        began, lanes = time.monotonic(), epochs.lanes_of(self._consumer, self._info)
        topic = epochs.wait_for_epoch(self._look, Start(epoch, version=version), self._consumer, lanes, reading.pass_by)
        self._waited += time.monotonic() - began
        return self._adopt(topic)

    def epoch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> Iterator[DeliveredBatch]:
        """See `BatchSource`."""
        span = (epoch, first, stride, count, tail)
        skip = self._skip(epoch)
        reading, lanes = self._reading(), own_lanes(self._pieces.plan, span, skip)
        if span != self._following or reading.lanes != lanes:
            plan = LanePlan(self._pieces.plan, lanes)
            plan.add(span, skip)
            reading.begin(plan, self._pieces)
        self._following = None
        assert self._cross_lane is not None
        self._cross_lane.forget()
        self._serial += 1
        return self._batches(span, self._serial)

    def prefetch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> None:
        """See `BatchSource`."""
        span, reading = (epoch, first, stride, count, tail), self._lanes
        if reading is None or self._following is not None:
            return
        skip = self._skip(epoch)
        if own_lanes(self._pieces.plan, span, skip) == reading.lanes:
            self._following = span
            reading.extend(span, skip)

    def _skip(self, epoch: int) -> Skip:
        return Skip.of(self._consumer.skip, epoch, self._pieces.plan.batches)

    def finish_empty(self, epoch: int, first: int, stride: int, tail: Tail) -> None:
        """See `BatchSource`; nobody waits for that here."""

    def ack(self, epoch: int, number: int) -> None:
        """See `BatchSource`; what is consumed is committed for information."""
        if self._lanes is not None:
            self._lanes.consumed(epoch, number)
            self._lanes.commit()

    def stats(self) -> Mapping[str, float]:
        """See `BatchSource`."""
        probes = sum(topic.probes for topic in (self._stream, self._look) if topic is not None)
        return {**self._counts, "probes": probes, "wait_s": self._waited, "wait_kafka_s": self._waited}

    def close(self) -> None:
        """See `BatchSource`."""
        if os.getpid() == self._pid and self._lanes is not None:
            self._lanes.commit(last=True)
        self._release()

    def _release(self) -> None:
        for topic in (self._stream, self._look, self._cross_lane):
            if topic is not None:
                topic.close()
        self._stream = self._look = self._lanes = None

    def __del__(self, getpid: Callable[[], int] = os.getpid) -> None:
        if getattr(self, "_pid", None) is not None and getpid() != self._pid:
            self._release()

    # ---- batches

    def _reading(self) -> TopicReading:
        if self._lanes is None:
            raise StokerError("the feed is closed")
        return self._lanes

    def _batches(self, span: Span, serial: int) -> Iterator[DeliveredBatch]:
        epoch, first, stride, count, _ = span
        skip = self._skip(epoch)
        ahead = wants_ahead(self._pieces.plan, span, self._ahead, skip)
        for number in Numbers(skip, first, stride, count):
            if serial != self._serial:
                raise StokerError(f"epoch {epoch} is no longer read: another iteration was begun")
            began = time.monotonic()
            fresh, wanted = next(ahead)
            for planned in fresh:
                self._expect(epoch, planned)
            pieces = [self._piece(epoch, number, want) for want in wanted]
            self._waited += time.monotonic() - began
            self._counts["batches"] += 1
            yield DeliveredBatch(epoch, number, pieces)

    def _ahead(self) -> int:
        """Numbers that are planned before they are delivered."""
        return max(_AHEAD, min(_AHEAD_MOST, self._buffer_bytes // (4 * self._largest) if self._largest else _AHEAD))

    def _expect(self, epoch: int, wanted: list[PieceRequest]) -> None:
        """Tells what will be taken out of other lanes."""
        assert self._cross_lane is not None
        for want in wanted:
            if not want.repeated and not self._is_own(want):
                self._cross_lane.expect((epoch, want.batch, want.lane))

    def _is_own(self, want: PieceRequest) -> bool:
        return want.lane in (self._reading().lanes or ())

    def _piece(self, epoch: int, number: int, want: PieceRequest) -> PieceData:
        key = (epoch, want.batch, want.lane)
        if want.batch != number or want.repeated:
            message = self._fetch(key)
        elif self._is_own(want):
            message = self._await(key, lambda: self._reading().take(key, _POLL_S))
            self._reading().went_into(epoch, number, key)
        else:
            message = self._await(key, lambda: self._take_across(key))
        self._largest = max(self._largest, len(message.buffer))
        return self._pieces.wanted(epoch, number, want, message)

    def _await(self, key: Key, take: Callable[[], Message | None]) -> Message:
        began = time.monotonic()
        while (message := take()) is None:
            self._reading().commit()
            if time.monotonic() - began > self._batch_timeout:
                self._raise_late(key, began)
        return message

    def _take_across(self, key: Key) -> Message | None:
        """A piece out of a lane that is not read from end to end."""
        assert self._cross_lane is not None
        parts = self._cross_lane.take(key, _POLL_S)
        if parts is None:
            return None
        self._counts["bytes"] += sum(len(part.value) for part in parts)
        return self._pieces.whole(parts)

    def _raise_late(self, key: Key, began: float) -> None:
        assert self._stream is not None
        seen = self._reading().seen(key[2])
        if seen is None and self._cross_lane is not None:
            seen = self._cross_lane.seen.get(key[2])
        at = f"the last position in the partition was {seen}" if seen else "nothing arrived from the partition"
        raise BatchTimeoutError(
            f"{self._target}: epoch {key[0]} batch {key[1]} did not arrive from partition {key[2]} within "
            f"{time.monotonic() - began:.1f} s: {at}{self._stream.trouble}. Check that the feed is running and is not "
            "waiting for another group of its --throttle-groups, or raise batch_timeout"
        )

    def _search(self, lane: int, wanted: Position) -> tuple[int, Record | None]:
        assert self._look is not None
        self._counts["searches"] += 1
        offset, record = self._look.find(lane, wanted)
        if record is not None:
            self._pieces.check(lane, record)
        return offset, record

    def _fetch(self, key: Key) -> Message:
        """A piece out of wherever it stands."""
        epoch, batch, lane = key
        look = self._look
        assert look is not None
        deadline = time.monotonic() + self._batch_timeout
        parts: list[Record] = []
        while not parts or len(parts) < parts[0].header.parts:
            wanted = Position(epoch, BATCH, batch, len(parts))
            record = look.follow(lane, wanted) if parts else None
            if record is not None:
                self._pieces.check(lane, record)
            else:
                _, record = self._search(lane, wanted)
            if record is not None:
                parts.append(record)
                self._counts["bytes"] += len(record.value)
            else:
                self._reading().receive(_POLL_S)
                self._reading().commit()
                if time.monotonic() > deadline:
                    self._raise_late(key, deadline - self._batch_timeout)
        return self._pieces.whole(parts)
