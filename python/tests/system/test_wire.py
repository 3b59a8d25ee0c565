"""A trainer and a real feeder with a bad network between them, or one that stops to answer."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from stoker_processes import Cli, Feeder, until

from stoker import Batch, Feed
from stoker._client.feeder_pool import Timing
from stoker._client.feeder_source import FeederSource
from stoker._source.batch_source import Consumer, DeliveredBatch
from stoker._transport.discovery import FeedTarget
from stoker.errors import FencedError, OrderMismatchError, ProtocolError, UnauthorizedError

ORDER: dict[str, Any] = {"batch_size": 12, "lanes": 6, "shuffle_window": 96 << 10}
HASTY = Timing(failover=0.2, ping=0.1, dead=0.5, refetch=0.3)


class Proxy:
    """Passes bytes on between trainers and a feeder; alters, cuts or holds back what the feeder says."""

    def __init__(self, target: str) -> None:
        host, port = target.split(":")
        self._target = (host, int(port))
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        self.flip: tuple[int, int] | None = None
        """Position of a byte of the next connection, and the mask that alters it."""
        self.cut: int | None = None
        """The next connection ends after this number of bytes."""
        self._sockets: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            server = socket.create_connection(self._target)
            self._sockets += [client, server]
            flip, self.flip, cut, self.cut = self.flip, None, self.cut, None
            threading.Thread(target=self._pass, args=(client, server, None, None), daemon=True).start()
            threading.Thread(target=self._pass, args=(server, client, flip, cut), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, flip: Any, cut: Any) -> None:
        at = 0
        try:
            while data := source.recv(1 << 16):
                if flip is not None and at <= flip[0] < at + len(data):
                    changed = bytearray(data)
                    changed[flip[0] - at] ^= flip[1]
                    data = bytes(changed)
                if cut is not None and at + len(data) >= cut:
                    sink.sendall(data[: cut - at])
                    break
                sink.sendall(data)
                at += len(data)
        except OSError:
            pass
        for s in (source, sink):
            with contextlib.suppress(OSError):
                s.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        for s in self._sockets:
            s.close()


@pytest.fixture
def proxy(feeders: dict[str, Feeder]) -> Iterator[Proxy]:
    made = Proxy(feeders["single"].address)
    yield made
    made.close()


def content(batch: DeliveredBatch) -> tuple[Any, ...]:
    return batch.epoch, batch.number, [(p.lane, p.rows, p.repeated, p.buffer.tobytes()) for p in batch.pieces]


def client_of(proxy: Proxy) -> FeederSource:
    """A client whose only way to the feeder is the proxy, whatever the lane map says."""
    client = FeederSource(FeedTarget(given=(proxy.address,)), timing=HASTY)
    adopt = client._network.feeders.adopt

    def through_proxy(lane_map: Any, now: float) -> bool:
        lanes = tuple((proxy.address,) for _ in lane_map.lanes)
        return adopt(type(lane_map)(lane_map.generation, lanes), now)

    client._network.feeders.adopt = through_proxy  # type: ignore[method-assign]
    client.open(Consumer(group="wire"))
    return client


def read(client: FeederSource, count: int) -> list[tuple[Any, ...]]:
    out = []
    for batch in client.epoch(0, 0, 1, count, "pad"):
        out.append(content(batch))
        client.ack(0, batch.number)
    return out


def text(batch: Batch) -> tuple[Any, ...]:
    return batch.epoch, batch.number, list(batch.keys), [bytes(view) for view in batch["data"]]


@pytest.fixture
def undisturbed(proxy: Proxy) -> tuple[int, list[tuple[Any, ...]]]:
    """(bytes of the WELCOME, three batches)."""
    client = client_of(proxy)
    greeting = client._network.feeders.live[0].bytes_received
    batches = read(client, 3)
    client.close()
    return greeting, batches


def test_flipped_bytes_are_never_delivered(proxy: Proxy, undisturbed: Any) -> None:
    greeting, expected = undisturbed
    size = len(expected[0][2][0][3]) + 64
    random = np.random.default_rng(5)
    noticed = 0
    places = [*range(64), *random.integers(64, 3 * size, 30).tolist()]
    for at in places:
        proxy.flip = (greeting + at, 1 << int(random.integers(8)))
        client = client_of(proxy)
        assert read(client, 3) == expected, f"byte {at} behind the WELCOME"
        stats = client.stats()
        noticed += stats["corrupt_pieces"] + stats["reconnects"] > 0
        client.close()
    assert noticed >= len(places) * 0.9


@pytest.mark.full("feeds")
def test_cut_connections_are_taken_up_exactly(proxy: Proxy, undisturbed: Any) -> None:
    greeting, expected = undisturbed
    size = len(expected[0][2][0][3]) + 64
    for at in np.linspace(0, greeting + 3 * size, 40).astype(int).tolist():
        proxy.cut = at
        client = client_of(proxy)
        assert read(client, 3) == expected, f"cut at byte {at}"
        client.close()


@pytest.mark.full("feeds")
def test_a_feeder_that_stands_still_is_waited_for(
    photos: Any, cli: Cli, start_feeder: Callable[..., Feeder], tmp_path: Path
) -> None:
    feeder = start_feeder("still", photos.path, "--batch-size", 12).ready()
    with Feed(photos.path, batch_size=12) as feed:
        expected = [text(b) for b in feed]
    with Feed("still", buffer_bytes=1) as feed:
        source: Any = feed._reading.ready()[0]
        source._network.timing = HASTY
        got = []
        for batch in feed:
            got.append(text(batch))
            if batch.number == 5:
                os.kill(feeder.process.pid, signal.SIGSTOP)
                threading.Timer(1.5, os.kill, (feeder.process.pid, signal.SIGCONT)).start()
        assert got == expected
        assert source.stats()["reconnects"] >= 1
    feeder.stop()


def test_receipts_become_durable(feeders: dict[str, Feeder]) -> None:
    with Feed("single", group="durable") as feed:
        assert sum(len(b) for b in feed) > 0
        source: Any = feed._reading.source
        until(lambda: source._network.feeders.live and not source._subscriptions.receipts.unconfirmed, "DURABLE came")


def test_the_greater_run_has_the_place(feeders: dict[str, Feeder]) -> None:
    with Feed("single", group="seat", run=7) as old, Feed("single", group="seat", run=8) as new:
        batches = iter(old)
        next(batches)
        assert len(list(new)) == len(new)
        source: Any = old._reading.source
        until(lambda: source._network.failure, "the old trainer heard of it")
        with pytest.raises(FencedError, match="has replaced this trainer"):
            next(batches)
        with pytest.raises(FencedError):
            next(iter(old))


def test_refusals_name_what_differs(feeders: dict[str, Feeder], tmp_path: Path) -> None:
    with Feed("single", group="fixed") as first, Feed("single", group="fixed", seed=99) as second:
        next(iter(first))
        with pytest.raises(OrderMismatchError, match="seed"):
            len(second)
    with pytest.raises(ProtocolError, match="nosuch"), Feed("single", stream="nosuch") as feed:
        len(feed)


@pytest.mark.full("feeds")
def test_a_token_is_found_by_name_and_needed_by_address(
    photos: Any, start_feeder: Callable[..., Feeder], tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("a-secret-of-some-length\n")
    token.chmod(0o600)
    feeder = start_feeder("guarded", photos.path, "--token-file", token).ready()
    with Feed("guarded") as feed:
        assert len(feed) > 0
    with pytest.raises(UnauthorizedError), Feed(feeder.address) as feed:
        len(feed)
    with Feed(feeder.address, token="a-secret-of-some-length") as feed:
        assert len(feed) > 0
    feeder.stop()
