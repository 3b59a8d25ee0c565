"""A path that is followed: each epoch reads the newest version."""

import json

import numpy as np
import pytest

import stoker
from stoker import Feed
from stoker.errors import StateMismatchError, StokerError, UnknownVersionError

ORDER = {"batch_size": 4, "lanes": 3, "shuffle_window": 4096}


@pytest.fixture
def grow(tmp_path):
    path = tmp_path / "data"

    def append(count):
        first = not path.exists()
        with stoker.Writer(path, {"n": "int32", "kind": "categorical"}, append=not first, chunk_size=512) as writer:
            for _ in range(count):
                grow.size += 1
                writer.write({"key": f"k{grow.size:05}", "n": grow.size, "kind": f"kind{writer_number(grow)}"})
        grow.versions += 1
        return path

    def writer_number(state):
        return state.versions

    grow = append
    grow.size = grow.versions = 0
    append(30)
    append.path = path
    return append


def views(batches):
    return [(b.epoch, b.number, tuple(b.keys), b["n"].tolist(), b["kind"].tolist()) for b in batches]


def pinned(path, version, epoch):
    with Feed(path, version=version, **ORDER) as feed:
        feed.set_epoch(epoch)
        return views(feed)


def test_each_epoch_is_that_of_the_newest_version(grow):
    with Feed(grow.path, follow=True, **ORDER) as feed:
        grow(5)  # nothing was asked for yet
        assert len(feed) == 9
        running = iter(feed)
        got = [next(running)]
        grow(13)
        got += running
        assert views(got) == pinned(grow.path, 2, 0)
        assert {b.state["version"] for b in got} == {2}
        assert views(feed) == pinned(grow.path, 3, 1)
        assert feed.version == 3
        assert feed.classes["kind"] == ("kind0", "kind1", "kind2")
        grow(2)
        assert views(feed) == pinned(grow.path, 4, 2)
        feed.set_epoch(1)
        assert views(feed) == pinned(grow.path, 3, 1)


def test_every_position_resumes_exactly(grow):
    states, expected = [], []
    with Feed(grow.path, follow=True, **ORDER) as feed:
        for _ in range(3):
            for batch in feed:
                states.append(json.loads(json.dumps(batch.state)))
                expected.append(views([batch])[0])
            grow(7)
    for at, state in enumerate(states[:-1]):
        with Feed(grow.path, follow=True, **ORDER) as feed:
            feed.load_state_dict(state)
            rest = views(feed)
        if state["batch"]:
            assert rest == [view for view in expected[at + 1 :] if view[0] == state["epoch"]]
        else:
            assert rest == pinned(grow.path, 4, state["epoch"])
    # Also by a feed of that version, and after another version was looked at.
    middle = next(s for s in states if s["epoch"] == 1 and s["batch"])
    with Feed(grow.path, version=2, **ORDER) as feed:
        feed.load_state_dict(middle)
        assert views(feed) == pinned(grow.path, 2, 1)[1:]
    with Feed(grow.path, follow=True, **ORDER) as feed:
        feed.set_epoch(1)
        assert len(feed) == len(pinned(grow.path, 4, 1))
        feed.load_state_dict(middle)
        assert views(feed) == pinned(grow.path, 2, 1)[1:]


def test_a_condition_holds_for_each_version(grow):
    with Feed(grow.path, follow=True, where="n > 25", **ORDER) as feed:
        for expected in (range(26, 31), range(26, 39), range(26, 40)):
            assert sorted({n for batch in feed for n in batch["n"].tolist()}) == list(expected)
            grow(8 if feed.version == 1 else 1)


def test_what_cannot_be_followed_is_said(grow):
    with Feed(grow.path, follow=True, **ORDER) as feed:
        state = next(iter(feed)).state
    grow(3)
    with Feed(grow.path, follow=True, **ORDER) as feed:
        with pytest.raises(StateMismatchError, match="fingerprint"):
            feed.load_state_dict(state | {"version": 2})
        with pytest.raises(UnknownVersionError, match="no version 9"):
            feed.load_state_dict(state | {"version": 9})
        feed.load_state_dict(state)
        assert views(feed) == pinned(grow.path, 1, 0)[1:]
    with pytest.raises(ValueError, match="follow and version"):
        Feed(grow.path, follow=True, version=1)
    with pytest.raises(ValueError, match="follow works with a path only"):
        Feed("photos", follow=True)
    with Feed(grow.path, follow=True, rank=1, world_size=2) as feed, pytest.raises(StokerError, match="stoker feed"):
        next(iter(feed))


def test_parts_of_an_epoch_are_of_one_version(grow):
    with Feed(grow.path, follow=True, epoch_batches=3, **ORDER) as feed:
        parts = [views(feed)]
        grow(12)
        parts += [views(feed), views(feed)]
        assert [len(part) for part in parts] == [3, 3, 2]
        assert [view for part in parts for view in part] == pinned(grow.path, 1, 0)
        assert views(feed) == pinned(grow.path, 2, 1)[:3]
        assert feed.version == 2


def test_the_last_epoch_is_the_last(grow):
    with Feed(grow.path, follow=True, epochs=2, tail="keep", **ORDER) as feed:
        assert sum(len(b) for b in feed) == 30
        grow(6)
        assert sum(len(b) for b in feed) == 36
        grow(6)
        assert list(feed) == []
        assert np.isclose(feed.stats()["batches"], 17)
