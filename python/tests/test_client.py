"""The socket client against a well-behaved feeder: order, grants, receipts and epochs."""

import threading

import pytest

from feed_fakes import FakeFeed, OpaqueStream, consume, content, eventually, pieces_of
from stoker._source.batch_source import Consumer
from stoker._transport.feeder_connection import FeederConnection
from stoker._wire import encoding
from stoker._wire import protocol as p
from stoker.errors import (
    StokerError,
)


def test_delivers_every_batch_in_order_and_receipts_each():
    with FakeFeed() as feed:
        client = feed.client()
        expected = feed.stream.expected(0, 0, 1, feed.stream.plan().batches)
        assert feed.read(client) == expected
        client.close()
        feed.state.wait_for(lambda: feed.acked() == pieces_of(expected))
        assert [s.said_goodbye for s in feed.feeder.sessions] == [True]
        crcs = {(a.entry.number, a.entry.piece): a.entry.crc for a in feed.state.acks}
        assert len(set(crcs.values())) == len(crcs)


@pytest.mark.parametrize("tail", ["pad", "drop", "keep"])
@pytest.mark.parametrize("world_size", [1, 2, 3])
@pytest.mark.parametrize("workers", [1, 2])
def test_strides_and_tails(tail, world_size, workers):
    with FakeFeed() as feed:
        for rank in range(world_size):
            share = feed.stream.share(tail, 3, rank, world_size)
            for worker in range(workers):
                first, stride, count = share.worker(worker, workers)
                identity = Consumer(rank=rank, world_size=world_size, worker=worker, workers=workers)
                client = feed.client(consumer=identity)
                assert feed.read(client, 5, first, stride, count, tail) == feed.stream.expected(
                    5, first, stride, count, tail
                )
                hello = feed.feeder.sessions[-1].hello
                assert (hello["rank"], hello["worker"], hello["workers"]) == (rank, worker, workers)


def test_lanes_go_to_the_feeders_of_the_map_over_one_connection_each():
    with FakeFeed(OpaqueStream(lane_rows=(40, 30, 20, 13, 50, 1)), feeders=3) as feed:
        client = feed.client()
        assert feed.read(client) == feed.stream.expected(0, 0, 1, feed.stream.plan().batches)
        lanes = [[s.subscriptions[0].lanes for s in f.sessions] for f in feed.feeders]
        assert lanes == [[(0, 3)], [(1, 4)], [(2, 5)]]


def test_pieces_in_any_order_are_joined_by_number():
    from stoker._testing.state import Fault

    with FakeFeed(OpaqueStream(lane_rows=(5, 6, 7, 5, 3), batch_size=4), feeders=2) as feed:
        for feeder in feed.feeders:
            feeder.always = Fault(shuffle=7)
        client = feed.client()
        assert feed.read(client) == feed.stream.expected(0, 0, 1, feed.stream.plan().batches)


def test_buffers_are_aligned_writable_and_used_again():
    with FakeFeed(OpaqueStream(message_bytes=1 << 16)) as feed:
        client = feed.client()
        places = set()
        for batch in client.epoch(0, 0, 1, feed.stream.plan().batches, "pad"):
            number, buffer = batch.number, batch.pieces[0].buffer
            assert buffer.ctypes.data % 64 == 0
            assert buffer.flags.writeable
            places.add(buffer.ctypes.data)
            del batch, buffer
            client.ack(0, number)
        assert len(places) < feed.stream.plan().batches


def test_a_slow_trainer_holds_no_more_than_its_grant():
    stream = OpaqueStream(lane_rows=(400, 400), batch_size=4, message_bytes=4096)
    with FakeFeed(stream) as feed:
        client = feed.client(buffer_bytes=4 * 4096)
        batches = client.epoch(0, 0, 1, 200, "pad")
        session = feed.feeder.sessions[0]
        consumed = 0
        for batch in batches:
            number = batch.number
            assert len(session.sent) <= consumed + 4
            if consumed < 20:
                # What is granted is sent without the trainer asking; then nothing more comes.
                feed.state.wait_for(lambda n=consumed: len(session.sent) >= n + 3)
                assert len(session.sent) <= consumed + 4
            client.ack(0, number)
            consumed += 1
            if consumed == 40:
                break
        assert session.granted <= consumed + 3
        assert session.received[p.PING] == 0


def test_a_trainer_with_enough_batches_sends_nothing_itself(monkeypatch):
    """A feeder that is woken by it may take the processor from the trainer."""
    senders = []
    send = FeederConnection.send

    def noted(self, data):
        senders.append(threading.current_thread() is threading.main_thread())
        return send(self, data)

    with FakeFeed(OpaqueStream(lane_rows=(800,), batch_size=4)) as feed:
        client = feed.client(buffer_bytes=16 * 192)
        for consumed, batch in enumerate(client.epoch(0, 0, 1, 200, "pad")):
            ready = client._subscriptions.reading.ready
            eventually(lambda ready=ready: len(ready) > 8)
            if consumed == 1:  # what began the epoch was the trainer's
                monkeypatch.setattr(FeederConnection, "send", noted)
            if consumed == 50:
                break
            client.ack(0, batch.number)
        assert False in senders
        assert True not in senders


def test_even_a_tiny_buffer_grants_two_batches():
    with FakeFeed(OpaqueStream(message_bytes=1 << 20)) as feed:
        client = feed.client(buffer_bytes=1)
        assert feed.read(client) == feed.stream.expected(0, 0, 1, feed.stream.plan().batches)


def test_receipts_are_coalesced():
    stream = OpaqueStream(lane_rows=(4000,), batch_size=1)
    with FakeFeed(stream) as feed:
        from feed_fakes import QUICK

        client = feed.client(timing=QUICK.__class__(ack=600.0))
        assert len(feed.read(client)) == 4000
        feed.state.wait_for(lambda: len(feed.acked()) == 4000)
        assert feed.feeder.sessions[0].received[p.ACK] == -(-4000 // 256)
        assert feed.feeder.sessions[0].received[p.GRANT] < 400


def test_a_lonely_receipt_goes_out_while_the_trainer_is_busy():
    with FakeFeed() as feed:
        client = feed.client()
        batches = client.epoch(0, 0, 1, 26, "pad")
        client.ack(0, next(batches).number)
        feed.state.wait_for(lambda: feed.acked() == [(0, 0, 0)])


def test_a_trainer_that_may_only_read_sends_no_receipts():
    with FakeFeed(durable=False) as feed:
        feed.feeder.welcome_changes = {"read_only": True}
        client = feed.client()
        assert feed.read(client)
        assert not client._subscriptions.receipts.unconfirmed
        client.close()
        assert not feed.state.acks


def test_receipts_are_kept_until_they_are_durable():
    with FakeFeed(durable=False) as feed:
        client = feed.client()
        expected = feed.read(client)
        feed.state.wait_for(lambda: feed.acked() == pieces_of(expected))
        session = feed.feeder.sessions[0]
        assert sum(n for n, _, _ in client._network.feeders.live[0].undurable) == session.acks
        session.say(encoding.durable(session.acks))
        eventually(lambda: not client._network.feeders.live[0].undurable)


def test_the_next_epoch_is_on_its_way_before_this_one_is_consumed():
    with FakeFeed() as feed:
        client = feed.client()
        session = feed.feeder.sessions[0]
        seen = []
        batches = client.epoch(0, 0, 1, 26, "pad")
        client.prefetch(1, 0, 1, 26, "pad")
        for batch in batches:
            seen.append(content(batch))
            if batch.number == 20:
                feed.state.wait_for(lambda: (1, 0, 0) in session.sent)
            client.ack(0, batch.number)
        seen += consume(client, client.epoch(1, 0, 1, 26, "pad"))
        assert seen == feed.stream.expected(0, 0, 1, 26) + feed.stream.expected(1, 0, 1, 26)
        assert [s.epoch for s in session.subscriptions] == [0, 1]
        client.close()
        feed.state.wait_for(lambda: feed.acked() == pieces_of(seen))


def test_a_prefetched_epoch_shares_the_buffer_with_what_is_not_consumed():
    stream = OpaqueStream(lane_rows=(64,), batch_size=4, message_bytes=4096)
    with FakeFeed(stream) as feed:
        client = feed.client(buffer_bytes=6 * 4096)
        session = feed.feeder.sessions[0]
        batches = client.epoch(0, 0, 1, 16, "pad")
        client.prefetch(1, 0, 1, 16, "pad")
        for consumed, batch in enumerate(batches):
            number = batch.number
            if number == 12:  # 12 to 15 are not consumed: room for two of the next epoch
                feed.state.wait_for(lambda: (1, 1, 0) in session.sent)
                assert session.granted == 1
            assert len(session.sent) <= consumed + 6
            client.ack(0, number)
        assert [c[1] for c in consume(client, client.epoch(1, 0, 1, 16, "pad"))] == list(range(16))


def test_the_border_of_epochs_waits_for_nothing_that_is_being_received():
    with FakeFeed() as feed:
        client = feed.client(buffer_bytes=1)
        batches = client.epoch(0, 0, 1, 26, "pad")
        client.prefetch(1, 0, 1, 26, "pad")
        assert len(list(consume(client, batches))) == 26
        feed.state.wait_for(lambda: (1, 0, 0) in feed.feeder.sessions[0].sent)
        begun = []

        def go_on():
            begun.append(client.epoch(1, 0, 1, 26, "pad"))
            client.prefetch(2, 0, 1, 26, "pad")
            begun.append(True)

        client._turn._lock.acquire()  # as the thread that receives a batch
        try:
            trainer = threading.Thread(target=go_on)
            trainer.start()
            trainer.join(60)
            assert len(begun) == 2
        finally:
            client._turn._lock.release()
        assert [number for _, number, *_ in consume(client, begun[0])] == list(range(26))
        assert len(list(consume(client, client.epoch(2, 0, 1, 26, "pad")))) == 26


@pytest.mark.parametrize("other", [(0, 0, 1, 26), (1, 5, 1, 21), (7, 0, 2, 13)])
def test_break_and_another_position_cancel_what_was_under_way(other):
    with FakeFeed() as feed:
        client = feed.client()
        batches = client.epoch(0, 0, 1, 26, "pad")
        client.prefetch(1, 0, 1, 26, "pad")
        for batch in batches:
            client.ack(0, batch.number)
            if batch.number == 9:
                break
        epoch, first, stride, count = other
        assert feed.read(client, *other) == feed.stream.expected(epoch, first, stride, count)
        with pytest.raises(StokerError, match="another iteration was begun"):
            next(batches)


def test_an_epoch_without_batches_ends_at_once():
    with FakeFeed() as feed:
        client = feed.client()
        assert feed.read(client, 3, 30, 1, 0, "keep") == []
        assert feed.read(client, 4) == feed.stream.expected(4, 0, 1, 26)


def test_a_trainer_without_demand_keeps_its_session():
    with FakeFeed() as feed:
        client = feed.client()
        session = feed.feeder.sessions[0]
        got = []
        for batch in client.epoch(0, 0, 1, 26, "pad"):
            got.append(content(batch))
            if batch.number == 3:
                feed.state.wait_for(lambda: len(session.sent) == len(pieces_of(feed.stream.expected(0, 0, 1, 26))))
            client.ack(0, batch.number)
        assert got == feed.stream.expected(0, 0, 1, 26)
        assert len(feed.feeder.sessions) == 1
        assert session.received[p.PING] == 0


def test_stalls_say_where_the_time_went():
    with FakeFeed() as feed:
        client = feed.client()
        feed.feeder.delay_s = 0.002
        feed.read(client)
        stalls = client.stalls()
        assert {s.feeder for s in stalls} == {feed.feeder.address}
        assert {s.cause for s in stalls} == {"start", "feeder"}
        stats = client.stats()
        assert stats["wait_s"] == pytest.approx(sum(s.seconds for s in stalls))
        assert stats["batches"] == 26
        assert stats["bytes"] == 192 * len(pieces_of(feed.stream.expected(0, 0, 1, 26)))
