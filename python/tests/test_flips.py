"""Flipped bits of every format that the package reads, and of the bytes between a feeder and a trainer: an error, or
the right content. `python/check -m soak -s -k flip` flips a million bits; TEST_FLIPS and TEST_SEED choose others."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

import flips as f
from feed_fakes import FakeFeed, OpaqueStream, consume
from stoker._client.feeder_pool import Timing
from stoker._source.batch_source import Consumer
from stoker._testing.state import Fault
from stoker.errors import StokerError

HASTY = Timing(failover=0.05, ping=0.05, dead=0.05, attempt=0.5, greeting=0.5, forgive=5.0, refetch=0.05, ack=0.01)
SEED = int(os.environ.get("TEST_SEED", time.time_ns() % 1_000_000_000))


def flip_everything(folder: Path, flips: int) -> None:
    print(f"TEST_SEED={SEED}")
    formats = f.all_formats(folder)
    share = flips / sum(1 / form.dear for form in formats)
    results = [f.flip_bits(form, max(1, round(share / form.dear)), np.random.default_rng(SEED)) for form in formats]
    print(f.table(results))
    assert not [problem for result in results for problem in result.wrong]
    assert all(result.refused or result.format.unread for result in results)


def test_flipped_bits_are_refused_or_change_nothing(tmp_path: Path) -> None:
    flip_everything(tmp_path, f.budget(3_000))


@pytest.mark.soak
def test_a_million_flipped_bits_are_refused_or_change_nothing(tmp_path: Path) -> None:
    flip_everything(tmp_path, f.budget(1_000_000))


def flip_on_the_way(sessions: int) -> None:
    """Each session gets one byte with flipped bits, anywhere in what the feeder sends."""
    print(f"TEST_SEED={SEED}")
    rng = np.random.default_rng(SEED)
    stream = OpaqueStream(lane_rows=(9, 7, 5), batch_size=2, message_bytes=128)
    expected = stream.expected(0, 0, 1, stream.plan().batches)
    with FakeFeed(stream, durable=False) as feed:
        client = feed.client()
        assert feed.read(client) == expected
        sent = feed.feeder.sessions[0].sent_bytes
        client.close()
        right = errors = noticed = 0
        for run in range(1, sessions + 1):
            fault = Fault(flip_at=int(rng.integers(sent)), flip_mask=1 << int(rng.integers(8)))
            feed.feeder.faults.append(fault)
            try:
                client = feed.client(consumer=Consumer(run=run), timing=HASTY, connect_timeout=5, batch_timeout=5)
                assert list(consume(client, client.epoch(0, 0, 1, len(expected), "pad"))) == expected, fault
                right += 1
                noticed += client.stats()["corrupt_pieces"] + client.stats()["reconnects"] > 0
            except StokerError:
                errors += 1
            client.close()
            feed.feeder.faults.clear()
    print(f"{sessions} sessions: {right} with the right batches, {noticed} of them after a repair; {errors} errors")
    assert noticed + errors > 0


def test_flipped_bits_on_the_way_are_never_delivered() -> None:
    flip_on_the_way(40)


@pytest.mark.soak
def test_flipped_bits_of_many_sessions_are_never_delivered() -> None:
    flip_on_the_way(int(os.environ.get("TEST_SESSIONS", 10_000)))
