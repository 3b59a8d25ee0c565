"""A changed batch size on resume: nothing is left out, and what comes again is counted and bounded."""

from __future__ import annotations

import json
import logging
from typing import Any

import numpy as np
import pytest

from rounds import Round, is_replay, rounds
from small_datasets import DatasetWriter, small_dataset
from stoker import Feed, errors
from stoker._order.delivery import BatchPlan
from stoker._order.regroup import batches_within, regroup, rows_before
from stoker._order.spec import OrderSpec
from stoker.testing import serve

SPEC: dict[str, Any] = {"lanes": 3, "shuffle_window": 6000, "seed": 5}


def rows_of(plan: BatchPlan, epoch: int, numbers: range) -> set[tuple[int, int]]:
    """(lane, row of its epoch) of everything in some batches."""
    return {(p.lane, row) for n in numbers for p in plan.pieces(epoch, n) for row in range(p.first, p.first + p.rows)}


def test_nothing_is_left_out_and_no_position_is_better() -> None:
    compared = 0

    def one(draw: Round) -> None:
        nonlocal compared
        case = draw.number
        rows = [draw.randrange(70) for _ in range(draw.randrange(1, 6))]
        order = draw.choice(["mixed", "fixed"])
        old, new = (draw.randrange(1, 24) for _ in range(2))
        if case % 3 == 0:
            new = old * draw.randrange(1, 4)
        before, after = (OrderSpec(case, size, len(rows), 1 << 20, "window", order) for size in (old, new))
        was, will = BatchPlan(before, rows), BatchPlan(after, rows)
        least = min(rows)
        for position in range(was.batches + 1):
            epoch = position % 3
            consumed = rows_of(was, epoch, range(position))
            taken = rows_before(was, rows, epoch, position)
            assert consumed == {(lane, row) for lane, n in enumerate(taken.tolist()) for row in range(n)}
            found, again = regroup(after, before, rows, epoch, position)
            kept = rows_of(will, epoch, range(found))
            what = f"rows {rows}, {old} to {new}, batch {position}, found {found}"
            assert kept <= consumed, what
            assert again == len(consumed - kept), what
            if found < will.batches:
                assert not rows_of(will, epoch, range(found + 1)) <= consumed, what
            assert found == batches_within(will, rows, epoch, taken)
            bound = len(rows) * (old + new)
            if new % old == 0:
                bound = len(rows) * new
            elif position > len(rows) * (least // old):
                bound += sum(n - least for n in rows)
            assert again < bound, what
            compared += 1

    done = rounds(one, seconds=1, at_least=40)
    assert is_replay() or compared > 8 * done


def test_an_unchanged_size_keeps_its_position() -> None:
    order = OrderSpec(3, 8, 3)
    for position in range(BatchPlan(order, (41, 17, 30)).batches + 1):
        assert regroup(order, order, (41, 17, 30), 1, position) == (position, 0)
    with pytest.raises(ValueError, match="batch 12 of 11"):
        regroup(order, order, (41, 17, 30), 1, 12)


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> DatasetWriter:
    return small_dataset(tmp_path_factory.mktemp("regroup") / "d", chunks=(17, 15, 19, 16, 18, 13))


@pytest.fixture(params=["path", "server"])
def feed_of(request: pytest.FixtureRequest, writer: DatasetWriter) -> Any:
    """Makes feeds of one or the other kind, each in a separate group."""
    if request.param == "path":
        yield lambda **given: Feed(writer.root, **{**SPEC, **given})
        return
    numbers = iter(range(10**6))
    with serve(writer.root, order=SPEC, feeders=2) as served:
        yield lambda **given: Feed(served.target, group=str(next(numbers)), **given)


@pytest.mark.cells
@pytest.mark.parametrize(("old", "new"), [(4, 6), (4, 8), (8, 3), (5, 5), (16, 1)])
@pytest.mark.parametrize("world_size", [1, 3])
def test_a_feed_goes_on_with_another_batch_size(feed_of: Any, old: int, new: int, world_size: int) -> None:
    with feed_of(batch_size=old, tail="keep") as feed:
        steps = [(list(b.keys), json.loads(json.dumps(b.state))) for b in feed]
        every = [key for keys, _ in steps for key in keys]
    positions = range(0, len(steps) - 1, 3)
    for at in positions:
        seen = [key for keys, _ in steps[: at + 1] for key in keys]
        rest: list[str] = []
        repeats = set()
        for rank in range(world_size):
            with feed_of(batch_size=new, tail="keep", rank=rank, world_size=world_size) as feed:
                feed.load_state_dict(steps[at][1], allow=("batch_size",))
                repeats.add(feed.repeats)
                rest += [key for b in feed for key in b.keys]
                assert all(b.epoch == 1 for b in [next(iter(feed))])
        assert sorted(set(seen) | set(rest)) == sorted(every)
        assert len(rest) == len(set(rest))
        assert repeats == {len(set(seen) & set(rest))}
        assert (repeats == {0}) if old == new else (max(repeats) < 3 * (old + new + 8))


def test_it_has_to_be_permitted_and_is_reported(feed_of: Any, caplog: pytest.LogCaptureFixture) -> None:
    with feed_of(batch_size=4) as feed:
        state = [b.state for b in feed][7]
    with feed_of(batch_size=8) as feed:
        with pytest.raises(errors.StateMismatchError, match=r'allow=\("batch_size",\)'):
            feed.load_state_dict(state)
        with pytest.raises(ValueError, match="only batch_size, skip may differ"):
            feed.load_state_dict(state, allow=("seed",))
        assert feed.repeats == 0
        with caplog.at_level(logging.WARNING, "stoker"):
            feed.load_state_dict(state, allow=("batch_size",))
        said = [r.getMessage() for r in caplog.records]
        assert said == [
            f"stream train: the batch size has changed from 4 to 8: resuming at epoch 0, batch "
            f"{feed.state_dict()['batch']}; {feed.repeats} samples are repeated"
        ]
        assert feed.repeats > 0
        batch = next(iter(feed))
        assert batch.state["order"]["batch_size"] == 8
        feed.load_state_dict(batch.state)
        assert feed.repeats == 0
    for other in ({"seed": 9}, {"seed": 9, "batch_size": 8}):
        with (
            feed_of(**({"batch_size": 4} | other)) as feed,
            pytest.raises(errors.StateMismatchError, match=r"seed 5 in the state, 9 here$"),
        ):
            feed.load_state_dict(state, allow=("batch_size",))
    with feed_of(batch_size=8) as feed, pytest.raises(errors.StateMismatchError, match="impossible position"):
        feed.load_state_dict({**state, "batch": 999}, allow=("batch_size",))


def test_a_batch_of_lanes_without_rows(caplog: pytest.LogCaptureFixture) -> None:
    before, after = OrderSpec(0, 4, 4), OrderSpec(0, 3, 4)
    for rows in ((0, 0, 0, 0), (0, 1, 0, 0), (0, 9, 0, 2)):
        plan = BatchPlan(before, rows)
        for position in range(plan.batches + 1):
            found, again = regroup(after, before, rows, 0, position)
            assert 0 <= found <= BatchPlan(after, rows).batches
            assert 0 <= again <= sum(rows)
    assert regroup(after, before, (0, 0, 0, 0), 0, 0) == (0, 0)
    assert np.array_equal(rows_before(BatchPlan(before, (0, 9, 0, 2)), (0, 9, 0, 2), 0, 2), [0, 8, 0, 0])
