"""A real topic becomes a dataset by a real `stoker ingest`, which is killed, stopped and begun again."""

import signal
import threading
import uuid

import confluent_kafka
import pytest
from confluent_kafka.admin import AdminClient, NewTopic
from stoker_processes import LIMIT_S, until

from stoker import Feed
from stoker._dataset.versions import newest_version

pytestmark = pytest.mark.full("feeds")

PARTITIONS = 2


class Topic:
    """A new one."""

    def __init__(self, broker):
        self.broker, self.name, self.sent = broker, f"photos-{uuid.uuid4()}", {}
        admin = AdminClient({"bootstrap.servers": broker.address, "log_level": 0})
        for created in admin.create_topics([NewTopic(self.name, PARTITIONS, 1)]).values():
            created.result(LIMIT_S)

    def send(self, count):
        """Sends `count` further records; returns all records sent so far, by their samples' keys."""
        producer = confluent_kafka.Producer({"bootstrap.servers": self.broker.address, "log_level": 0, "linger.ms": 5})
        for i in range(len(self.sent), len(self.sent) + count):
            value = b"value %d " % i * (1 + i % 40)
            producer.produce(self.name, value, partition=i % PARTITIONS)
            self.sent[f"{self.name}-{i % PARTITIONS}-{i // PARTITIONS}"] = value
        assert producer.flush(LIMIT_S) == 0
        return dict(self.sent)


def samples(path):
    found = {}
    with Feed(path, tail="keep", epochs=1) as feed:
        for batch in feed:
            for row, key in enumerate(batch.keys):
                assert key not in found
                found[key] = bytes(batch["data"][row])
    return found


def version(path):
    return newest_version(path) if (path / "_stoker/log").is_dir() else 0


def test_each_record_comes_once_through_kill_and_interrupt(cli, broker, tmp_path):
    path = tmp_path / "data"
    topic = Topic(broker)
    uri = f"kafka://{broker.address}/{topic.name}"
    topic.send(1000)
    first = cli.start("ingest", uri, path, "--value", "raw", "--commit-interval", "300 ms", "--chunk-size", "16kb")
    try:
        until(lambda: version(path) >= 1 or first.poll() is not None, "the first version")
        topic.send(1000)
        before = version(path)
        until(lambda: version(path) > before or first.poll() is not None, "another version")
        sent = topic.send(1000)
        first.kill()
    finally:
        first.kill()
        _, err = first.communicate()
    assert first.returncode == -signal.SIGKILL, err

    second = cli.start("ingest", uri, path, "--value", "raw", "--commit-interval", "1 h")
    try:
        # The ingest has read everything, and does not commit before its interval is over.
        said = []

        def listen():
            with second.stderr:
                for line in second.stderr:
                    said.append(line)

        reader = threading.Thread(target=listen, daemon=True)
        reader.start()
        until(lambda: "lag 0" in "".join(tuple(said)) or second.poll() is not None, "it has read everything")
        second.send_signal(signal.SIGINT)
        second.wait(LIMIT_S)
        reader.join(LIMIT_S)
        out = second.stdout.read()
    finally:
        second.kill()
        second.stdout.close()
    assert second.returncode == 0, "".join(said) + out
    assert f"the same command resumes at {topic.name} 0=1500,1=1500" in out
    assert samples(path) == sent
    cli.run("verify", path)

    out = cli.run("ingest", uri, path, "--value", "raw", "--until", "latest")
    assert "no new version" in out
    out = cli.run("ingest", uri, path, "--value", "raw", "--until", "latest", "--dry-run")
    assert "0 to read" in out


def test_what_is_wrong_is_said_in_one_line(cli, broker, tmp_path):
    said = cli.fails("ingest", f"kafka://{broker.address}/nowhere", tmp_path / "data", "--value", "raw")
    assert "does not exist" in said
    said = cli.fails("ingest", f"kafka://{broker.address}/photos", tmp_path / "data", "--limit", 3, "--value", "xml")
    assert "option --limit is for trees of files" in said
    assert "xml is not raw or json or avro" in said
    assert not (tmp_path / "data").exists()
