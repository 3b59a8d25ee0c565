"""What one trainer does to others of the same feeder: nothing, however long it stalls; and who is who."""

import os
import signal
import socket
import struct
import time
from itertools import islice
from pathlib import Path

import pytest
from stoker_processes import Trainer, views

from stoker import Feed
from stoker._wire import encoding
from stoker._wire import protocol as p
from stoker.errors import FencedError

pytestmark = pytest.mark.full("feeds")

ORDER = {"batch_size": 16, "lanes": 6, "shuffle_window": 4 << 20}
BIG = 48_000
"""Bytes of a sample: 2 batches are more than what the sockets of both sides hold in a small buffer."""


@pytest.fixture(scope="module")
def heavy(cli, start_feeder, tmp_path_factory):
    """Samples big enough that an epoch is many times what sockets buffer: (path, running feeder)."""
    root = tmp_path_factory.mktemp("heavy")
    for name in ("a", "b"):
        (root / "files" / name).mkdir(parents=True)
        for n in range(400):
            (root / "files" / name / f"{n}.bin").write_bytes(f"{name}{n:06}".encode() * (BIG // 7))
    cli.run("ingest", root / "files", root / "data", "--chunk-size", "512kb", "--label-from", "parent-dir")
    feeder = start_feeder("heavy", root / "data", "--batch-size", 16, "--lanes", 6, "--shuffle-window", "4mb")
    return root / "data", feeder.ready()


def queued(port):
    """Established connections at a local port, and the bytes in the kernel's buffers at both of their ends."""
    ends = total = 0
    for table in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")):
        for line in table.read_text().splitlines()[1:]:
            _, local, remote, state, queues = line.split()[:5]
            if state == "01" and port in [int(end.split(":")[1], 16) for end in (local, remote)]:
                ends += 1
                total += sum(int(n, 16) for n in queues.split(":"))
    return ends // 2, total


def epochs(feed_name, group, count):
    with Feed(feed_name, **ORDER, tail="keep", group=group) as feed:
        return [sum(len(batch) for batch in feed) for _ in range(count)]


def test_a_stalled_trainer_holds_no_more_than_its_grant_and_slows_nobody(cli, heavy, tmp_path):
    path, feeder = heavy
    port = int(feeder.address.split(":")[1])
    with Feed(path, **ORDER, tail="keep") as files:
        expected = views(files)
    samples = sum(len(batch[4]) for batch in expected)
    began = time.monotonic()
    assert epochs("heavy", "alone", 3) == [samples] * 3
    alone = time.monotonic() - began
    grant = 4 * 16 * BIG
    stalled = Trainer(
        *(cli.home, tmp_path / "stalled", "heavy", 1),
        **ORDER, tail="keep", group="stalled", stepwise=True, buffer_bytes=grant,
        tls=False,  # stays with TCP, whose queues the kernel shows
    )  # fmt: skip
    try:
        stalled.allow(1)
        stalled.after(1)
        stalled.signal(signal.SIGSTOP)
        began = time.monotonic()
        assert epochs("heavy", "beside", 3) == [samples] * 3
        beside = time.monotonic() - began
        connections, size = queued(port)
        assert connections >= 1
        # Granted batches can also have reached the trainer's own memory before it was stopped.
        assert size <= grant
        assert beside < 4 * alone + 2
        stalled.signal(signal.SIGCONT)
        stalled.allow(len(expected))
        assert stalled.end() == ""
        assert [tuple(line["view"][1:4]) for line in stalled.lines()] == [batch[1:4] for batch in expected]
        assert [line["view"][5] for line in stalled.lines()] == [batch[5] for batch in expected]
    finally:
        stalled.kill()


def frames(connection):
    """Yields (kind, body) of each received frame."""
    with connection.makefile("rb") as received:
        while head := received.read(8):
            length, kind = struct.unpack_from("<IB", head)
            yield kind, received.read(length - 4)


def test_a_client_that_grants_little_gets_no_more_and_slows_nobody(heavy):
    _, feeder = heavy
    host, port = feeder.address.split(":")
    with socket.create_connection((host, int(port)), timeout=60) as connection:
        connection.sendall(encoding.hello(group="miser"))
        received = frames(connection)
        assert next(received)[0] == p.WELCOME
        connection.sendall(encoding.subscribe(p.Subscribe(1, 0, 0, 1, 50, "keep")) + encoding.grant(1, 2))
        assert len(epochs("heavy", "meanwhile", 2)) == 2
        pings = 0
        numbers = set()
        # A pong follows whatever was to be sent before; the second one shows that nothing came after the third batch.
        connection.sendall(encoding.ping(1))
        for kind, body in received:
            if kind == p.BATCH:
                assert pings < 2
                numbers.add(int.from_bytes(body[24:32], "little"))
                assert max(numbers) <= 2, "more than was granted"
            if numbers == {0, 1, 2} and kind == p.PONG:
                pings += 1
                if pings == 2:
                    break
                connection.sendall(encoding.ping(2))
            elif kind == p.PONG:
                connection.sendall(encoding.ping(1))
        assert numbers == {0, 1, 2}


def test_of_two_feeds_of_one_process_in_one_place_the_newer_reads(feeders):
    options = {"stream": "train", "group": "twins", "rank": 1, "world_size": 2, "tail": "keep", "buffer_bytes": 1}
    with Feed("single", **options) as older, Feed("single", **options) as newer:
        from_older = iter(older)
        views(islice(from_older, 2))
        from_newer = iter(newer)
        got = views(islice(from_newer, 2))
        assert newer.info.run == older.info.run
        with pytest.raises(FencedError) as fenced:
            list(from_older)
        assert f"process {os.getpid()} on host" in str(fenced.value)
        got += views(islice(from_newer, 2))
        # This is permanent: the older feed does not reconnect, and a smaller run is refused.
        with pytest.raises(FencedError):
            next(iter(older))
        with Feed("single", **options, run=older.info.run - 1) as again, pytest.raises(FencedError):
            next(iter(again))
        got += views(from_newer)
        assert [batch[1] for batch in got] == list(range(1, newer.info.batches, 2))
