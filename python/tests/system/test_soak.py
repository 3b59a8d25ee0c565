"""What only many epochs show. Takes minutes: `python/check -m soak`, or `./mvnw -Psoak verify`."""

import json
import os
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from processes_seen import listening, no_sessions, ports_of
from stoker_processes import REPOSITORY, Trainer, make_tree, until

from rounds import seed as run_seed

EPOCHS = 50


@pytest.mark.soak
def test_memory_does_not_grow_with_epochs(cli, tmp_path):
    make_tree(tmp_path / "files", {"a": 4000, "b": 4000}, lambda n: 20_000)
    cli.run("ingest", tmp_path / "files", tmp_path / "data", "--label-from", "parent-dir", "--chunk-size", "1mb")
    script = REPOSITORY / "benchmarks" / "memory.py"
    # A young generation of fixed size, since a larger one is only touched bit by bit and looks like a leak.
    out = subprocess.run(
        [sys.executable, script, tmp_path / "data", "--epochs", "1", "50", "100"],
        env=os.environ | {"STOKER_JAVA_OPTS": "-XX:+UseSerialGC -Xmn24m"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    found = json.loads(out.splitlines()[-1])
    first, warm, last = found["after"]
    for after in (first, warm, last):
        assert after["feeder"] - found["working_mb"] <= 600, out
        assert after["trainer"] - found["buffer_mb"] <= 64, out
    # A batch has 1.3 MB: one kept in each epoch, or a tenth of one in the feeder, would show.
    assert last["feeder"] - warm["feeder"] <= 8, out
    assert last["trainer"] - warm["trainer"] <= 8, out


@pytest.fixture(scope="module")
def dataset(cli, tmp_path_factory):
    root = tmp_path_factory.mktemp("soak")
    make_tree(root / "files", {"a": 1000, "b": 1000}, lambda n: 4_000 + n)
    cli.run("ingest", root / "files", root / "data", "--label-from", "parent-dir", "--chunk-size", "256kb")
    return root / "data"


class Run:
    """A trainer that is killed and resumes from its last note, until all epochs are read."""

    def __init__(self, cli, directory, target, rng):
        self._home, self._directory, self._target, self._rng = cli.home, directory, target, rng
        self._trainers = []
        self.begin()

    def begin(self):
        done = self.lines()
        state = done[-1]["state"] if done else None
        notes = self._directory / f"notes-{len(self._trainers)}"
        epochs = EPOCHS - (state["epoch"] if state else 0)
        self._trainers.append(Trainer(self._home, notes, self._target, epochs, state=state, batch_size=64))

    def lines(self):
        return [line for trainer in self._trainers for line in trainer.lines()]

    @property
    def over(self):
        return self._trainers[-1].process.poll() is not None

    @property
    def kills(self):
        return len(self._trainers) - 1

    def some_time(self):
        """Waits until the trainer has read some dozens of further batches, or has ended."""
        wanted = len(self._trainers[-1].lines()) + self._rng.randint(1, 150)
        until(lambda: self.over or len(self._trainers[-1].lines()) >= wanted, "the trainer continues")

    def kill(self):
        if not self.over:
            self._trainers[-1].kill()
            self.begin()

    def end(self):
        """Each batch of every epoch exactly once, over all lives."""
        assert self._trainers[-1].end() == ""
        seen = [tuple(line["view"][:2]) for line in self.lines()]
        batches = max(number for _, number in seen) + 1
        assert seen == [(epoch, number) for epoch in range(EPOCHS) for number in range(batches)]


def state_of(feeder):
    """What a feeder holds that must not grow: live objects, direct buffers and mappings among them, and descriptors."""
    pid = feeder.process.pid
    # Collects garbage first.
    histogram = subprocess.run(
        ["jcmd", str(pid), "GC.class_histogram"], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    rows = [line.split() for line in histogram if line.strip()]
    counts = {row[3]: int(row[1]) for row in rows if len(row) > 3 and row[1].isdigit()}
    return {
        "heap_bytes": int(rows[-1][2]),
        "direct_buffers": counts.get("java.nio.DirectByteBuffer$Deallocator", 0),
        "mappings": counts.get("sun.nio.ch.FileChannelImpl$DefaultUnmapper", 0),
        "files": len(list(Path(f"/proc/{pid}/fd").iterdir())),
        "threads": len(list(Path(f"/proc/{pid}/task").iterdir())),
        "ports": len(ports_of(pid)),
    }


def shared_memory():
    """What is named as feeders name things; others may work on this machine, too."""
    return {path.name for path in Path("/dev/shm").iterdir() if re.match(r"stoker-\d", path.name)}


@pytest.mark.soak
def test_fifty_epochs_of_killed_trainers_leave_nothing_in_the_feeder(cli, start_feeder, dataset, tmp_path):
    """The feeder lives through all of it, so what it kept of each dead trainer would add up."""
    rng = random.Random(run_seed())
    shm = shared_memory()
    feeder = start_feeder("steady", dataset, "--working-memory", "64mb", "--idle-timeout", "0 s").ready()
    (tmp_path / "warm").mkdir()
    warm = Trainer(cli.home, tmp_path / "warm" / "notes", "steady", 3, batch_size=64, group="warm")
    assert warm.end() == ""
    until(lambda: no_sessions(feeder), "the first trainer is gone")
    base = state_of(feeder)
    run = Run(cli, tmp_path, "steady", rng)
    while not run.over:
        run.some_time()
        run.kill()
    run.end()
    assert run.kills >= 5

    def settled():
        now = state_of(feeder)
        more = {"heap_bytes": 6 << 20, "direct_buffers": 2, "mappings": 0, "files": 2, "threads": 3, "ports": 0}
        return all(now[key] <= base[key] + more[key] for key in base)

    until(lambda: no_sessions(feeder), "the last trainer is gone")
    try:
        until(settled, "the feeder is unchanged", 60)
    finally:
        print("before", base, "after", state_of(feeder), "kills", run.kills)
    feeder.stop()
    assert shared_memory() <= shm
    of_group = cli.run("audit", "steady").partition("group default:")[2].partition("group warm:")[0]
    assert len(re.findall(r"^ *epoch [0-9]+: [0-9]+ of 32 batches", of_group, re.M)) == EPOCHS, of_group


@pytest.mark.soak
def test_fifty_epochs_of_killed_feeders_and_trainers_are_exact(cli, start_feeder, dataset, tmp_path):
    rng = random.Random(run_seed())
    shm = shared_memory()

    def start():
        return start_feeder("mortal", dataset, "--working-memory", "64mb", "--idle-timeout", "0 s").ready()

    feeder, feeders = start(), 1
    run = Run(cli, tmp_path, "mortal", rng)
    while not run.over:
        run.some_time()
        if rng.random() < 0.5:
            run.kill()
        elif not run.over:
            ports = ports_of(feeder.process.pid)
            feeder.kill()
            assert not ports & listening(), "a port outlived its process"
            feeder, feeders = start(), feeders + 1
    run.end()
    assert feeders > 3
    assert run.kills > 3
    feeder.stop()
    assert shared_memory() <= shm
    audit = cli.run("audit", "mortal", "--epochs", EPOCHS)
    print(audit, "feeders", feeders, "trainers killed", run.kills)
