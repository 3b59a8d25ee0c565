"""Feeds to a topic that are killed, stand still, run twice or lose their topic, and topics that others have written to:
each sample exactly once and in order, or a line that says what is wrong.
"""

import re
import signal
from itertools import zip_longest

import pytest
from confluent_kafka import IsolationLevel
from kafka_broker import Broker
from stoker_processes import LIMIT_S, Cli, logged, until, view, views
from test_chaos import pause
from topics import Topic

from kafka_fake import Writer
from ports import free_port
from small_datasets import small_dataset
from stoker import Feed, errors

pytestmark = pytest.mark.full("feeds")

ORDER = {"batch_size": 12, "lanes": 4, "shuffle_window": 96 << 10, "lane_order": "fixed"}
OPTIONS = ["--batch-size", 12, "--lanes", 4, "--shuffle-window", "96kb", "--world-size", 1]
EPOCHS = 6
AHEAD = 1
THROTTLED = [
    "--epochs",
    EPOCHS,
    "--throttle-groups",
    "trainers",
    "--epochs-ahead",
    AHEAD,
    "--checkpoint-interval",
    "200 ms",
]
EXACTLY = [*THROTTLED[:-1], "1 s", "--delivery", "exactly-once"]
WAITING = {"tail": "keep", "group": "trainers", "connect_timeout": LIMIT_S, "batch_timeout": LIMIT_S}


@pytest.fixture(scope="module")
def expected(photos):
    with Feed(photos.path, version=2, **ORDER, tail="keep") as feed:
        return [views(feed) for _ in range(EPOCHS)]


@pytest.fixture
def begin(cli, broker, photos):
    """Starts a feed to a topic. `command`: the command of another machine, if the feed runs there."""
    started = []

    def begin(topic, options, command=cli):
        to = ["--to", "kafka", "--bootstrap", broker.address, "--topic", topic.name, "--name", topic.name]
        process = command.start("feed", f"{photos.path}@2", *to, *OPTIONS, *options)
        started.append(process)
        return process

    yield begin
    for process in started:
        process.kill()
        process.communicate()


@pytest.fixture(autouse=True)
def _trainers_tell_soon_how_far_they_are(monkeypatch):
    monkeypatch.setattr("stoker._kafka.topic_reading._COMMIT_S", 0.1)


def read(topic, after=None, happens=None):
    """All epochs, with something that happens after one of them."""
    got = []
    with Feed(topic.target, **WAITING) as feed:
        for epoch in range(EPOCHS):
            got.append(views(feed))
            if epoch == after:
                happens()
    return got


def waits(feeder, topic):
    """Until the feed has committed what it may without a trainer."""
    until(lambda: feeder.poll() is not None or (topic.is_settled() and topic.ends_with(AHEAD)), "the feed waits")
    assert feeder.poll() is None, feeder.stderr.read()


def open_transaction(feeder, topic):
    """Until the feed has written more, in a transaction that its next checkpoint will commit."""
    waits(feeder, topic)
    before = topic.ends(IsolationLevel.READ_UNCOMMITTED)
    topic.consumed("trainers")
    until(lambda: topic.ends(IsolationLevel.READ_UNCOMMITTED) not in ([], before), "records of an open transaction")


# ---- feeds


def test_a_feed_whose_broker_is_away_waits_says_little_and_ends_when_it_is_asked_to(cli, begin, tmp_path):
    own = Broker(tmp_path)
    try:
        topic = Topic(own.address, "away")
        options = ["--bootstrap", own.address, "--epochs", 1_000_000, "--checkpoint-interval", "200 ms"]
        feeder = begin(topic, options)
        until(topic.has_committed, "the feed writes")
    finally:
        own.kill()
    before = logged(cli, feeder)
    pause(10)
    assert feeder.poll() is None, feeder.stderr.read()
    # What it has in hand has nowhere to go.
    feeder.send_signal(signal.SIGTERM)
    _, err = feeder.communicate(timeout=LIMIT_S)
    assert feeder.returncode == 1
    assert "the feed did not end cleanly within 30 s and was cancelled" in err
    assert logged(cli, feeder) - before < 64 << 10


def test_an_ingest_of_a_dead_broker_says_little(cli, tmp_path):
    process = cli.start("ingest", f"kafka://127.0.0.1:{free_port()}/photos", tmp_path / "data", "--value", "raw")
    _, err = process.communicate(timeout=LIMIT_S)
    assert process.returncode == 1
    assert "no broker answers at" in err
    assert logged(cli, process) < 64 << 10


def test_what_a_killed_feed_has_not_committed_is_in_nobodys_way(broker, begin, expected):
    """Its transaction would stay open for a quarter of an hour."""
    topic = Topic(broker.address, "killed")
    first = begin(topic, EXACTLY)
    open_transaction(first, topic)
    first.kill()
    first.wait()
    begin(topic, EXACTLY)
    assert read(topic) == expected


def test_a_feed_that_stood_still_for_longer_than_its_transactions_last_goes_on(broker, begin, expected):
    topic = Topic(broker.address, "still")
    feeder = begin(topic, [*EXACTLY, "--transaction-timeout", "2500 ms"])
    open_transaction(feeder, topic)
    feeder.send_signal(signal.SIGSTOP)
    # Nobody but the broker can end it now.
    until(topic.is_settled, "the broker gives the transaction up")
    feeder.send_signal(signal.SIGCONT)
    assert read(topic) == expected


@pytest.mark.parametrize(
    "delivery",
    [pytest.param(THROTTLED, id="at-least-once"), pytest.param(EXACTLY, id="exactly-once", marks=pytest.mark.chaos)],
)
def test_a_feed_that_wakes_up_beside_its_successor_changes_nothing(broker, begin, expected, tmp_path, delivery):
    topic = Topic(broker.address, "zombie-of-" + ("transactions" if delivery is EXACTLY else "records"))
    old = begin(topic, delivery)
    (waits if delivery is THROTTLED else open_transaction)(old, topic)
    old.send_signal(signal.SIGSTOP)
    begin(topic, delivery, Cli(tmp_path / "elsewhere"))
    assert read(topic, 2, lambda: old.send_signal(signal.SIGCONT)) == expected
    if delivery is THROTTLED:
        until(lambda: repeated(topic), "the old one has written, too")
    assert read(topic) == expected


def repeated(topic):
    """Whether a position of the last epochs, which the old feed had not written before, stands in the topic twice."""
    names = ("stoker.epoch", "stoker.kind", "stoker.batch", "stoker.part")
    for records in topic.records():
        positions = [tuple(dict(record.headers())[name] for name in names) for record in records]
        late = [position for position in positions if int(position[0]) > 2 + AHEAD]
        if len(set(late)) < len(late):
            return True
    return False


def test_a_feed_ends_when_its_topic_is_created_again_and_another_one_serves_its_trainer(broker, begin, expected):
    topic = Topic(broker.address, "exchanged")
    feeder = begin(topic, THROTTLED)
    with Feed(topic.target, **WAITING) as feed:
        running = iter(feed)
        got = [view(next(running)) for _ in range(7)]
        waits(feeder, topic)
        topic.delete()
        topic.create()
        out, err = feeder.communicate(timeout=LIMIT_S)
        assert feeder.returncode == 1, out + err
        (said,) = (line for line in err.splitlines() if "topic exchanged" in line)
        # It may have looked in between.
        assert re.search("was deleted and recreated|no longer exists", said)
        begin(topic, THROTTLED)
        got += [view(batch) for batch in running]
        assert [got, *(views(feed) for _ in range(3))] == expected[:4]


def test_a_feed_hears_of_what_a_trainer_has_consumed_that_is_busy(broker, written, monkeypatch):
    """A rank waits for others in its step, and they wait for records that the feed holds until this rank reports."""
    monkeypatch.setattr("stoker._kafka.topic_reading._COMMIT_S", 1000.0)
    topic = Topic(broker.address, "busy")
    topic.create()
    topic.write(written)
    with Feed(topic.target, **WAITING) as feed:
        running = iter(feed)
        for _ in range(9):
            next(running)
        # Two batches of each lane, behind its first record.
        until(lambda: min(topic.committed("trainers")) >= 3, "what it is through with is committed")


def test_a_piece_is_found_where_all_behind_it_was_given_up(broker, tmp_path):
    """After more transactions than records, its guessed position is too far back, and no record arrives there."""
    small_dataset(tmp_path / "d", chunks=(120, 40, 40, 40))
    order = {"batch_size": 4, "lanes": 4, "shuffle_window": 3000, "lane_order": "fixed"}
    writer = Writer(tmp_path / "d", **order)
    first, second, third = (writer.epoch(epoch) for epoch in range(3))
    topic = Topic(broker.address, "guessed")
    topic.create()
    rows = [[[r] if r else [] for r in records] for records in zip_longest(*first)]
    topic.transact(*((records, is_committed) for records in rows for is_committed in (False, True)))
    topic.transact((second, True), (third, False), (third, False), (third, False))
    for rank in range(4):
        with (
            Feed(topic.target, **WAITING, rank=rank, world_size=4) as feed,
            Feed(tmp_path / "d", **order, tail="keep", rank=rank, world_size=4) as path,
        ):
            for epoch in range(2):
                path.set_epoch(epoch)
                assert views(feed) == views(path)


# ---- records of others


@pytest.fixture(scope="module")
def written(photos):
    """The records of two epochs, by partition."""
    writer = Writer(photos.path, version=2, **ORDER)
    return [[*first, *second] for first, second in zip(writer.epoch(0), writer.epoch(1), strict=True)]


def flipped(partitions, topic):
    headers, value = partitions[1][4]
    partitions[1][4] = headers, value[:900] + bytes([value[900] ^ 4]) + value[901:]
    topic.write(partitions)


def misrouted(partitions, topic):
    partitions[2].insert(3, partitions[0][3])
    topic.write(partitions)


def missing(partitions, topic):
    del partitions[3][5]
    topic.write(partitions)


def forgotten(partitions, topic):
    """Deleted as retention does it: from the beginning."""
    topic.write(partitions)
    topic.forget([6] * 4)


@pytest.mark.parametrize(
    ("damage", "error", "message"),
    [
        (flipped, errors.CorruptDataError, r"partition 1, offset 4 is corrupt: .*CRC32C"),
        (misrouted, errors.StokerError, r"partition 2, offset 3: .* of lane 0 was misrouted to partition 2"),
        (missing, errors.StokerError, r"partition 3, offset 5: found .* where .* was expected.*the topic has a gap"),
        (forgotten, errors.StokerError, r"partition \d: .* is no longer there; .*\(offset 6\).*retention\.ms"),
    ],
)
def test_what_is_wrong_in_a_topic_is_named_with_partition_and_offset(broker, written, damage, error, message):
    topic = Topic(broker.address, damage.__name__)
    topic.create()
    damage([list(records) for records in written], topic)
    with Feed(topic.target, **WAITING) as feed:
        with pytest.raises(error, match=f"topic {topic.name} at {broker.address}, {message}") as raised:
            list(feed)
        assert "\n" not in str(raised.value)
