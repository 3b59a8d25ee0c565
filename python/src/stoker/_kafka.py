"""Batches out of a Kafka topic that a feed was written to: a `BatchSource` over confluent-kafka.

The trainer's thread does everything; the Kafka client's own threads fetch ahead. The partitions of the lanes that a
consumer needs from end to end are read on and on; what it needs of others (pieces of joint batches, the ends of uneven
lanes, repeated rows) is looked for by position.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stoker import _kafka_epochs as epochs
from stoker._buffers import BufferPool
from stoker._delivery import BatchPlan
from stoker._kafka_elsewhere import Elsewhere
from stoker._kafka_fetching import Fetching
from stoker._kafka_guess import Guesses
from stoker._kafka_join import Cut, join
from stoker._kafka_plan import LanePlan, Span, Want, own_lanes, wants_ahead
from stoker._kafka_record import BATCH, Position, TopicInfo, message_of
from stoker._kafka_samples import SampleReader
from stoker._kafka_topic import KafkaTarget, Lost, Record, Topic, is_topic, same_piece
from stoker._message import MessageLayout, batch_columns
from stoker._position import Start
from stoker._source import Consumer, DeliveredBatch, PieceData, StreamInfo
from stoker._spec import Tail
from stoker.errors import (
    BatchTimeoutError,
    CorruptDataError,
    OrderMismatchError,
    StateMismatchError,
    StokerError,
)

_COMMIT_S = 2.0
_POLL_S = 0.1
_AHEAD, _AHEAD_MOST = 8, 64
"""Numbers that are planned before they are delivered, at least and at most."""
_Key = tuple[int, int, int]
"""Epoch, batch, lane."""


class _Message(NamedTuple):
    """A lane's whole piece of a batch."""

    buffer: npt.NDArray[np.uint8]
    rows: int
    skipped: int


class KafkaSource:
    """Reads one topic. See `BatchSource` for the contract of the public methods; one thread calls it."""

    def __init__(
        self,
        target: KafkaTarget,
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
        self._stream: Topic | None = None
        self._look: Topic | None = None
        self._info: StreamInfo | None = None
        self._consumer, self._partitions = Consumer(), 0
        self._samples: SampleReader | None = None
        """Where records hold samples."""
        self._guesses = Guesses()
        self._elsewhere: Elsewhere | None = None
        self._largest = 0
        """Bytes of the largest piece yet."""
        self._lanes: LanePlan | None = None
        self._span: Span | None = None
        self._following: Span | None = None
        self._serial = 0
        self._parts: dict[int, list[Record]] = {}
        """Of each lane the parts of the piece that is arriving."""
        self._kept: dict[_Key, _Message] = {}
        self._kept_bytes: dict[int, int] = {}
        self._paused: set[int] = set()
        self._seen: dict[int, tuple[Position, int]] = {}
        """Of each lane the last record: its position, and the offset after it."""
        self._after: dict[_Key, int] = {}
        """The offset after a piece of a lane that is read on."""
        self._taken: dict[tuple[int, int], list[_Key]] = {}
        """Pieces by the epoch and number that they went into, until that is consumed."""
        self._last: dict[int, Position] = {}
        """Of each lane the last piece that was kept."""
        self._stalled: dict[int, int] = {}
        """Lanes that have gone through all that is planned, and the offset of what follows."""
        self._consumed: dict[int, int] = {}
        self._committed: dict[int, int] = {}
        self._commit_at = 0.0
        self._counts = {"batches": 0, "bytes": 0, "duplicates": 0, "searches": 0, "gaps": 0}
        self._waited = 0.0

    # ---- BatchSource

    def open(self, consumer: Consumer) -> StreamInfo:
        """Waits for the feed's first records.

        Raises `ConnectTimeoutError` if there are none, `OrderMismatchError` if another order was asked for.
        """
        patience = self._connect_timeout
        self._look = look = Topic(self._target, consumer.group, patience)
        self._consumer = consumer
        self._partitions = look.partitions()
        topic = epochs.wait_for_first(look, consumer.run, patience)
        info = topic.info
        if consumer.stream is not None and consumer.stream != info.stream:
            raise StateMismatchError(f"{self._target} holds stream {info.stream}, not {consumer.stream}")
        order = info.order.to_json()
        for name, value in consumer.order.items():
            if order[name] != value:
                raise OrderMismatchError(
                    f"{self._target} was written with {name} {order[name]}, asked for {value}: leave it out, or feed "
                    "into another topic"
                )
        self._adopt(topic)
        look.patience_s = self._batch_timeout
        look.guesses = self._guesses
        batch_bytes = look.batch_bytes(0)
        self._elsewhere = Elsewhere(
            lambda: Topic(self._target, consumer.group, self._batch_timeout, fetching=Fetching.sparing(batch_bytes)),
            self._guesses,
            self._search,
            self._check,
        )
        self._stream = Topic(
            self._target,
            consumer.group,
            self._batch_timeout,
            fetching=Fetching.ahead(self._buffer_bytes, -(-self._partitions // consumer.world_size), batch_bytes),
        )
        if info.follows and consumer.epoch is not None:
            return self.turn_to(consumer.epoch, consumer.version)
        if info.follows:
            newest = epochs.newest(look, consumer.run) or topic
            return self._adopt(newest._replace(info=replace(newest.info, epoch=None)))
        return info

    def _adopt(self, topic: TopicInfo) -> StreamInfo:
        """Goes over to what a control record says."""
        info = topic.info
        if self._partitions != len(info.lane_rows):
            raise StokerError(
                f"{self._target} has {self._partitions} partitions, its feed wrote {len(info.lane_rows)} lanes: the "
                "topic was changed; feed into a new one"
            )
        self._info = info
        self._samples = SampleReader(info.fields, info.classes, topic.schema_id) if topic.samples else None
        self._plan = BatchPlan(info.order, info.lane_rows)
        self._guesses.adopt(self._plan, info.lane_rows)
        self._layout = MessageLayout(batch_columns(info.fields))
        return info

    def turn_to(self, epoch: int, version: int | None) -> StreamInfo:
        """See `BatchSource`. Waits for the epoch's beginning; everything before it counts as consumed."""
        assert self._look is not None
        assert self._info is not None
        self._forget()
        self._serial += 1
        began, lanes = time.monotonic(), epochs.lanes_of(self._consumer, self._info)
        topic = epochs.wait_for_epoch(self._look, Start(epoch, version=version), self._consumer, lanes, self._passed_by)
        self._waited += time.monotonic() - began
        return self._adopt(topic)

    def _passed_by(self, offsets: Mapping[int, int]) -> None:
        for lane, offset in offsets.items():
            self._consumed[lane] = max(offset, self._consumed.get(lane, 0))
        self._commit_at = 0.0
        self._commit()

    def epoch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> Iterator[DeliveredBatch]:
        """See `BatchSource`."""
        span = (epoch, first, stride, count, tail)
        if span == self._following and self._lanes is not None and self._lanes.lanes == own_lanes(self._plan, span):
            self._following = None
        else:
            self._begin(span)
        assert self._elsewhere is not None
        self._elsewhere.forget()
        self._span = span
        self._serial += 1
        return self._batches(span, self._serial)

    def _begin(self, span: Span) -> None:
        """Reads the lanes on from where a span begins."""
        stream = self._streaming()
        self._forget()
        self._lanes = plan = LanePlan(self._plan, own_lanes(self._plan, span))
        plan.add(span)
        offsets = {}
        for lane in sorted(plan.lanes):
            wanted = plan.next(lane)
            if wanted is not None:
                offsets[lane] = self._search(lane, wanted)[0]
        stream.read_from(offsets)

    def _forget(self) -> None:
        """Nothing of what is read is wanted."""
        self._following = self._lanes = None
        self._kept.clear()
        self._kept_bytes.clear()
        self._parts.clear()
        self._paused.clear()
        self._after.clear()
        self._taken.clear()
        self._seen.clear()
        self._last.clear()
        self._stalled.clear()

    def prefetch(self, epoch: int, first: int, stride: int, count: int, tail: Tail) -> None:
        """See `BatchSource`."""
        span = (epoch, first, stride, count, tail)
        if self._lanes is not None and self._following is None and own_lanes(self._plan, span) == self._lanes.lanes:
            self._following = span
            self._lanes.add(span)
            for lane, offset in self._stalled.items():
                self._streaming().seek(lane, offset)
            self._stalled.clear()

    def ack(self, epoch: int, number: int) -> None:
        """See `BatchSource`; what is consumed is committed for information."""
        for key in self._taken.pop((epoch, number), ()):
            offset = self._after.pop(key, None)
            if offset is not None:
                self._consumed[key[2]] = max(offset, self._consumed.get(key[2], 0))
        self._commit()

    def _commit(self, *, last: bool = False) -> None:
        now = time.monotonic()
        if self._stream is None or (not last and now < self._commit_at):
            return
        self._commit_at = now + _COMMIT_S
        for lane, (position, offset) in self._seen.items():
            # Nothing in front of it is still to be consumed.
            if not any(key[2] == lane for key in self._after) and lane not in self._parts:
                wanted = self._lanes.next(lane) if self._lanes is not None else None
                if wanted is None or position < wanted:
                    self._consumed[lane] = max(offset, self._consumed.get(lane, 0))
        changed = {lane: o for lane, o in self._consumed.items() if self._committed.get(lane) != o}
        if changed:
            self._stream.commit(changed, wait=last)
            self._committed |= changed

    def stats(self) -> Mapping[str, float]:
        """See `BatchSource`."""
        probes = sum(topic.probes for topic in (self._stream, self._look) if topic is not None)
        return {**self._counts, "probes": probes, "wait_s": self._waited, "wait_kafka_s": self._waited}

    def close(self) -> None:
        """See `BatchSource`."""
        if os.getpid() == self._pid and self._stream is not None:
            self._commit(last=True)
        self._release()

    def _release(self) -> None:
        for topic in (self._stream, self._look, self._elsewhere):
            if topic is not None:
                topic.close()
        self._stream = self._look = None

    def __del__(self) -> None:
        if getattr(self, "_pid", None) is not None and os.getpid() != self._pid:
            self._release()

    # ---- batches

    def _streaming(self) -> Topic:
        if self._stream is None:
            raise StokerError("the feed is closed")
        return self._stream

    def _batches(self, span: Span, serial: int) -> Iterator[DeliveredBatch]:
        epoch, first, stride, count, _ = span
        ahead = wants_ahead(self._plan, span, self._ahead)
        for number in range(first, first + stride * count, stride):
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

    def _expect(self, epoch: int, wanted: list[Want]) -> None:
        """Tells what will be taken out of other lanes."""
        assert self._elsewhere is not None
        for want in wanted:
            if not want.repeated and not self._is_own(want):
                self._elsewhere.expect((epoch, want.batch, want.lane))

    def _is_own(self, want: Want) -> bool:
        return self._lanes is not None and want.lane in self._lanes.lanes

    def _piece(self, epoch: int, number: int, want: Want) -> PieceData:
        key = (epoch, want.batch, want.lane)
        if want.batch != number or want.repeated:
            message = self._fetch(key)
        elif self._is_own(want):
            message = self._await(key)
            self._taken.setdefault((epoch, number), []).append(key)
        else:
            message = self._await_elsewhere(key)
        self._largest = max(self._largest, len(message.buffer))
        if message.rows + message.skipped != want.of:
            raise CorruptDataError(
                f"{self._target}: epoch {epoch} batch {want.batch}, lane {want.lane} has {message.rows} rows and "
                f"{message.skipped} left out, the order says {want.of}: the feed and this package disagree"
            )
        buffer, rows, skipped = message
        if want.rows < want.of:
            rows = min(want.rows, message.rows)
            skipped = want.rows - rows
            cut = Cut(message.buffer, message.rows, 0, rows)
            buffer = join(self._layout, [cut], self._pool, (number, epoch, self._plan.spec.batch_size))
        return PieceData(want.lane, rows, want.repeated, skipped, buffer)

    def _await(self, key: _Key) -> _Message:
        """A piece out of a lane that is read on."""
        began = time.monotonic()
        lane = key[2]
        while key not in self._kept:
            if lane in self._paused and lane not in self._stalled:
                self._paused.discard(lane)
                self._streaming().resume([lane])
            self._receive(_POLL_S)
            self._commit()
            if key not in self._kept and time.monotonic() - began > self._batch_timeout:
                self._raise_late(key, began)
        message = self._kept.pop(key)
        self._kept_bytes[lane] -= len(message.buffer)
        self._resume(lane)
        return message

    def _await_elsewhere(self, key: _Key) -> _Message:
        """A piece out of another lane."""
        began = time.monotonic()
        elsewhere = self._elsewhere
        assert elsewhere is not None
        while (parts := elsewhere.take(key, _POLL_S)) is None:
            self._commit()
            if time.monotonic() - began > self._batch_timeout:
                self._raise_late(key, began)
        self._counts["bytes"] += sum(len(part.value) for part in parts)
        return self._whole(parts)

    def _raise_late(self, key: _Key, began: float) -> None:
        seen = self._seen[key[2]][0] if key[2] in self._seen else None
        if seen is None and self._elsewhere is not None:
            seen = self._elsewhere.seen.get(key[2])
        at = f"the partition stood at {seen}" if seen else "nothing came from the partition"
        raise BatchTimeoutError(
            f"{self._target}: epoch {key[0]} batch {key[1]} did not come from partition {key[2]} within "
            f"{time.monotonic() - began:.1f} s: {at}{self._streaming().trouble}. Does the feed run, and is it not "
            "waiting for another group of its --pace-groups? Or raise batch_timeout"
        )

    def _receive(self, wait_s: float) -> None:
        stream = self._streaming()
        for found in stream.poll(wait_s):
            if isinstance(found, Lost):
                self._resync(found.partition, None)
                continue
            lane, record = found
            self._counts["bytes"] += len(record.value)
            self._take(lane, record)

    def _take(self, lane: int, record: Record) -> None:
        assert self._lanes is not None
        self._check(lane, record)
        if lane in self._stalled:
            return
        position = record.position
        wanted = self._lanes.next(lane)
        if wanted is None and position.kind == BATCH and position > self._last.get(lane, position):
            self._stalled[lane] = record.offset
            self._streaming().pause([lane])
            return
        parts = self._parts.get(lane, [])
        if wanted is not None and parts:
            wanted = wanted._replace(part=len(parts))
        if wanted is not None and position > wanted:
            self._resync(lane, record)
            return
        self._seen[lane] = (position, record.offset + 1)
        if position != wanted:
            self._counts["duplicates"] += position.kind == BATCH
            return
        same_piece(parts, record)
        parts.append(record)
        if len(parts) < record.header.parts:
            self._parts[lane] = parts
            return
        self._parts.pop(lane, None)
        self._lanes.took(lane)
        self._last[lane] = position
        key = (position.epoch, position.batch, lane)
        self._kept[key] = message = self._whole(parts)
        self._after[key] = record.offset + 1
        self._kept_bytes[lane] = self._kept_bytes.get(lane, 0) + len(message.buffer)
        most, lanes = self._buffer_bytes // 2, len(self._lanes.lanes)
        # To pause a lane is to fetch again what was fetched of it.
        if lane not in self._paused and self._kept_bytes[lane] * lanes > most < sum(self._kept_bytes.values()):
            self._paused.add(lane)
            self._streaming().pause([lane])

    def _resume(self, lane: int) -> None:
        assert self._lanes is not None
        if lane in self._paused and self._kept_bytes[lane] <= self._buffer_bytes // (4 * len(self._lanes.lanes)):
            self._paused.discard(lane)
            self._streaming().resume([lane])

    def _check(self, lane: int, record: Record) -> None:
        assert self._info is not None
        if self._info.epoch not in (None, record.header.epoch):
            return  # another epoch has another version, and is skipped
        if record.header.fingerprint != self._info.fingerprint:
            raise StateMismatchError(
                f"{self._target}, partition {lane}, offset {record.offset}: {record.position} is of another feed: "
                f"fingerprint {record.header.fingerprint}, this one's is {self._info.fingerprint}. A topic holds one "
                "feed"
            )

    def _whole(self, parts: list[Record]) -> _Message:
        """The message of a piece, out of its parts."""
        header = parts[0].header
        where = f"{self._target}, {parts[0].position}"
        rows = [part.header.rows for part in parts]
        what = (header.batch, header.epoch, self._plan.spec.batch_size)
        skipped = sum(part.header.skipped for part in parts)
        if self._samples is not None:
            values = [part.value for part in parts if part.header.rows]
            buffer = self._samples.message(self._layout, values, self._pool, what, where)
            return _Message(buffer, len(values), skipped)
        messages = [message_of(part.value, where) for part in parts]
        if len(parts) == 1:
            buffer = self._pool.take(len(messages[0]))
            buffer[:] = messages[0]
        else:
            cuts = [Cut(m, n, 0, n) for m, n in zip(messages, rows, strict=True)]
            buffer = join(self._layout, cuts, self._pool, what)
        return _Message(buffer, sum(rows), skipped)

    def _resync(self, lane: int, ahead: Record | None) -> None:
        """A lane does not go on where it should: finds out whether the missing record is elsewhere."""
        assert self._lanes is not None
        self._counts["gaps"] += 1
        self._parts.pop(lane, None)
        wanted = self._lanes.next(lane)
        if wanted is None:
            self._streaming().seek(lane, ahead.offset + 1 if ahead else self._search(lane, Position(0, 0))[0])
            return
        offset, found = self._search(lane, wanted)
        if ahead is not None and (found is None or offset >= ahead.offset):
            assert self._look is not None
            found = self._look.scan(lane, wanted, ahead.offset)
            if found is None:
                raise self._look.gap(lane, wanted, ahead)
            offset = found.offset
        self._streaming().seek(lane, offset)

    def _search(self, lane: int, wanted: Position) -> tuple[int, Record | None]:
        assert self._look is not None
        self._counts["searches"] += 1
        offset, record = self._look.find(lane, wanted)
        if record is not None:
            self._check(lane, record)
        return offset, record

    def _fetch(self, key: _Key) -> _Message:
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
                self._check(lane, record)
            else:
                _, record = self._search(lane, wanted)
            if record is not None:
                parts.append(record)
                self._counts["bytes"] += len(record.value)
            else:
                self._receive(_POLL_S)
                self._commit()
                if time.monotonic() > deadline:
                    self._raise_late(key, deadline - self._batch_timeout)
        return self._whole(parts)


def target_of(text: str | None) -> KafkaTarget | None:
    """The topic that a target, or else STOKER_FEED, names; None if it is something else."""
    text = text or os.environ.get("STOKER_FEED") or ""
    return KafkaTarget.parse(text) if is_topic(text) else None
