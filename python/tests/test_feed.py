"""`Feed` over a path: iteration, ranks, tails, resume, state, time."""

from __future__ import annotations

import gc
import json
import os
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from small_datasets import DatasetWriter, sample, small_dataset
from stoker import Batch, Feed, errors
from stoker._order.spec import TAILS

SPEC: dict[str, Any] = {"batch_size": 3, "lanes": 3, "shuffle_window": 6000, "seed": 5}


@pytest.fixture(scope="module")
def writer(tmp_path_factory: pytest.TempPathFactory) -> DatasetWriter:
    return small_dataset(tmp_path_factory.mktemp("feed") / "d")


@pytest.fixture
def feed_of(writer: DatasetWriter) -> Any:
    """Makes feeds and closes them."""
    feeds: list[Feed] = []

    def make(**given: Any) -> Feed:
        feeds.append(Feed(writer.root, **{**SPEC, **given}))
        return feeds[-1]

    yield make
    for feed in feeds:
        feed.close()


Make = Callable[..., Feed]


def content(batch: Batch) -> tuple[Any, ...]:
    """What must be equal for two batches to be the same."""
    return (
        batch.epoch,
        batch.number,
        tuple(batch.keys),
        tuple(batch["image"].tolist()),
        batch.label.tobytes(),
        batch.repeated,
    )


def test_one_iteration_is_one_epoch_with_every_sample_once(feed_of: Make, writer: DatasetWriter) -> None:
    feed = feed_of(tail="keep")
    live = {s["key"]: s for s in writer.live().values()}
    orders = []
    for epoch in range(3):
        batches = list(feed)
        assert len(batches) == len(feed) == 13
        assert [(b.epoch, b.number) for b in batches] == [(epoch, n) for n in range(13)]
        keys = [k for b in batches for k in b.keys]
        assert sorted(keys) == sorted(live)
        orders.append(keys)
        for b in batches:
            for key, image, label in zip(b.keys, b["image"], b["label"], strict=True):
                assert image.tobytes() == live[key]["image"]
                assert label == live[key]["label"]
    assert orders[0] != orders[1] != orders[2]
    assert dict(feed.classes) == {"label": tuple(writer.classes["label"])}


def test_ranks_are_disjoint_complete_and_as_long_as_announced(feed_of: Make) -> None:
    whole = [content(b) for b in feed_of(tail="keep")]
    for tail in TAILS:
        for world in (1, 2, 3, 8):
            per_rank = []
            for rank in range(world):
                feed = feed_of(tail=tail, rank=rank, world_size=world)
                per_rank.append(list(feed))
                assert len(per_rank[-1]) == len(feed)
            lengths = {len(r) for r in per_rank}
            assert len(lengths) == 1 or tail == "keep"
            steps = [b for step in range(max(lengths)) for r in per_rank for b in r[step : step + 1]]
            assert [b.number for b in steps] == list(range(len(steps)))
            if tail == "keep":
                assert [content(b) for b in steps] == whole
            elif tail == "drop":
                assert [content(b) for b in steps] == whole[: len(steps)]
                assert len(whole) - 1 - len(steps) < world
            else:
                assert all(len(b) == 3 for b in steps)
                fresh = [k for b in steps for k in b.keys[: len(b) - b.repeated]]
                assert sorted(fresh) == sorted(k for _, _, keys, *_ in whole for k in keys)


@pytest.mark.parametrize("tail", TAILS)
def test_resume_at_every_position_with_another_world_size(feed_of: Make, tail: str) -> None:
    whole = {b.number: content(b) for b in feed_of(tail="keep")}
    for world in (1, 2, 3):
        feeds = [iter(feed_of(tail=tail, rank=r, world_size=world)) for r in range(world)]
        consumed: set[int] = set()
        for _ in range(len(feed_of(tail=tail, rank=0, world_size=world))):
            step = [b for f in feeds if (b := next(f, None)) is not None]
            states = [b.state for b in step]
            assert all(s == states[0] for s in states)
            consumed |= {b.number for b in step}
            state = json.loads(json.dumps(states[0]))
            for other in (1, 2, 5):
                rest: list[Batch] = []
                for r in range(other):
                    feed = feed_of(tail=tail, rank=r, world_size=other)
                    feed.load_state_dict(state)
                    announced = feed.remaining
                    assert announced <= len(feed) == feed_of(tail=tail, rank=r, world_size=other).remaining
                    got = list(feed)
                    assert len(got) == announced
                    rest += [b for b in got if b.epoch == state["epoch"]]
                if state["epoch"] == 1:
                    assert len(consumed) >= len(whole) - (world if tail == "drop" else 0)
                    continue
                assert consumed == set(range(state["batch"]))
                numbers = sorted(b.number for b in rest)
                assert numbers == list(range(state["batch"], state["batch"] + len(numbers)))
                for b in rest:
                    if b.number in whole and not b.repeated:
                        assert content(b) == whole[b.number]
                if tail != "drop":
                    assert state["batch"] + len(numbers) >= len(whole)


def test_state_counts_batches_handed_out_and_loads_before_and_after_iter(feed_of: Make) -> None:
    reference = [content(b) for e in range(2) for b in _epoch(feed_of(), e)]
    feed = feed_of()
    assert feed.state_dict()["batch"] == 0
    iterator = iter(feed)
    for step in range(5):
        batch = next(iterator)
        assert feed.state_dict() == batch.state
        assert (batch.state["epoch"], batch.state["batch"]) == (0, step + 1)
    state = feed.state_dict()
    for late in (False, True):
        other = feed_of()
        if late:
            iterator = iter(other)
            next(iterator)
            other.load_state_dict(state)
        else:
            other.load_state_dict(state)
            assert (len(other), other.remaining) == (13, 13 - 5)
            iterator = iter(other)
        assert [content(b) for b in iterator] == reference[5:13]
        assert other.state_dict()["epoch"] == 1
        assert [content(b) for b in other] == reference[13:]


def _epoch(feed: Feed, epoch: int) -> list[Batch]:
    feed.set_epoch(epoch)
    return list(feed)


def test_the_next_iteration_is_the_next_epoch_also_after_break(feed_of: Make) -> None:
    feed = feed_of()
    for _ in feed:
        break
    assert feed.state_dict()["batch"] == 1
    assert next(iter(feed)).epoch == 1
    feed.set_epoch(7)
    assert next(iter(feed)).state["epoch"] == 7
    feed.load_state_dict({**feed.state_dict(), "epoch": 4, "batch": 6})
    feed.set_epoch(4)  # the usual loop header does not undo the resume
    assert (batch := next(iter(feed))).number == 6
    assert batch.epoch == 4
    feed.set_epoch(4)
    assert next(iter(feed)).number == 0


def test_a_later_iteration_ends_the_earlier_one(feed_of: Make) -> None:
    feed = feed_of()
    first = iter(feed)
    next(first)
    second = iter(feed)
    next(second)
    with pytest.raises(errors.StokerError, match="another iteration"):
        next(first)
    assert len(list(second)) == 12
    assert list(second) == []


def test_the_length_does_not_depend_on_the_position(feed_of: Make) -> None:
    feed = feed_of(tail="keep")
    left = []
    for batch in feed:
        left.append(feed.remaining)
        assert len(feed) == 13
        if batch.number == 4:
            state = batch.state
    assert left == list(range(12, -1, -1))
    assert feed.remaining == 13
    feed = feed_of(tail="keep")
    feed.load_state_dict(state)
    assert (len(feed), feed.remaining) == (13, 8)
    batches = iter(feed)
    next(batches)
    assert (len(feed), feed.remaining) == (13, 7)
    assert len(list(batches)) == 7


def test_epochs_end(feed_of: Make) -> None:
    feed = feed_of(epochs=2)
    assert [len(list(feed)) for _ in range(4)] == [13, 13, 0, 0]
    assert len(feed) == 0


def test_a_state_of_something_else_is_refused_by_name(feed_of: Make, tmp_path: Path) -> None:
    state = feed_of().state_dict()
    with pytest.raises(
        errors.StateMismatchError, match="seed 5 in the state, 6 here; lane_order mixed in the state, fixed here"
    ):
        feed_of(seed=6, lane_order="fixed").load_state_dict(state)
    with pytest.raises(errors.StateMismatchError, match="batch_size 3 in the state, 4 here"):
        feed_of(batch_size=4).load_state_dict(state)
    other = small_dataset(tmp_path / "other", seed=8)
    with (
        Feed(other.root, **SPEC) as feed,
        pytest.raises(errors.StateMismatchError, match=f"dataset .* in the state, {other.id}"),
    ):
        feed.load_state_dict(state)
    other.commit([[sample(np.random.default_rng(1), 900)]])
    with Feed(other.root, **SPEC) as feed:
        newer = feed.state_dict()
    with (
        Feed(other.root, version=1, **SPEC) as feed,
        pytest.raises(errors.StateMismatchError, match="version 2 in the state, 1"),
    ):
        feed.load_state_dict(newer)
    for bad in ({}, {**state, "batch": -1}, {**state, "batch": 99}, {**state, "epoch": None}, []):
        with pytest.raises(errors.StateMismatchError):
            feed_of().load_state_dict(bad)
    with pytest.raises(errors.FormatTooNewError):
        feed_of().load_state_dict({**state, "stoker": 2})
    with pytest.raises(errors.StateMismatchError, match="contents"):
        feed_of().load_state_dict({**state, "fingerprint": "0" * 32})


def test_arguments_are_checked_together(writer: DatasetWriter) -> None:
    with pytest.raises(ValueError, match=r"seed.*batch_size.*tail.*rank 2 is not in"):
        Feed(writer.root, seed=-1, batch_size=0, tail="cut", rank=2, world_size=2)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="only one of rank and world_size"):
        Feed(writer.root, rank=0)
    with pytest.raises(errors.NotADatasetError, match="it is in the directory of the dataset"):
        Feed(writer.root / "nothing")
    with pytest.raises(errors.UnknownVersionError, match="it has 1 to 1"):
        Feed(writer.root, version=3)
    with pytest.raises(errors.UnknownSplitError, match="'val'; it has: train"):
        Feed(writer.root, split="val")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"epochs": -1}, "epochs must be an integer of at least 1, is -1"),
        ({"epochs": 1.5}, "epochs must be an integer of at least 1, is 1.5"),
        ({"epoch_batches": 0}, "epoch_batches must be an integer of at least 1, is 0"),
        ({"concat": None}, "concat must be an integer of at least 1, is None"),
        (
            {"buffer_bytes": -1, "batch_size": 0},
            "buffer_bytes must be .* at least 0, is -1; batch_size must be .*, is 0",
        ),
        ({"version": True}, "version must be an integer of at least 1, is True"),
        ({"batch_timeout": -1}, "batch_timeout must be a number of seconds and not negative, is -1"),
        ({"connect_timeout": None}, "connect_timeout must be a number of seconds and not negative, is None"),
        ({"place_timeout": float("nan")}, "place_timeout must be a number of seconds and not negative, is nan"),
    ],
    ids=str,
)
def test_numbers_are_checked(feed_of: Make, wrong: dict[str, Any], says: str) -> None:
    with pytest.raises(ValueError, match=f"^{says}$"):
        feed_of(**wrong)


def test_any_integers_and_long_times_are_taken(feed_of: Make) -> None:
    with feed_of(rank=0, world_size=2, epoch_batches=3) as feed:
        feed.set_epoch(1)
        expected = [(content(batch), batch.state) for batch in feed]
    one, two, three = np.arange(1, 4)
    endless: dict[str, Any] = {"batch_timeout": float("inf"), "connect_timeout": 1e12, "place_timeout": float("inf")}
    with feed_of(rank=np.int64(0), world_size=two, epoch_batches=three, version=one, **endless) as feed:
        feed.set_epoch(one)
        found = [(content(batch), json.loads(json.dumps(batch.state))) for batch in feed]
    assert found == expected


def test_epochs_that_are_too_great_are_refused(feed_of: Make) -> None:
    feed = feed_of()
    state = feed.state_dict()
    with pytest.raises(ValueError, match=r"^epoch 18446744073709551616 is not from 0 to 9007199254740991$"):
        feed.set_epoch(2**64)
    with pytest.raises(TypeError, match=r"the epoch must be a whole number, not 1\.5"):
        feed.set_epoch(1.5)  # type: ignore[arg-type]
    with pytest.raises(errors.StateMismatchError, match="impossible position: epoch 1180591620717411303424"):
        feed.load_state_dict({**state, "epoch": 2**70})


def test_rank_comes_from_the_environment(feed_of: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    monkeypatch.setenv("WORLD_SIZE", "2")
    assert [b.number for b in feed_of(tail="keep")] == [1, 3, 5, 7, 9, 11]
    assert [b.number for b in feed_of(tail="keep", rank=0, world_size=1)] == list(range(13))
    monkeypatch.delenv("WORLD_SIZE")
    with pytest.raises(ValueError, match="RANK and WORLD_SIZE"):
        list(feed_of())


def test_a_forked_child_reads_on_its_own(feed_of: Make) -> None:
    feed = feed_of()
    iterator = iter(feed)
    mine = [content(next(iterator)) for _ in range(2)]
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            child = feed_of()
            child.load_state_dict(feed.state_dict())
            theirs = [content(b) for b in child]
            feed.set_epoch(1)
            theirs += [content(b) for b in feed]  # the very object, whose threads did not come along
            os.write(write, pickle.dumps(theirs))
            code = 0
        finally:
            os._exit(code)
    os.close(write)
    with os.fdopen(read, "rb") as f:
        theirs = pickle.loads(f.read())
    assert os.waitpid(pid, 0)[1] == 0
    mine += [content(b) for b in iterator]
    assert theirs[:11] == mine[2:]
    assert theirs[11:] == [content(b) for b in feed]


def test_a_pickled_feed_is_the_same_feed(feed_of: Make, writer: DatasetWriter, tmp_path: Path) -> None:
    feed = feed_of(rank=1, world_size=2)
    list(feed)
    script = (
        "import pickle, sys; f = pickle.load(open(sys.argv[1], 'rb')); print([(b.epoch, b.number, b.keys) for b in f])"
    )
    (tmp_path / "feed").write_bytes(pickle.dumps(feed))
    done = subprocess.run([sys.executable, "-c", script, tmp_path / "feed"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str([(b.epoch, b.number, b.keys) for b in feed])


def test_importing_and_using_stoker_does_not_import_torch(writer: DatasetWriter) -> None:
    script = (
        "import sys, stoker; f = stoker.Feed(sys.argv[1]); list(f); f.close(); isinstance(f, dict);"
        "print(sorted(m for m in sys.modules if m.split('.')[0] in ('torch', 'jax', 'PIL')))"
    )
    done = subprocess.run([sys.executable, "-c", script, writer.root], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_closing_ends_threads(writer: DatasetWriter) -> None:
    import threading

    others = set(threading.enumerate())

    def own() -> list[threading.Thread]:
        return [t for t in threading.enumerate() if t.name.startswith("stoker") and t not in others]

    with Feed(writer.root, **SPEC) as feed:
        batch = next(iter(feed))
        assert own()
    for t in own():
        t.join(10)
    assert not own()
    assert len(batch["image"]) == 3
    with pytest.raises(errors.StokerError, match="closed"):
        iter(feed)


def test_decoded_batches_end_with_their_last_reference(feed_of: Make) -> None:
    gc.collect()
    gc.disable()
    try:
        batches = [weakref.ref(batch) for batch in feed_of(decode={"image": lambda row: row[:1].copy()})]
        assert not [reference for reference in batches if reference() is not None]
    finally:
        gc.enable()


def test_masks_of_decoded_rows_are_kept(feed_of: Make) -> None:
    for batch in feed_of(decode={"image": lambda row: np.ma.MaskedArray([len(row), 1], mask=[True, False])}):
        assert batch["image"].mask.tolist() == [[True, False]] * len(batch)
        assert pickle.loads(pickle.dumps(batch))["image"].mask.tolist() == [[True, False]] * len(batch)


def test_a_closed_feed_ends_with_its_last_reference(writer: DatasetWriter) -> None:
    gc.collect()
    gc.disable()
    try:
        with Feed(writer.root, **SPEC) as feed:
            next(iter(feed))
        shared = weakref.ref(feed._reading.progress.shared)
        del feed
        assert shared() is None
    finally:
        gc.enable()


def test_stats_say_what_was_waited_for(feed_of: Make) -> None:
    feed = feed_of()
    batches = list(feed)
    stats = feed.stats()
    assert stats["batches"] == 13
    assert stats["samples"] == sum(map(len, batches))
    assert stats["bytes"] == sum(b.nbytes for b in batches)
    assert 0 < stats["wait_s"] <= stats["seconds"]
    assert {"wait_window_s", "wait_read_s"} <= stats.keys()
    assert feed.stall_report().startswith("rank 0 waited ")
    feed.close()
    assert feed.stall_report() == feed.report().splitlines()[0]


@pytest.mark.parametrize(
    ("wrong", "meant"), [("batchsize", "batch_size"), ("Shuffle", "shuffle"), ("world_sise", "world_size")]
)
def test_an_unknown_argument_names_the_one_that_is_meant(wrong: str, meant: str) -> None:
    with pytest.raises(TypeError, match=rf"^Feed\(\) has no argument '{wrong}'; did you mean '{meant}'\?$"):
        Feed("./x", **{wrong: 3})
    with pytest.raises(TypeError, match=r"^Feed\(\) has no argument 'zzz'; there are target, stream, split, "):
        Feed("./x", zzz=3)
