"""Trainers with exactly the access rights that docs/kafka.md lists, at a broker with an authorizer."""

from __future__ import annotations

import itertools
import time

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)
from kafka_broker import Broker
from stoker_processes import LIMIT_S, until, views
from test_java_client import JavaTrainer

from ports import free_port
from stoker import Feed, errors

pytestmark = pytest.mark.full("programs")

ORDER = {"batch_size": 12, "lanes": 4, "shuffle_window": 96 << 10, "lane_order": "fixed"}
OPTIONS = ["--batch-size", 12, "--lanes", 4, "--shuffle-window", "96kb", "--world-size", 2, "--epochs", 1]
USERS = [f"user{i}" for i in range(8)]
JAAS = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="{0}" password="{0}"'


class Guarded:
    """A broker that asks users for their rights. Without a user, through its first listener, everything is allowed."""

    def __init__(self, directory):
        self._directory, self._users, port = directory, iter(USERS), free_port()
        self.address = f"127.0.0.1:{port}"
        listener = "listener.name.guarded."
        (directory / "broker").mkdir()
        self.broker = Broker(
            directory / "broker",
            {
                "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
                "super.users": "User:ANONYMOUS",
                f"{listener}sasl.enabled.mechanisms": "PLAIN",
                f"{listener}plain.sasl.jaas.config": JAAS.format("broker")
                + "".join(f' user_{user}="{user}"' for user in USERS)
                + ";",
            },
            listening=[("GUARDED", "SASL_PLAINTEXT", port)],
        )
        self._admin = AdminClient({"bootstrap.servers": self.broker.address, "log_level": 0})

    def user(self, *rights):
        """The settings of a new user with these rights: kind and name of a resource, and the operation."""
        user = next(self._users)
        bindings = [
            AclBinding(kind, name, ResourcePatternType.LITERAL, f"User:{user}", "*", operation, AclPermissionType.ALLOW)
            for kind, name, operation in rights
        ]
        for binding, future in (self._admin.create_acls(bindings) if bindings else {}).items():
            future.result(LIMIT_S)
            self._await(binding)
        login = f"security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config={JAAS.format(user)};\n"
        java = self._directory / f"{user}-java.properties"
        java.write_text(login)
        python = self._directory / f"{user}-python.properties"
        python.write_text(
            f"security.protocol=sasl_plaintext\nsasl.mechanism=PLAIN\nsasl.username={user}\nsasl.password={user}\n"
        )
        return {"java": java, "python": python}

    def _await(self, right):
        """The controller answers before the broker applies the right."""
        pattern = right.restype, right.name, right.resource_pattern_type
        wanted = AclBindingFilter(*pattern, right.principal, right.host, right.operation, right.permission_type)
        until(lambda: self._admin.describe_acls(wanted).result(LIMIT_S), f"the broker applies {right}")


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    guarded = Guarded(tmp_path_factory.mktemp("guarded"))
    yield guarded
    guarded.broker.kill()


@pytest.fixture(scope="module")
def topic(cli, guarded, photos):
    """A topic with one epoch, and what it holds."""
    to = ["--to", "kafka", "--bootstrap", guarded.broker.address, "--topic", "guarded", "--name", "guarded"]
    cli.run("feed", f"{photos.path}@2", *to, *OPTIONS)
    with Feed(photos.path, version=2, **ORDER, tail="keep") as feed:
        return f"kafka://{guarded.address}/guarded", views(feed)


READ_TOPIC = (ResourceType.TOPIC, "guarded", AclOperation.READ)
READ_GROUP = (ResourceType.GROUP, "trainers", AclOperation.READ)


@pytest.mark.cells
@pytest.mark.parametrize(
    ("client", "group"), list(itertools.product(["python", "java"], [None, "trainers"])), ids=lambda x: x or "no group"
)
def test_the_rows_of_the_page_suffice(cli, guarded, topic, tmp_path, monkeypatch, client, group):
    target, expected = topic
    user = guarded.user(READ_TOPIC, *([READ_GROUP] if group else []))
    named = {"group": group} if group else {}
    if client == "java":
        variables = {"STOKER_KAFKA_CONFIG": str(user["java"])}
        assert JavaTrainer(cli, tmp_path / "notes", target, 1, variables, tail="keep", **named).end() == expected
        return
    monkeypatch.setenv("STOKER_KAFKA_CONFIG", str(user["python"]))
    with Feed(target, tail="keep", connect_timeout=LIMIT_S, **named) as feed:
        assert views(feed) == expected
        closing = time.monotonic()
    assert time.monotonic() - closing < 30, "closing the feed waited for a group that this user may not commit to"


def test_without_the_right_to_read_a_trainer_is_told_so(cli, guarded, topic, tmp_path, monkeypatch):
    target, _ = topic
    user = guarded.user()
    trainer = JavaTrainer(cli, tmp_path / "notes", target, 1, {"STOKER_KAFKA_CONFIG": str(user["java"])})
    said = [trainer.how()["message"]]
    monkeypatch.setenv("STOKER_KAFKA_CONFIG", str(user["python"]))
    with pytest.raises(errors.StokerError) as raised:
        _ = Feed(target, connect_timeout=10).info
    said.append(str(raised.value))
    for text in said:
        assert "guarded" in text
        assert "uthoriz" in text or "does not exist" in text or "no topic" in text, text
