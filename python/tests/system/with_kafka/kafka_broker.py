"""Kafka brokers in separate processes, from the jars that the Java tests use."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import confluent_kafka.admin
from stoker_processes import REPOSITORY, until

from ports import free_port

_CLASS_PATH = REPOSITORY / "connectors/target/broker.classpath"
_SMALL = ("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


class Broker:
    """Started at once, unless it is one of several; `kill` and `start` as often as wanted."""

    def __init__(
        self,
        directory: Path,
        more: Mapping[str, object] | None = None,
        options: Sequence[str] = _SMALL,
        listening: Sequence[tuple[str, str, int]] = (),
        users: Sequence[str] = (),
    ) -> None:
        """`more`: further settings; `options`: of the JVM; `listening`: name, protocol and port of other listeners;
        `users`: credentials as `kafka-storage format --add-scram` takes them."""
        port, controller = free_port(), free_port()
        self.address = f"127.0.0.1:{port}"
        self._directory, self._options = directory, options
        listeners = f"PLAINTEXT://{self.address},CONTROLLER://127.0.0.1:{controller}"
        protocols = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT"
        for name, protocol, port in listening:
            listeners += f",{name}://127.0.0.1:{port}"
            protocols += f",{name}:{protocol}"
        alone = {
            "node.id": 1,
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller}",
            "listeners": listeners,
            "advertised.listeners": listeners,
            "listener.security.protocol.map": protocols,
            "offsets.topic.replication.factor": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
        }
        self._format(
            alone | dict(more or {}), "--standalone", *(word for user in users for word in ("--add-scram", user))
        )
        self.start()

    @classmethod
    def one_of(cls, directory: Path, address: str, settings: Mapping[str, object]) -> Broker:
        """Of several that need one another: formatted, not started."""
        broker = cls.__new__(cls)
        broker.address, broker._directory, broker._options = address, directory, _SMALL
        broker._format(settings)
        return broker

    def _format(self, settings: Mapping[str, object], *how: str) -> None:
        common = {
            "process.roles": "broker,controller",
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "log.dirs": self._directory / "log",
            "auto.create.topics.enable": "false",
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.num.partitions": 1,
            "broker.session.timeout.ms": 3000,
            "broker.heartbeat.interval.ms": 500,
            "log.cleaner.dedupe.buffer.size": 4 << 20,  # by default half of the heap
            "log.retention.ms": -1,  # by default 7 days: records that tests date back would be deleted after 30 s
        }
        self._config = self._directory / "server.properties"
        self._config.write_text("".join(f"{name}={value}\n" for name, value in (common | dict(settings)).items()))
        arguments = ["format", *how, "-t", "4L6g3nShT-eMCtK--X86sw", "-c", str(self._config)]
        assert self._java("kafka.tools.StorageTool", *arguments).wait(90) == 0, self._log()

    def _java(self, *command: str) -> subprocess.Popen[bytes]:
        java = Path(os.environ["JAVA_HOME"]) / "bin/java" if "JAVA_HOME" in os.environ else "java"
        with (self._directory / "broker.log").open("ab") as log:
            return subprocess.Popen(
                [java, *self._options, f"-Djava.io.tmpdir={self._directory}", "-cp", _CLASS_PATH.read_text(), *command],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _log(self) -> str:
        return (self._directory / "broker.log").read_text(errors="replace")[-4000:]

    def start(self) -> None:
        self.launch()
        admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": self.address, "log_level": 0})

        def answers() -> bool:
            assert self.process.poll() is None, self._log()
            try:
                return bool(admin.list_topics(timeout=2).brokers)
            except confluent_kafka.KafkaException:
                return False

        until(answers, "the broker answers")

    def launch(self) -> None:
        """Does not wait until it answers."""
        self.process = self._java("kafka.Kafka", str(self._config))

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


class Brokers:
    """Three of them, each with a copy of everything; two suffice."""

    def __init__(self, directory: Path, host: str) -> None:
        ports = [(free_port(host), free_port(host)) for _ in range(3)]
        voters = ",".join(f"{node}@{host}:{controller}" for node, (_, controller) in enumerate(ports, 1))
        self.address = ",".join(f"{host}:{port}" for port, _ in ports)
        self.all = []
        for node, (port, controller) in enumerate(ports, 1):
            own = directory / f"broker{node}"
            own.mkdir(parents=True)
            listeners = f"PLAINTEXT://{host}:{port},CONTROLLER://{host}:{controller}"
            settings = {
                "node.id": node,
                "controller.quorum.voters": voters,
                "listeners": listeners,
                "advertised.listeners": listeners,
                "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
                "min.insync.replicas": 2,
                "offsets.topic.replication.factor": 3,
                "transaction.state.log.replication.factor": 3,
                "transaction.state.log.min.isr": 2,
                "replica.lag.time.max.ms": 5000,
            }
            self.all.append(Broker.one_of(own, f"{host}:{port}", settings))
        for broker in self.all:
            broker.launch()
        self._admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": self.address, "log_level": 0})
        until(lambda: self._brokers() == 3, "three brokers answer")

    def _brokers(self) -> int:
        try:
            return len(self._admin.list_topics(timeout=2).brokers)
        except confluent_kafka.KafkaException:
            return 0

    def whole(self) -> bool:
        """Whether every broker is there and has all that is written, its own topics included."""
        try:
            found = self._admin.list_topics(timeout=2)
        except confluent_kafka.KafkaException:
            return False
        partitions = [p for topic in found.topics.values() for p in topic.partitions.values()]
        return len(found.brokers) == 3 and all(len(p.isrs) == 3 and p.leader >= 0 for p in partitions)

    def close(self) -> None:
        for broker in self.all:
            broker.kill()
