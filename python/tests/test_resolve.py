"""A slow name server delays only the feeder whose name it is."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from feed_fakes import FakeFeed, consume, eventually
from stoker._transport import resolver

SLOW = "slow.feeder.example"


@pytest.fixture
def answers(monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """Set: the name server answers 127.0.0.1 for SLOW; until then it says nothing."""
    gate, real = threading.Event(), socket.getaddrinfo

    def lookup(host: Any, port: Any, *args: Any, **given: Any) -> Any:
        if host == SLOW:
            if given.get("flags"):
                raise socket.gaierror("not an address")
            assert gate.wait(20)
            host = "127.0.0.1"
        return real(host, port, *args, **given)

    monkeypatch.setattr(socket, "getaddrinfo", lookup)
    monkeypatch.setattr(resolver, "_lookups", {})
    yield gate
    gate.set()


def test_batches_of_others_arrive_while_a_name_is_looked_up(answers: threading.Event) -> None:
    with FakeFeed(feeders=2) as feed:
        slow = feed.feeders[1]
        feed.state.addresses[1] = f"{SLOW}:{slow.port}"
        client = feed.client(addresses=[feed.feeders[0].address])
        batches = list(consume(client, client.epoch(0, 0, 1, 26, "pad")))
        assert batches == feed.stream.expected(0, 0, 1, 26)
        assert not answers.is_set()
        assert not slow.sessions
        answers.set()
        found = consume(client, client.epoch(1, 0, 1, 26, "pad"))
        next(found)
        eventually(lambda: slow.sessions or next(found, None) is None)


def test_a_name_that_is_known_is_used_while_it_is_looked_up_again(
    answers: threading.Event, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers.set()
    monkeypatch.setattr(resolver, "WAIT_S", 10.0)
    first = resolver.addresses(SLOW, 7531)
    answers.clear()
    monkeypatch.setattr(resolver, "_FRESH_S", -1.0)
    assert resolver.addresses(SLOW, 7531) == first


def test_a_name_that_is_not_known_is_said_to_be_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "WAIT_S", 10.0)
    with pytest.raises((socket.gaierror, UnicodeError)):
        resolver.addresses("no-such-host.invalid", 7531)
