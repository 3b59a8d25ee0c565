"""A client's place: no batch before every feeder has admitted it, patience where it is taken, and looks without one."""

import os
import pickle
import threading
from dataclasses import replace

import pytest

from feed_fakes import FakeFeed, OpaqueStream
from stoker import Feed
from stoker._feed.options import Options
from stoker._source.batch_source import Consumer
from stoker._source.instance import Instance, Launch
from stoker.errors import PlaceTakenError

HOLDER = Instance("boot", 7, 1, "holder-host")
NEWCOMER = Instance("boot", 8, 1, "newcomer-host")


def consumer(instance, **values):
    return Consumer(instance=instance, **values)


def test_no_batch_before_every_feeder_has_admitted_the_client():
    with FakeFeed(feeders=2) as feed:
        first, second = feed.feeders
        # The holder is known to the second feeder only.
        holder = feed.client(consumer=consumer(HOLDER), addresses=[second.address])
        for session in first.live:
            session.end()
        with pytest.raises(PlaceTakenError, match=r"process 7 on host holder-host.*group=.*place_timeout is 0.6 s"):
            feed.client(consumer=consumer(NEWCOMER), addresses=[first.address], place_timeout=0.6)
        newcomers = [s for f in feed.feeders for s in f.sessions if s.hello.get("instance") == NEWCOMER.to_json()]
        assert [s for s in newcomers if s.identity is not None], "the first feeder had admitted it"
        assert not any(s.subscriptions for s in newcomers)
        assert len(newcomers) > 2, "it tried again"
        holder.close()


def test_a_place_that_becomes_free_is_taken():
    with FakeFeed() as feed:
        holder = feed.client(consumer=consumer(HOLDER))
        closing = threading.Timer(0.3, holder.close)
        closing.start()
        newcomer = feed.client(consumer=consumer(NEWCOMER), place_timeout=20, connect_timeout=0.1)
        closing.join()
        assert len(feed.read(newcomer)) == feed.stream.plan().batches
        assert newcomer._handler.joined > holder._handler.joined


def test_the_own_process_does_not_wait():
    with FakeFeed() as feed:
        feed.client(consumer=consumer(HOLDER))
        again = feed.client(consumer=consumer(HOLDER), place_timeout=0)
        assert len(feed.read(again)) == feed.stream.plan().batches


def test_a_look_takes_no_place_and_keeps_no_connection():
    with FakeFeed(OpaqueStream(lane_rows=(40, 30))) as feed:
        holder = feed.client(consumer=consumer(HOLDER))
        with Feed(feed.feeder.address) as looker:
            assert len(looker) == feed.stream.plan().batches
            assert looker.info.samples == 70
            feed.state.wait_for(lambda: [s for s in feed.feeder.live if s.hello.get("look")] == [])
            assert looker._reading.run() == 0
        looks = [s for s in feed.feeder.sessions if s.hello.get("look")]
        assert len(looks) == 1
        assert looks[0].hello["instance"]["pid"] == os.getpid()
        assert holder._network.failure is None
        assert holder.stats()["connections"] == 1
        assert feed.state.runs.keys() == {("default", 0, 0, 0)}


def test_a_feed_that_iterates_at_once_does_not_look_first():
    with FakeFeed() as feed, Feed(feed.feeder.address) as trainer:
        assert sum(1 for _ in trainer) == len(trainer)
        assert len(feed.feeder.sessions) == 1
        assert not feed.feeder.sessions[0].hello.get("look")


def test_workers_carry_the_instance_of_the_process_that_made_the_feed(monkeypatch):
    with Feed("somewhere") as feed:
        mine = feed._reading.options.instance
        assert mine == Instance.of_this_process()
        assert pickle.loads(pickle.dumps(feed._reading.options)).instance == mine
        other = replace(feed._reading.options, instance=HOLDER)
        assert isinstance(other, Options)
        monkeypatch.setattr(feed._reading, "options", other)
        # Sent elsewhere, it is a feed of the process that receives it; a spawned loader worker is told the instance.
        assert pickle.loads(pickle.dumps(feed))._reading.options.instance == mine
        monkeypatch.setattr("stoker._feed.feed.starting_worker", lambda: True)
        extras = feed.__reduce__()[1][1]
        assert extras["instance"] == HOLDER


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": "3"}, None),
        ({"TORCHELASTIC_RUN_ID": "job", "TORCHELASTIC_RESTART_COUNT": "3"}, Launch("torchelastic", "job", 3)),
        ({"TORCHELASTIC_RUN_ID": "none", "SLURM_JOB_ID": "17"}, Launch("slurm", "17", 0)),
        ({"SLURM_JOB_ID": "17", "SLURM_RESTART_COUNT": "2"}, Launch("slurm", "17", 2)),
        ({"SLURM_JOB_ID": "17", "SLURM_RESTART_COUNT": ""}, Launch("slurm", "17", 0)),
        ({"TORCHELASTIC_RUN_ID": "a\nb" + "c" * 300}, Launch("torchelastic", "ab" + "c" * 253, 0)),
    ],
)
def test_a_launch_is_what_the_launcher_says(environment, expected):
    assert Launch.of(environment) == expected


@pytest.mark.parametrize("text", ["many", "-1", "1.5", "\u0661"])
def test_a_number_of_restarts_that_is_none_is_an_error(monkeypatch, text):
    variables = {"SLURM_JOB_ID": "17", "SLURM_RESTART_COUNT": text}
    with pytest.raises(ValueError, match=f"^SLURM_RESTART_COUNT={text} is not a number of restarts; unset it"):
        Launch.of(variables)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match="is not a number of restarts"):
        Feed("somewhere")


def test_options_are_checked(monkeypatch):
    for bad in ({"place_timeout": -1}, {"place_timeout": float("nan")}, {"run": -1}, {"run": (1 << 62) + 1}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            Feed("somewhere", **bad)
    monkeypatch.setenv("STOKER_PLACE_TIMEOUT", "soon")
    with pytest.raises(ValueError, match="STOKER_PLACE_TIMEOUT='soon'"):
        Feed("somewhere")
    monkeypatch.setenv("STOKER_PLACE_TIMEOUT", "2.5")
    assert Feed("somewhere")._reading.options.place_timeout == 2.5
    monkeypatch.setenv("STOKER_RUN", str(2**63 - 1))
    with pytest.raises(ValueError, match="STOKER_RUN"):
        Feed("somewhere")
