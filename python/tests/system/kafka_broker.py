"""A Kafka broker in a process of its own, of the jars that the Java tests use."""

from __future__ import annotations

import os
import socket
import subprocess
from pathlib import Path

import confluent_kafka.admin
from stoker_processes import REPOSITORY, until

_CLASS_PATH = REPOSITORY / "connectors/target/broker.classpath"


def _free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


class Broker:
    """Started at once; `kill` and `start` as often as wanted."""

    def __init__(self, directory: Path) -> None:
        self.port, controller = _free_port(), _free_port()
        self.address = f"127.0.0.1:{self.port}"
        self._directory = directory
        listeners = f"PLAINTEXT://{self.address},CONTROLLER://127.0.0.1:{controller}"
        settings = {
            "process.roles": "broker,controller",
            "node.id": 1,
            "controller.quorum.bootstrap.servers": f"127.0.0.1:{controller}",
            "listeners": listeners,
            "advertised.listeners": listeners,
            "controller.listener.names": "CONTROLLER",
            "inter.broker.listener.name": "PLAINTEXT",
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT",
            "log.dirs": directory / "log",
            "auto.create.topics.enable": "false",
            "offsets.topic.replication.factor": 1,
            "offsets.topic.num.partitions": 1,
            "transaction.state.log.replication.factor": 1,
            "transaction.state.log.min.isr": 1,
            "transaction.state.log.num.partitions": 1,
            "broker.session.timeout.ms": 3000,
            "broker.heartbeat.interval.ms": 500,
        }
        self._config = directory / "server.properties"
        self._config.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
        format_log = ["format", "--standalone", "-t", "4L6g3nShT-eMCtK--X86sw", "-c", str(self._config)]
        assert self._java("kafka.tools.StorageTool", *format_log).wait(90) == 0, self._log()
        self.start()

    def _java(self, *command: str) -> subprocess.Popen[bytes]:
        java = Path(os.environ["JAVA_HOME"]) / "bin/java" if "JAVA_HOME" in os.environ else "java"
        with (self._directory / "broker.log").open("ab") as log:
            return subprocess.Popen(
                [
                    java,
                    "-Xmx256m",
                    "-XX:+UseSerialGC",
                    "-XX:TieredStopAtLevel=1",
                    *("-cp", _CLASS_PATH.read_text()),
                    *command,
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def _log(self) -> str:
        return (self._directory / "broker.log").read_text(errors="replace")[-4000:]

    def start(self) -> None:
        self.process = self._java("kafka.Kafka", str(self._config))
        admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": self.address, "log_level": 0})

        def answers() -> bool:
            assert self.process.poll() is None, self._log()
            try:
                return bool(admin.list_topics(timeout=2).brokers)
            except confluent_kafka.KafkaException:
                return False

        until(answers, "the broker answers")

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()
