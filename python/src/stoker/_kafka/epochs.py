"""Reads the control records of a topic, which describe the feed, and each epoch if epochs have separate versions."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace

from stoker._kafka.record import BATCH, BEGIN, END, Position, TopicInfo, read_info, why_gone
from stoker._kafka.topic_log import Record, TopicLog
from stoker._source.batch_source import Consumer, StreamInfo
from stoker._source.position import Start
from stoker.errors import (
    BatchTimeoutError,
    ConnectTimeoutError,
    CorruptDataError,
    OrderMismatchError,
    StateMismatchError,
    StokerError,
)

_LOOK_S = 0.1


def first(look: TopicLog, run: int) -> TopicInfo | None:
    """Returns the description of the oldest epoch in the first partition; None if it has no record yet."""
    record = look.at(0, look.bounds(0)[0])
    return None if record is None else _described(look, record, run)


def newest(look: TopicLog, run: int) -> TopicInfo | None:
    """Returns the description of the newest epoch that has begun in the first partition."""
    low, high = look.bounds(0)
    back, record = 1, None
    while record is None and back < 2 * (high - low):  # markers of transactions take offsets, too
        record = look.at(0, max(low, high - back))
        back *= 2
    return None if record is None else _described(look, record, run)


def of_epoch(look: TopicLog, epoch: int, run: int) -> TopicInfo | None:
    """Returns the description of an epoch, if the feed follows its dataset; None if it has not begun yet.

    Raises `StokerError` if the topic does not keep the epoch any more.
    """
    low, high = look.bounds(0)
    oldest = look.at(0, low) if low < high else None
    if oldest is None:
        return None
    kind = BEGIN if oldest.position <= Position(epoch, BEGIN) else END
    _, record = look.find(0, Position(epoch, kind))
    if record is None:
        if kind == END:
            raise _deleted(look, epoch)
        return None
    topic = _read(look, record, run)
    return topic._replace(info=replace(topic.info, follows=True, epoch=epoch))


def _described(look: TopicLog, record: Record, run: int) -> TopicInfo:
    """Returns the description of a record's epoch."""
    epoch = record.header.epoch
    if record.header.kind == BATCH:
        low = look.at(0, look.bounds(0)[0])
        kind = BEGIN if low is not None and low.position <= Position(epoch, BEGIN) else END
        _, found = look.find(0, Position(epoch, kind))
        if found is None:
            raise _deleted(look, epoch)
        record = found
    return _read(look, record, run)


def _read(look: TopicLog, record: Record, run: int) -> TopicInfo:
    where = look.where(0, record.offset)
    topic = read_info(record.value, where, run)
    if topic.info.fingerprint != record.header.fingerprint:
        raise CorruptDataError(f"{where}: headers and value name different fingerprints")
    return topic


def _deleted(look: TopicLog, epoch: int) -> StokerError:
    return StokerError(
        f"{look.target}, partition 0: the beginning of epoch {epoch} is no longer there, and its end is not written "
        f"yet: {why_gone(look.bounds(0)[0])}"
    )


def require_asked(look: TopicLog, consumer: Consumer, info: StreamInfo) -> None:
    """Raises `StateMismatchError` if another stream was asked for, `OrderMismatchError` if another order was."""
    if consumer.stream is not None and consumer.stream != info.stream:
        raise StateMismatchError(f"{look.target} holds stream {info.stream}, not {consumer.stream}")
    order = info.order.to_json()
    for name, value in consumer.order.items():
        if order.get(name) != value:
            raise OrderMismatchError(
                f"{look.target} was written with {name} {order.get(name, 'of all rows')}, asked for {value}: leave it "
                "out, or feed into another topic"
            )


def wait_for_first(look: TopicLog, run: int, timeout_s: float) -> TopicInfo:
    """See `first`. Raises `ConnectTimeoutError` if there is no record in time."""
    deadline = time.monotonic() + timeout_s
    while (found := first(look, run)) is None:
        if time.monotonic() > deadline:
            raise ConnectTimeoutError(
                f"{look.target} has no record yet after {timeout_s:g} s{look.trouble}. Is the feed running?"
            )
    return found


def wait_for_epoch(
    look: TopicLog, start: Start, consumer: Consumer, lanes: Iterable[int], passed: Callable[[dict[int, int]], None]
) -> TopicInfo:
    """See `of_epoch`. `passed` is told of each lane the offset before which there is no record of the epoch.

    The feed may wait for that. Raises `BatchTimeoutError` if the epoch does not begin in time, `StateMismatchError` if
    it has another version than the state names.
    """
    began = time.monotonic()
    while True:
        passed({lane: _edge(look, lane, Position(start.epoch, BEGIN)) for lane in lanes})
        found = of_epoch(look, start.epoch, consumer.run)
        if found is not None:
            break
        if time.monotonic() - began > look.patience_s:
            raise BatchTimeoutError(
                f"{look.target}: epoch {start.epoch} did not begin in partition 0 within "
                f"{time.monotonic() - began:.1f} s{look.trouble}. Check that the feed is running and is not waiting "
                "for another group of its --throttle-groups, or raise batch_timeout"
            )
        time.sleep(_LOOK_S)
    info = found.info
    if start.version not in (None, info.version):
        raise StateMismatchError(
            f"{look.target}: epoch {start.epoch} of stream {info.stream} has version {info.version} here, but the "
            f"state has version {start.version}: it belongs to another topic, or to this one before it was rewritten"
        )
    return found


def _edge(look: TopicLog, lane: int, wanted: Position) -> int:
    """The offset of a position, or the one that it will have at the earliest."""
    low, high = look.bounds(lane)
    oldest = look.at(lane, low) if low < high else None
    return low if oldest is None or oldest.position >= wanted else look.find(lane, wanted)[0]


def lanes_of(consumer: Consumer, info: StreamInfo) -> range:
    """The partitions whose progress a consumer tells where it waits for an epoch."""
    lanes, ranks = len(info.lane_rows), consumer.world_size
    alone = info.order.lane_order == "fixed" and lanes % ranks == 0
    return range(consumer.rank, lanes, ranks) if alone else range(lanes)
