"""A feed to trainers that is asked to end while Flink restarts its tasks, or while its ledger cannot be written."""

import signal

import pytest
from stoker_processes import LIMIT_S, Feeder, suspend, until, views

from stoker import Feed

pytestmark = pytest.mark.full("programs")

OPTIONS = ["--batch-size", 12, "--lanes", 4, "--shuffle-window", "96kb"]


def log_of(cli, feeder: Feeder) -> str:
    return "".join(log.read_text() for log in (cli.home / "logs").glob(f"*-{feeder.process.pid}.log"))


def test_a_feed_that_is_restarting_ends_cleanly_when_it_is_asked_to(cli, photos, start_feeder):
    feeder = start_feeder("restarting", f"{photos.path}@2", *OPTIONS).ready()
    with Feed("restarting") as feed:
        assert len(views(feed)) > 0
    suspend(feeder.process)
    # The process finds both when it continues: its tasks have missed their heartbeats, and it has a signal.
    feeder.process.send_signal(signal.SIGTERM)
    feeder.process.send_signal(signal.SIGCONT)
    assert feeder.process.wait(LIMIT_S) == 0, feeder.text
    assert "switched from state RUNNING to RESTARTING" in log_of(cli, feeder)
    assert "The feed ends: a stop was requested" in log_of(cli, feeder)
    assert cli.finish("audit", "restarting", "--epochs", 1)[0] == 0


def test_a_feed_whose_ledger_cannot_be_written_ends_when_it_is_asked_to(cli, photos, start_feeder, tmp_path):
    ledger = tmp_path / "ledger"
    feeder = start_feeder("unwritable", f"{photos.path}@2", *OPTIONS, "--ledger", ledger).ready()
    with Feed("unwritable") as feed:
        batches = iter(feed)
        next(batches), next(batches)
        until(lambda: any(ledger.glob("part-*.avro")), "the ledger is written")
        ledger.rename(tmp_path / "away")
        ledger.write_text("no directory")
        for _ in batches:
            pass
    feeder.process.send_signal(signal.SIGTERM)
    assert feeder.process.wait(LIMIT_S) == 1, feeder.text
    assert "the feed did not end within 60 s of the request to stop" in feeder.text
    assert str(ledger) in feeder.text
