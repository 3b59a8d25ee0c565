"""A feed read out of a topic: the path reader's bytes, whatever the topic looks like, or an error that says what is
wrong."""

from __future__ import annotations

import itertools
import json
import random
import socket
import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_fake import TOPIC, FakeTopic, Writer, record
from rounds import Round, rounds
from small_datasets import small_dataset
from stoker import Feed, errors
from stoker._kafka.plan import wants
from stoker._kafka.record import BATCH, BEGIN, END, Position, message_of, read_header
from stoker._kafka.target import TopicTarget
from stoker._order.delivery import BatchPlan
from stoker._order.spec import OrderSpec

ROOT = Path(__file__).parents[2]
RESOURCES = ROOT / "schemas/src/test/resources"
VECTORS = json.loads((RESOURCES / "vectors/kafka.json").read_text())
ORDER: dict[str, Any] = {"batch_size": 4, "lanes": 4, "shuffle_window": 3000, "seed": 3, "lane_order": "fixed"}
KINDS = {"epoch-begin": BEGIN, "batch": BATCH, "epoch-end": END}


@pytest.fixture
def writer(tmp_path: Path) -> Writer:
    small_dataset(tmp_path / "d", chunks=(7, 5, 9, 6, 8, 3, 11, 10))
    return Writer(tmp_path / "d", **ORDER)


@pytest.fixture
def open_feed(monkeypatch: pytest.MonkeyPatch) -> Any:
    feeds = []

    def open_feed(topic: FakeTopic, name: str = TOPIC, **options: Any) -> Feed:
        monkeypatch.setitem(sys.modules, "confluent_kafka", topic.module())
        feed = Feed(f"kafka://broker:9092/{name}", **{"connect_timeout": 0.3, "batch_timeout": 0.5} | options)
        feeds.append(feed)
        return feed

    yield open_feed
    for feed in feeds:
        feed.close()


def seen(feed: Feed) -> list[Any]:
    return [(b.epoch, b.number, b.repeated, [p.buffer.tobytes() for p in b._pieces], b.state) for b in feed]


def expected(writer: Writer, epoch: int = 0, **options: Any) -> list[Any]:
    feed = Feed(writer.feed._reading.options.target, **ORDER, **options)
    feed.set_epoch(epoch)
    return seen(feed)


# ---- records


def test_headers_are_those_of_the_vectors() -> None:
    for item in VECTORS["records"]:
        headers = [(name, text.encode()) for name, text in item["headers"].items()]
        value = bytes.fromhex(item["value"])
        read = read_header(headers, value, "here")
        found = {name: str(getattr(read, name)) for name in read._fields if name != "kind"}
        assert found == {
            name[7:]: text
            for name, text in item["headers"].items()
            if name not in ("stoker.kind", "stoker.format", "stoker.crc32c")
        }
        assert read.kind == KINDS[item["headers"]["stoker.kind"]]


def test_positions_ascend_like_those_of_the_vectors() -> None:
    positions = [Position(e, KINDS[kind], b, p) for e, kind, b, p in VECTORS["ascending"]]
    assert sorted(random.Random(1).sample(positions, len(positions))) == positions


def test_every_flipped_bit_of_a_record_is_noticed() -> None:
    item = VECTORS["records"][2]
    headers = [(name, text.encode()) for name, text in item["headers"].items()]
    value = bytes.fromhex(item["value"])
    read_header(headers, value, "here")
    for at, (name, text) in enumerate(headers):
        for bit in range(8 * len(text)):
            flipped = bytearray(text)
            flipped[bit // 8] ^= 1 << bit % 8
            damaged = [*headers[:at], (name, bytes(flipped)), *headers[at + 1 :]]
            with pytest.raises((errors.CorruptDataError, errors.FormatTooNewError), match="here"):
                read_header(damaged, value, "here")
        with pytest.raises(errors.StokerError, match=name):
            read_header(headers[:at] + headers[at + 1 :], value, "here")
    for bit in range(8 * len(value)):
        wrong = bytearray(value)
        wrong[bit // 8] ^= 1 << bit % 8
        with pytest.raises(errors.CorruptDataError, match="CRC32C of headers and value"):
            read_header(headers, bytes(wrong), "here")


@pytest.mark.parametrize("name", ["all", "none"])
def test_the_golden_values_of_the_feeder_hold_the_golden_batches(name: str) -> None:
    value = (RESOURCES / f"golden/kafka-1-{name}.bin").read_bytes()
    assert message_of(value, "here").tobytes() == (RESOURCES / f"golden/batch-1-{name}.bin").read_bytes()


def test_targets_are_parsed() -> None:
    assert TopicTarget.parse("kafka://a:1,b:2/t?client.id=x&linger.ms=5") == (
        "a:1,b:2",
        "t",
        (("client.id", "x"), ("linger.ms", "5")),
    )
    for text in ("kafka://a:1", "kafka:///t", "kafka://a:1/t/u", "kafka://a:1/"):
        with pytest.raises(ValueError, match="kafka://host:port"):
            TopicTarget.parse(text)


def test_what_is_wanted_is_what_the_order_delivers() -> None:
    def one(draw: Round) -> None:
        case = draw.number
        rows = [draw.randrange(40) for _ in range(draw.randrange(1, 6))]
        if not sum(rows):
            return
        plan = BatchPlan(OrderSpec(case, draw.randrange(1, 12), len(rows), 0, "window", "fixed"), rows)
        for number in range(plan.batches + 5):
            for tail in ("pad", "keep") if number < plan.batches else ("pad",):
                delivered = [(p.lane, p.rows, p.repeated) for p in plan.delivered(1, number, tail)]
                assert [(w.lane, w.rows, w.repeated) for w in wants(plan, 1, number, tail)] == delivered

    rounds(one, seconds=0.5, at_least=50)


# ---- reading


@pytest.mark.parametrize("world_size", [1, 2, 3, 4])
@pytest.mark.parametrize("tail", ["pad", "keep", "drop"])
def test_batches_are_the_path_readers(writer: Writer, open_feed: Any, world_size: int, tail: str) -> None:
    topic = writer.write(0, 1, 2)
    for rank in range(world_size):
        part = {"rank": rank, "world_size": world_size, "tail": tail}
        feed = open_feed(topic, **part)
        for epoch in range(3):
            assert seen(feed) == expected(writer, epoch, **part)


def test_parts_are_put_together(tmp_path: Path, open_feed: Any) -> None:
    small_dataset(tmp_path / "d", chunks=(7, 5, 9, 6, 8, 3))
    writer = Writer(tmp_path / "d", parts=3, **ORDER)
    assert seen(open_feed(writer.write(0))) == expected(writer)


def test_a_state_is_gone_on_from_with_another_world_size(writer: Writer, open_feed: Any) -> None:
    topic = writer.write(0, 1)
    for taken in range(1, 15, 3):
        iteration = iter(open_feed(topic, rank=1, world_size=2))
        state = [next(iteration).state for _ in range((taken + 1) // 2)][-1]
        for rank in range(3):
            part = {"rank": rank, "world_size": 3}
            feed, path = open_feed(topic, **part), Feed(writer.feed._reading.options.target, **ORDER, **part)
            feed.load_state_dict(state)
            path.load_state_dict(state)
            assert seen(feed) == seen(path)
            assert seen(feed) == seen(path)


@pytest.mark.cells
@pytest.mark.parametrize("lane_order", ["fixed", "mixed"])
@pytest.mark.parametrize("world_size", [1, 2])
@pytest.mark.parametrize("skip", [[], [(0, 2, 5), (1, 0, 3)]])
def test_lanes_that_were_paused_are_read_after_a_jump(
    tmp_path: Path, open_feed: Any, lane_order: str, world_size: int, skip: Any
) -> None:
    small_dataset(tmp_path / "d", chunks=(7, 5, 9, 6, 8, 3, 11, 10))
    order = {**ORDER, "lane_order": lane_order}
    topic = Writer(tmp_path / "d", **order).write(0, 1, 2, 3)
    # A small buffer pauses lanes that are ahead; with a large one, the end of what is planned does.
    for rank, buffer_bytes in itertools.product(range(world_size), (4 << 10, 256 << 20)):
        part: dict[str, Any] = {"rank": rank, "world_size": world_size, "skip": skip}
        feed, path = open_feed(topic, **part, buffer_bytes=buffer_bytes), Feed(tmp_path / "d", **order, **part)
        early = None
        for jump in ("none", "epoch", "state", "none", "epoch", "state", "none"):
            for reader in (feed, path):
                if jump == "epoch":
                    reader.set_epoch(0)
                elif jump == "state":
                    reader.load_state_dict(early)
            begun = list(itertools.islice(feed, 3))
            early = begun[1].state
            assert [batch.state for batch in begun] == [batch.state for batch in itertools.islice(path, 3)]
            assert seen(feed) == seen(path)


def test_records_that_come_again_are_dropped(writer: Writer, open_feed: Any) -> None:
    epochs = [writer.epoch(epoch) for epoch in (0, 1)]

    def one(draw: Round) -> None:
        topic = FakeTopic(4)
        for lane in range(4):
            records = [r for epoch in epochs for r in epoch[lane]]
            log, at = topic.partitions[lane], 0
            while at < len(records):
                log.append(records[at])
                at += 1
                if draw.random() < 0.15:
                    at = max(0, at - draw.randrange(1, 9))  # restarted
                if draw.random() < 0.2:
                    log.append(None)  # a transaction's marker
        feed = open_feed(topic)
        path = Feed(writer.feed._reading.options.target, **ORDER)
        state = {**feed.state_dict(), "batch": draw.randrange(10)}
        feed.load_state_dict(state)
        path.load_state_dict(state)
        assert seen(feed) == seen(path)
        assert seen(feed) == seen(path)

    rounds(one, seconds=0.5, at_least=5)


def test_two_writers_at_a_time_are_one(writer: Writer, open_feed: Any) -> None:
    topic = FakeTopic(4)
    for lane, records in enumerate(writer.epoch(0)):
        old, new = records[:9], records[4:]
        log = topic.partitions[lane]
        log += old[:5]
        for i in range(max(len(old) - 5, len(new))):
            log += old[5 + i : 6 + i] + new[i : i + 1]
    for start in range(10):
        feed = open_feed(topic)
        feed.load_state_dict({**feed.state_dict(), "batch": start})
        path = Feed(writer.feed._reading.options.target, **ORDER)
        path.load_state_dict({**path.state_dict(), "batch": start})
        assert seen(feed) == seen(path)


def test_what_is_consumed_is_committed(writer: Writer, open_feed: Any) -> None:
    topic = writer.write(0)
    feed = open_feed(topic, group="trainers", rank=1, world_size=2)
    seen(feed)
    feed.close()
    committed = topic.committed["trainers"]
    assert set(committed) == {1, 3}
    assert topic.stored["trainers"] == committed
    for lane, offset in committed.items():
        left = [dict(headers)["stoker.kind"] for headers, _ in topic.partitions[lane][offset:]]
        assert b"batch" not in left


# ---- what goes wrong


def test_a_gap_is_named(writer: Writer, open_feed: Any) -> None:
    topic = writer.write(0)
    del topic.partitions[2][3]
    with pytest.raises(errors.StokerError, match=r"partition 2, offset 3: found epoch 0 batch .* the topic has a gap"):
        seen(open_feed(topic))


def test_a_flipped_record_is_named(writer: Writer, open_feed: Any) -> None:
    topic = writer.write(0)
    headers, value = topic.partitions[1][4]
    topic.partitions[1][4] = headers, value[:900] + bytes([value[900] ^ 4]) + value[901:]
    with pytest.raises(errors.CorruptDataError, match=r"topic photos at broker:9092, partition 1, offset 4 is corrupt"):
        seen(open_feed(topic))


def test_a_misrouted_record_is_named(writer: Writer, open_feed: Any) -> None:
    topic = writer.write(0)
    topic.partitions[1].insert(4, topic.partitions[0][4])
    with pytest.raises(errors.StokerError, match=r"partition 1, offset 4: .* of lane 0 was misrouted to partition 1"):
        seen(open_feed(topic))


def test_another_feeds_record_is_refused(writer: Writer, open_feed: Any) -> None:
    topic = writer.write(0)
    other = record(b"", kind="batch", fingerprint="ab" * 16, version=1, epoch=0, lane=2)
    topic.partitions[2].insert(3, other)
    with pytest.raises(errors.StateMismatchError, match=r"partition 2, offset 3: .* to another feed"):
        seen(open_feed(topic))


def test_a_record_of_something_else_is_refused(writer: Writer, open_feed: Any) -> None:
    topic = writer.write(0)
    topic.partitions[2].insert(3, ([("traceparent", b"1")], b"hello"))
    with pytest.raises(errors.StokerError, match="offset 3 is not a record of a Stoker feed"):
        seen(open_feed(topic))


def test_a_position_that_was_deleted_names_retention(writer: Writer, open_feed: Any) -> None:
    topic = writer.write(0, 1)
    state = next(iter(open_feed(topic))).state
    topic.begin = [6] * 4
    feed = open_feed(topic)
    feed.load_state_dict(state)
    with pytest.raises(errors.StokerError, match=r"is no longer there.*retention\.ms"):
        seen(feed)


def test_a_topic_that_was_created_anew_is_named_as_such(writer: Writer, open_feed: Any) -> None:
    topic = writer.write(0, 1)
    state = next(iter(open_feed(topic))).state
    for partition in topic.partitions:
        del partition[:6]  # what its feed wrote before it noticed
    feed = open_feed(topic)
    feed.load_state_dict(state)
    with pytest.raises(errors.StokerError, match=r"\(offset 0\): nothing was ever deleted.* recreated"):
        seen(feed)


def test_a_state_of_other_data_is_refused(writer: Writer, tmp_path: Path, open_feed: Any) -> None:
    small_dataset(tmp_path / "other", seed=9)
    state = Feed(tmp_path / "other", **ORDER).state_dict()
    with pytest.raises(errors.StateMismatchError):
        open_feed(writer.write(0)).load_state_dict(state)


def test_another_order_is_refused(writer: Writer, open_feed: Any) -> None:
    with pytest.raises(errors.OrderMismatchError, match="batch_size 4, asked for 8"):
        _ = open_feed(writer.write(0), batch_size=8).info


def test_a_missing_topic_is_named(writer: Writer, open_feed: Any) -> None:
    with pytest.raises(errors.ConnectTimeoutError, match="topic nowhere at broker:9092"):
        _ = open_feed(writer.write(0), name="nowhere").info


def test_an_address_without_a_broker_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    said = f"topic photos at 127.0.0.1:{port}: no broker answers there within 0.3 s.*Check the address"
    with pytest.raises(errors.ConnectTimeoutError, match=said):
        _ = Feed(f"kafka://127.0.0.1:{port}/photos", connect_timeout=0.3).info


def test_an_empty_topic_is_waited_for(writer: Writer, open_feed: Any) -> None:
    with pytest.raises(errors.ConnectTimeoutError, match="has no record yet"):
        _ = open_feed(writer.topic).info


def test_a_batch_that_does_not_come_is_named(writer: Writer, open_feed: Any) -> None:
    topic = writer.write(0)
    del topic.partitions[2][3:]
    with pytest.raises(errors.BatchTimeoutError, match=r"did not arrive from partition 2 .*--throttle-groups"):
        seen(open_feed(topic))


def test_without_the_client_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    with pytest.raises(errors.MissingDependencyError, match=r"stoker\[kafka\]"):
        _ = Feed("kafka://broker:9092/photos").info
