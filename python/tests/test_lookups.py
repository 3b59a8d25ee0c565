"""Requests for single samples to feeders that fail, or that answer what was not asked."""

import contextlib
import json
import socket
import struct
import threading
from dataclasses import replace
from pathlib import Path

import pytest

import stoker
from stoker._lookup.feed_samples import FeedSamples
from stoker._lookup.feeders import Choice
from stoker._lookup.session import Patience
from stoker._transport.discovery import target_of
from stoker._transport.security import Security
from stoker._wire import encoding, lookups
from stoker._wire import protocol as p
from stoker.errors import ConnectTimeoutError, CorruptDataError, ProtocolError, StateMismatchError

VECTORS = Path(__file__).resolve().parents[2] / "schemas" / "src" / "test" / "resources" / "vectors" / "protocol.json"
WELCOME = next(v["fields"] for v in json.loads(VECTORS.read_text(encoding="utf-8"))["frames"] if v["name"] == "welcome")
VERSION = WELCOME["stream"]["version"]


class FakeFeeder:
    """Answers each GET with what a function returns: frames, or None to say nothing more and to close."""

    def __init__(self, answer, welcome=WELCOME):
        self._answer = answer
        self._server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._server.getsockname()[1]}"
        self.welcome = {**welcome, "lane_map": {**welcome["lane_map"], "addresses": [self.address], "lanes": [[0]] * 4}}
        self.sessions = 0
        self.pings = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            self.sessions += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as stream:
            while len(prefix := stream.read(8)) == 8:
                length, kind, _, _ = struct.unpack("<IBBH", prefix)
                body = stream.read(length - 4)[:-4]
                if kind == p.HELLO:
                    connection.sendall(encoding.welcome(self.welcome))
                elif kind == p.GET:
                    frames = self._answer(lookups.decode_get(body))
                    if frames is None:
                        return
                    connection.sendall(frames)
                elif kind == p.PING:
                    self.pings += 1
                elif kind == p.BYE:
                    return

    def close(self):
        self._server.close()


def missing(asked, *numbers, last=True, version=VERSION, **changed):
    items = tuple(p.Item(number, p.MISSING) for number in numbers)
    return encoding.samples(replace(p.Samples(asked.request, version, last, items), **changed))


def opened(*feeders, patience=Patience(ping=0.05, dead=0.2), **options):  # noqa: B008
    target = target_of(",".join(feeder.address for feeder in feeders))
    return FeedSamples(Choice(target, Security(), reconnect_timeout=5, patience=patience, **options))


@pytest.fixture
def feeder():
    started = []

    def start(answer, **options):
        started.append(FakeFeeder(answer, **options))
        return started[-1]

    yield start
    for each in started:
        each.close()


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (lambda r: missing(r, 0, 0), "answered key 0 twice or unasked"),
        (lambda r: missing(r, 2), "answered key 2 twice or unasked"),
        (lambda r: missing(r), "left 2 of 2 keys without an answer"),
        (lambda r: missing(r, 0, 1, version=9), "from version 9"),
        (lambda r: missing(r, 0, 1, request=77), "answered request 77"),
        (lambda r: encoding.entries(p.Entries(r.request, VERSION, False, ())), "sent ENTRIES out of turn"),
        (lambda r: struct.pack("<IBBH", (1 << 31) - 1, p.SAMPLES, 0, 0), "nothing like that was requested"),
        (lambda r: missing(r, 0, 1)[:-1] + b"\0", "they were changed on the way"),
        (lambda r: struct.pack("<IBBH", 80, p.BATCH, 0, 0) + bytes(80), "BATCH"),
    ],
)
def test_what_was_not_asked_is_refused_after_some_tries(feeder, answer, problem):
    liar = feeder(answer)
    with opened(liar) as samples, pytest.raises(ProtocolError, match=problem):
        samples.get(["a", "b"])
    assert liar.sessions == 4


def test_damage_and_wrong_messages_are_errors(feeder):
    damaged = p.Item(1, p.DAMAGED, 12, 5, 3, 0, "chunk 12, row 5, key 'b': broken")
    other = feeder(
        lambda r: encoding.samples(p.Samples(r.request, VERSION, True, (p.Item(0, p.MISSING), damaged), b""))
    )
    with opened(other) as samples, pytest.raises(CorruptDataError, match="chunk 12, row 5, key 'b': broken"):
        samples.get(["a", "b"])
    wrong = feeder(lambda r: encoding.samples(p.Samples(r.request, VERSION, True, (p.Item(0, p.FOUND),), b"x" * 64)))
    with opened(wrong) as samples, pytest.raises(CorruptDataError):
        samples.get(["a"])


def test_keys_that_are_answered_are_not_requested_again(feeder):
    asked = []

    def half(request):
        asked.append(request.keys)
        return None if len(asked) > 1 else missing(request, 1, last=False) + encoding.error("shutting_down", "bye")

    first, second = feeder(half), feeder(lambda r: asked.append(r.keys) or missing(r, *range(len(r.keys))))
    with opened(first, second) as samples:
        assert samples.get(["a", "b", "c"]) == [None, None, None]
    assert asked == [("a", "b", "c"), ("a", "c")]


def test_a_silent_feeder_is_left(feeder):
    silent = feeder(lambda r: b"")
    other = feeder(lambda r: missing(r, 0))
    with opened(silent, other) as samples:
        assert samples.get(["a"]) == [None]
    assert silent.pings >= 1
    assert other.sessions == 1


def test_other_data_under_the_same_address_is_refused(feeder):
    first = feeder(lambda r: None)
    moved = {**WELCOME, "stream": {**WELCOME["stream"], "version": VERSION + 1}}
    second = feeder(lambda r: missing(r, 0), welcome=moved)
    with opened(first, second) as samples, pytest.raises(StateMismatchError, match="restarted with other data"):
        samples.get(["a"])


def test_nobody_answers():
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ConnectTimeoutError, match="no feeder of"):
        stoker.open(feed=address, connect_timeout=0.1)


def test_a_closed_object_says_so(feeder):
    samples = opened(feeder(lambda r: missing(r, 0)))
    samples.close()
    with pytest.raises(ValueError, match="was closed"):
        samples.stat("a")


def test_many_keys_are_divided_into_requests(feeder):
    sizes = []
    counted = feeder(lambda r: sizes.append(len(r.keys)) or missing(r, *range(len(r.keys))))
    with opened(counted, patience=Patience()) as samples:
        assert samples.get(str(n) for n in range(70_000)) == [None] * 70_000
        assert sizes == [65_536, 4_464]
        assert samples.get(["x" * 400_000] * 5) == [None] * 5
        assert sizes[2:] == [2, 2, 1]
        with pytest.raises(ValueError, match="cannot be requested"):
            samples.get(["x" * 2_000_000])
