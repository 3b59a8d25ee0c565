"""Training and validation at the same time on one feeder, groups with different orders, another batch size."""

from __future__ import annotations

import pytest
from stoker_processes import views

import stoker
from stoker import Feed
from stoker.errors import OrderMismatchError

ORDER = {"batch_size": 24, "lanes": 6, "shuffle_window": 96 << 10, "seed": 5}


def test_validation_in_the_middle_of_training(photos, feeders):
    with Feed(photos.path, **ORDER) as files:
        expected = [views(files), views(files)]
    with Feed(photos.path, "val", batch_size=512, shuffle="none", tail="keep", lanes=6) as files:
        stored = views(files)
        every = sorted(key for batch in stored for key in batch[4])
    assert [key for batch in stored for key in batch[4]] == list(stoker.open(photos.path, split="val").keys())
    with (
        Feed("quadruple", "train", **ORDER, group="beside") as train,
        Feed("quadruple", "val", batch_size=512, shuffle="none", tail="keep", group="beside") as val,
    ):
        for epoch in expected:
            got = []
            for step, batch in enumerate(train):
                got += views([batch])
                if step % 4 == 3:
                    found = views(val)
                    assert sorted(key for batch in found for key in batch[4]) == every
                    assert [batch[1:] for batch in found] == [batch[1:] for batch in stored]
            assert got == epoch


def test_groups_of_a_stream_have_conditions_of_their_own(photos, feeders):
    for where in ("label IN ('cat', 'bee')", "label <> 'ant' AND key <> ''"):
        with Feed(photos.path, **ORDER, where=where, tail="keep") as files:
            expected = [views(files), views(files)]
            fingerprint = files.fingerprint
        with Feed("quadruple", "train", **ORDER, where=where, tail="keep", group=f"of {where}") as feed:
            assert [views(feed), views(feed)] == expected
            assert feed.fingerprint == fingerprint
            assert 0 < feed.info.samples < 250
            assert [sample.key for sample in feed.why(epoch=0, batch=0)] == list(expected[0][0][4])
    with pytest.raises(OrderMismatchError, match="there is no column colour"):
        len(Feed("quadruple", "train", where="colour = 1", group="none"))


def test_groups_of_a_stream_have_orders_of_their_own(photos, feeders):
    sizes = (8, 24, 50)
    expected = {}
    for size in sizes:
        with Feed(photos.path, **ORDER | {"batch_size": size}) as files:
            expected[size] = views(files)
    feeds = {size: Feed("single", "train", **ORDER | {"batch_size": size}, group=f"by-{size}") for size in sizes}
    running = {size: iter(feed) for size, feed in feeds.items()}
    got = {size: [] for size in sizes}
    while running:
        for size, batches in list(running.items()):
            batch = next(batches, None)
            if batch is None:
                del running[size]
            else:
                got[size] += views([batch])
    assert got == expected
    for feed in feeds.values():
        feed.close()
    with (
        Feed("single", "train", **ORDER, group="by-8") as feed,
        pytest.raises(OrderMismatchError, match="another group"),
    ):
        len(feed)


@pytest.mark.parametrize(("old", "new"), [(24, 16), (16, 32), (10, 33)])
def test_a_pass_goes_on_with_another_batch_size(photos, feeders, old, new):
    given = ORDER | {"tail": "keep"}
    with Feed("single", "train", **given | {"batch_size": old}, group=f"size-{old}-{new}") as feed:
        steps = [(batch.keys, batch.state) for batch in feed]
        every = sorted(key for keys, _ in steps for key in keys)
    for at in range(0, len(steps) - 1, 5):
        seen = {key for keys, _ in steps[: at + 1] for key in keys}
        with Feed("quadruple", "train", **given | {"batch_size": new}, group=f"size-{old}-{new}") as feed:
            feed.load_state_dict(steps[at][1], allow=("batch_size",))
            rest = [key for batch in feed for key in batch.keys]
            assert sorted(seen | set(rest)) == every
            assert feed.repeats == len(seen & set(rest))
        with Feed(photos.path, **given | {"batch_size": new}) as files:
            files.load_state_dict(steps[at][1], allow=("batch_size",))
            assert [key for batch in files for key in batch.keys] == rest


@pytest.mark.parametrize("tail", ["pad", "keep"])
def test_joined_batches_and_parts_of_epochs(cli, photos, feeders, tail):
    with Feed(photos.path, **ORDER, tail=tail, concat=3, epoch_batches=2) as files:
        expected = [views([batch])[0] for _ in range(4) for batch in files]
    with Feed("quadruple", "train", **ORDER, tail=tail, concat=3, epoch_batches=2, group=f"joined-{tail}") as feed:
        assert [views([batch])[0] for _ in range(4) for batch in feed] == expected
