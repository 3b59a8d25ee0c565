"""A real feeder that writes a real topic, and trainers that read it: the path reader's bytes, whatever dies."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import threading
from contextlib import closing
from http.server import BaseHTTPRequestHandler, HTTPServer
from itertools import islice

import confluent_kafka
import pytest
from growing import FOLLOWING, Growing
from kafka_broker import Broker
from stoker_processes import LIMIT_S, REPOSITORY, until, view, views
from test_java_client import JavaTrainer

from stoker import Feed, errors

ORDER = {"batch_size": 12, "lanes": 4, "shuffle_window": 96 << 10, "lane_order": "fixed"}
ORDERING = ["--batch-size", 12, "--lanes", 4, "--shuffle-window", "96kb"]


@pytest.fixture(scope="module")
def start(cli, broker, photos):
    started = []

    def start(topic, *options, data=f"{photos.path}@2", order=ORDERING, at=broker):
        target = ["--to", "kafka", "--bootstrap", at.address, "--topic", topic, "--name", topic]
        more = ["--world-size", 2, "--checkpoint-interval", "200 ms", *order]
        process = cli.start("feed", data, *target, *more, *options)
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def finish(process):
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 0, out + err
    return out


@pytest.fixture(scope="module")
def whole(broker, start):
    """A topic with two epochs."""
    out = finish(start("whole", "--epochs", 2))
    assert "4 partitions for 2 ranks" in out
    wrote = r"^done after .* s: wrote [1-9][0-9,]* records with [1-9][0-9,]* samples, "
    assert re.search(wrote, out, re.MULTILINE), out
    return f"kafka://{broker.address}/whole"


@pytest.fixture(scope="module")
def expected(photos):
    """The batches of four epochs in ascending number, by one reader of the files."""
    with Feed(photos.path, version=2, **ORDER, tail="keep") as feed:
        return [views(feed) for _ in range(4)]


def test_ranks_of_any_number_read_the_same_batches_from_any_position(broker, whole, expected):
    target = whole
    for world_size in (1, 2, 3):
        for rank in range(world_size):
            with Feed(target, rank=rank, world_size=world_size, tail="keep", group="trainers") as feed:
                assert [views(feed) for _ in range(2)] == [e[rank::world_size] for e in expected[:2]]
    with Feed(target, tail="keep") as feed:
        state = [batch.state for batch in feed][6]
    with Feed(target, tail="keep") as feed:
        feed.load_state_dict(json.loads(json.dumps(state)))
        assert views(feed) == expected[0][7:]
        assert views(feed) == expected[1]
    with closing(confluent_kafka.Consumer({"bootstrap.servers": broker.address, "group.id": "trainers"})) as consumer:
        places = [confluent_kafka.TopicPartition("whole", p) for p in range(4)]
        assert all(place.offset > 0 for place in consumer.committed(places, timeout=LIMIT_S))


@pytest.mark.parametrize("buffer_bytes", [64 << 10, 256 << 20])
def test_a_reader_that_jumps_reads_lanes_that_were_paused_before(whole, expected, buffer_bytes):
    """A lane is paused when it fills the buffer, or when it has read what is planned: the next epoch's records."""
    with Feed(whole, tail="keep", buffer_bytes=buffer_bytes, batch_timeout=LIMIT_S) as feed:
        for _ in range(3):
            begun = list(islice(feed, 20))
            assert views(begun) == expected[0][:20]
            feed.set_epoch(0)
        feed.load_state_dict(begun[6].state)
        assert views(feed) == expected[0][7:]
        assert views(feed) == expected[1]


@pytest.mark.full("feeds")
def test_a_topic_holds_the_samples_that_satisfy_a_condition(broker, start, photos):
    where = "label IN ('cat', 'dog')"
    finish(start("some", "--epochs", 2, "--where", where))
    target = f"kafka://{broker.address}/some"
    with Feed(photos.path, version=2, **ORDER, where=where, tail="keep") as files:
        expected = [views(files), views(files)]
    for options in ({}, {"where": "'cat' = label OR label = 'dog'"}):
        with Feed(target, tail="keep", **options) as feed:
            assert [views(feed), views(feed)] == expected
    with pytest.raises(errors.OrderMismatchError, match="asked for label = 'ant'"):
        len(Feed(target, where="label = 'ant'"))


@pytest.mark.full("feeds")
def test_ranks_read_each_others_lanes_in_every_epoch(cli, broker, start, photos, tmp_path):
    """In a mixed order the lanes of a rank are others in each epoch, and those of the epoch before are paused."""
    finish(start("mixed", "--epochs", 3, "--lane-order", "mixed", "--allow-read-amplification"))
    target, order = f"kafka://{broker.address}/mixed", {**ORDER, "lane_order": "mixed"}
    options = [{"rank": rank, "world_size": 2, "tail": "keep"} for rank in range(2)]
    java = [JavaTrainer(cli, tmp_path / f"notes-{o['rank']}", target, 3, group="java", **o) for o in options]
    try:
        for trainer, option in zip(java, options, strict=True):
            skip = [(0, 3, 8), (1, 0, 4)]
            with Feed(photos.path, version=2, **order, **option) as path:
                epochs = [views(path) for _ in range(3)]
            with Feed(target, **option, batch_timeout=LIMIT_S) as feed:
                assert [views(feed) for _ in range(3)] == epochs
                feed.set_epoch(1)
                assert views(feed) == epochs[1]
            with (
                Feed(photos.path, version=2, **order, **option, skip=skip) as path,
                Feed(target, **option, skip=skip, batch_timeout=LIMIT_S) as feed,
            ):
                for _ in range(3):
                    assert views(feed) == views(path)
            assert trainer.end() == [batch for epoch in epochs for batch in epoch]
    finally:
        for trainer in java:
            trainer.process.kill()
            trainer.process.communicate()


@pytest.mark.full("feeds")
def test_the_java_client_reads_the_same_bytes_and_goes_on_with_a_state_of_python(cli, whole, expected, tmp_path):
    with Feed(whole, tail="keep") as feed:
        state = [batch.state for batch in feed][6]
    options = [{"rank": rank, "world_size": 2, "tail": "keep", "group": "java"} for rank in range(2)]
    options.append({"state": state, "tail": "keep"})
    trainers = [JavaTrainer(cli, tmp_path / f"notes-{i}", whole, 2, **o) for i, o in enumerate(options)]
    try:
        for rank in range(2):
            assert trainers[rank].end() == expected[0][rank::2] + expected[1][rank::2]
        assert trainers[2].end() == expected[0][7:] + expected[1]
    finally:
        for trainer in trainers:
            trainer.process.kill()
            trainer.process.communicate()


def test_a_plain_consumer_needs_arrow_alone(broker, whole, expected):
    script = REPOSITORY / "examples/python/kafka_consumer.py"
    samples = 0
    for rank in range(2):
        said = subprocess.run(
            [sys.executable, str(script), broker.address, "whole", "--rank", str(rank), "--world-size", "2"],
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=True,
        ).stdout
        samples += int(said.splitlines()[-1].split()[0])
    assert samples == sum(len(batch[4]) for batch in expected[0])


@pytest.mark.full("feeds")
def test_samples_of_a_registered_schema_make_the_same_batches(cli, broker, start, expected, tmp_path):
    asked = []

    class Registry(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            asked.append((self.path, json.loads(json.loads(body)["schema"])))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b'{"id": 1234}')

        def log_message(self, *args):
            pass

    with HTTPServer(("127.0.0.1", 0), Registry) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}"
        finish(start("samples", "--epochs", 1, "--value-format", "avro", "--schema-registry", url))
        server.shutdown()
        thread.join()
    ((path, schema),) = asked
    assert path == "/subjects/samples-value/versions"
    assert [field["name"] for field in schema["fields"]] == ["key", "label", "crc32c_data", "data"]
    target = f"kafka://{broker.address}/samples"
    java = JavaTrainer(cli, tmp_path / "notes", target, 1, rank=1, world_size=2, tail="keep")
    try:
        for rank in range(2):
            with Feed(target, rank=rank, world_size=2, tail="keep") as feed:
                assert views(feed) == expected[0][rank::2]
        assert java.end() == expected[0][1::2]
    finally:
        java.process.kill()
        java.process.communicate()
    script = REPOSITORY / "examples/python/kafka_samples.py"
    said = subprocess.run(
        [sys.executable, str(script), broker.address, "samples"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    ).stdout.splitlines()
    keys = {tuple(map(int, re.findall(r"[0-9]+", line)[:2])): line.split(": ", 1)[1] for line in said[:-1]}
    wanted = {(batch[1], row): key for batch in expected[0] for row, key in enumerate(batch[4])}
    assert keys == wanted
    again = start("samples", "--epochs", 1)
    assert again.wait(LIMIT_S) == 1
    assert "holds records of --value-format avro" in again.communicate()[1]


@pytest.fixture
def own_broker(tmp_path):
    broker = Broker(tmp_path)
    yield broker
    broker.kill()


@pytest.mark.parametrize("delivery", ["at-least-once", pytest.param("exactly-once", marks=pytest.mark.soak)])
@pytest.mark.full("feeds")
def test_trainers_live_through_the_loss_of_broker_and_feeder(own_broker, start, expected, delivery):
    """The trainer reads while the broker is killed and started again, and then the feeder."""
    broker = own_broker
    topic = f"losses-{delivery}"
    options = ["--epochs", 4, "--delivery", delivery, "--throttle-groups", "trainers", "--epochs-ahead", 0]
    feeder = start(topic, *options, at=broker)
    taken = 0
    with Feed(f"kafka://{broker.address}/{topic}", tail="keep", group="trainers", connect_timeout=LIMIT_S) as feed:
        for epoch in range(4):
            got = []
            for batch in feed:
                got.append(view(batch))
                taken += 1
                if taken == 9:
                    broker.kill()
                    threading.Thread(target=broker.start).start()
                if taken == 40:
                    feeder.kill()
                    feeder.wait()
                    feeder = start(topic, *options, at=broker)
            assert got == expected[epoch]
    feeder.send_signal(signal.SIGINT)


@pytest.mark.full("feeds")
def test_each_epoch_of_a_feed_that_follows_keeps_its_version_though_the_feeder_dies(cli, broker, start, tmp_path):
    growing, fixed = Growing(tmp_path), {"tail": "keep", "lane_order": "fixed"}
    growing.append(ant=60, cat=50)
    throttle = ["--throttle-groups", "trainers", "--epochs-ahead", 0, "--bytes-ahead", "24kb"]
    options = {"data": f"train={growing.path}", "order": FOLLOWING}
    feeder = start("growing", *throttle, **options)
    target = f"kafka://{broker.address}/growing"
    with Feed(target, tail="keep", group="trainers", connect_timeout=LIMIT_S) as feed:
        assert views(feed) == growing.views(1, 0, **fixed)
        growing.append(bee=70)
        running = iter(feed)
        got = list(islice(running, 5))
        feeder.kill()
        feeder.wait()
        growing.append(ant=30)
        feeder = start("growing", *throttle, **options)
        got += running
        assert views(got) == growing.views(2, 1, **fixed)
        assert feed.version == 2
        state = got[-3].state
        assert views(feed) == growing.views(3, 2, **fixed)
    assert f"train={growing.path}@3+:train" in cli.run("ps")
    (told,) = json.loads(cli.run("top", "growing", "--once", "--json"))
    assert {lane.get("version", 3) for lane in told["lanes"]} == {3}
    rest = growing.views(2, 1, **fixed)[-2:] + growing.views(3, 2, **fixed)
    trainer = JavaTrainer(cli, tmp_path / "notes", target, 2, tail="keep", group="java", state=state)
    try:
        with Feed(target, tail="keep", group="again") as feed:
            feed.load_state_dict(json.loads(json.dumps(state)))
            assert views(feed) + views(feed) == rest
        assert trainer.end() == rest
    finally:
        trainer.process.kill()
        trainer.process.communicate()
    feeder.send_signal(signal.SIGINT)


def test_a_feed_to_a_topic_is_listed_watched_and_stopped(cli, broker, start):
    process = start("watched", "--throttle-groups", "nobody", "--epochs-ahead", 0)
    cli.run("wait", "watched", "--timeout", f"{int(LIMIT_S)}s")
    (listed,) = (f for f in json.loads(cli.run("ps", "--json")) if f["name"] == "watched")
    assert listed["state"] == "running"
    assert listed["topic"]["name"] == "watched"
    assert f"kafka://{broker.address}/watched" in cli.run("ps")

    def waiting():
        (told,) = json.loads(cli.run("top", "watched", "--once", "--json"))
        lanes = [(lane["lane"], lane["epoch"], lane["waits_for"]) for lane in told["lanes"]]
        return lanes == [(lane, 1, "nobody") for lane in range(4)]

    until(waiting, "every lane waits for the group")
    assert "waits for group nobody" in cli.run("top", "watched", "--once")
    assert "leave no receipts" in cli.fails("audit", "watched")
    stopping = cli.start("stop", "watched")
    out, _ = process.communicate(timeout=LIMIT_S)  # it counts as alive until its parent has looked
    assert process.returncode in (0, 143)
    assert re.search(r"^stopped after .* in epoch 1: wrote [1-9].*; the same command resumes", out, re.MULTILINE), out
    out, err = stopping.communicate(timeout=LIMIT_S)
    assert stopping.returncode == 0, out + err
    (listed,) = (f for f in json.loads(cli.run("ps", "--all", "--json")) if f["name"] == "watched")
    assert listed["state"] == "ended"


def test_a_topic_that_would_lose_records_is_refused_with_the_setting(broker, start):
    admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": broker.address})
    wrong = confluent_kafka.admin.NewTopic("wrong", 4, 1, config={"cleanup.policy": "compact", "retention.ms": "1000"})
    admin.create_topics([wrong])["wrong"].result(LIMIT_S)
    process = start("wrong", "--epochs", 1, "--delivery", "exactly-once", "--transaction-timeout", "20 min")
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1, out + err
    (said,) = (line for line in err.splitlines() if "topic wrong" in line)
    for text in ("cleanup.policy=delete", "retention.ms=86400000", "transaction.max.timeout.ms is 900000"):
        assert text in said
    for text in ("--transaction-timeout 900s or less", "transaction.max.timeout.ms=1200000"):
        assert text in said


def test_lanes_that_ranks_cannot_share_are_refused(broker, start):
    process = start("shared", "--epochs", 1, "--world-size", 3)
    out, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 2, out + err
    assert "4 lanes are not a multiple of 3 ranks" in err
    assert "3 times" in err
    assert "--allow-read-amplification" in err


@pytest.mark.full("feeds")
def test_a_deleted_topic_is_no_endless_wait(broker, whole):
    """The last test of the topic."""
    with Feed(whole, tail="keep", batch_timeout=3) as feed:
        list(feed)
        admin = confluent_kafka.admin.AdminClient({"bootstrap.servers": broker.address})
        admin.delete_topics(["whole"])["whole"].result(LIMIT_S)
        feed.load_state_dict({**feed.state_dict(), "epoch": 0, "batch": 0})
        with pytest.raises(errors.StokerError, match="topic whole"):
            list(feed)
