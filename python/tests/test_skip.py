"""`Feed(skip=…)`: the ranks divide the batches that are left, whatever the source, and nothing else changes."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from kafka_fake import TOPIC, Writer
from small_datasets import DatasetWriter, small_dataset
from stoker import Feed
from stoker._order.delivery import BatchPlan, Share
from stoker._order.skip import Numbers, Skip, Skipped, skipped_of
from stoker._order.spec import TAILS, OrderSpec
from stoker.errors import StateMismatchError, StokerError
from stoker.testing import serve

ORDER: dict[str, Any] = {"batch_size": 3, "lanes": 4, "shuffle_window": 6000, "seed": 2}
SKIP = [(0, 4, 6), (0, 9, 9), (1, 0, 2), (1, 17, 40), (2, 0, 30)]
"""In the middle, at the beginning, at the end, and a whole epoch."""
Open = Callable[..., Feed]
View = tuple[int, int, int, tuple[str, ...]]


@pytest.fixture
def writer(tmp_path: Path) -> DatasetWriter:
    """59 samples: 20 batches, the last one partial."""
    return small_dataset(tmp_path / "d", chunks=(7, 5, 9, 6, 8, 3, 11, 10))


@pytest.fixture(params=["path", "feeders", "topic"])
def open_feed(request: pytest.FixtureRequest, writer: DatasetWriter, monkeypatch: pytest.MonkeyPatch) -> Iterator[Open]:
    with ExitStack() as stack:
        target, order = str(writer.root), dict(ORDER)
        if request.param == "feeders":
            served = stack.enter_context(serve(writer.root, order=ORDER, feeders=2))
            target, order = served.target, {}
        elif request.param == "topic":
            topic = Writer(writer.root, **ORDER)
            topic.write(0, 1, 2, 3)
            monkeypatch.setitem(sys.modules, "confluent_kafka", topic.topic.module())
            target, order = f"kafka://broker:9092/{TOPIC}", {}

        def open_feed(**options: Any) -> Feed:
            return stack.enter_context(Feed(target, **order, **options))

        yield open_feed


def views(batches: Any) -> list[View]:
    return [(b.epoch, b.number, b.repeated, tuple(b.keys)) for b in batches]


def left_of(every: list[View], skipped: Skipped) -> list[View]:
    return [v for v in every if not any(e == v[0] and first <= v[1] <= last for e, first, last in skipped)]


@pytest.mark.cells
@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_the_batches_that_are_left_are_the_same_and_in_the_same_order(
    open_feed: Open, writer: DatasetWriter, tail: Any, world_size: int
) -> None:
    with Feed(writer.root, **ORDER, tail=tail) as feed:
        every = [views(feed) for _ in range(4)]
        batches = feed.info.batches
    ranks: list[list[list[View]]] = []
    for rank in range(world_size):
        with open_feed(rank=rank, world_size=world_size, tail=tail, skip=SKIP, group=f"{tail}{world_size}") as feed:
            ranks.append([])
            for _ in range(4):
                expected = len(feed)
                ranks[-1].append(views(feed))
                assert len(ranks[-1][-1]) == expected
    for epoch in range(4):
        left = left_of(every[epoch], skipped_of(SKIP))
        steps = [len(ranks[rank][epoch]) for rank in range(world_size)]
        assert max(steps) - min(steps) <= (tail == "keep")
        got = [
            ranks[rank][epoch][step] for step in range(max(steps)) for rank in range(world_size) if step < steps[rank]
        ]
        if tail == "drop":
            left = left[: len(left) // world_size * world_size]
        assert got[: len(left)] == left
        for _, number, repeated, keys in got[len(left) :]:  # only "pad" repeats, and nothing that is skipped
            assert (tail, repeated) == ("pad", len(keys))
            assert left_of([(epoch, number % batches, 0, ())], skipped_of(SKIP))


@pytest.mark.cells
@pytest.mark.parametrize("world_size", [1, 2, 3])
def test_resumes_exactly_with_another_number_of_ranks(open_feed: Open, world_size: int) -> None:
    with open_feed(skip=SKIP) as feed:
        batches = [(view, batch.state) for _ in range(2) for batch in feed for view in views([batch])]
    every = [view for view, _ in batches]
    assert len({view[:2] for view in every}) == len(every)
    for at in (0, 3, 4, 5, 14, len(batches) - 2):
        ranks = []
        for rank in range(world_size):
            with open_feed(rank=rank, world_size=world_size, skip=SKIP, group=f"{at}-{world_size}") as feed:
                feed.load_state_dict(batches[at][1])
                ranks.append([views(feed), views(feed) if batches[at][1]["epoch"] == 0 else []])
        got = []
        for part in range(2):
            for step in range(len(ranks[0][part])):
                got += sorted(ranks[rank][part][step] for rank in range(world_size))
        # Ranks that have no batch left repeat one.
        assert [view for view in got if view[2] < len(view[3])] == every[at + 1 :]


def test_states_are_the_same_on_every_rank(writer: DatasetWriter) -> None:
    states = []
    for rank in range(3):
        with Feed(writer.root, **ORDER, rank=rank, world_size=3, skip=SKIP) as feed:
            states.append([batch.state for _ in range(2) for batch in feed])
    assert states[0] == states[1] == states[2]


def test_another_list_continues_behind_the_position(open_feed: Open) -> None:
    with open_feed() as feed:
        batches = [(views([batch])[0], batch.state) for batch in feed]
    with open_feed(skip=[(0, 0, 3), (0, 8, 10)], group="later") as feed:  # as after a loss spike: from an older state
        feed.load_state_dict(batches[4][1])
        assert views(feed) == [view for view, _ in batches[5:8] + batches[11:]]


def test_a_state_refuses_a_feed_that_does_not_skip_what_is_still_to_come(open_feed: Open) -> None:
    with open_feed(skip=[(0, 4, 6), (0, 9, 12), (3, 1, 1)]) as feed:
        states = [batch.state for batch in feed]
    early, state = states[2], states[5]
    assert (early["batch"], state["batch"], state["skip"]) == (3, 13, [[3, 1, 1]])
    with open_feed(skip=[(3, 0, 5)], group="a") as feed:
        feed.load_state_dict(state)
        with pytest.raises(
            StateMismatchError, match=r"skipped batches: \(0, 4, 6\), \(0, 9, 12\).*allow=\(\"skip\",\)"
        ):
            feed.load_state_dict(early)
        feed.load_state_dict(early, allow=("skip",))
        assert [number for _, number, *_ in views(feed)] == list(range(3, 20))
    with open_feed(group="b") as feed, pytest.raises(StateMismatchError, match=r"\(3, 1, 1\)"):
        feed.load_state_dict(state)


def test_a_position_within_a_range_counts_the_rest_of_the_range(writer: DatasetWriter) -> None:
    with Feed(writer.root, **ORDER) as feed:
        states = [batch.state for batch in feed]
    assert (states[4]["batch"], states[5]["batch"]) == (5, 6)
    with Feed(writer.root, **ORDER, skip=[(0, 4, 6)]) as feed:
        feed.load_state_dict(states[5])
        assert feed.state_dict()["skip"] == [[0, 4, 6]]  # batch 6 is still to come
        feed.load_state_dict(states[4])
        state = feed.state_dict()
    with Feed(writer.root, **ORDER, skip=[(0, 5, 6)]) as feed:
        feed.load_state_dict(state)
        assert next(iter(feed)).number == 7
    with Feed(writer.root, **ORDER, skip=[(0, 6, 6)]) as feed, pytest.raises(StateMismatchError, match=r"\(0, 4, 6\)"):
        feed.load_state_dict(state)


def test_set_epoch_keeps_a_position_in_the_part_that_it_names(writer: DatasetWriter) -> None:
    with Feed(writer.root, **ORDER) as feed:
        state = [batch.state for batch in feed][5]
    with Feed(writer.root, **ORDER, skip=[(0, 0, 3)], epoch_batches=4) as feed:
        feed.load_state_dict(state)  # batch 6, which has slot 2
        feed.set_epoch(0)
        assert feed.state_dict()["batch"] == 6
        feed.set_epoch(1)
        assert feed.state_dict()["batch"] == 8


@pytest.mark.parametrize("tail", TAILS)
def test_steps_and_keys_are_explained(writer: DatasetWriter, tail: Any) -> None:
    skip = [(0, 4, 6), (0, 9, 9), (0, 15, 15)]
    for rank in range(2):
        with Feed(writer.root, **ORDER, rank=rank, world_size=2, tail=tail, skip=skip) as feed:
            for step, batch in enumerate(feed):
                named = feed.why(step=step, rank=rank)
                assert [s.key for s in named] == list(batch.keys)
                for s in named:
                    if not s.repeated:
                        (found,) = feed.why(key=s.key)
                        assert (found.step, found.rank, found.index) == (step, rank, s.index)
            for sample in feed.why(batch=5):
                (found,) = feed.why(key=sample.key)
                assert (found.step, found.rank, found.batch, found.index) == (None, None, 5, sample.index)


def test_skipped_batches_are_not_sent_and_are_not_acknowledged(writer: DatasetWriter) -> None:
    with serve(writer.root, order=ORDER) as served:
        with Feed(served.target, skip=SKIP, tail="keep", rank=0, world_size=1) as feed:
            numbers = [(b.epoch, b.number) for _ in range(2) for b in feed]
        sent = {(epoch, number) for s in served.feeders[0].sessions for epoch, number, _ in s.sent}
        assert sent == set(numbers)
        served.wait_for_receipts(len(numbers))
        assert {receipt[:2] for receipt in served.receipts()} == set(numbers)
        assert served.feeders[0].sessions[-1].hello["skip"] == [list(each) for each in SKIP]


@pytest.mark.cells
@pytest.mark.parametrize("concat", [1, 2])
@pytest.mark.parametrize("tail", TAILS)
def test_parts_of_an_epoch_are_counted_without_what_is_skipped(writer: DatasetWriter, tail: Any, concat: int) -> None:
    options = {**ORDER, "tail": tail, "concat": concat, "skip": SKIP}
    with Feed(writer.root, **options) as feed:
        whole = [views(feed) for _ in range(4)]
    with Feed(writer.root, **options, epoch_batches=3) as feed:
        parts: list[list[View]] = []
        while not parts or parts[-1:] == [[]] or parts[-1][-1][0] < 3 or len(parts[-1]) == 3:
            parts.append(views(feed))
            if len(parts) > 40:
                break
    flat = [view for part in parts for view in part]
    assert flat[: sum(map(len, whole))] == [view for epoch in whole for view in epoch]
    with Feed(writer.root, **options, epoch_batches=3) as feed:
        for number in range(len(parts) - 1):
            feed.set_epoch(number)  # as trainers do before each of their epochs
            assert views(feed) == parts[number]
    with Feed(writer.root, **options, epoch_batches=3) as feed:
        for number in reversed(range(len(parts) - 1)):
            feed.set_epoch(number)
            assert views(feed) == parts[number]


def test_epochs_that_are_skipped_end_nothing(writer: DatasetWriter) -> None:
    with Feed(writer.root, **ORDER, skip=[(0, 0, 99), (1, 0, 99), (2, 0, 99)]) as feed:
        assert len(feed) == 0
        first = next(feed.batches())
        assert (first.epoch, first.number) == (3, 0)
    with (
        Feed(writer.root, **ORDER, epochs=2, skip=[(0, 0, 99), (1, 0, 99)]) as feed,
    ):
        assert list(feed.batches()) == []


@pytest.mark.parametrize(
    ("skip", "message"),
    [
        ([(0, 5, 4)], r"skip: \(0, 5, 4\) is not a range"),
        ([(0, -1, 4)], "is not a range"),
        ([(0, 1)], r"expected a list of \(epoch, first, last\)"),
        ([(0, 1, True)], r"expected a list of \(epoch, first, last\)"),
        ((0, 1, 2), r"expected a list of \(epoch, first, last\)"),
        ([(0, 2 * n, 2 * n) for n in range(257)], "skip has 257 ranges; at most 256"),
        ([(7, 20, 25)], "skip: epoch 7 has 20 batches, so it has no batches 20 to 25"),
    ],
)
def test_ranges_that_make_no_sense_are_refused(open_feed: Open, skip: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        len(open_feed(skip=skip))


def test_ranges_are_merged() -> None:
    assert skipped_of([]) == ()
    assert skipped_of([[1, 5, 7], (0, 9, 9), (1, 8, 8), (1, 0, 2), (1, 6, 6), (1, 2, 3)]) == (
        (0, 9, 9),
        (1, 0, 3),
        (1, 5, 8),
    )


def test_slots_number_what_is_left() -> None:
    chance = random.Random(1)
    for _ in range(1000):
        batches = chance.randint(1, 30)
        firsts = [chance.randint(0, batches + 3) for _ in range(chance.randint(0, 4))]
        skipped = skipped_of([(0, first, first + chance.randint(0, 8)) for first in firsts])
        skip = Skip.of(skipped, 0, batches)
        left = [n for n in range(batches) if not any(a <= n <= b for _, a, b in skipped)]
        assert skip.left == len(left)
        numbers = [n + again * batches for again in range(3) for n in left]
        assert [skip.number(slot) for slot in range(len(numbers))] == numbers
        assert [skip.slot(number) for number in numbers] == list(range(len(numbers)))
        assert [n for n in range(batches) if n not in skip] == left
        if left:
            start, stride = chance.randrange(len(left)), chance.randint(1, 5)
            wanted = numbers[start::stride][: chance.randint(0, 20)]
            found = Numbers(skip, numbers[start], stride, len(wanted))
            assert list(found) == wanted
            for n in range(3 * batches):
                assert found.index(n) == (wanted.index(n) if n in wanted else -1)


def test_trainers_without_a_batch_are_told_apart_by_their_slots() -> None:
    skip = Skip(5, [(0, 4)])
    assert [skip.slot(skip.number(slot)) for slot in range(9)] == list(range(9))


def test_a_range_that_covers_whole_steps_changes_nothing_else_on_any_rank() -> None:
    plan = BatchPlan(OrderSpec(batch_size=4, lanes=2), (200, 200))
    for rank in range(4):
        whole = Share(plan, "pad", 0, rank, 4)
        share = Share(plan, "pad", 0, rank, 4, skip=Skip(plan.batches, [(20, 31)]))
        numbers = [share.number(step) for step in range(share.steps)]
        assert numbers == [n for n in map(whole.number, range(whole.steps)) if not 20 <= n <= 31]


def test_a_followed_path_skips(tmp_path: Path) -> None:
    root = small_dataset(tmp_path / "d").root
    with Feed(root, **ORDER, follow=True, skip=[(1, 2, 4)]) as feed:
        assert [b.number for b in feed] == list(range(13))
        assert [b.number for b in feed] == [0, 1, *range(5, 13)]
    with Feed(root, **ORDER, follow=True, skip=[(1, 50, 60)]) as feed:
        assert len(list(feed)) == 13
        with pytest.raises((ValueError, StokerError), match="epoch 1 has 13 batches"):
            list(feed)
