"""Machines of a feed die, hang and are cut off at random. Takes minutes:
`./mvnw -Pchaos verify -pl python/tests/system`, with `-Dchaos.rounds=20` and `-Dtest.seed=…` if wanted.
"""

import os
import random
import re
import time

import pytest
from clusters import Cluster, Team
from stoker_processes import until
from test_machines import OPTIONS, RANKS, SLOWLY, audited, expected, received

from rounds import seed as run_seed

BATCHES = 30
"""Of each rank, in a round."""
SLOWNESS = float(os.environ.get("CHAOS_SLOWNESS") or 1)
"""Of a machine that has other work to do: how many times longer a batch may take to come."""
LIVING_S = 1.0 * SLOWNESS
"""For a batch from a machine that nothing has befallen."""
DEAD_S = 2.0 * SLOWNESS
"""For a batch of a lane whose machine was killed, detection included."""
PATIENT = (
    "-Drestart-strategy.type=exponential-delay",
    "-Drestart-strategy.exponential-delay.initial-backoff=100 ms",
    "-Drestart-strategy.exponential-delay.max-backoff=2 s",
)
"""Machines fail more often here than a feed takes for granted."""


class Storm:
    """What may happen. Each returns the workers that it befell, or None where the whole feed stands still."""

    def __init__(self, cluster, job, path, rng):
        self.cluster, self.job, self._path, self._rng = cluster, job, path, rng
        self.faults = [
            *(self.kill, self.kill_twice, self.kill_all_but_one, self.kill_during_recovery),
            *(self.freeze, self.freeze_shortly, self.kill_head, self.rescale),
        ]
        if cluster.network.linked:
            self.faults += [self.cut, self.lose_way]

    def _some(self, count=1):
        return self._rng.sample(self.cluster.workers, count)

    def _running(self):
        return sum(1 for _ in self.cluster.tasks(self.job)) == self.parallelism

    def _serves(self, worker):
        return worker.name in self.cluster.tasks(self.job).values()

    parallelism = 3

    def calm(self):
        """Restarts dead processes, and waits until the feed is complete."""
        for worker in self.cluster.workers:
            if not worker.alive:
                self.cluster.start_worker(worker)
        until(
            lambda: self.cluster.overview().get("taskmanagers") == len(self.cluster.workers), "all machines are there"
        )
        until(self._running, "all of the feed runs")
        until(
            lambda: set(self.cluster.serving("storm")) == set(self.cluster.tasks(self.job).values()), "all of it serves"
        )

    def kill(self):
        (one,) = self._some()
        one.kill()
        return [one]

    def kill_twice(self):
        (one,) = self._some()
        one.kill()
        self.cluster.start_worker(one)
        pause(self._rng.uniform(0, 4))
        one.kill()
        return [one]

    def kill_all_but_one(self):
        both = self._some(2)
        for one in both:
            one.kill()
        return both

    def kill_during_recovery(self):
        first = self._rng.choice([worker for worker in self.cluster.workers if self._serves(worker)])
        second = self._rng.choice([worker for worker in self.cluster.workers if worker is not first])
        first.kill()
        # Where machines are free, the feed may run again before anyone sees that it did not.
        until(lambda: not self._running() or not self._serves(first), "the loss is noticed")
        second.kill()
        return [first, second]

    def freeze(self):
        (one,) = self._some()
        one.freeze()
        pause(7)  # beyond the heartbeat
        one.thaw()
        return [one]

    def freeze_shortly(self):
        (one,) = self._some()
        one.freeze()
        pause(self._rng.uniform(0.2, 2))
        one.thaw()
        return [one]

    def cut(self):
        (one,) = self._some()
        one.cut()
        pause(self._rng.choice([0.3, 2, 7]))
        one.mend()
        return [one]

    def lose_way(self):
        (one,) = self._some()
        one.lose_way()
        pause(self._rng.choice([0.3, 2, 7]))
        one.find_way()
        return [one]

    def kill_head(self):
        self.cluster.head.kill()
        pause(self._rng.uniform(0, 2))
        self.cluster.start_head()

    def rescale(self):
        found = until(self._stopped, "the feed stops with a savepoint")
        self.parallelism = self._rng.choice([n for n in (1, 2, 3) if n != self.parallelism])
        self.submit("-s", found[1])

    def _stopped(self):
        """None if Flink refuses because the feed still recovers from an earlier fault: a person would ask again."""
        try:
            said = self.cluster.flink("stop", "--savepointPath", self.cluster.directory / "savepoints", self.job)
        except AssertionError as refused:
            if "is not being executed at the moment" not in str(refused):
                raise
            return None
        found = re.search(r"Path: (\S+)", said)
        assert found, said
        return found

    def submit(self, *before):
        self.job = self.cluster.submit(
            "storm", self._path, *OPTIONS, "--epochs", self.epochs, "--parallelism", self.parallelism,
            before=(*PATIENT, *before),
        )  # fmt: skip

    epochs = 0


def pause(seconds):
    end = time.monotonic() + seconds
    until(lambda: time.monotonic() >= end, "time passes")


def judge(name, befallen, team):
    """Checks that lanes of unaffected machines continue, and that lanes of dead ones soon do."""
    worst = {"living": 0.0, "dead": 0.0}
    hit = {worker.address for worker in befallen}
    half = BATCHES // 2
    homes = {line["wait"][2]: line["wait"][3].partition(":")[0] for lines in team.round() for line in lines[:half]}
    for lines in team.round():
        for line in lines[half:]:
            waited, _, lane, address = line["wait"]
            if lane in homes:
                kind = "dead" if {homes[lane], address.partition(":")[0]} & hit else "living"
                worst[kind] = max(worst[kind], waited)
    said = (
        f"{name}: longest wait {worst['dead']:.2f} s for lanes of {len(hit)} lost, {worst['living']:.2f} s for others"
    )
    print(said, flush=True)
    assert worst["living"] <= LIVING_S, said
    if name == "kill" and set(homes.values()) - hit:  # otherwise no feeder was left to take over before Flink's restart
        assert worst["dead"] <= DEAD_S, said


@pytest.mark.chaos
def test_batches_are_exact_whatever_becomes_of_machines(cli, crumbs, tmp_path):
    seed = run_seed()
    rounds = int(os.environ.get("CHAOS_ROUNDS") or 12)
    print(f"CHAOS_ROUNDS={rounds}")
    rng = random.Random(seed)
    with Cluster(tmp_path / "cluster", cli.home) as cluster:
        storm = Storm(cluster.start(), "", crumbs.path, rng)
        storm.epochs = (rounds + 1) * BATCHES // 37 + 2
        storm.submit()
        until(lambda: len(cluster.serving("storm")) == 3, "every machine serves")
        team = Team(cli.home, tmp_path / "notes", "storm", RANKS, storm.epochs, **SLOWLY)
        # Each at least once, if there are rounds enough.
        faults = rng.sample(storm.faults, len(storm.faults)) + rng.choices(storm.faults, k=rounds)
        try:
            team.go(BATCHES)
            for fault in faults[:rounds]:
                befallen = team.go(BATCHES, fault)
                if befallen is None:
                    print(f"{fault.__name__}: the feed continues", flush=True)
                else:
                    judge(fault.__name__, befallen, team)
                storm.calm()
            notes = team.finish()
            team.kill()
            until(lambda: cluster.state(storm.job) == "FINISHED", "the feed ends when its epochs are done")
        except BaseException:
            print(cluster.logs())
            raise
        finally:
            team.kill()
    assert received(notes) == expected(crumbs.path, storm.epochs)
    audited(cli, "storm", storm.epochs)
