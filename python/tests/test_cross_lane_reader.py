"""Pieces of lanes that a consumer does not read from end to end, and how their places are guessed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from kafka_fake import TOPIC, FakeConsumer, FakeTopic, Writer
from rounds import Round, rounds
from small_datasets import small_dataset
from stoker import Feed
from stoker._kafka.guesses import TopicGuesses
from stoker._kafka.record import BATCH, BEGIN, END, Position
from stoker._order.delivery import BatchPlan
from stoker._order.spec import OrderSpec

ORDER: dict[str, Any] = {"batch_size": 4, "lanes": 4, "shuffle_window": 3000, "seed": 3, "lane_order": "fixed"}


@pytest.mark.parametrize("order", ["fixed", "mixed"])
@pytest.mark.parametrize("parts", [1, 3])
def test_the_records_before_a_position_are_counted(order: Any, parts: int) -> None:
    def one(draw: Round) -> None:
        case = draw.number
        rows = tuple(draw.randrange(50) for _ in range(draw.randrange(1, 7)))
        if not sum(rows):
            return
        plan = BatchPlan(OrderSpec(case, draw.randrange(1, 9), len(rows), 0, "window", order), rows)
        guesses = TopicGuesses()
        guesses.adopt(plan, rows)
        lanes: list[list[Position]] = [[] for _ in rows]
        for epoch in range(2):
            for lane in lanes:
                lane.append(Position(epoch, BEGIN))
            for number in range(plan.batches):
                for piece in plan.pieces(epoch, number):
                    lanes[piece.lane] += [Position(epoch, BATCH, number, part) for part in range(parts)]
            for lane in lanes:
                lane.append(Position(epoch, END))
        for lane, positions in enumerate(lanes):
            places = list(enumerate(positions))
            for place, position in draw.sample(places, min(30, len(places))):
                assert guesses.place(lane, position, parts) == place
                assert parts > 1 or guesses.offset(lane, position) == place

    rounds(one, seconds=0.3, at_least=30)


def test_what_was_seen_corrects_the_guess() -> None:
    plan = BatchPlan(OrderSpec(1, 4, 2, 0, "window", "fixed"), [400, 400])
    guesses = TopicGuesses()
    guesses.adopt(plan, (400, 400))
    wanted = Position(0, BATCH, 2 * 60)
    assert guesses.offset(0, wanted) == 61
    guesses.saw(0, Position(0, BATCH, 2 * 50), 551)
    assert guesses.offset(0, wanted) == 561
    guesses.saw(0, Position(0, BATCH, 2 * 90), 631)  # a marker of a transaction behind each record
    assert guesses.offset(0, wanted) == 571 - 2
    assert 0 <= guesses.offset(1, wanted) <= 4 * 61


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Partition and offset of the records that consumers were given."""
    records = []
    poll = FakeConsumer.poll

    def recorded(self: FakeConsumer, wait: float) -> Any:
        message = poll(self, wait)
        if message is not None and message.error() is None:
            records.append((message.partition(), message.offset()))
        return message

    monkeypatch.setattr(FakeConsumer, "poll", recorded)
    return records


def seen(feed: Feed) -> list[Any]:
    return [(b.epoch, b.number, [p.buffer.tobytes() for p in b._pieces]) for b in feed]


def test_little_more_is_read_than_is_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: list[tuple[int, int]]
) -> None:
    """Of lanes of which one is much longer than the others."""
    small_dataset(tmp_path / "d", chunks=(120, 40, 40, 40))
    writer = Writer(tmp_path / "d", **ORDER)
    topic = writer.write(0, 1, 2)
    monkeypatch.setitem(sys.modules, "confluent_kafka", topic.module())
    for rank in range(4):
        with (
            Feed(f"kafka://broker:9092/{TOPIC}", rank=rank, world_size=4, tail="keep") as feed,
            Feed(tmp_path / "d", rank=rank, world_size=4, tail="keep", **ORDER) as path,
        ):
            # The first record, the size of a batch of records, and where its own lane begins.
            given.clear()
            for epoch in range(3):
                path.set_epoch(epoch)
                assert seen(feed) == seen(path)
            longest = max(len(log) for log in topic.partitions)
            assert len(given) <= len(topic.partitions[rank]) + longest + 12


@pytest.mark.parametrize("disorder", ["again", "markers", "both"])
def test_wrong_guesses_are_put_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, disorder: str) -> None:
    small_dataset(tmp_path / "d", chunks=(60, 17, 22, 9))
    writer = Writer(tmp_path / "d", **ORDER)
    epochs = [writer.epoch(epoch) for epoch in (0, 1)]

    def one(draw: Round) -> None:
        topic = FakeTopic(4)
        for lane in range(4):
            records = [r for epoch in epochs for r in epoch[lane]]
            log, at = topic.partitions[lane], 0
            while at < len(records):
                log.append(records[at])
                at += 1
                if disorder != "markers" and draw.random() < 0.1:
                    at = max(0, at - draw.randrange(1, 12))
                if disorder != "again" and draw.random() < 0.4:
                    log.append(None)
        monkeypatch.setitem(sys.modules, "confluent_kafka", topic.module())
        for rank in range(3):
            with (
                Feed(f"kafka://broker:9092/{TOPIC}", rank=rank, world_size=3, tail="keep") as feed,
                Feed(tmp_path / "d", rank=rank, world_size=3, tail="keep", **ORDER) as path,
            ):
                for epoch in range(2):
                    path.set_epoch(epoch)
                    assert seen(feed) == seen(path)

    rounds(one, seconds=0.3, at_least=2)


def test_a_guess_behind_all_that_is_written_is_put_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No later record shows the error: the feed waits for its consumers, and later records were aborted."""
    small_dataset(tmp_path / "d", chunks=(120, 40, 40, 40))
    writer = Writer(tmp_path / "d", **ORDER)
    topic = FakeTopic(4)
    for log, first, second in zip(topic.partitions, writer.epoch(0), writer.epoch(1), strict=True):
        for record in first:
            log += [record, None, None]
        log += [*second, *[None] * 200]
    monkeypatch.setitem(sys.modules, "confluent_kafka", topic.module())
    for rank in range(4):
        with (
            Feed(f"kafka://broker:9092/{TOPIC}", rank=rank, world_size=4, tail="keep", batch_timeout=5) as feed,
            Feed(tmp_path / "d", rank=rank, world_size=4, tail="keep", **ORDER) as path,
        ):
            for epoch in range(2):
                path.set_epoch(epoch)
                assert seen(feed) == seen(path)
