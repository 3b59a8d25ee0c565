"""`feed.why` names what trainers really receive: over a path, from feeders and out of a topic."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import stoker
from kafka_fake import TOPIC, Writer
from small_datasets import DatasetWriter, small_dataset
from stoker import Feed, SampleStep
from stoker._dataset.snapshot import open_snapshot
from stoker._order.delivery import BatchPlan
from stoker._order.spec import TAILS, OrderSpec
from stoker._path.path_stream import PathStream
from stoker.errors import StateMismatchError, StokerError
from stoker.testing import serve

ORDER: dict[str, Any] = {"batch_size": 5, "lanes": 3, "shuffle_window": 6000, "seed": 9}
Open = Callable[..., Feed]


@pytest.fixture
def writer(tmp_path: Path) -> DatasetWriter:
    """Eight chunks with a partial last batch, some of whose rows are removed, and a chunk of another split."""
    writer = small_dataset(tmp_path / "d", chunks=(7, 5, 9, 6, 8, 3, 11, 10))
    writer.commit([], removed={0: [1, 3], 5: None, 7: [9]})
    return writer


@pytest.fixture(params=["path", "feeders", "topic"])
def open_feed(request: pytest.FixtureRequest, writer: DatasetWriter, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    """Opens feeds of the same batches; those that cannot know the dataset's place are told it by `why`."""
    with ExitStack() as stack:
        target, order = str(writer.root), dict(ORDER)
        if request.param == "feeders":
            target, order = stack.enter_context(serve(writer.root, order=ORDER, feeders=2)).target, {}
        elif request.param == "topic":
            topic = Writer(writer.root, **ORDER)
            for epoch in range(3):
                topic.write(epoch)
            monkeypatch.setitem(sys.modules, "confluent_kafka", topic.topic.module())
            target, order = f"kafka://broker:9092/{TOPIC}", {}

        def open_feed(**options: Any) -> Feed:
            return stack.enter_context(Feed(target, **order, **options))

        yield open_feed


def received(batch: stoker.Batch) -> list[str]:
    return list(batch.keys)


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("world_size", [1, 3])
def test_steps_have_the_samples_that_each_rank_receives(
    open_feed: Open, writer: DatasetWriter, tail: Any, world_size: int
) -> None:
    with open_feed(rank=0, world_size=world_size, tail=tail, group="asks") as asks:
        for rank in range(world_size):
            with open_feed(rank=rank, world_size=world_size, tail=tail, group=f"reads{tail}{world_size}") as feed:
                for epoch in (0, 1):
                    for step, batch in enumerate(feed):
                        named = asks.why(epoch=epoch, step=step, rank=rank, dataset=writer.root)
                        assert [s.key for s in named] == received(batch)
                        assert {(s.epoch, s.step, s.rank, s.batch) for s in named} == {
                            (epoch, step, rank, batch.number)
                        }
                        assert [s.index for s in named] == list(range(len(batch)))
                        assert sum(s.repeated for s in named) == batch.repeated
                        for s in named:
                            assert writer.rows[s.chunk, s.row]["key"] == s.key
                        assert [s.key for s in asks.why(epoch=epoch, batch=batch.number, dataset=writer.root)] == [
                            s.key for s in named
                        ]


@pytest.mark.parametrize("tail", TAILS)
def test_a_key_is_in_the_step_that_is_named(open_feed: Open, writer: DatasetWriter, tail: Any) -> None:
    keys = {s["key"] for (chunk, _), s in writer.rows.items() if writer.table[chunk]["split"] == "train"}
    places: dict[str, tuple[int, int, int, int]] = {}
    for rank in range(2):
        with open_feed(rank=rank, world_size=2, tail=tail, group="reads") as feed:
            feed.set_epoch(2)
            for step, batch in enumerate(feed):
                for index, key in enumerate(received(batch)):
                    places.setdefault(key, (step, rank, batch.number, index))
    with open_feed(rank=0, world_size=2, tail=tail, group="asks") as asks:
        for key in sorted(keys):
            (found,) = asks.why(epoch=2, key=key, dataset=writer.root)
            if key in places and found.step is not None:
                named = asks.why(epoch=2, step=found.step, rank=found.rank, dataset=writer.root)
                assert (named[found.index].key, named[found.index].repeated) == (key, False)
            else:
                assert tail == "drop"
                assert key not in places
            assert (found.step is None) == (key not in places)
        with pytest.raises(KeyError, match="no sample 'none'"):
            asks.why(epoch=2, key="none", dataset=writer.root)
        removed = next(s["key"] for place, s in writer.all_rows.items() if place == (0, 1))
        with pytest.raises(KeyError, match="no sample"):
            asks.why(key=removed, dataset=writer.root)


def test_steps_count_from_the_position_that_was_loaded(open_feed: Open, writer: DatasetWriter) -> None:
    with open_feed() as feed:
        feed.set_epoch(1)
        batches = [(b.number, received(b), b.state) for b in feed]
    for world_size in (1, 2):
        with open_feed(rank=0, world_size=world_size, group=f"of{world_size}") as feed:
            feed.load_state_dict(batches[2][2])
            for step in range(3):
                named = feed.why(step=step, dataset=writer.root)
                assert [s.key for s in sorted(named, key=lambda s: (s.batch, s.index))] == [
                    k for b in batches[3 + step * world_size : 3 + (step + 1) * world_size] for k in b[1]
                ]
            early, late = batches[1][1][0], batches[7][1][2]
            assert feed.why(key=early, dataset=writer.root) == [SampleStep(early, 1, None, None, 1, 0)]
            assert feed.why(key=early, start=0, dataset=writer.root)[0].batch == 1
            expected = SampleStep(late, 1, 4 // world_size, 7 % world_size, 7, 2)
            assert feed.why(key=late, dataset=writer.root) == [expected]
            assert [f.epoch for f in feed.why(key=late, epoch=range(1, 4), dataset=writer.root)] == [1, 2, 3]


@pytest.mark.parametrize("tail", TAILS)
def test_joined_batches_are_one_step(writer: DatasetWriter, tail: Any) -> None:
    for rank in range(2):
        with Feed(writer.root, **ORDER, rank=rank, world_size=2, concat=2, tail=tail) as feed:
            for step, batch in enumerate(feed):
                named = feed.why(step=step, rank=rank)
                assert [s.key for s in named] == received(batch)
                assert sum(s.repeated for s in named) == batch.repeated
                for s in named:
                    if not s.repeated:
                        (found,) = feed.why(key=s.key)
                        assert found == SampleStep(s.key, 0, step, rank, s.batch, s.index)


def test_a_followed_path_explains_each_epoch_by_its_version(tmp_path: Path) -> None:
    def append(keys: range) -> None:
        with stoker.Writer(tmp_path / "d", {"n": "int32"}, append=keys.start > 0, chunk_size=256) as writer:
            for n in keys:
                writer.write({"key": f"k{n:03}", "n": n})

    append(range(20))
    order = {"batch_size": 4, "lanes": 2, "shuffle_window": 500}
    with Feed(tmp_path / "d", follow=True, **order) as feed:
        for epoch, more in ((0, range(20, 33)), (1, range(33, 50))):
            batches = [received(b) for b in feed]
            append(more)
            assert [[s.key for s in feed.why(epoch=epoch, step=n)] for n in range(len(batches))] == batches
        assert feed.why(epoch=0, step=0) != feed.why(epoch=1, step=0)
        with pytest.raises(StokerError, match="not begun epoch 2"):
            feed.why(epoch=2, step=0)


def test_an_unknown_dataset_is_asked_for_and_another_one_refused(writer: DatasetWriter, tmp_path: Path) -> None:
    other = small_dataset(tmp_path / "e", chunks=(7, 5))
    with serve(writer.root, order=ORDER) as served, Feed(served.target) as feed:
        with pytest.raises(StokerError, match="dataset=PATH"):
            feed.why(step=0)
        writer.commit([], removed={1: [0]})
        other.commit([], removed={1: [0]})
        with pytest.raises(StateMismatchError, match="the feed reads version 2"):
            feed.why(step=0, dataset=other.root)
        assert len(feed.why(step=0, dataset=writer.root)) == 5  # of the version that the feed reads


def test_wrong_use_is_explained(writer: DatasetWriter) -> None:
    with Feed(writer.root, **ORDER, world_size=2, rank=0) as feed:
        for wrong in ({}, {"step": 1, "key": "k"}, {"rank": 1, "key": "k"}, {"batch": 1, "start": 1}):
            with pytest.raises(TypeError, match="why"):
                feed.why(**wrong)
        with pytest.raises(ValueError, match="has 6 steps, from batch 0 on"):
            feed.why(step=6)
        with pytest.raises(ValueError, match=r"rank 2 is not in \[0, 2\)"):
            feed.why(step=0, rank=2)
        with pytest.raises(ValueError, match="batch -1: an epoch has 11 batches"):
            feed.why(batch=-1)
        with pytest.raises(ValueError, match="start 12"):
            feed.why(step=0, start=12)


def test_the_place_of_a_row_is_the_inverse_of_the_pieces(writer: DatasetWriter) -> None:
    for order in ({"batch_size": 1}, {"batch_size": 7, "lane_order": "fixed"}, {"batch_size": 64}, ORDER):
        stream = PathStream(open_snapshot(writer.root), "train", OrderSpec(**order))
        plan = BatchPlan(stream.spec, stream.order.lane_rows)
        for number in range(plan.batches):
            index = 0
            for piece in plan.pieces(3, number):
                for row in range(piece.first, piece.first + piece.rows):
                    assert plan.place_of(3, piece.lane, row) == (number, index)
                    index += 1
