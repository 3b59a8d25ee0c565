"""A broker that asks for TLS and a password: feeder and trainers come in with theirs, and nobody says what it is."""

from __future__ import annotations

import pytest
from certificates import Authority
from kafka_broker import Broker, free_port
from stoker_processes import LIMIT_S, views
from test_java_client import JavaTrainer

from stoker import Feed, errors

SECRET = "correct-horse-7"
ORDER = {"batch_size": 12, "lanes": 4, "shuffle_window": 96 << 10, "lane_order": "fixed"}
OPTIONS = ["--batch-size", 12, "--lanes", 4, "--shuffle-window", "96kb", "--world-size", 2, "--epochs", 1]
LOGIN = 'org.apache.kafka.common.security.{} required username="{}" password="{}"'


class Secured:
    """A broker, and the settings of clients."""

    def __init__(self, directory):
        authority = Authority(directory / "keys", "authority")
        pem, key = authority.issue("broker", "IP:127.0.0.1")
        store = directory / "broker.pem"
        store.write_text(key.read_text() + pem.read_text())
        self.authority, self.directory, port = authority, directory, free_port()
        self.address = f"127.0.0.1:{port}"
        listener = "listener.name.secured."
        plain = LOGIN.format("plain.PlainLoginModule", "broker", "unused") + f' user_feed="{SECRET}";'
        (directory / "broker").mkdir()
        self.broker = Broker(
            directory / "broker",
            {
                f"{listener}ssl.keystore.type": "PEM",
                f"{listener}ssl.keystore.location": store,
                f"{listener}sasl.enabled.mechanisms": "PLAIN",
                f"{listener}plain.sasl.jaas.config": plain,
            },
            secured=("SECURED", "SASL_SSL", port),
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
            f"# of the trainers\nsecurity.protocol=sasl_ssl\nsasl.mechanism=PLAIN\nssl.ca.location={self.authority.pem}\n"
            f"sasl.username=feed\nsasl.password={password}\n"
        )
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
        _ = Feed(f"kafka://{secured.address}/photos", connect_timeout=3).info
    assert "wrong-battery-8" not in str(raised.value)
