"""What a trainer says while no feeder can be reached."""

import logging
from types import SimpleNamespace

import pytest

from stoker._client.batch_wait import BatchWait, WaitLimits
from stoker.errors import ConnectTimeoutError


def limits(live=None):
    peer = SimpleNamespace(live=live, down_since=100.0, error="")
    feeders = SimpleNamespace(
        address_of=lambda lane: "a:1", by_address={"a:1": peer}, describe=lambda: "a:1 refused the connection"
    )
    network = SimpleNamespace(feeders=feeders, quiet_s=lambda connection, now: 0.0)
    return WaitLimits("feed photos", network, SimpleNamespace(is_refused=lambda span, index: False), 60.0, 300.0)


SPAN = SimpleNamespace(waiting_lanes=lambda index: [3], epoch=2, number=lambda index: 7)


def test_a_trainer_says_once_that_it_waits_for_a_feeder(caplog):
    caplog.set_level(logging.WARNING, "stoker")
    wait = BatchWait(100.0, "feeder")
    checks = limits()
    checks.check(SPAN, 0, wait, 104.0)
    assert not caplog.records, "another feeder usually takes over"
    for now in (105.5, 106.0, 150.0):
        checks.check(SPAN, 0, wait, now)
    (record,) = caplog.records
    assert "feed photos: no feeder can be reached since" in record.getMessage()
    assert "waiting up to 60 s for it (reconnect_timeout): a:1 refused the connection" in record.getMessage()
    assert wait.cause == "connect"
    with pytest.raises(ConnectTimeoutError, match="no feeder could be reached for 60 s"):
        checks.check(SPAN, 0, wait, 161.0)


def test_a_trainer_with_a_feeder_says_nothing(caplog):
    caplog.set_level(logging.WARNING, "stoker")
    limits(live=object()).check(SPAN, 0, BatchWait(100.0, "feeder"), 250.0)
    assert not caplog.records
