"""A rank or loader worker that has no batch in an epoch tells the feed so, which else would wait for it."""

import pytest

from feed_fakes import FakeFeed, OpaqueStream, eventually
from stoker._source.batch_source import Consumer


@pytest.fixture
def feed():
    with FakeFeed(OpaqueStream(lane_rows=(4, 3), batch_size=4), feeders=2) as fake:  # two batches
        yield fake


def told(feed):
    return [s for f in feed.feeders for session in f.sessions for s in session.subscriptions if s.empty_share]


def test_one_feeder_is_told_of_an_empty_share(feed):
    client = feed.client(consumer=Consumer(rank=3, world_size=4))
    client.finish_empty(0, 3, 4, "keep")
    eventually(lambda: not client._subscriptions.open)
    assert [(s.epoch, s.first, s.stride, s.count, s.tail) for s in told(feed)] == [(0, 3, 4, 0, "keep")]


def test_another_feeder_is_told_if_the_first_one_dies_before_it_is_durable(feed):
    feed.state.durable = False
    client = feed.client(consumer=Consumer(rank=3, world_size=4))
    client.finish_empty(0, 3, 4, "keep")
    feed.state.wait_for(lambda: bool(told(feed)))
    first = next(f for f in feed.feeders if any(s.subscriptions for s in f.sessions))
    feed.state.durable = True
    first.stop()
    eventually(lambda: len(told(feed)) == 2)
    eventually(lambda: not client._subscriptions.open)


def test_an_empty_share_that_is_durable_is_not_repeated(feed):
    client = feed.client(consumer=Consumer(rank=3, world_size=4))
    client.finish_empty(0, 3, 4, "keep")
    eventually(lambda: not client._subscriptions.open)
    for feeder in feed.feeders:
        feeder.stop()
    eventually(lambda: client.stats()["connections"] == 0)
    assert not client._subscriptions.open


def test_the_next_epoch_is_read_after_an_empty_one(feed):
    client = feed.client(consumer=Consumer(rank=1, world_size=2))
    client.finish_empty(0, 3, 2, "keep")
    feed.state.wait_for(lambda: bool(told(feed)))
    got = feed.read(client, epoch=1, first=1, stride=2, count=1, tail="keep")
    assert got == feed.stream.expected(1, 1, 2, 1, "keep")
    assert len(told(feed)) == 1


@pytest.mark.parametrize("tail", ["pad", "drop", "keep"])
def test_every_rank_of_a_large_world_finishes_every_epoch(feed, tail):
    from stoker import Feed

    feed.state.epochs = 3
    address = ",".join(f.address for f in feed.feeders)
    for rank in range(5):
        with Feed(address, rank=rank, world_size=5, run=1, tail=tail, group=tail) as trainer:
            batches = list(trainer.batches())
            source = trainer._reading.source
            eventually(lambda source=source: not source._subscriptions.open)
        empty = [s.epoch for s in told(feed) if s.stride == 5 and s.first % 5 == rank and s.tail == tail]
        assert batches or max(empty) == 2  # the empty share of an earlier epoch proves nothing
        assert len(batches) == (3 if tail == "pad" or (tail == "keep" and rank < 2) else 0)


def test_what_is_left_of_an_epoch_may_be_an_empty_share(feed):
    from stoker import Feed

    address = ",".join(f.address for f in feed.feeders)
    options = {"world_size": 2, "tail": "keep", "run": 2}
    with Feed(address, rank=0, **options) as trainer:
        state = dict(trainer.state_dict(), batch=1)
    with Feed(address, rank=0, **options) as trainer:
        trainer.load_state_dict(state)
        assert list(trainer) == []
        source = trainer._reading.source
        eventually(lambda: not source._subscriptions.open)
    assert [(s.epoch, s.first, s.count) for s in told(feed)] == [(0, 2, 0)]
