"""The socket client when feeders die, hang, restart, move, and when the lane map changes."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from feed_fakes import QUICK, FakeFeed, OpaqueStream, consume, content, eventually, pieces_of
from stoker._client.feeder_pool import Timing
from stoker._client.feeder_source import FeederSource
from stoker._source.batch_source import Consumer
from stoker._transport.discovery import FeedTarget
from stoker._wire import encoding
from stoker._wire import protocol as p
from stoker.errors import ConnectTimeoutError, FeedNotFoundError


def long(feeders=2):
    return FakeFeed(OpaqueStream(lane_rows=(120, 100, 80, 60), batch_size=4, message_bytes=1024), feeders=feeders)


def read_with(feed, client, happenings, epoch=0):
    """An epoch during which something happens when a batch number is in the trainer's hands."""
    got = []
    count = feed.stream.plan().batches
    for batch in client.epoch(epoch, 0, 1, count, "pad"):
        got.append(content(batch))
        number = batch.number
        del batch
        if number in happenings:
            happenings[number]()
        client.ack(epoch, number)
    return got


def tight(feed, **options):
    """A client with a small window, so that most of the epoch is still to come when something happens."""
    return feed.client(buffer_bytes=8 * 1024, **options)


def test_a_dead_feeders_lanes_go_on_at_the_next_in_exact_order():
    with long() as feed:
        client = tight(feed)
        got = read_with(feed, client, {20: feed.feeders[0].stop})
        assert got == feed.stream.expected(0, 0, 1, 90)
        assert [s.lanes for s in feed.feeders[1].sessions[0].subscriptions] == [(1, 3), ()]
        assert client.stats()["failovers"] == 1
        client.close()
        feed.state.wait_for(lambda: feed.acked() == pieces_of(got))


def test_a_hanging_feeders_lanes_go_on_at_the_next():
    with long() as feed:
        client = tight(feed)
        got = read_with(feed, client, {20: feed.feeders[0].hold})
        feed.feeders[0].release()
        assert got == feed.stream.expected(0, 0, 1, 90)
        assert client.stats()["failovers"] == 1


def test_a_feeder_that_is_slow_but_answers_keeps_its_lanes():
    with long() as feed:
        feed.feeders[0].delay_s = 4 * QUICK.failover
        client = tight(feed)
        client.open(Consumer())
        batches = client.epoch(0, 0, 1, feed.stream.plan().batches, "pad")
        got = [content(next(batches)) for _ in range(12)]
        assert got == feed.stream.expected(0, 0, 1, 12)
        assert client.stats()["failovers"] == client.stats()["reconnects"] == 0
        client.close()


def test_a_trainer_that_was_stopped_itself_gives_no_feeder_up_for_that():
    with long() as feed:
        client = tight(feed)
        client.open(Consumer())
        network = client._network
        connection, *others = network.feeders.live
        for other in others:
            network.lost(other, "not of this test")
        began = time.monotonic()
        # It asks, and is stopped before the time for an answer is over.
        for after in (0.0, 0.1, 0.2, 0.25, 30.0, 30.05):
            network._probe(began + after, began)
        assert connection.state == "live"
        for step in range(60):
            network._probe(began + 30.1 + step * 0.05, began)
        assert connection.state == "closed"
        client.close()


def test_lanes_return_when_a_newer_map_says_so():
    with long() as feed:
        client = tight(feed)
        first = feed.feeders[0]

        def back():
            first.start()
            feed.publish(feed.state.lanes)
            eventually(lambda: any(s.subscriptions for s in first.live))

        got = read_with(feed, client, {10: first.stop, 50: back})
        assert got == feed.stream.expected(0, 0, 1, 90)
        assert [s.lanes for s in first.sessions[-1].subscriptions] == [(0, 2)]
        assert feed.feeders[1].live[0].subscriptions[-1].lanes == (1, 3)


def test_lanes_stay_where_they_are_while_no_newer_map_comes():
    with long() as feed:
        client = tight(feed)
        first = feed.feeders[0]
        got = read_with(feed, client, {10: first.stop, 50: first.start})
        assert got == feed.stream.expected(0, 0, 1, 90)
        assert first.live == []


def test_a_feeder_that_was_only_busy_gets_its_lanes_back_without_a_map():
    with long() as feed:
        client = tight(feed, timing=replace(QUICK, forgive=600.0))
        first = feed.feeders[0]

        def back():
            first.release()
            eventually(lambda: any(s.subscriptions for s in first.sessions[1:]), timeout=60.0)

        got = read_with(feed, client, {20: first.hold, 50: back})
        assert got == feed.stream.expected(0, 0, 1, 90)
        assert first.sessions[-1].subscriptions[0].lanes == (0, 2)
        assert client.stats()["failovers"] >= 1


def test_a_newer_map_moves_lanes_without_a_gap():
    with long(feeders=3) as feed:
        client = tight(feed)
        got = read_with(
            feed,
            client,
            {
                20: lambda: feed.publish([[2, 0], [2, 0], [2, 0], [2, 0]]),
                50: lambda: feed.publish([[1], [0], [1], [0]]),
            },
        )
        assert got == feed.stream.expected(0, 0, 1, 90)
        assert client.stats()["reconnects"] == 0


def test_an_older_map_changes_nothing():
    with long() as feed:
        client = tight(feed)
        stale = {**feed.state.lane_map(), "generation": [0, 5], "lanes": [[1]] * 4}

        def say():
            feed.feeders[1].live[0].say(encoding.lane_map(stale))

        got = read_with(feed, client, {20: say})
        assert got == feed.stream.expected(0, 0, 1, 90)
        assert all(len(f.sessions) == 1 and len(f.sessions[0].subscriptions) == 1 for f in feed.feeders)


def test_a_map_of_unreachable_addresses_is_only_advice():
    with FakeFeed() as feed:
        feed.feeder.welcome_changes = {
            "lane_map": {"generation": [1, 1], "addresses": ["127.0.0.1:1"], "lanes": [[0]] * 4}
        }
        client = feed.client()
        assert feed.read(client) == feed.stream.expected(0, 0, 1, 26)


def test_any_address_will_do_to_begin():
    with long() as feed:
        client = feed.client(addresses=["127.0.0.1:1", feed.feeders[1].address])
        assert feed.read(client) == feed.stream.expected(0, 0, 1, 90)
        assert all(f.sessions for f in feed.feeders)


def test_an_only_feeder_that_restarts_gives_exactly_the_rest_and_gets_the_receipts_again():
    with FakeFeed(OpaqueStream(lane_rows=(120, 100)), durable=False) as feed:
        client = feed.client(buffer_bytes=8 * 192)

        def restart():
            feed.feeder.stop()
            feed.state.acks.clear()  # nothing was durable: it is lost with the process
            feed.feeder.start()

        got = read_with(feed, client, {20: restart, 40: restart})
        client.close()
        assert got == feed.stream.expected(0, 0, 1, 55)
        feed.state.wait_for(lambda: feed.acked() == pieces_of(got))
        assert client.stats()["reconnects"] == 2
        again = [s.subscriptions[0] for s in feed.feeder.sessions]
        assert [a.first for a in again] == sorted(a.first for a in again)
        assert again[1].first >= 20  # what has arrived is not asked for again
        assert all(a.first + a.count == 55 for a in again)


def test_durable_receipts_are_not_sent_again():
    with FakeFeed(OpaqueStream(lane_rows=(120, 100))) as feed:
        client = feed.client(buffer_bytes=8 * 192)

        def restart():
            eventually(
                lambda: not client._network.feeders.live[0].undurable and not client._network.feeders.live[0].pending
            )
            feed.feeder.stop()
            feed.state.acks.clear()
            feed.feeder.start()

        got = read_with(feed, client, {20: restart})
        client.close()
        feed.state.wait_for(lambda: feed.acked() == pieces_of(got[20:]))


@pytest.mark.parametrize("code", ["shutting_down", "internal"])
def test_a_feeder_that_goes_away_politely_is_waited_for(code):
    with FakeFeed(OpaqueStream(lane_rows=(120, 100))) as feed:
        client = feed.client(buffer_bytes=8 * 192)
        got = read_with(feed, client, {20: lambda: feed.feeder.live[0].fail(code, "back soon")})
        assert got == feed.stream.expected(0, 0, 1, 55)
        assert len(feed.feeder.sessions) == 2


def test_a_goodbye_means_to_come_again():
    with FakeFeed(OpaqueStream(lane_rows=(120, 100))) as feed:
        client = feed.client(buffer_bytes=8 * 192)
        got = read_with(feed, client, {20: lambda: feed.feeder.live[0].say(encoding.bye())})
        assert got == feed.stream.expected(0, 0, 1, 55)
        assert len(feed.feeder.sessions) == 2


def test_no_feeder_within_the_reconnect_time_is_a_typed_error():
    with FakeFeed() as feed:
        client = feed.client(reconnect_timeout=0.5)
        batches = client.epoch(0, 0, 1, 26, "pad")
        next(batches)
        feed.feeder.stop()
        with pytest.raises(
            ConnectTimeoutError, match=rf"is in lane \d, but no feeder could be reached for .*{feed.feeder.address}"
        ):
            feed.read(client, 1)


def test_an_idle_client_does_not_come_back_to_a_feeder_that_ended():
    with FakeFeed() as feed:
        client = feed.client()
        feed.feeder.sessions[0].fail("fenced", "a loader worker has this seat now")
        eventually(lambda: client._network.feeders.live == [])
        assert client._background.thread.is_alive()
        assert feed.read(client) == feed.stream.expected(0, 0, 1, 26)
        assert len(feed.feeder.sessions) == 2


def test_a_prefetched_epoch_survives_a_restart():
    with FakeFeed() as feed:
        client = feed.client()
        batches = client.epoch(0, 0, 1, 26, "pad")
        client.prefetch(1, 0, 1, 26, "pad")
        got = []
        for batch in batches:
            got.append(content(batch))
            if batch.number == 22:
                feed.state.wait_for(lambda: (1, 0, 0) in feed.feeder.sessions[0].sent)
                feed.feeder.stop()
                feed.feeder.start()
            client.ack(0, batch.number)
        got += consume(client, client.epoch(1, 0, 1, 26, "pad"))
        assert got == feed.stream.expected(0, 0, 1, 26) + feed.stream.expected(1, 0, 1, 26)


def write_feed(home, name, addresses, pid, **more):
    (home / "feeds").mkdir(parents=True, exist_ok=True)
    values = {"name": name, "pid": pid, "addresses": addresses, **more}
    (home / "feeds" / f"{name}.json").write_text(json.dumps(values))


def test_a_named_feed_is_found_again_at_another_port(tmp_path, monkeypatch):
    monkeypatch.setenv("STOKER_HOME", str(tmp_path))
    with FakeFeed(OpaqueStream(lane_rows=(120, 100)), name="photos") as feed:
        write_feed(tmp_path, "photos", [feed.feeder.address], os.getpid())
        client = FeederSource(FeedTarget(name="photos"), timing=QUICK, buffer_bytes=8 * 192)
        client.open(Consumer())

        def move():
            feed.feeder.stop()
            feed.feeder.port = 0
            feed.feeder.start()
            write_feed(tmp_path, "photos", [feed.feeder.address], os.getpid())

        assert read_with(feed, client, {20: move}) == feed.stream.expected(0, 0, 1, 55)
        client.close()


def test_an_unknown_name_says_which_are_known(tmp_path, monkeypatch):
    monkeypatch.setenv("STOKER_HOME", str(tmp_path))
    write_feed(tmp_path, "photos", ["127.0.0.1:1"], os.getpid())
    client = FeederSource(FeedTarget(name="phots"), timing=QUICK)
    with pytest.raises(FeedNotFoundError, match=r"no feed 'phots': .*known feeds: photos; start it with"):
        client.open(Consumer())
    client.close()


@pytest.mark.parametrize("known", [["photos"], []])
def test_an_unknown_name_of_a_directory_says_how_to_read_or_serve_it(tmp_path, monkeypatch, known):
    monkeypatch.setenv("STOKER_HOME", str(tmp_path / "home"))
    (tmp_path / "data").mkdir()
    monkeypatch.chdir(tmp_path)
    for name in known:
        write_feed(tmp_path / "home", name, ["127.0.0.1:1"], os.getpid())
    with pytest.raises(FeedNotFoundError) as refused:
        FeedTarget(name="data").addresses()
    assert str(refused.value) == (
        f"no feed 'data' on this machine{' (known feeds: photos)' if known else ''}. ./data is a directory: read its "
        'dataset with Feed("./data"), or serve it with `stoker feed ./data --name data`'
    )


def test_a_feed_whose_process_is_gone_is_said_to_have_ended(tmp_path, monkeypatch):
    monkeypatch.setenv("STOKER_HOME", str(tmp_path))
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    write_feed(tmp_path, "photos", ["127.0.0.1:1"], gone.pid)
    client = FeederSource(FeedTarget(name="photos"), timing=QUICK)
    with pytest.raises(FeedNotFoundError, match=f"feed 'photos' has ended: process {gone.pid} is gone"):
        client.open(Consumer())
    client.close()


def test_a_feed_that_ended_in_good_order_is_said_to(tmp_path, monkeypatch):
    monkeypatch.setenv("STOKER_HOME", str(tmp_path))
    write_feed(tmp_path, "photos", [], os.getpid(), ended_ms=5)
    client = FeederSource(FeedTarget(name="photos"), timing=QUICK)
    with pytest.raises(FeedNotFoundError, match="feed 'photos' has ended"):
        client.open(Consumer())
    client.close()


def test_a_named_feeds_token_is_found(tmp_path, monkeypatch):
    monkeypatch.setenv("STOKER_HOME", str(tmp_path))
    (tmp_path / "token").write_text("secret\n")
    with FakeFeed(token="secret", name="photos") as feed:
        write_feed(tmp_path, "photos", [feed.feeder.address], os.getpid(), token_file=str(tmp_path / "token"))
        client = FeederSource(FeedTarget(name="photos"), timing=QUICK)
        assert client.open(Consumer()).samples == 103
        client.close()


def test_another_feed_at_the_old_port_is_not_read(tmp_path):
    with FakeFeed(OpaqueStream(lane_rows=(120, 100))) as feed:
        client = feed.client(buffer_bytes=8 * 192, reconnect_timeout=0.5)

        def replace():
            feed.feeder.stop()
            feed.state.feed_id = "ffffffff-0000-5e0f-8a47-000000000001"
            feed.feeder.start()

        with pytest.raises(ConnectTimeoutError, match="this is feed test, not 5a3c5b52"):
            read_with(feed, client, {20: replace})


def test_silence_of_an_only_feeder_is_noticed_by_ping():
    with FakeFeed(OpaqueStream(lane_rows=(120, 100))) as feed:
        timing = Timing(failover=5, ping=0.05, dead=0.2, ack=0.01)
        client = feed.client(buffer_bytes=8 * 192, timing=timing)
        session = feed.feeder.sessions[0]

        def freeze():
            with session._flow:
                session.fault = session.fault.__class__(silent_after=session.sent_bytes)

        got = read_with(feed, client, {20: freeze})
        assert got == feed.stream.expected(0, 0, 1, 55)
        assert session.received[p.PING] == 1
        assert len(feed.feeder.sessions) > 1  # on a busy machine the next one may be late with its PONG, too
