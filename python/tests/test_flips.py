"""Flipped bits of every format that the package reads, and of the bytes between a feeder and a trainer: an error, or
the right content. `python/check -m soak -s -k flip` flips a million bits."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import pytest

import flips as f
from feed_fakes import FakeFeed, OpaqueStream, consume
from rounds import Round, is_replay, rounds
from stoker._client.feeder_pool import Timing
from stoker._source.batch_source import Consumer
from stoker._testing.state import Fault
from stoker.errors import StokerError

HASTY = Timing(failover=0.05, ping=0.05, dead=0.05, attempt=0.5, greeting=0.5, forgive=5.0, refetch=0.05, ack=0.01)


def flip_everything(folder: Path, flips: int, seconds: float = 0) -> None:
    """Damages this number of copies at least, of all formats in turn."""
    formats = [f.Flips(form) for form in f.all_formats(folder)]

    def one(rng: Round) -> None:
        for form in formats:
            form.round(rng)

    each = sum(f.MOST // form.format.dear for form in formats)
    rounds(one, seconds=seconds, at_least=math.ceil(flips / each))
    print(f.table(formats))
    assert is_replay() or all(form.refused or form.format.unread for form in formats)


def test_flipped_bits_are_refused_or_change_nothing(tmp_path: Path) -> None:
    flip_everything(tmp_path, 2_000, seconds=3)


@pytest.mark.soak
def test_a_million_flipped_bits_are_refused_or_change_nothing(tmp_path: Path) -> None:
    flip_everything(tmp_path, 1_000_000)


def flip_on_the_way(sessions: int, seconds: float = 0) -> None:
    """Each session gets one byte with flipped bits, anywhere in what the feeder sends."""
    stream = OpaqueStream(lane_rows=(9, 7, 5), batch_size=2, message_bytes=128)
    expected = stream.expected(0, 0, 1, stream.plan().batches)
    with FakeFeed(stream, durable=False) as feed:
        client = feed.client()
        assert feed.read(client) == expected
        sent = feed.feeder.sessions[0].sent_bytes
        client.close()
        count = Counter[str]()

        def one(rng: Round) -> None:
            fault = Fault(flip_at=rng.randrange(sent), flip_mask=1 << rng.randrange(8))
            feed.feeder.faults.append(fault)
            count["runs"] += 1
            consumer = Consumer(run=count["runs"])
            try:
                client = feed.client(consumer=consumer, timing=HASTY, connect_timeout=5, batch_timeout=5)
                assert list(consume(client, client.epoch(0, 0, 1, len(expected), "pad"))) == expected, fault
                count["right"] += 1
                count["noticed"] += client.stats()["corrupt_pieces"] + client.stats()["reconnects"] > 0
            except StokerError:
                count["errors"] += 1
            client.close()
            feed.feeder.faults.clear()

        done = rounds(one, seconds=seconds, at_least=sessions)
    print(f"{done} sessions: {dict(count)}; noticed: right after a repair")
    assert is_replay() or count["noticed"] + count["errors"] > 0


def test_flipped_bits_on_the_way_are_never_delivered() -> None:
    flip_on_the_way(20, seconds=2)


@pytest.mark.soak
def test_flipped_bits_of_many_sessions_are_never_delivered() -> None:
    flip_on_the_way(10_000)
