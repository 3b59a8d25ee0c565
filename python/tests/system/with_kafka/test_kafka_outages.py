"""Brokers and a store that are away for longer than the limits of the calls to them: feeds to a topic and topic
ingests wait, say what for, and lose and repeat nothing."""

import json
import shutil
import signal
import threading

import pytest
from confluent_kafka import IsolationLevel
from kafka_broker import Broker
from s3_server import IMPATIENT, S3Server
from stoker_processes import LIMIT_S, until, views, warnings
from test_kafka_faults import OPTIONS, ORDER
from test_topic_ingests import Topic as Source
from test_topic_ingests import samples, version
from topics import Topic

from stoker import Feed

pytestmark = pytest.mark.full("feeds")

CALLS = {"request.timeout.ms": 1000, "default.api.timeout.ms": 2000, "socket.connection.setup.timeout.ms": 1000}
"""Limits of the calls, in milliseconds. Only a producer's last one is longer: it waits for weeks by default."""


def calm(cli, process, restarts=False):
    """The log is short, and nothing was restarted unless that is allowed."""
    logs = [log.read_text() for log in (cli.home / "logs").glob(f"*-{process.pid}.log")]
    assert logs
    assert restarts or not [log for log in logs if "RESTARTING" in log]
    said = warnings(cli, process)
    assert len(said) < 64 << 10, said


@pytest.fixture
def broker(tmp_path):
    directory = tmp_path / "broker"
    directory.mkdir()
    broker = Broker(directory, {"transaction.abort.timed.out.transaction.cleanup.interval.ms": 200})
    yield broker
    broker.kill()


@pytest.fixture
def clients(tmp_path):
    """The options that shorten the limits of Kafka's clients."""
    file = tmp_path / "kafka.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in CALLS.items()))
    return ["--kafka-config", file]


EPOCHS = 200
"""The feed is still writing when its broker is killed."""


@pytest.mark.cells
@pytest.mark.parametrize("delivery", ["at-least-once", "exactly-once"])
def test_a_feed_goes_on_when_its_broker_returns(cli, photos, broker, clients, delivery):
    with Feed(photos.path, version=2, **ORDER, tail="keep") as feed:
        expected = [views(feed) for _ in range(EPOCHS)]
    topic = Topic(broker.address, delivery)
    to = ["--to", "kafka", "--bootstrap", broker.address, "--topic", topic.name, "--name", topic.name]
    options = [*OPTIONS, *clients, "--epochs", EPOCHS, "--delivery", delivery, "--checkpoint-interval", "500 ms"]
    if delivery == "exactly-once":
        # It passes during the outage.
        options += ["--transaction-timeout", "2500 ms"]
    feeder = cli.start("feed", f"{photos.path}@2", *to, *options)
    try:
        until(lambda: topic.has_committed() or feeder.poll() is not None, "the feed writes")
        broker.kill()

        def problems():
            return json.loads(cli.run("top", topic.name, "--once", "--json"))[0]["problems"]

        said = until(problems, "the feed says what it waits for")
        assert any(broker.address in line for line in said), said
        broker.start()
        out, err = feeder.communicate(timeout=LIMIT_S)
        assert feeder.returncode == 0, out + err
        # The brokers abort a transaction whose time has passed, and the feed writes its records again.
        calm(cli, feeder, restarts=delivery == "exactly-once")
    finally:
        feeder.kill()
        feeder.communicate()
    with Feed(topic.target, tail="keep", group="trainers") as feed:
        for epoch in range(EPOCHS):
            assert views(feed) == expected[epoch]
    assert topic.ends(IsolationLevel.READ_UNCOMMITTED) == topic.ends(IsolationLevel.READ_COMMITTED)


@pytest.fixture
def store(tmp_path, monkeypatch):
    """An S3 server, to which the commands of this test go."""
    with S3Server(tmp_path, "127.0.0.1") as server:
        hadoop = tmp_path / "hadoop"
        hadoop.mkdir()
        server.configure(hadoop, IMPATIENT)
        monkeypatch.setenv("HADOOP_CONF_DIR", str(hadoop))
        yield server


class Ingest:
    """A process `stoker ingest`, and what it says."""

    def __init__(self, cli, *args):
        self.process = cli.start("ingest", *args)
        self.said = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        with self.process.stderr as lines:
            for line in lines:
                self.said.append(line)

    def until(self, condition, what):
        until(lambda: self.process.poll() is not None or condition(), what)
        assert self.process.poll() is None, "".join(self.said)

    def waits_for(self, what):
        """Until it says so."""
        self.until(lambda: any("waits for: " in line and what in line for line in list(self.said)), f"waits for {what}")

    def end(self):
        self.process.kill()
        self.process.wait()
        self._reader.join(LIMIT_S)
        self.process.stdout.close()


def test_an_ingest_goes_on_when_its_broker_and_its_store_return(cli, broker, store, clients, tmp_path):
    location, files = store.place("data")
    topic = Source(broker)
    topic.send(600)
    options = ["--value", "raw", "--commit-interval", "300 ms", "--chunk-size", "16kb", *clients]
    ingest = Ingest(cli, f"kafka://{broker.address}/{topic.name}", location, *options)
    try:
        ingest.until(lambda: version(files) >= 1, "the first version")
        broker.kill()
        ingest.waits_for(broker.address)
        broker.start()
        topic.send(600)
        seen = version(files)
        ingest.until(lambda: version(files) > seen, "a version after the broker's return")
        store.kill()
        topic.send(600)
        ingest.waits_for(location)
        seen = version(files)
        store.start()
        sent = topic.send(600)
        ingest.until(lambda: version(files) > seen, "a version after the store's return")
        ingest.until(lambda: samples(files) == sent, "it has committed everything")
        ingest.process.send_signal(signal.SIGINT)
        ingest.process.wait(LIMIT_S)
        assert ingest.process.returncode == 0, "".join(ingest.said)
        calm(cli, ingest.process)
    finally:
        ingest.end()
    copy = shutil.copytree(files, tmp_path / "copy")
    assert samples(copy) == sent
    cli.run("verify", copy)
