"""Brokers, machines and the JobManager die at random while a feed writes a topic of three brokers, and while an ingest
reads one. Takes minutes: `./mvnw -Pchaos verify -pl python/tests/system`, with `-Dchaos.rounds=20` and
`-Dtest.seed=…` if wanted.
"""

import os
import random
import re
import threading
import time
from contextlib import contextmanager

import confluent_kafka
import pytest
from chunk_bytes import chunks_of
from clusters import DIST, Cluster, Team
from confluent_kafka.admin import AdminClient, NewTopic
from kafka_broker import Brokers
from stoker_processes import LIMIT_S, until, views
from test_chaos import PATIENT, pause
from test_machines import received
from test_topic_ingests import samples, version

from rounds import seed as run_seed
from stoker import Feed

RANKS = 3
ORDER = {"batch_size": 10, "lanes": 12, "shuffle_window": 96 << 10, "lane_order": "fixed", "seed": 5}
OPTIONS = ["--batch-size", 10, "--lanes", 12, "--shuffle-window", "96kb", "--seed", 5, "--parallelism", 2]
BATCHES = 30
"""Of each rank, in a round."""
RECORDS = 1000
"""Sent before and after each fault, beside those that flow meanwhile."""
PARTITIONS = 4
CALM_S = 300.0


class Storm:
    """Three brokers, two machines and a JobManager with ZooKeeper, and what may happen to them."""

    def __init__(self, cluster, brokers, seed):
        self.cluster, self.brokers, self._seed = cluster, brokers, seed
        self._rng = random.Random(seed)
        self._dead = []

    def faults(self, name, rounds):
        """Returns the faults of a test: each at least once, if there are enough rounds."""
        self._rng = random.Random(f"{self._seed} {name}")
        all_of_them = [self.broker, self.worker, self.head, self.broker_and_worker, self.broker_and_head]
        first = self._rng.sample(all_of_them, len(all_of_them))
        return (first + self._rng.choices(all_of_them, k=rounds))[:rounds]

    def strike(self, fault):
        """Causes a fault at a random moment."""
        pause(self._rng.uniform(0, 2))
        print(time.strftime("%H:%M:%S"), fault.__name__, flush=True)
        fault()

    def calm(self):
        """Restarts dead processes, and waits until brokers and machines are complete."""
        for begin in self._dead:
            begin()
        self._dead.clear()
        until(self.brokers.whole, "every broker has every record", CALM_S)
        machines = len(self.cluster.workers)
        until(lambda: self.cluster.overview().get("taskmanagers") == machines, "all machines are there", CALM_S)

    def broker(self):
        broker = self._rng.choice(self.brokers.all)
        broker.kill()
        self._dead.append(broker.launch)

    def worker(self):
        worker = self._rng.choice(self.cluster.workers)
        worker.kill()
        self._dead.append(lambda: self.cluster.start_worker(worker))

    def head(self):
        self.cluster.head.kill()
        pause(self._rng.uniform(0, 2))
        self.cluster.start_head()

    def broker_and_worker(self):
        self.broker()
        self.worker()

    def broker_and_head(self):
        self.broker()
        self.head()


@pytest.fixture(scope="module")
def rounds():
    return int(os.environ.get("CHAOS_ROUNDS") or 12)


@pytest.fixture(scope="module")
def storm(cli, tmp_path_factory, rounds):
    seed = run_seed()
    print(f"CHAOS_ROUNDS={rounds}")
    directory = tmp_path_factory.mktemp("storm")
    with Cluster(directory / "cluster", cli.home, workers=2) as cluster:
        brokers = Brokers(directory / "brokers", cluster.network.here)
        try:
            yield Storm(cluster.start(), brokers, seed)
        finally:
            brokers.close()


@contextmanager
def told(storm):
    """What the machines say, where it ends badly; they are free for the next test then."""
    try:
        yield
    except BaseException:
        print(storm.cluster.logs())
        for job in storm.cluster.rest("/jobs").get("jobs", []):
            if job["status"] not in ("FINISHED", "CANCELED", "FAILED"):
                storm.cluster.flink("cancel", job["id"])
        raise


@pytest.mark.chaos
@pytest.mark.parametrize("delivery", ["at-least-once", "exactly-once"])
def test_every_rank_gets_its_batches_whatever_dies(cli, crumbs, storm, rounds, tmp_path, delivery):
    cluster, brokers = storm.cluster, storm.brokers
    with Feed(crumbs.path, **ORDER, tail="keep") as feed:
        epochs = (rounds + 1) * BATCHES * RANKS // feed.info.batches + 2
    expected = []
    for rank in range(RANKS):
        with Feed(crumbs.path, **ORDER, tail="keep", rank=rank, world_size=RANKS) as feed:
            expected.append([[*v[:4], list(v[4]), v[5]] for _ in range(epochs) for v in views(feed)])
    to = ["--to", "kafka", "--bootstrap", brokers.address, "--topic", delivery, "--world-size", RANKS]
    to += ["--delivery", delivery, "--replication-factor", 3, "--epochs", epochs]
    # Little ahead, so that something is being written when somebody dies.
    to += ["--throttle-groups", "trainers", "--epochs-ahead", 1, "--bytes-ahead", "60kb"]
    with told(storm):
        cluster.submit(delivery, crumbs.path, *to, *OPTIONS, before=PATIENT)
        target = f"kafka://{brokers.address}/{delivery}"
        options = {"tail": "keep", "group": "trainers", "connect_timeout": LIMIT_S, "waits": False}
        team = Team(cli.home, tmp_path / "notes", target, RANKS, epochs, **options)
        try:
            team.go(BATCHES)
            for fault in storm.faults(delivery, rounds):
                team.go(BATCHES, lambda fault=fault: storm.strike(fault))
                storm.calm()
            notes = team.finish()
        finally:
            team.kill()
        # One that ended before the JobManager died is not known to the next one.
        until(lambda: cluster.overview().get("jobs-running") == 0, "the feed ends when its epochs are written", CALM_S)
    assert received(notes) == expected


class Sender:
    """Writes to a topic whatever becomes of its brokers, and knows what is where."""

    def __init__(self, brokers, topic):
        self._topic, self.sent = topic, {}
        settings = {"bootstrap.servers": brokers.address, "log_level": 0}
        admin = AdminClient(settings)
        admin.create_topics([NewTopic(topic, PARTITIONS, 3)])[topic].result(LIMIT_S)
        self._producer = confluent_kafka.Producer(settings | {"enable.idempotence": True, "linger.ms": 5})

    def _acknowledged(self, error, message):
        assert error is None, error
        self.sent[f"{self._topic}-{message.partition()}-{message.offset()}"] = message.value()

    def send(self, count):
        """Waits until the brokers have them."""
        before = len(self.sent)
        for i in range(count):
            value = b"value %d " % (before + i) * (1 + i % 40)
            self._producer.produce(self._topic, value, partition=i % PARTITIONS, on_delivery=self._acknowledged)
            self._producer.poll(0)
        assert self._producer.flush(LIMIT_S) == 0
        assert len(self.sent) == before + count

    @contextmanager
    def flowing(self):
        """Sends a few, ten times a second."""
        over, failures = threading.Event(), []

        def flow():
            try:
                while not over.wait(0.1):
                    self.send(20)
            except BaseException as e:
                failures.append(e)

        thread = threading.Thread(target=flow)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
        assert not failures, failures


def taken(path):
    """How many samples the newest version has."""
    with Feed(path) as feed:
        return feed.info.samples


@pytest.mark.chaos
def test_each_record_is_one_sample_whatever_dies(cli, storm, rounds, tmp_path):
    cluster, path = storm.cluster, tmp_path / "data"
    sender = Sender(storm.brokers, "records")
    sender.send(2 * RECORDS)
    words = ["run", "-d", *PATIENT, DIST / "jobs" / "ingest-job.jar", f"kafka://{storm.brokers.address}/records", path]
    options = ["--value", "raw", "--commit-interval", "500 ms", "--chunk-size", "16kb", "--parallelism", 2]
    with told(storm):
        job = re.search(r"JobID ([0-9a-f]{32})", cluster.flink(*words, *options))[1]
        until(lambda: version(path) and taken(path), "the first version")
        for fault in storm.faults("ingest", rounds):
            sender.send(RECORDS)
            with sender.flowing():
                storm.strike(fault)
            sender.send(RECORDS)
            until(lambda: taken(path) == len(sender.sent), "all that was sent is in a version", CALM_S)
            storm.calm()
        until(lambda: cluster.state(job) == "RUNNING", "the job runs")
        cluster.flink("stop", "--savepointPath", tmp_path / "savepoints", job)
        until(lambda: cluster.state(job) == "FINISHED", "the ingest ends with a last version", CALM_S)
    assert samples(path) == sender.sent
    for chunk in chunks_of(path):
        places = [[int(number) for number in key.split("-")[1:]] for key in chunk.keys]
        for partition in range(PARTITIONS):
            offsets = [offset for p, offset in places if p == partition]
            assert offsets == sorted(offsets), chunk.path
    cli.run("verify", path)
