"""A Flink cluster on several machines, and trainers beside it.

Flink's processes are started by `flink-conf/standalone/cluster`, as they would be by hand.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

from machines import Machine, Network
from processes_seen import get
from stoker_processes import LIMIT_S, QUICK_JVM, REPOSITORY, Trainer, environment, until

from ports import free_port

SCRIPT = REPOSITORY / "flink-conf" / "standalone" / "cluster"
DIST = REPOSITORY / "cli" / "target" / "dist"
JOB = DIST / "jobs" / "feeder-job.jar"


def _replaced(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return text


def little_conf(target: Path) -> Path:
    """A copy of the repository's configuration for small and impatient processes."""
    shutil.copytree(SCRIPT.parent, target)
    config, zoo = target / "config.yaml", target / "zoo.cfg"
    head = "process: {size: 800m}, jvm-metaspace: {size: 192m}, jvm-overhead: {min: 128m}, off-heap: {size: 64m}"
    text = _replaced(
        config.read_text(),
        ("session-timeout: 10000", "session-timeout: 4000"),
        ("{interval: 2000, timeout: 10000}", "{interval: 1000, timeout: 4000}"),
        ("process: {size: 1600m}", head),
        ("process: {size: 4g}", "process: {size: 1200m}\n    jvm-metaspace: {size: 192m}"),
        ("managed: {size: 128m}", "managed: {size: 16m}"),
        ("off-heap: {size: 2g}", "off-heap: {size: 320m}"),
    )
    config.write_text(text)
    zoo.write_text(_replaced(zoo.read_text(), ("tickTime=1000", "tickTime=500")))
    return target


def small_jvm(directory: Path) -> str:
    """Options of the cluster's JVMs, whose temporary files go to a directory: those that are killed leave them."""
    return f"{QUICK_JVM} -Djava.io.tmpdir={directory}"


class Cluster:
    """ZooKeeper, a JobManager with high availability, and TaskManagers, each in a separate process."""

    def __init__(
        self,
        directory: Path,
        home: Path,
        workers: int = 3,
        *,
        slots: int = 2,
        links: bool = True,
        hadoop: Path | None = None,
    ) -> None:
        """`slots` of each worker: with one, the feeder of a lost worker waits for its replacement. `hadoop`: where
        Hadoop's configuration is, if the cluster is to have it."""
        self.directory = directory
        self._hadoop = hadoop
        self.network = Network(["keeper", "head", *(f"worker{n}" for n in range(1, workers + 1))], links=links)
        self.keeper, self.head, *self.workers = self.network.machines
        self._home = home
        loopback = "127.0.0.1" if self.network.linked else self.head.address
        self._rest = 8081 if self.network.linked else free_port(loopback)
        self._slots = slots
        self.conf = directory / "conf"
        self._configure()

    def __enter__(self) -> Cluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.network.close()

    def _configure(self) -> None:
        """The files of the repository with this cluster's addresses, in less memory."""
        little_conf(self.conf)
        keeper = 2181 if self.network.linked else free_port(self.keeper.address)
        config, zoo = self.conf / "config.yaml", self.conf / "zoo.cfg"
        text = _replaced(
            config.read_text(),
            ("numberOfTaskSlots: 2", f"numberOfTaskSlots: {self._slots}"),
            ("head:2181", f"{self.keeper.address}:{keeper}"),
            ("address: head", f"address: {self.head.address}"),
            ("rest: {address: 127.0.0.1, bind-address: 127.0.0.1, port: 8081}", self._rest_setting()),
            ("/shared", str(self.directory)),
            ("blob: {server: {port: '6124'}}", "blob: {server: {port: '0'}}"),
        )
        config.write_text(text)
        ports = ":2888:3888" if self.network.linked else "".join(f":{free_port(self.keeper.address)}" for _ in "ab")
        text = _replaced(
            zoo.read_text(),
            ("/var/lib/stoker/zookeeper", str(self.directory / "zookeeper")),
            ("clientPort=2181", f"clientPort={keeper}"),
            ("=0.0.0.0", f"={self.keeper.address}"),
            ("head:2888:3888", self.keeper.address + ports),
        )
        zoo.write_text(text)

    def _rest_setting(self) -> str:
        return f"rest: {{address: {self.head.address}, bind-address: {self.head.address}, port: {self._rest}}}"

    def environment(self) -> dict[str, str]:
        own = {
            "STOKER_FLINK_CONF": str(self.conf),
            "STOKER_FLINK_WORK": str(self.directory / "work"),
            "STOKER_JAVA_OPTS": small_jvm(self.directory),
            "TMPDIR": str(self.directory),
        }
        hadoop = {"HADOOP_CONF_DIR": str(self._hadoop)} if self._hadoop else {"HADOOP_CLASSPATH": ""}
        return environment(self._home) | own | hadoop

    def _start(self, machine: Machine, role: str, *settings: str) -> None:
        words = [word for setting in settings for word in ("-D", setting)]
        with open(self.directory / f"{machine.name}.log", "ab") as log:
            machine.process = subprocess.Popen(
                machine.command(SCRIPT, role, *words),
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
            )

    def start(self) -> Cluster:
        """Starts everything, and returns when the TaskManagers are there."""
        self._start(self.keeper, "zookeeper")
        self.start_head()
        for worker in self.workers:
            self.start_worker(worker)
        until(lambda: self.overview().get("taskmanagers") == len(self.workers), "the cluster stands", 300)
        return self

    def start_head(self) -> None:
        self._start(self.head, "jobmanager", f"jobmanager.bind-host={self.head.address}")

    def start_worker(self, worker: Machine) -> None:
        self._start(
            worker,
            "taskmanager",
            f"taskmanager.host={worker.address}",
            f"taskmanager.bind-host={worker.address}",
            f"taskmanager.resource-id={worker.name}",
        )

    def rest(self, path: str) -> dict[str, Any]:
        """What Flink answers; empty while it does not."""
        try:
            answer = json.loads(get(f"http://{self.head.address}:{self._rest}{path}"))
        except (OSError, ValueError):
            return {}
        return cast(dict[str, Any], answer) if "errors" not in answer else {}

    def overview(self) -> dict[str, Any]:
        return self.rest("/overview")

    def flink(self, *args: object) -> str:
        """Runs Flink's command to its end and returns its output."""
        done = subprocess.run(
            self.head.command(SCRIPT, "flink", *args),
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LIMIT_S,
            text=True,
        )
        assert done.returncode == 0, f"flink {args}: {done.stdout}"
        return done.stdout

    def submit(self, name: str, dataset: object, *args: object, before: Sequence[str] = ()) -> str:
        """Starts a feed on every worker; returns the id of its job when every lane is served."""
        words = [
            *("run", "-d", *before, JOB, dataset, "--name", name, "--bind", "0.0.0.0", "--insecure"),
            *("--port", "7420-7429", "--checkpoint-interval", "300 ms", "--ui", "off", *args),
        ]
        said = self.flink(*words)
        found = re.search(r"JobID ([0-9a-f]{32})", said)
        assert found is not None, said
        return found[1]

    def state(self, job: str) -> str:
        """RUNNING, FINISHED, …; empty while nobody tells."""
        return cast(str, self.rest(f"/jobs/{job}").get("state", ""))

    def tasks(self, job: str) -> dict[str, str]:
        """The worker of each running subtask of the lanes."""
        vertices = self.rest(f"/jobs/{job}").get("vertices")
        if not vertices:
            return {}
        subtasks = self.rest(f"/jobs/{job}/vertices/{vertices[0]['id']}").get("subtasks", [])
        return {
            str(task["subtask"]): self.named(task.get("host") or task.get("endpoint") or "")
            for task in subtasks
            if task["status"] == "RUNNING"
        }

    def named(self, address: str) -> str:
        """The worker at an address, which may have a port."""
        host = address.partition(":")[0]
        return next((worker.name for worker in self.workers if worker.address == host), address)

    def feed_file(self, name: str) -> dict[str, Any]:
        path = self._home / "feeds" / f"{name}.json"
        return cast(dict[str, Any], json.loads(path.read_text())) if path.exists() else {}

    def serving(self, name: str) -> list[str]:
        """The workers whose servers the feed's file names."""
        return [self.named(address) for address in self.feed_file(name).get("addresses", [])]

    def logs(self) -> str:
        """The end of each log, for a failure's report."""
        ends = []
        for machine in self.network.machines:
            path = self.directory / f"{machine.name}.log"
            if path.exists():
                ends.append(f"--- {machine.name}\n{path.read_text(errors='replace')[-3000:]}")
        return "\n".join(ends)


class Team:
    """The trainers of one run, in step with each other."""

    def __init__(self, home: Path, notes: Path, target: object, ranks: int, epochs: int, **options: Any) -> None:
        notes.mkdir()
        options = {"waits": True} | options
        self._before = self._done = 0
        with_tcp = environment(home) | {"STOKER_TRANSPORT": "tcp"}
        self.trainers = [
            Trainer(
                home,
                notes / f"rank{rank}",
                target,
                epochs,
                variables=with_tcp,
                rank=rank,
                world_size=ranks,
                stepwise=True,
                **options,
            )
            for rank in range(ranks)
        ]

    def go(self, batches: int, meanwhile: Callable[[], Any] = lambda: None) -> Any:
        """Lets each trainer read `batches` more; calls `meanwhile` after the first half and returns its result."""
        self._before = self._done
        half = batches // 2
        for trainer in self.trainers:
            trainer.allow(half)
        for trainer in self.trainers:
            trainer.after(self._done + half)
        for trainer in self.trainers:
            trainer.allow(batches - half)
        happened = meanwhile()
        self._done += batches
        for trainer in self.trainers:
            trainer.after(self._done)
        return happened

    def round(self) -> list[list[dict[str, Any]]]:
        """Returns the notes of each trainer for the last call of `go`."""
        return [trainer.lines()[self._before : self._done] for trainer in self.trainers]

    def finish(self) -> list[list[dict[str, Any]]]:
        """Lets all trainers read to the end and returns their notes. No trainer may have reported a problem."""
        for trainer in self.trainers:
            trainer.allow(10_000)
        for rank, trainer in enumerate(self.trainers):
            said = trainer.end()
            assert (trainer.process.returncode, said) == (0, ""), f"rank {rank}: {said}"
        return [trainer.lines() for trainer in self.trainers]

    def kill(self) -> None:
        for trainer in self.trainers:
            if trainer.process.poll() is None:
                trainer.kill()
