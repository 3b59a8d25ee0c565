"""Brokers that ask for a password, over TLS or salted: feeds, ingests and trainers come in with theirs, and nobody says
what it is."""

from __future__ import annotations

from contextlib import closing

import pytest
from certificates import Authority
from confluent_kafka import Consumer, TopicPartition
from kafka_broker import Broker
from stoker_processes import LIMIT_S, views
from test_java_client import JavaTrainer

from ports import free_port
from stoker import Feed, errors

pytestmark = pytest.mark.full("programs")

SECRET = "correct-horse-7"
ORDER = {"batch_size": 12, "lanes": 4, "shuffle_window": 96 << 10, "lane_order": "fixed"}
OPTIONS = ["--batch-size", 12, "--lanes", 4, "--shuffle-window", "96kb", "--world-size", 2, "--epochs", 1]
MODULE = "org.apache.kafka.common.security"
LOGIN = MODULE + '.{} required username="{}" password="{}"'
SALTED = ("SCRAM-SHA-256", "SCRAM-SHA-512")


class Secured:
    """A broker, and the settings of clients."""

    def __init__(self, directory):
        authority = Authority(directory / "keys", "authority")
        pem, key = authority.issue("broker", "IP:127.0.0.1")
        store = directory / "broker.pem"
        store.write_text(key.read_text() + pem.read_text())
        self.authority, self.directory, port, salted = authority, directory, free_port(), free_port()
        self.address, self.salted = f"127.0.0.1:{port}", f"127.0.0.1:{salted}"
        listener, open_one = "listener.name.secured.", "listener.name.salted."
        plain = LOGIN.format("plain.PlainLoginModule", "broker", "unused") + f' user_feed="{SECRET}";'
        (directory / "broker").mkdir()
        self.broker = Broker(
            directory / "broker",
            {
                f"{listener}ssl.keystore.type": "PEM",
                f"{listener}ssl.keystore.location": store,
                f"{listener}sasl.enabled.mechanisms": "PLAIN",
                f"{listener}plain.sasl.jaas.config": plain,
                f"{open_one}sasl.enabled.mechanisms": ",".join(SALTED),
            }
            | {
                f"{open_one}{mechanism.lower()}.sasl.jaas.config": f"{MODULE}.scram.ScramLoginModule required;"
                for mechanism in SALTED
            },
            listening=[("SECURED", "SASL_SSL", port), ("SALTED", "SASL_PLAINTEXT", salted)],
            users=[f"{mechanism}=[name=feed,password={SECRET}]" for mechanism in SALTED],
        )

    def java(self, password=SECRET):
        """For the feeder and the Java client."""
        file = self.directory / "java.properties"
        login = LOGIN.format("plain.PlainLoginModule", "feed", password) + ";"
        file.write_text(
            "security.protocol=SASL_SSL\nsasl.mechanism=PLAIN\nssl.truststore.type=PEM\n"
            f"ssl.truststore.location={self.authority.pem}\nsasl.jaas.config={login}\n"
        )
        return file

    def python(self, password=SECRET):
        """For librdkafka."""
        file = self.directory / "python.properties"
        file.write_text(
            f"# of the trainers\nsecurity.protocol=sasl_ssl\nsasl.mechanism=PLAIN\n"
            f"ssl.ca.location={self.authority.pem}\n"
            f"sasl.username=feed\nsasl.password={password}\n"
        )
        return file

    def salted_java(self, mechanism, password=SECRET):
        file = self.directory / "salted-java.properties"
        login = LOGIN.format("scram.ScramLoginModule", "feed", password) + ";"
        file.write_text(f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism={mechanism}\nsasl.jaas.config={login}\n")
        return file

    def salted_python(self, mechanism, password=SECRET):
        file = self.directory / "salted-python.properties"
        login = f"sasl.username=feed\nsasl.password={password}\n"
        file.write_text(f"security.protocol=sasl_plaintext\nsasl.mechanism={mechanism}\n{login}")
        return file


@pytest.fixture(scope="module")
def secured(tmp_path_factory):
    secured = Secured(tmp_path_factory.mktemp("secured"))
    yield secured
    secured.broker.kill()


def test_feeder_and_trainers_come_in_with_certificate_and_password(cli, secured, photos, tmp_path, monkeypatch):
    to = ["--to", "kafka", "--bootstrap", secured.address, "--topic", "photos", "--name", "secured"]
    _, out, err = cli.finish("feed", f"{photos.path}@2", *to, *OPTIONS, "--kafka-config", secured.java())
    assert "done after" in out, err
    with Feed(photos.path, version=2, **ORDER, tail="keep") as feed:
        expected = views(feed)
    target = f"kafka://{secured.address}/photos"
    monkeypatch.setenv("STOKER_KAFKA_CONFIG", str(secured.python()))
    with Feed(target, tail="keep", connect_timeout=LIMIT_S) as feed:
        assert views(feed) == expected
    variables = {"STOKER_KAFKA_CONFIG": str(secured.java())}
    trainer = JavaTrainer(cli, tmp_path / "notes", target, 1, variables, tail="keep")
    assert trainer.end() == expected
    # Neither said nor written down.
    written = [f.read_bytes() for f in cli.home.rglob("*") if f.is_file() and b"secured" in f.name.encode()]
    assert written
    for text in (out.encode(), err.encode(), *written):
        assert SECRET.encode() not in text


def test_a_wrong_password_is_one_line_without_it(cli, secured, photos, monkeypatch):
    to = ["--to", "kafka", "--bootstrap", secured.address, "--topic", "other", "--name", "refused"]
    said = cli.fails("feed", f"{photos.path}@2", *to, *OPTIONS, "--kafka-config", secured.java("wrong-battery-8"))
    assert f"topic other at {secured.address}" in said
    assert "uthentication" in said
    assert "wrong-battery-8" not in said
    monkeypatch.setenv("STOKER_KAFKA_CONFIG", str(secured.python("wrong-battery-8")))
    with pytest.raises(errors.ConnectTimeoutError, match="uthentication") as raised:
        _ = Feed(f"kafka://{secured.address}/photos", connect_timeout=10).info
    assert "wrong-battery-8" not in str(raised.value)


def test_a_salted_password_opens_to_feed_ingest_and_both_clients(cli, secured, photos, tmp_path, monkeypatch):
    first, second = SALTED
    to = ["--to", "kafka", "--bootstrap", secured.salted, "--topic", "salted", "--name", "salted"]
    cli.run("feed", f"{photos.path}@2", *to, *OPTIONS, "--kafka-config", secured.salted_java(first))
    with Feed(photos.path, version=2, **ORDER, tail="keep") as feed:
        expected = views(feed)
    target = f"kafka://{secured.salted}/salted"
    monkeypatch.setenv("STOKER_KAFKA_CONFIG", str(secured.salted_python(first)))
    with Feed(target, tail="keep", connect_timeout=LIMIT_S) as feed:
        assert views(feed) == expected
    java = secured.salted_java(second)
    trainer = JavaTrainer(cli, tmp_path / "notes", target, 1, {"STOKER_KAFKA_CONFIG": str(java)}, tail="keep")
    assert trainer.end() == expected
    # What a topic holds does not matter to an ingest of its bytes.
    data = tmp_path / "data"
    cli.run("ingest", target, data, "--value", "raw", "--until", "latest", "--kafka-config", java)
    with Feed(data, tail="keep") as feed:
        taken = sorted(key for batch in feed for key in batch.keys)
    with closing(Consumer({"bootstrap.servers": secured.broker.address, "group.id": "looking"})) as consumer:
        ends = [consumer.get_watermark_offsets(TopicPartition("salted", p), timeout=LIMIT_S)[1] for p in range(4)]
    assert taken == sorted(f"salted-{p}-{offset}" for p, end in enumerate(ends) for offset in range(end))


def test_a_wrong_salted_password_is_one_line_without_it(cli, secured, photos, tmp_path, monkeypatch):
    wrong = "wrong-battery-8"
    java = secured.salted_java(SALTED[1], wrong)
    target = f"kafka://{secured.salted}/salted"
    to = ["--to", "kafka", "--bootstrap", secured.salted, "--topic", "other", "--name", "refused"]
    trainer = JavaTrainer(cli, tmp_path / "notes", target, 1, {"STOKER_KAFKA_CONFIG": str(java)})
    said = [
        line(cli.fails("feed", f"{photos.path}@2", *to, *OPTIONS, "--kafka-config", java)),
        line(cli.fails("ingest", target, tmp_path / "data", "--value", "raw", "--kafka-config", java)),
        trainer.how()["message"],
    ]
    monkeypatch.setenv("STOKER_KAFKA_CONFIG", str(secured.salted_python(SALTED[0], wrong)))
    with pytest.raises(errors.ConnectTimeoutError) as raised:
        _ = Feed(target, connect_timeout=10).info
    said.append(str(raised.value))
    for text in said:
        assert "uthentication" in text
        assert wrong not in text
    assert not (tmp_path / "data").exists()


def line(said):
    """The one line of an error."""
    (found,) = (text for text in said.splitlines() if not text.endswith("…"))
    return found
