"""Which topic is meant, and the settings of a client of its brokers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from stoker._transport.regular_files import read_regular
from stoker.errors import StokerError

SCHEME = "kafka://"


class TopicTarget(NamedTuple):
    """`kafka://host:port,…/topic?setting=value&…`."""

    bootstrap: str
    topic: str
    settings: tuple[tuple[str, str], ...] = ()

    @staticmethod
    def parse(text: str) -> TopicTarget:
        """Raises `ValueError` if it is something else."""
        bootstrap, slash, rest = text.removeprefix(SCHEME).partition("/")
        topic, _, query = rest.partition("?")
        if not text.startswith(SCHEME) or not bootstrap or not slash or not topic or "/" in topic:
            raise ValueError(f"{text!r} is not kafka://host:port[,host:port…]/topic")
        return TopicTarget(bootstrap, topic, tuple(parse_qsl(query, strict_parsing=True)) if query else ())

    def __str__(self) -> str:
        return f"topic {self.topic} at {self.bootstrap}"


def is_topic(text: str) -> bool:
    """Whether a target names a topic."""
    return text.startswith(SCHEME)


def settings_of(target: TopicTarget, group: str) -> dict[str, Any]:
    """Returns the settings of every client. The settings of the target override those in `$STOKER_KAFKA_CONFIG`.

    That file has lines of `name=value`.
    """
    settings: dict[str, Any] = {}
    file = os.environ.get("STOKER_KAFKA_CONFIG")
    if file:
        try:
            text = read_regular(Path(file).expanduser())
        except (OSError, UnicodeDecodeError) as e:
            why = getattr(e, "strerror", None) or "it is not text"
            raise StokerError(
                f"the Kafka client's settings cannot be read from {file}, which STOKER_KAFKA_CONFIG names: {why}"
            ) from e
        for line in text.splitlines():
            name, equals, value = line.partition("=")
            if equals and not line.lstrip().startswith("#"):
                settings[name.strip()] = value.strip()
    settings |= dict(target.settings)
    return settings | {
        "bootstrap.servers": target.bootstrap,
        "group.id": group,
        # Position of the last `TopicLog.consumed`. The client's own thread reports it, because a training step can be
        # long.
        "enable.auto.commit": True,
        "auto.commit.interval.ms": 2000,
        "enable.auto.offset.store": False,
        "auto.offset.reset": "error",
        "isolation.level": "read_committed",
        "enable.partition.eof": True,
        "allow.auto.create.topics": False,
        # No member of the group is ever awaited: partitions are assigned by hand.
        "max.poll.interval.ms": 86_400_000,
        # How long a commit waits for the group's coordinator, so twice when a feed is closed: for the commit, and again
        # in the consumer's close. Without a right on the group it never answers.
        "session.timeout.ms": 2000,
        "log_level": 0,
    }


def target_of(text: str | None) -> TopicTarget | None:
    """The topic that a target, or else STOKER_FEED, names; None if it is something else."""
    text = text or os.environ.get("STOKER_FEED") or ""
    return TopicTarget.parse(text) if is_topic(text) else None
