"""After an interrupt at any place, a feed continues with exactly the next batch, or is closed and says so."""

from __future__ import annotations

import sys
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from interrupts import Interrupt, everywhere
from kafka_fake import TOPIC, FakeTopic, Writer
from small_datasets import small_dataset
from stoker import Feed, errors
from stoker._feed.client_stats import ClientStats
from stoker.testing import serve

ORDER: dict[str, Any] = {"batch_size": 3, "lanes": 3, "shuffle_window": 2000, "seed": 5, "lane_order": "fixed"}
CHUNKS = (7, 5, 9, 6)
# A socket that an interrupt came upon before anybody held it is closed when it is collected, and Python says so.
pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed:ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


def content(batch: Any) -> Any:
    return batch.epoch, batch.number, tuple(batch.keys), batch.repeated


def read_through(feed: Feed, interrupt: Interrupt) -> list[Any]:
    """All batches of some epochs, of which an interrupt befalls one."""
    found: list[Any] = []
    iterator: Any = None
    interrupts, ended = 0, False
    while not ended:
        try:
            with interrupt.on():
                if iterator is None:
                    iterator = feed.batches()
                for batch in iterator:
                    found.append(batch)
                ended = True
        except KeyboardInterrupt:
            interrupts += 1
            assert interrupts == 1
    return [content(batch) for batch in found]


@pytest.mark.parametrize("options", [{}, {"concat": 2}, {"epoch_batches": 4}, {"decode": {"image": len}}], ids=str)
def test_a_path_goes_on_exactly(tmp_path: Path, options: dict[str, Any]) -> None:
    dataset = small_dataset(tmp_path / "d", chunks=CHUNKS)
    with Feed(dataset.root, **ORDER, **options, epochs=2) as feed:
        expected = [content(b) for b in feed.batches()]

    def run(interrupt: Interrupt) -> None:
        feed = Feed(dataset.root, **ORDER, **options, epochs=2)
        assert read_through(feed, interrupt) == expected
        feed.close()

    everywhere(run, 10)


def test_an_interrupt_at_the_end_of_a_part_of_an_epoch_does_not_fail_the_next_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = small_dataset(tmp_path / "d", chunks=CHUNKS)
    with Feed(dataset.root, **ORDER, epoch_batches=2) as feed:
        part = iter(feed)
        numbers = [next(part).number, next(part).number]

        def interrupted(stats: ClientStats) -> float:
            raise KeyboardInterrupt

        with monkeypatch.context() as patched:
            patched.setattr(ClientStats, "begin", interrupted)
            with pytest.raises(KeyboardInterrupt):
                next(part)
        assert list(part) == []
        numbers += [batch.number for batch in feed]
        assert numbers == [0, 1, 2, 3]


@pytest.mark.parametrize("options", [{}, {"concat": 2, "buffer_bytes": 1}], ids=str)
def test_a_feeders_batches_go_on_exactly_and_each_is_acknowledged(options: dict[str, Any]) -> None:
    rows = {"n": np.arange(40, dtype=np.int64), "data": [bytes([i]) * 300 for i in range(40)]}
    groups = count()
    with serve(rows, order=ORDER, feeders=2, epochs=2) as served:
        with Feed(served.target, **options) as feed:
            expected = [content(b) for b in feed.batches()]

        def run(interrupt: Interrupt) -> None:
            group = f"g{next(groups)}"
            feed = Feed(served.target, group=group, **options)
            assert read_through(feed, interrupt) == expected
            feed.close()
            acks = [a for a in served.state.acks if a.identity[0] == group]
            assert len({(a.epoch, a.entry.number, a.entry.piece) for a in acks}) == pieces

        pieces = len({(a.epoch, a.entry.number, a.entry.piece) for a in served.state.acks})
        everywhere(run, 12)


def test_a_topic_goes_on_exactly(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = small_dataset(tmp_path / "d", chunks=CHUNKS)
    writer = Writer(dataset.root, **ORDER)
    topic = FakeTopic(3)
    for epoch in range(2):
        for log, records in zip(topic.partitions, writer.epoch(epoch), strict=True):
            log += records
    monkeypatch.setitem(sys.modules, "confluent_kafka", topic.module())
    target = f"kafka://broker:9092/{TOPIC}"
    with Feed(target, epochs=2) as feed:
        expected = [content(b) for b in feed.batches()]

    def run(interrupt: Interrupt) -> None:
        feed = Feed(target, epochs=2)
        assert read_through(feed, interrupt) == expected
        feed.close()

    everywhere(run, 8)


@pytest.mark.parametrize("kind", ["path", "feeder"])
def test_an_interrupted_close_can_be_repeated(tmp_path: Path, kind: str) -> None:
    dataset = small_dataset(tmp_path / "d", chunks=CHUNKS)
    with serve(dataset.root, order=ORDER) as served:

        def run(interrupt: Interrupt) -> None:
            feed = Feed(dataset.root, **ORDER) if kind == "path" else Feed(served.target)
            iterator = iter(feed)
            for _ in range(3):
                next(iterator)
            try:
                with interrupt.on():
                    feed.close()
            except KeyboardInterrupt:
                try:
                    next(iterator)  # the interrupt came before anything was closed
                except errors.StokerError as e:
                    if "closed" not in str(e):
                        raise
            feed.close()
            assert feed._reading.source is None

        everywhere(run, 20)
