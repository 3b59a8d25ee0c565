"""A feed of several feeder processes over a dataset in S3; trainers: for `benchmarks/scale.py`."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

from feed import ROOT, cpu_of

sys.path.insert(0, str(ROOT / "python" / "tests" / "system"))

from clusters import Cluster
from machines import Machine
from stoker_processes import until

BATCH, LANES = 16, 16
WINDOW_MB = 64


KINDS = {"stoker-": "serving", "C1 Compiler": "compiler", "C2 Compiler": "compiler"}
"""By the beginning of a thread's name."""


def cpu_by_kind(pid: int) -> Counter[str]:
    """The CPU seconds of a Java process by kind of thread."""
    found = Counter({"serving": 0.0, "compiler": 0.0, "others": 0.0})
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(OSError):
            name = (task / "comm").read_text()
            kind = next((kind for start, kind in KINDS.items() if name.startswith(start)), None)
            if kind is not None:
                found[kind] += cpu_of(f"{pid}/task/{task.name}")
    found["others"] = cpu_of(pid) - found.total()
    return found


class FarCluster(Cluster):
    """Workers that reach the S3 server on this machine's loopback, with memory for tiers, and the JVM's best code."""

    def __init__(self, directory: Path, home: Path, hadoop: Path, workers: int, tier_mb: int) -> None:
        # The tier, and as much for chunks in use: at most the dataset.
        self._direct_mb = 2 * tier_mb + 192
        super().__init__(directory, home, workers, slots=1, links=False, hadoop=hadoop)

    def _configure(self) -> None:
        super()._configure()
        config = self.conf / "config.yaml"
        text = config.read_text()
        for old, new in (
            ("off-heap: {size: 320m}", f"off-heap: {{size: {self._direct_mb}m}}"),
            ("process: {size: 1200m}", f"process: {{size: {self._direct_mb + 880}m}}"),
            # Nothing but kill -9 is to happen here, and the processors are busy.
            ("session-timeout: 4000", "session-timeout: 10000"),
            ("{interval: 1000, timeout: 4000}", "{interval: 1000, timeout: 20000}"),
        ):
            assert old in text, old
            text = text.replace(old, new)
        config.write_text(text)

    def environment(self) -> dict[str, str]:
        return super().environment() | {"STOKER_JAVA_OPTS": "-XX:+UseSerialGC"}

    def ask(self, method: str, path: str) -> None:
        request = urllib.request.Request(f"http://{self.head.address}:{self._rest}{path}", method=method)
        urllib.request.urlopen(request, timeout=60).close()


class Job:
    """A feed on a number of workers."""

    def __init__(self, cluster: FarCluster, home: Path, dataset: str, feeders: int, *options: str) -> None:
        self._cluster = cluster
        self._home = home
        (home / "feeds" / "scale.json").unlink(missing_ok=True)
        self.id = cluster.submit(
            "scale",
            dataset,
            *("--batch-size", BATCH, "--lanes", LANES, "--shuffle-window", f"{WINDOW_MB}mb"),
            *("--parallelism", feeders, "--ui", "127.0.0.1:7430-7449"),
            *("--checkpoint-interval", "10 s", "--ledger", home / "ledger", "--idle-timeout", "0 s", *options),
        )
        until(lambda: len(set(cluster.serving("scale"))) == feeders, f"{feeders} feeders serve", 300)
        self.workers: list[Machine] = [w for w in cluster.workers if w.name in cluster.serving("scale")]

    def totals(self) -> list[dict[str, Any]]:
        """What each feeder has counted."""
        totals = []
        for url in self._cluster.feed_file("scale")["status"]:
            with urllib.request.urlopen(f"{url.rstrip('/')}/status.json", timeout=10) as answer:
                totals.append(json.load(answer)["totals"])
        return totals

    def total(self, name: str) -> int:
        return sum(feeder[name] for feeder in self.totals())

    def cpu(self) -> Counter[str]:
        """The CPU seconds of all feeder processes so far, by kind of thread."""
        return sum((cpu_by_kind(worker.process.pid) for worker in self.workers if worker.process), Counter())

    def at_rest(self, seconds: float) -> float:
        """The CPU that all feeder processes take, but for the compilers, in a second without demand."""
        before = self.cpu()
        time.sleep(seconds)
        used = self.cpu()
        used.subtract(before)
        return (used.total() - used["compiler"]) / seconds

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        self._cluster.ask("PATCH", f"/jobs/{self.id}?mode=cancel")
        until(lambda: self._cluster.state(self.id) == "CANCELED", "the job has ended", 300)


class Trainer:
    """A trainer in a separate process, which reads the requested number of epochs."""

    def __init__(self, group: str, home: Path) -> None:
        variables = os.environ | {"STOKER_HOME": str(home), "STOKER_TRANSPORT": "tcp"}
        command = [sys.executable, __file__, group]
        self._process = subprocess.Popen(
            command, env=variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def connected(self) -> None:
        """Waits until it can begin."""
        self.end()

    def begin(self, epochs: int) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(f"{epochs}\n")
        self._process.stdin.flush()

    def end(self) -> dict[str, Any]:
        """What those epochs were."""
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def read(self, epochs: int) -> dict[str, Any]:
        self.begin(epochs)
        return self.end()

    def close(self) -> None:
        self._process.communicate()


def train(group: str) -> None:
    from stoker import Feed

    with Feed("scale", batch_size=BATCH, group=group, tail="keep") as feed:
        # Connects.
        print(json.dumps({"batches": len(feed)}), flush=True)
        for line in sys.stdin:
            began, total = time.perf_counter(), 0
            for _ in range(int(line)):
                for batch in feed:
                    for sample in batch["image"]:
                        total += sample.nbytes
            said = {"seconds": time.perf_counter() - began, "bytes": total, "failovers": feed.stats()["failovers"]}
            print(json.dumps(said), flush=True)


def together(trainers: list[Trainer], epochs: int) -> int:
    """Lets all trainers read `epochs` epochs; returns how often one has left a silent feeder for another so far.

    Each epoch begins for all at once: groups that drift apart share fewer of the opened windows.
    """
    failovers = 0
    for _ in range(epochs):
        for trainer in trainers:
            trainer.begin(1)
        failovers = sum(trainer.end()["failovers"] for trainer in trainers)
    return failovers


if __name__ == "__main__":
    train(sys.argv[1])
