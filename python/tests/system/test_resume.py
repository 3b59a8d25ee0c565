"""A job that stops at any position resumes with exactly the rest, also with another number of ranks."""

from contextlib import ExitStack
from itertools import islice

import pytest
from stoker_processes import view, views

from stoker import Feed
from stoker.errors import StateMismatchError

ORDER = {"batch_size": 24, "lanes": 6, "shuffle_window": 96 << 10, "seed": 5}


@pytest.fixture(scope="module")
def expected(photos):
    with Feed(photos.path, **ORDER, tail="keep") as feed:
        return [views(feed), views(feed)]


def ranks_of(stack, world_size, group):
    return [
        stack.enter_context(Feed("single", "train", **ORDER, tail="keep", group=group, rank=r, world_size=world_size))
        for r in range(world_size)
    ]


@pytest.mark.parametrize(("before", "after"), [(1, 2), (1, 3), (2, 1), (2, 3), (3, 2), (3, 8)])
def test_every_position_is_resumed_with_another_world_size(feeders, expected, before, after):
    epoch, following = expected
    n = len(epoch)
    assert n > 8
    group = f"resume-{before}-{after}"
    for taken in range(-(-n // before) + 1):
        with ExitStack() as stack:
            states = []
            for rank, feed in enumerate(ranks_of(stack, before, group)):
                batches = list(islice(feed, taken))
                assert views(batches) == epoch[rank::before][:taken]
                if len(batches) == taken:
                    states.append(batches[-1].state if batches else feed.state_dict())
        position = taken * before
        assert all(state == states[0] for state in states)
        where = (0, position) if position < n else (1, 0)
        assert (states[0]["epoch"], states[0]["batch"]) == where
        with ExitStack() as stack:
            feeds = ranks_of(stack, after, group)
            for feed in feeds:
                feed.load_state_dict(states[0])
            rest = [views(feed) for feed in feeds]
            wanted = epoch[position:] if position < n else following
            assert sorted(batch for rank in rest for batch in rank) == wanted
            assert all(batch[1] % after == rank for rank, got in enumerate(rest) for batch in got)
            then = following if position < n else None
            if then is not None:
                assert view(next(iter(feeds[-1]))) == then[after - 1]


def test_a_state_of_the_files_is_one_of_the_feed_and_back(photos, feeders, expected):
    with Feed(photos.path, **ORDER, tail="keep") as files:
        states = [batch.state for batch in files]
    with Feed("quadruple", "train", **ORDER, tail="keep", group="exchange") as feed:
        assert [batch.state for batch in feed] == states
        feed.load_state_dict(states[3])
        assert views(feed) == expected[0][4:]


@pytest.mark.parametrize(
    ("difference", "said"),
    [
        ({"seed": 6}, ["seed 6 in the state, 5 here"]),
        ({"batch_size": 12}, ["batch_size 12 in the state, 24 here"]),
        ({"seed": 7, "lanes": 3}, ["seed 7 in the state, 5 here", "lanes 3 in the state, 6 here"]),
        ({"split": "val"}, ["split val in the state, train here"]),
        ({"version": 1}, ["version 1 in the state, 2 here"]),
    ],
)
def test_a_state_of_another_order_is_refused_naming_what_differs(photos, feeders, difference, said):
    with Feed(photos.path, **ORDER | difference) as other:
        state = other.state_dict()
    with Feed("single", "train", **ORDER, group="states") as feed:
        with pytest.raises(StateMismatchError) as refused:
            feed.load_state_dict(state)
        assert str(refused.value).startswith("the state belongs to another feed: " + "; ".join(said))
        assert feed.state_dict()["batch"] == 0


def test_a_state_of_another_dataset_is_refused_naming_both(photos, feeders, crumbs):
    with Feed(crumbs.path, **ORDER) as other:
        state = other.state_dict()
    with Feed("single", "train", **ORDER, group="states") as feed:
        with pytest.raises(StateMismatchError) as refused:
            feed.load_state_dict(state)
        assert f"dataset {state['dataset']} in the state, {feed.info.dataset} here" in str(refused.value)
