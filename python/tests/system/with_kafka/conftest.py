"""One broker for all system tests of a session that neither kill nor configure theirs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kafka_broker import Broker

STEADY = {
    # Without processor time for the 3 s of the other brokers it would lose the leadership of its partitions.
    "broker.session.timeout.ms": 120_000,
    # Transactions are aborted soon after their timeout.
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": 200,
}


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Broker]:
    """Each test has its own topics there."""
    broker = Broker(tmp_path_factory.mktemp("broker"), STEADY)
    yield broker
    broker.kill()
