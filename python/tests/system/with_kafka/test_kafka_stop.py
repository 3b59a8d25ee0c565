"""A feed to a topic that is asked to end while Flink restarts its tasks."""

import signal

import pytest
from kafka_broker import Broker
from stoker_processes import LIMIT_S, suspend, until
from topics import Topic

pytestmark = pytest.mark.full("feeds")

OPTIONS = ["--batch-size", 12, "--lanes", 4, "--shuffle-window", "96kb", "--world-size", 1]


@pytest.mark.cells
@pytest.mark.parametrize("is_broker_away", [False, True])
def test_a_restarting_feed_ends_when_it_is_asked_to(cli, photos, tmp_path, is_broker_away):
    broker = Broker(tmp_path)
    feeder = None
    try:
        topic = Topic(broker.address, "stopped")
        to = ["--to", "kafka", "--bootstrap", broker.address, "--topic", topic.name, "--name", f"stop-{is_broker_away}"]
        feeder = cli.start(
            "feed", f"{photos.path}@2", *to, *OPTIONS, "--epochs", 1_000_000, "--checkpoint-interval", "200 ms"
        )
        until(topic.has_committed, "the feed writes")
        if is_broker_away:
            broker.kill()
        suspend(feeder)
        # The process finds both when it continues: its tasks have missed their heartbeats, and it has a signal.
        feeder.send_signal(signal.SIGTERM)
        feeder.send_signal(signal.SIGCONT)
        _, err = feeder.communicate(timeout=LIMIT_S)
        log = "".join(log.read_text() for log in (cli.home / "logs").glob(f"*-{feeder.pid}.log"))
        assert "switched from state RUNNING to RESTARTING" in log
        # Without brokers, it depends on the moment of the restart whether a task has a record that it cannot deliver.
        if feeder.returncode:
            assert is_broker_away, err
            assert feeder.returncode == 1, err
            assert "the feed did not end cleanly within 30 s and was cancelled" in err
    finally:
        broker.kill()
        if feeder is not None:
            feeder.kill()
            feeder.communicate()
