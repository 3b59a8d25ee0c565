"""A topic whose feed follows its dataset: each epoch is the path reader's at the epoch's own version."""

from __future__ import annotations

import json
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import stoker
from kafka_fake import TOPIC, FakeTopic, Writer
from stoker import Feed, errors
from stoker._kafka.record import read_info
from test_kafka import RESOURCES

LANES = 4
ORDER: dict[str, Any] = {"batch_size": 4, "lanes": LANES, "shuffle_window": 3000, "seed": 3, "lane_order": "fixed"}
VERSIONS = (1, 3, 3, 4)
"""Of the epochs."""


class Dataset:
    """Four versions, what their epochs are, and how a feed writes them."""

    def __init__(self, path: Path):
        self.path, self.size = path, 0
        for version, count in enumerate((41, 5, 30, 17)):
            with stoker.Writer(
                path, {"n": "int32", "kind": "categorical"}, append=version > 0, chunk_size=512
            ) as writer:
                for _ in range(count):
                    self.size += 1
                    writer.write(
                        {"key": f"k{self.size:05}", "n": self.size, "kind": f"kind{self.size % (3 + version)}"}
                    )
        self._writers: dict[tuple[int, int], Writer] = {}
        self._records: dict[tuple[int, int, int], list[list[Any]]] = {}
        self._expected: dict[Any, list[Any]] = {}

    def records(self, epoch: int, version: int, parts: int = 1) -> list[list[Any]]:
        """By lane."""
        key = (epoch, version, parts)
        if key not in self._records:
            if key[1:] not in self._writers:
                self._writers[key[1:]] = Writer(self.path, parts, follows=True, version=version, **ORDER)
            self._records[key] = self._writers[key[1:]].epoch(epoch)
        return self._records[key]

    def expected(self, epoch: int, version: int, **options: Any) -> list[Any]:
        key = (epoch, version, *options.items())
        if key not in self._expected:
            with Feed(self.path, version=version, **ORDER, **options) as feed:
                feed.set_epoch(epoch)
                self._expected[key] = seen(feed)
        return self._expected[key]


class Growing:
    """A dataset with several versions, and a topic to which a feed writes epochs of any of them."""

    def __init__(self, dataset: Dataset):
        self.topic, self.records, self.expected = FakeTopic(LANES), dataset.records, dataset.expected

    def write(self, epoch: int, version: int, parts: int = 1) -> None:
        for log, records in zip(self.topic.partitions, self.records(epoch, version, parts), strict=True):
            log += records


def seen(batches: Any) -> list[Any]:
    return [(b.epoch, b.number, b.repeated, [p.buffer.tobytes() for p in b._pieces], b.state) for b in batches]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return Dataset(tmp_path_factory.mktemp("growing") / "data")


@pytest.fixture
def growing(dataset: Dataset) -> Growing:
    return Growing(dataset)


@pytest.fixture
def whole(growing: Growing) -> Growing:
    """With four epochs in the topic."""
    for epoch, version in enumerate(VERSIONS):
        growing.write(epoch, version, parts=1 + epoch % 2)
    return growing


@pytest.fixture
def open_feed(monkeypatch: pytest.MonkeyPatch) -> Any:
    feeds = []

    def open_feed(growing: Growing, **options: Any) -> Feed:
        monkeypatch.setitem(sys.modules, "confluent_kafka", growing.topic.module())
        feed = Feed(f"kafka://broker:9092/{TOPIC}", **{"connect_timeout": 60, "batch_timeout": 60} | options)
        feeds.append(feed)
        return feed

    yield open_feed
    for feed in feeds:
        feed.close()


@pytest.mark.parametrize("world_size", [1, 2, 3])
@pytest.mark.parametrize("tail", ["pad", "keep", "drop"])
def test_each_epoch_is_read_at_its_own_version(whole: Growing, open_feed: Any, world_size: int, tail: str) -> None:
    lengths = set()
    for rank in range(world_size):
        part = {"rank": rank, "world_size": world_size, "tail": tail}
        feed = open_feed(whole, **part)
        for epoch, version in enumerate(VERSIONS):
            expected = whole.expected(epoch, version, **part)
            assert len(feed) == len(expected)
            assert seen(feed) == expected
            assert feed.version == version
            assert len(feed.classes["kind"]) == 2 + version
            lengths.add(len(expected))
    assert len(lengths) > 2


def test_every_position_resumes_exactly_with_another_world_size(whole: Growing, open_feed: Any) -> None:
    states = [b.state for _, feed in zip(VERSIONS, [open_feed(whole)] * 4, strict=True) for b in feed]
    assert len(states) == sum(len(whole.expected(e, v)) for e, v in enumerate(VERSIONS))
    for state in json.loads(json.dumps([s for s in states[::5] if s["epoch"] < len(VERSIONS)])):
        for rank in range(2):
            part = {"rank": rank, "world_size": 2, "tail": "keep"}
            feed = open_feed(whole, **part)
            feed.load_state_dict(state)
            for epoch in range(state["epoch"], len(VERSIONS)):
                expected = whole.expected(epoch, VERSIONS[epoch], tail="keep")
                first = state["batch"] if epoch == state["epoch"] else 0
                assert [s[:4] for s in seen(feed)] == [s[:4] for s in expected if s[1] >= first and s[1] % 2 == rank]


def test_a_state_names_the_version_it_has_read(whole: Growing, open_feed: Any) -> None:
    feed = open_feed(whole)
    list(feed)
    state = next(iter(feed)).state
    assert (state["epoch"], state["version"]) == (1, 3)
    with pytest.raises(errors.StateMismatchError, match=r"epoch 1 .* version 3 here.* version 2"):
        open_feed(whole).load_state_dict(state | {"version": 2})
    # At the beginning of an epoch nothing was read of it.
    feed.load_state_dict(state | {"batch": 0, "version": 1})
    assert seen(feed) == whole.expected(1, 3)


def test_who_only_looks_sees_the_newest_epoch_and_begins_with_the_first(whole: Growing, open_feed: Any) -> None:
    feed = open_feed(whole)
    assert feed.info.follows
    assert (feed.info.epoch, feed.version) == (None, 4)
    assert seen(feed) == whole.expected(0, 1)
    whole.topic.partitions[0] += [None, None, None]  # markers of transactions
    assert open_feed(whole).version == 4


def test_records_that_come_again_are_dropped(growing: Growing, open_feed: Any) -> None:
    for lane, (first, second) in enumerate(zip(growing.records(0, 1), growing.records(1, 3), strict=True)):
        growing.topic.partitions[lane] += first[: 2 + lane] + first + second[:3] + first[1:] + second + second[2:]
    feed = open_feed(growing)
    assert seen(feed) == growing.expected(0, 1)
    assert seen(feed) == growing.expected(1, 3)


def test_a_feed_that_waits_for_its_consumers_is_told_how_far_they_are(growing: Growing, open_feed: Any) -> None:
    """A feed that begins an epoch when all before is consumed: nobody waits for ever, also after a break."""
    growing.write(0, 1)
    written = [0]

    def commit(group: str, offsets: dict[int, int]) -> None:
        done, last = growing.topic.committed["trainers"], written[-1]
        if last < 3 and all(done.get(p, 0) == len(log) for p, log in enumerate(growing.topic.partitions)):
            growing.write(last + 1, VERSIONS[last + 1])
            written.append(last + 1)

    growing.topic.on_commit = commit
    feed = open_feed(growing, rank=1, world_size=2, group="trainers", batch_timeout=0.3)
    feed.set_epoch(1)
    with pytest.raises(errors.BatchTimeoutError, match=r"epoch 1 did not begin .*--throttle-groups"):
        iter(feed)
    ends = [len(log) for log in growing.topic.partitions]
    assert growing.topic.committed == {"trainers": {1: ends[1], 3: ends[3]}}  # not of the other rank's
    feed = open_feed(growing, group="trainers")
    feed.set_epoch(1)
    assert seen(islice(feed, 2)) == growing.expected(1, 3)[:2]
    assert seen(feed) == growing.expected(2, 3)
    assert seen(feed) == growing.expected(3, 4)
    assert written == [0, 1, 2, 3]


def test_a_feed_that_waits_is_told_again(growing: Growing, open_feed: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is told is lost with its broker."""
    monkeypatch.setattr("stoker._kafka.topic_reading._COMMIT_S", 0.1)
    growing.write(0, 1)
    told: list[dict[int, int]] = []

    def commit(group: str, offsets: dict[int, int]) -> None:
        told.append(offsets)
        if len(told) == 3:
            growing.write(1, VERSIONS[1])

    growing.topic.on_commit = commit
    feed = open_feed(growing, group="trainers")
    feed.set_epoch(1)
    assert seen(feed) == growing.expected(1, VERSIONS[1])
    assert told[0] == told[1] == told[2]


def test_an_epoch_whose_beginning_is_deleted_is_read_on(whole: Growing, open_feed: Any) -> None:
    feed = open_feed(whole)
    list(feed)
    state = [b.state for b in islice(feed, 8)][-1]
    end = len(whole.records(0, 1)[0])
    whole.topic.begin[0] = end + 2
    feed = open_feed(whole)
    feed.load_state_dict(state)
    assert seen(feed) == whole.expected(1, 3)[8:]
    assert seen(feed) == whole.expected(2, 3)
    del whole.topic.partitions[0][end + 3 :]
    with pytest.raises(errors.StokerError, match=r"beginning of epoch 1 is no longer there.*retention\.ms"):
        _ = open_feed(whole).info


def test_a_record_of_another_feed_is_refused(whole: Growing, open_feed: Any) -> None:
    wrong = whole.records(1, 4)
    begin = len(whole.records(0, 1)[1])
    whole.topic.partitions[1][begin + 1] = wrong[1][1]
    feed = open_feed(whole)
    assert seen(feed) == whole.expected(0, 1)
    with pytest.raises(errors.StateMismatchError, match=r"partition 1, offset .* belongs to another feed"):
        seen(feed)


def test_the_golden_control_records_of_the_feeder_are_read() -> None:
    one, each = (
        read_info((RESOURCES / f"golden/kafka-1-begin-{name}.json").read_bytes(), "here", 7).info
        for name in ("pinned", "follows")
    )
    assert (one.follows, one.epoch) == (False, None)
    assert (each.follows, each.epoch) == (True, 5)
    assert each.is_of(5, each.version)
    assert not each.is_of(6)
