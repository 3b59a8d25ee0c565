"""The socket client's sessions: who may read, time-outs, and how clients end."""

import gc
import os
import threading
import weakref

import pytest

from feed_fakes import FakeFeed, OpaqueStream, consume, content, eventually
from stoker._source.batch_source import Consumer
from stoker._transport.discovery import FeedTarget
from stoker.errors import (
    BatchTimeoutError,
    ConnectTimeoutError,
    FencedError,
    OrderMismatchError,
    ProtocolError,
    StokerError,
    UnauthorizedError,
)


def test_the_newer_run_fences_the_older_for_good():
    with FakeFeed() as feed:
        old = feed.client(consumer=Consumer(run=7))
        batches = old.epoch(0, 0, 1, 26, "pad")
        next(batches)
        new = feed.client(consumer=Consumer(run=8))
        eventually(lambda: old._network.failure)
        with pytest.raises(FencedError, match="taken over by run 8"):
            next(batches)
        with pytest.raises(FencedError):
            old.epoch(1, 0, 1, 26, "pad")
        assert feed.read(new) == feed.stream.expected(0, 0, 1, 26)
        with pytest.raises(FencedError, match="run 7 was taken over"):
            feed.client(consumer=Consumer(run=7))


def test_replicas_do_not_fence_each_other():
    with FakeFeed() as feed:
        clients = [feed.client(consumer=Consumer(replica=r, run=3)) for r in (0, 1)]
        for client in clients:
            assert feed.read(client) == feed.stream.expected(0, 0, 1, 26)


def test_the_first_trainer_sets_the_order_and_others_must_agree():
    with FakeFeed() as feed:
        assert feed.client(consumer=Consumer(order={"seed": 5, "batch_size": 2})).info.order.batch_size == 2
        assert feed.client(consumer=Consumer(order={"seed": 5})).info.order.batch_size == 2
        with pytest.raises(OrderMismatchError, match="order seed is 5, asked for 6"):
            feed.client(consumer=Consumer(order={"seed": 6}))
        assert feed.client(consumer=Consumer(group="other", order={"seed": 6})).info.order.seed == 6


def test_refusals_carry_the_feeders_words():
    with FakeFeed() as feed, pytest.raises(ProtocolError, match="no stream val; there is train"):
        feed.client(consumer=Consumer(stream="val"))


def test_a_token_is_asked_for():
    with FakeFeed(token="secret") as feed:
        with pytest.raises(UnauthorizedError, match="token is missing or wrong"):
            feed.client()
        assert feed.read(feed.client(token="secret")) == feed.stream.expected(0, 0, 1, 26)


def test_another_world_size_within_a_run_is_refused():
    with FakeFeed() as feed:
        feed.client(consumer=Consumer(run=3, rank=0, world_size=2))
        with pytest.raises(ProtocolError, match="run 3 has world size 2") as e:
            feed.client(consumer=Consumer(run=3, rank=1, world_size=3))
        assert e.value.code == "world_size_mismatch"


def test_the_run_is_assigned_once_and_kept():
    with FakeFeed(feeders=2) as feed:
        client = feed.client()
        feed.read(client)
        assert {s.identity[4] for f in feed.feeders for s in f.sessions} == {client.info.run}


def test_no_feeder_is_a_typed_error_that_names_it():
    with FakeFeed() as feed:
        address = feed.feeder.address
        feed.feeder.stop()
        with pytest.raises(ConnectTimeoutError, match=rf"{address}: no feeder answered within 0.2 s \({address}: Conn"):
            feed.client(connect_timeout=0.2)


def test_a_feeder_may_start_after_the_trainer():
    with FakeFeed() as feed:
        feed.feeder.stop()
        client = feed.client(opened=False)
        late = threading.Timer(0.2, feed.feeder.start)
        late.start()
        client.open(Consumer())
        late.join()
        assert feed.read(client) == feed.stream.expected(0, 0, 1, 26)


def test_a_batch_that_never_comes_is_a_typed_error_that_names_feeder_lane_and_time():
    class Stuck(OpaqueStream):
        gate = threading.Event()

        def pieces(self, epoch, number, tail, stride=1):
            if number == 3:
                self.gate.wait()
            return super().pieces(epoch, number, tail)

    with FakeFeed(Stuck()) as feed:
        client = feed.client(batch_timeout=0.7)
        batches = client.epoch(0, 0, 1, 26, "pad")
        lane = feed.stream.plan().pieces(0, 3)[0].lane
        try:
            with pytest.raises(
                BatchTimeoutError,
                match=rf"epoch 0 batch 3 did not arrive from feeder {feed.feeder.address}, lane {lane}, "
                r"within .* \(since \d\d:\d\d:\d\d;",
            ):
                list(consume(client, batches))
        finally:
            Stuck.gate.set()


def test_close_ends_threads_and_descriptors():
    with FakeFeed(feeders=2) as feed:
        before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
        client = feed.client()
        next(client.epoch(0, 0, 1, 26, "pad"))
        thread = client._background.thread
        assert thread.daemon
        client.close()
        client.close()
        assert not thread.is_alive()
        feed.state.wait_for(lambda: all(s.ended for f in feed.feeders for s in f.sessions))
        if before is not None:
            eventually(lambda: len(os.listdir("/proc/self/fd")) <= before)
        with pytest.raises(StokerError, match="closed"):
            client.epoch(0, 0, 1, 26, "pad")


def test_a_forgotten_client_goes_away():
    from feed_fakes import QUICK
    from stoker._client.feeder_source import FeederSource

    with FakeFeed() as feed:
        client = FeederSource(FeedTarget(given=(feed.feeder.address,)), timing=QUICK)
        client.open(Consumer())
        next(client.epoch(0, 0, 1, 26, "pad"))
        thread, ref = client._background.thread, weakref.ref(client)
        del client
        gc.collect()
        thread.join(5)
        assert not thread.is_alive()
        assert ref() is None
        feed.state.wait_for(lambda: feed.feeder.sessions[0].ended)


def test_a_forked_child_leaves_the_session_alone():
    with FakeFeed() as feed:
        client = feed.client()
        batches = client.epoch(0, 0, 1, 26, "pad")
        got = [content(next(batches))]
        pid = os.fork()
        if pid == 0:
            try:
                client.close()
                del client, batches
                gc.collect()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0
        client.ack(0, 0)
        got += consume(client, batches)
        assert got == feed.stream.expected(0, 0, 1, 26)
        assert len(feed.feeder.sessions) == 1


def test_importing_has_no_side_effects():
    import subprocess
    import sys

    code = "import threading, stoker._client.feeder_source, stoker.testing; assert threading.active_count() == 1"
    subprocess.run(
        [sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
