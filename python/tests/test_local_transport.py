"""Clients reach feeders on the same machine over Unix-domain sockets automatically, and over TCP if that fails."""

import json
import os
import socket
import tempfile

import pytest

from feed_fakes import QUICK, FakeFeed, OpaqueStream, pieces_of
from stoker._client.feeder_source import FeederSource
from stoker._client.lane_map import LaneMap
from stoker._source.batch_source import Consumer
from stoker._source.instance import host_id
from stoker._transport.discovery import FeedTarget
from stoker._transport.local_transport import UnixAddress
from stoker._transport.security import Security
from stoker.errors import ProtocolError


@pytest.fixture
def near():
    """A private directory with a path that is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="stoker-", dir="/tmp") as made:
        yield made + "/s"


def read_all(feed, client):
    expected = feed.stream.expected(0, 0, 1, feed.stream.plan().batches)
    assert feed.read(client) == expected
    client.close()
    feed.state.wait_for(lambda: feed.acked() == pieces_of(expected))


def test_goes_over_to_the_socket_before_anything_is_asked_for(near):
    with FakeFeed() as feed:
        feed.feeder.listen_near(near)
        client = feed.client()
        feed.read(client, 0, 0, 1, 2)
        stats = client.stats()
        assert (stats["connections"], stats["unix_connections"], stats["reconnects"]) == (1, 1, 0)
        first, second = feed.feeder.sessions
        assert (first.path, second.path) == ("", near)
        assert not first.subscriptions
        assert second.subscriptions
        assert second.hello["joined"] == first.identity[4]
        read_all(feed, client)


def test_a_feeds_file_names_the_socket_so_that_tcp_is_not_used_at_all(near, tmp_path, monkeypatch):
    monkeypatch.setenv("STOKER_HOME", str(tmp_path))
    with FakeFeed() as feed:
        feed.feeder.listen_near(near)
        (tmp_path / "feeds").mkdir()
        values = {
            "addresses": [feed.feeder.address],
            "unix": {feed.feeder.address: {"host": host_id(), "path": near}},
        }
        (tmp_path / "feeds" / "test.json").write_text(json.dumps(values))
        client = feed.client(target=FeedTarget(name="test"))
        read_all(feed, client)
        assert [s.path for s in feed.feeder.sessions] == [near]


def test_an_explicit_socket_is_enough(near):
    with FakeFeed(OpaqueStream(lane_rows=(40, 30, 20, 13))) as feed:
        feed.feeder.listen_near(near)
        client = feed.client(target=FeedTarget(given=(f"unix:{near}",)))
        read_all(feed, client)
        assert [s.path for s in feed.feeder.sessions] == [near]


@pytest.mark.parametrize("fault", ["another machine", "gone", "nobody listens", "open to others", "cuts off"])
def test_tcp_takes_its_place(near, fault):
    with FakeFeed() as feed:
        feed.feeder.listen_near(near, host="another" if fault == "another machine" else None)
        if fault == "gone":
            os.unlink(near)
        elif fault == "nobody listens":
            feed.feeder._near.shutdown(socket.SHUT_RDWR)
        elif fault == "open to others":
            os.chmod(os.path.dirname(near), 0o755)
        elif fault == "cuts off":
            feed.feeder.near_is_deaf = True
        client = feed.client()
        feed.read(client, 0, 0, 1, 2)
        assert client.stats()["unix_connections"] == 0
        read_all(feed, client)
        assert feed.feeder.sessions[-1].path == ""


def test_can_be_told_to_use_tcp(near, monkeypatch):
    monkeypatch.setenv("STOKER_TRANSPORT", "tcp")
    with FakeFeed() as feed:
        feed.feeder.listen_near(near)
        read_all(feed, feed.client())
        assert [s.path for s in feed.feeder.sessions] == [""]
    monkeypatch.setenv("STOKER_TRANSPORT", "pigeon")
    with (
        FakeFeed() as feed,
        pytest.raises(ValueError, match="STOKER_TRANSPORT='pigeon' is not one of auto, tcp, unix, local-reads"),
    ):
        feed.client()


def test_a_feeder_that_returns_with_another_socket_is_found_there(near):
    with FakeFeed() as feed:
        feed.feeder.listen_near(near)
        client = feed.client(buffer_bytes=1)
        expected = feed.stream.expected(0, 0, 1, 10)
        got = []
        for batch in client.epoch(0, 0, 1, 10, "pad"):
            got.append((batch.epoch, batch.number))
            client.ack(0, batch.number)
            if batch.number == 4:
                feed.feeder.stop()
                os.unlink(near)
                feed.feeder.start()
                feed.feeder.listen_near(near + "2")
        assert got == [e[:2] for e in expected]
        assert client.stats()["unix_connections"] == 1
        assert feed.feeder.sessions[-1].path == near + "2"


@pytest.mark.parametrize("unix", [[], {"a:1": {}}, {"a:1": {"host": 1, "path": "/s"}}, {"a:1": "/s"}])
def test_refuses_a_malformed_place(unix):
    values = {"generation": [1, 1], "addresses": ["a:1"], "lanes": [[0]], "unix": unix}
    with pytest.raises(ProtocolError, match="unix"):
        LaneMap.from_json(values, 1)
    values["unix"] = {"a:1": {"host": "h", "path": "/s", "later": 1}}
    assert LaneMap.from_json(values, 1).unix == {"a:1": UnixAddress("h", "/s")}


def test_a_trainer_that_was_told_of_tls_does_not_leave_tcp(near, monkeypatch):
    assert Security().allows_unix
    for said in ({"tls": False}, {"tls": "ca.pem"}, {"cert": "c.pem"}, {"name": "host"}):
        assert not Security(**said).allows_unix
    with FakeFeed() as feed:
        feed.feeder.listen_near(near)
        client = FeederSource(FeedTarget(given=(feed.feeder.address,)), timing=QUICK, security=Security(tls=False))
        client.open(Consumer())
        read_all(feed, client)
        assert [s.path for s in feed.feeder.sessions] == [""]
    monkeypatch.setenv("STOKER_TLS_CA", "ca.pem")
    assert not Security().allows_unix
