"""After an error, the same iterator or a new one raises it again or continues with the batch not handed out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from kafka_fake import TOPIC, FakeTopic, Writer
from small_datasets import small_dataset
from stoker import Batch, Feed, errors
from stoker._source.position import Start
from stoker._source.shared_epochs import SharedEpochs
from stoker.testing import serve

ORDER: dict[str, Any] = {"batch_size": 3, "lanes": 3, "shuffle_window": 2000, "seed": 5, "lane_order": "fixed"}
CHUNKS = (7, 5, 9, 6, 8, 3, 11, 10) * 3
SHAPES: list[dict[str, Any]] = [
    {},
    {"tail": "keep", "rank": 1, "world_size": 2},
    {"concat": 2},
    {"epoch_batches": 40},
    {"decode": {"image": len}, "decode_threads": 2},
    {"concat": 3, "epoch_batches": 12, "tail": "drop"},
]


class Broken:
    """A feed whose data can be withheld: `path`, `follow`, `feeder` or `topic`."""

    def __init__(self, kind: str, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.dataset = small_dataset(root / "d", chunks=CHUNKS)
        self.kind, self._root, self._stack = kind, root, ExitStack()
        self._away = root / "away"
        self.error: type[Exception] = errors.BatchTimeoutError
        self._open: dict[str, Any] = {"batch_timeout": 0.3, "buffer_bytes": 1}
        if kind == "feeder":
            self._feed = self._stack.enter_context(serve(self.dataset.root, order=ORDER))
            self._target: Any = self._feed.target
        elif kind == "topic":
            writer = Writer(self.dataset.root, **ORDER)
            self._records = [writer.epoch(0), writer.epoch(1)]
            self._topic = FakeTopic(3)
            monkeypatch.setitem(sys.modules, "confluent_kafka", self._topic.module())
            self._target = f"kafka://broker:9092/{TOPIC}"
            self._open["connect_timeout"] = 0.3
            self.withhold()
        else:
            self._target = self.dataset.root
            self._open = ORDER | {"buffer_bytes": 1} | ({"follow": True} if kind == "follow" else {})
            self.error = errors.CorruptDataError

    def feed(self, **options: Any) -> Feed:
        feed = Feed(self._target, **self._open, **options)
        self._stack.callback(feed.close)
        return feed

    def withhold(self) -> None:
        if self.kind == "feeder":
            self._feed.feeders[0].hold()
        elif self.kind == "topic":
            for log, records in zip(self._topic.partitions, self._records[0], strict=True):
                log[:] = records[: len(records) // 2]
        else:
            (self.dataset.root / "chunks").rename(self._away)

    def release(self) -> None:
        if self.kind == "feeder":
            self._feed.feeders[0].release()
        elif self.kind == "topic":
            for log, first, second in zip(self._topic.partitions, *self._records, strict=True):
                log[:] = [*first, *second]
        else:
            self._away.rename(self.dataset.root / "chunks")

    def close(self) -> None:
        if self.kind == "feeder":
            self._feed.feeders[0].release()
        self._stack.close()


def read_until_failure(batches: Iterator[Batch]) -> list[Any]:
    """Contents of what comes before an error, which is raised with them as `read`."""
    found = []
    try:
        while True:
            found.append(content(next(batches)))
    except StopIteration:
        pytest.fail(f"the epoch ended after {len(found)} batches")
    except Exception as e:
        e.read = found  # type: ignore[attr-defined]
        raise


def content(batch: Batch) -> Any:
    return batch.epoch, batch.number, tuple(batch.keys), tuple(batch.raw("image").tolist()), batch.repeated, batch.state


@pytest.fixture(params=["path", "follow", "feeder", "topic"])
def broken(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Broken]:
    made = Broken(request.param, tmp_path, monkeypatch)
    yield made
    made.close()


@pytest.mark.cells
@pytest.mark.parametrize("again", [lambda feed, it: it, lambda feed, it: iter(feed)], ids=["same", "new"])
@pytest.mark.parametrize("options", SHAPES, ids=lambda o: "-".join(o) or "plain")
def test_what_was_withheld_follows_exactly(
    broken: Broken, options: dict[str, Any], again: Callable[[Feed, Any], Any]
) -> None:
    with Feed(broken.dataset.root, **ORDER, **options) as whole:
        expected = [content(b) for b in whole]
    if broken.kind == "follow" and "rank" in options:
        options = {"tail": "keep"}
        with Feed(broken.dataset.root, **ORDER, **options) as whole:
            expected = [content(b) for b in whole]
    feed = broken.feed(**options)
    iterator, failures = iter(feed), 0
    found = [content(next(iterator))]
    broken.withhold()
    while failures < 3:
        try:
            found.append(content(next(iterator)))
        except broken.error:
            failures += 1
            iterator = again(feed, iterator)
            assert feed.state_dict() == (found[-1][-1] if found else feed.state_dict())
        except StopIteration:
            pytest.fail(f"the epoch ended after {len(found)} of {len(expected)} batches")
    broken.release()
    found += [content(b) for b in iterator]
    assert found == expected
    assert next(iterator, None) is None
    following = next(iter(feed))
    assert (following.epoch, following.number) >= (found[-1][0], found[-1][1])
    assert content(following) not in expected


def test_batches_of_all_epochs_go_on_after_an_error(broken: Broken) -> None:
    with Feed(broken.dataset.root, **ORDER, epochs=2) as whole:
        expected = [content(b) for b in whole.batches()]
    feed = broken.feed(epochs=2)
    iterator, found = feed.batches(), []
    found.append(content(next(iterator)))
    broken.withhold()
    for _ in range(2):
        with pytest.raises(broken.error) as failed:
            read_until_failure(iterator)
        found += failed.value.read
    broken.release()
    found += [content(b) for b in iterator]
    assert found == expected


def test_damage_is_raised_again_and_again(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "d")
    victim = sorted((dataset.root / "chunks").rglob("*.arrow"))[2]
    data = bytearray(victim.read_bytes())
    data[len(data) // 2] ^= 1
    victim.write_bytes(data)
    for options in SHAPES:
        with Feed(dataset.root, **ORDER, **options) as feed:
            iterator = iter(feed)
            for attempt in range(6):
                with pytest.raises(errors.CorruptDataError):
                    read_until_failure(iterator)
                if attempt % 2:
                    iterator = iter(feed)


def test_what_was_decoded_before_an_error_is_handed_out_first(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "d")
    with Feed(dataset.root, **ORDER) as plain:
        expected = [content(b) for b in plain]
    victim = expected[7][2][0]
    bad = next(s["image"] for s in dataset.live().values() if s["key"] == victim)

    def decode(row: Any) -> int:
        if row.tobytes() == bad:
            raise ValueError("cannot")
        return len(row)

    with Feed(dataset.root, **ORDER, decode={"image": decode}) as feed:
        iterator, found = iter(feed), []
        for _ in range(3):
            with pytest.raises(errors.DecodeError, match="batch 7") as failed:
                read_until_failure(iterator)
            found += failed.value.read
        assert found == expected[:7]


def test_a_feed_that_could_not_be_reached_begins_at_the_first_batch(tmp_path: Path) -> None:
    dataset = small_dataset(tmp_path / "d")
    with Feed(dataset.root, **ORDER) as plain:
        expected = [content(b) for b in plain]
    with serve(dataset.root, order=ORDER) as served:
        served.feeders[0].stop()
        with Feed(served.target, connect_timeout=0.2) as feed:
            for _ in range(2):
                with pytest.raises(errors.ConnectTimeoutError):
                    next(iter(feed))
            served.feeders[0].start()
            iterator = iter(feed)
            assert [content(b) for b in iterator] == expected


def test_an_iterator_that_failed_and_was_replaced_does_not_claim_the_end(broken: Broken) -> None:
    feed = broken.feed()
    iterator = iter(feed)
    next(iterator)
    broken.withhold()
    with pytest.raises(broken.error):
        read_until_failure(iterator)
    iter(feed)  # changes nothing until it is asked for a batch
    with pytest.raises(broken.error):
        next(iterator)
    with pytest.raises(broken.error):
        read_until_failure(iter(feed))
    with pytest.raises(errors.StokerError, match="another iteration"):
        next(iterator)


def test_set_epoch_and_a_loaded_state_outweigh_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Broken("path", tmp_path, monkeypatch)
    with Feed(made.dataset.root, **ORDER) as whole:
        expected = [[content(b) for b in whole] for _ in range(3)]
    feed = made.feed()
    state = [b.state for b in islice(iter(feed), 2)][-1]
    feed.set_epoch(0)
    iterator = iter(feed)
    made.withhold()
    with pytest.raises(errors.CorruptDataError, match="missing"):
        list(iterator)
    made.release()
    feed.set_epoch(2)
    assert [content(b) for b in feed] == expected[2]
    feed.load_state_dict(state)
    assert [content(b) for b in feed] == expected[0][2:]
    made.close()


def test_a_pass_of_workers_that_failed_is_followed_by_a_choice() -> None:
    def following(start: Start) -> Start:
        return Start(start.epoch + 1)

    shared = SharedEpochs()
    assert shared.begin(11, following) == Start(0)
    shared.count_failure(1, shared.setting())
    other = SharedEpochs(os.dup(shared._fd))
    assert other.begin(11, following) == Start(0)  # the same pass continues
    with pytest.raises(errors.StokerError, match=r"failed in epoch 0.*load_state_dict.*set_epoch\(0\).*set_epoch\(1\)"):
        shared.begin(12, following)
    with pytest.raises(errors.StokerError, match="failed in epoch 0"):
        other.begin(11, following)  # workers that stay
    shared.count_failure(-1, shared.setting())
    assert shared.begin(12, following) == Start(1)
    shared.count_failure(1, shared.setting())
    shared.set(Start(1, 5))
    assert shared.begin(13, following) == Start(1, 5)


def test_a_late_worker_of_an_old_pass_does_not_take_the_position_of_the_next() -> None:
    shared = SharedEpochs()
    inherited = SharedEpochs(os.dup(shared._fd), seen=shared._seen)
    inherited._seen_by = 0  # as in a process that was forked before the position was set
    shared.set(Start(3))
    with pytest.raises(errors.StokerError, match="begin a new one"):
        inherited.begin(21, lambda start: Start(start.epoch + 1), inherited.setting())
    assert inherited.begin(22, lambda start: Start(start.epoch + 1), inherited.setting()) == Start(3)
