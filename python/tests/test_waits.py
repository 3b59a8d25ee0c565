"""Where a wait went: what the client knows, and what feeders say of slow pieces."""

import json
import threading

import pytest

from feed_fakes import FakeFeed, OpaqueStream, eventually, pieces_of
from stoker._client.feeder_pool import Timing
from stoker._client.waits import PageReads, Stall, Waits
from stoker._wire import decoding, encoding
from stoker._wire import protocol as p

HERE = ("10.0.0.2:7420", 3)
US = 1_000_000


def delay(number, *, origin=0.0, disk=0.0, feeder=0.0, epoch=0):
    return p.Delay(1, epoch, number, 0, round(origin * US), round(disk * US), round(feeder * US))


def told(waits):
    return {(s.cause, round(s.seconds, 6)): s.times for s in waits.stalls()}


def test_a_delay_explains_the_wait_before_it():
    waits = Waits()
    waits.add("network", *HERE, (0, 7), 0.5)
    waits.explain(delay(7, disk=0.3, feeder=0.05))
    assert told(waits) == {("disk", 0.3): 1, ("network", 0.15): 0, ("feeder", 0.05): 0}
    assert waits.stalls()[0] == Stall("disk", *HERE, pytest.approx(0.3), 1)


def test_a_delay_that_is_faster_than_the_trainers_note_explains_it_too():
    waits = Waits()
    waits.explain(delay(7, origin=0.4))
    waits.add("start", *HERE, (0, 7), 0.5)
    assert told(waits) == {("origin", 0.4): 1, ("start", 0.1): 0}


def test_no_more_is_explained_than_was_waited():
    waits = Waits()
    waits.add("network", *HERE, (0, 7), 0.1)
    waits.explain(delay(7, origin=5.0, disk=0.04))
    assert told(waits) == {("origin", 0.06): 1, ("disk", 0.04): 0}
    assert sum(waits.causes().values()) == pytest.approx(0.1)


def test_what_the_feeder_and_this_side_took_comes_together():
    for before in (0, 1, 2):
        waits = Waits()
        told_of = [delay(7, disk=0.2), delay(7, feeder=0.05)]
        for each in told_of[:before]:
            waits.explain(each)
        waits.add("network", *HERE, (0, 7), 0.4)
        for each in told_of[before:]:
            waits.explain(each)
        assert set(told(waits)) == {("disk", 0.2), ("network", 0.15), ("feeder", 0.05)}
        assert sum(told(waits).values()) == 1


def test_pages_read_here_are_the_disks_while_reads_are_slow():
    pause = threading.Event()
    blocks = [0]
    asked = []

    def inblock():
        asked.append(blocks[0])
        return blocks[0]

    reads = PageReads(inblock)

    def read(seconds, of_disk):
        began = reads.begin()
        pause.wait(seconds)
        blocks[0] += of_disk
        return reads.end(began)

    assert read(0, 8) == 0
    assert asked == []  # what is quick costs no question
    assert read(0.003, 8) == 0  # nobody had looked before it
    assert read(0.003, 8) >= 0.003
    assert read(0.003, 0) == 0  # slow, but not for a disk
    for _ in range(64):
        read(0, 0)
    count = len(asked)
    read(0, 0)
    assert len(asked) == count


@pytest.mark.parametrize("cause", ["connect", "corrupt", "feeder"])
def test_what_the_client_knows_better_stays(cause):
    waits = Waits()
    waits.add(cause, *HERE, (0, 7), 0.5)
    waits.explain(delay(7, disk=0.3))
    assert told(waits) == {(cause, 0.5): 1}


def test_a_delay_of_another_batch_or_epoch_explains_nothing():
    waits = Waits()
    waits.add("network", *HERE, (0, 7), 0.5)
    waits.explain(delay(8, disk=0.3))
    waits.explain(delay(7, disk=0.3, epoch=1))
    assert told(waits) == {("network", 0.5): 1}


def test_what_is_remembered_is_bounded():
    waits = Waits()
    for number in range(2000):
        waits.add("network", *HERE, (0, number), 0.01)
        waits.explain(delay(5000 + number, disk=0.1))
    assert len(waits._recent) <= 256
    assert len(waits._delays) <= 256


def test_several_threads_lose_nothing():
    waits = Waits()

    def wait(begin):
        for number in range(begin, begin + 500):
            waits.add("network", *HERE, (0, number), 0.002)

    threads = [threading.Thread(target=wait, args=(1000 * i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for number in range(4000):
        waits.explain(delay(number, disk=0.001))
    for thread in threads:
        thread.join()
    assert sum(waits.causes().values()) == pytest.approx(4 * 500 * 0.002)
    assert sum(s.times for s in waits.stalls()) == 2000


def test_a_report_has_what_the_server_takes():
    waits = Waits()
    for lane in range(100):
        waits.add("network", "a:1", lane, (0, lane), 0.01 * (lane + 1))
    kind = decoding.unpack_prefix(waits.frame(None, 0, 0, 0))[1]
    assert kind == p.STATS
    values = json.loads(waits.frame(None, 3, 12, 99)[8:-4])
    assert (values["time_us"], values["batches"], values["samples"], values["bytes"]) == (0, 3, 12, 99)
    assert values["waited_us"] == sum(values["causes"].values())
    assert len(values["waits"]) == 64
    assert values["waits"][0] == {"feeder": "a:1", "lane": 99, "cause": "network", "us": US, "times": 1}


class Slow(OpaqueStream):
    """Piece 0 of number 9 takes a quarter of a second, and the feeder says why."""

    session = None

    def pieces(self, epoch, number, tail, stride=1):
        if number == 9:
            threading.Event().wait(0.25)
        return super().pieces(epoch, number, tail)


def telling(feed):
    for feeder in feed.feeders:
        feeder.welcome_changes = {"stats": True}


def test_a_feeder_is_told_how_the_trainer_fares_and_says_what_slow_pieces_cost():
    with FakeFeed(Slow()) as feed:
        telling(feed)
        client = feed.client(buffer_bytes=1)
        session = feed.feeder.sessions[0]
        feed.state.wait_for(lambda: len(session.stats) == 1)  # right behind WELCOME, before anything is read
        assert session.stats[0]["batches"] == session.stats[0]["time_us"] == 0
        expected = feed.read(client)
        session.say(encoding.delay(p.Delay(1, 0, 9, 0, 0, 200_000, 0)))
        eventually(lambda: client.stats()["wait_disk_s"] > 0)
        assert client.stats()["wait_disk_s"] == pytest.approx(0.2)
        assert client.stats()["wait_feeder_s"] == 0  # this feeder tells: the rest was the way
        client.close()
        feed.state.wait_for(lambda: session.stats[-1]["batches"] == 26)
        last = session.stats[-1]
        assert last["samples"] == sum(rows for _, _, pieces in expected for _, rows, _, _ in pieces)
        assert last["bytes"] == 192 * len(pieces_of(expected))
        assert last["causes"]["disk"] == 200_000
        assert last["waited_us"] == sum(last["causes"].values()) <= last["time_us"]
        assert all(wait["feeder"] == feed.feeder.address for wait in last["waits"])


def test_a_feeder_that_does_not_ask_for_it_is_told_nothing():
    with FakeFeed() as feed:
        client = feed.client()
        feed.read(client)
        client.close()
        assert feed.feeder.sessions[0].stats == []
        assert client.stats()["wait_network_s"] == 0


def test_while_the_trainer_waits_the_feeders_hear_of_it():
    class Stuck(OpaqueStream):
        gate = threading.Event()

        def pieces(self, epoch, number, tail, stride=1):
            if number == 3:
                self.gate.wait()
            return super().pieces(epoch, number, tail)

    with FakeFeed(Stuck()) as feed:
        telling(feed)
        client = feed.client(buffer_bytes=1, timing=Timing(ping=60.0))
        reader = threading.Thread(target=feed.read, args=(client,))
        reader.start()
        try:
            session = feed.feeder.sessions[0]
            feed.state.wait_for(lambda: session.stats and session.stats[-1]["waited_us"] > 1_000_000)
            assert session.stats[-1]["batches"] == 3
        finally:
            Stuck.gate.set()
            reader.join()
