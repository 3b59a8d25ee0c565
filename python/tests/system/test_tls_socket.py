"""The client's end of TLS, against records that arrive in pieces."""

from __future__ import annotations

import select
import socket
import ssl
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from certificates import Authority
from google_crc32c import extend

from stoker._transport.feeder_connection import ConnectionLostError, FeederConnection
from stoker._transport.security import Tls
from stoker._wire import encoding
from stoker._wire import protocol as p


class Sink:
    """Keeps what arrives."""

    def __init__(self) -> None:
        self.messages: list[Any] = []

    def buffer_for(self, connection: FeederConnection, header: tuple[int, ...]) -> Any:
        return np.zeros(header[0] - (p.BATCH_HEADER_BYTES - 4), np.uint8)

    def on_batch(self, connection: FeederConnection, header: tuple[int, ...], message: Any, crc: int) -> None:
        assert crc == header[-1]
        self.messages.append(message.tobytes())

    def on_frame(self, connection: FeederConnection, kind: int, body: bytes) -> None:
        raise AssertionError(kind)


class Server:
    """Encrypts into memory, so that a test decides when which bytes arrive."""

    def __init__(self, pem: Path, key: Path) -> None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(pem, key)
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"

    def accept(self, client: FeederConnection) -> None:
        poll = select.poll()
        poll.register(client.fileno(), select.POLLOUT)
        assert poll.poll(5000)
        self.socket, _ = self._listener.accept()
        client.connected()
        mine = theirs = True
        while mine or theirs:
            theirs = client.secure() != 0
            self.socket.settimeout(0.2)
            try:
                self._incoming.write(self.socket.recv(1 << 16))
            except TimeoutError:
                assert not theirs
            try:
                self._tls.do_handshake()
                mine = False
            except ssl.SSLWantReadError:
                pass
            self.socket.sendall(self._outgoing.read())
        client.state = "live"

    def sealed(self, data: bytes) -> bytes:
        self._tls.write(data)
        return self._outgoing.read()

    def close(self) -> None:
        self.socket.close()
        self._listener.close()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("ca"), "ca")


def batch(message: bytes) -> bytes:
    """A whole frame."""
    length = p.BATCH_HEADER_BYTES - 4 + len(message)
    header = p.BatchHeader(length, 0, 5, 7, 0, 0, 0, 0, 1, 1, 0, 1, 0, 0, 1, 0)
    checked = encoding.batch_header(header)[p.CRC_START : p.CRC_END]
    return encoding.batch_header(replace(header, crc=extend(extend(0, checked), message))) + message


def receive_all(client: FeederConnection) -> None:
    while True:
        client.receive()


@pytest.mark.parametrize("held_back", [1, 100, 3_000, 16_000, 16_400, 17_000, 40_000])
def test_the_last_bytes_of_a_batch_wake_the_client_however_records_lie(authority: Authority, held_back: int) -> None:
    server = Server(*authority.issue("records", "IP:127.0.0.1"))
    sink = Sink()
    client = FeederConnection(server.address, sink, 0.0, tls=Tls(ca=str(authority.pem)))
    server.accept(client)
    message = np.random.default_rng(1).bytes(300_032)
    records = server.sealed(batch(message))
    server.socket.sendall(records[:-held_back])
    poll = select.poll()
    poll.register(client.fileno(), select.POLLIN)
    while poll.poll(200):
        assert not client.receive()
    assert not sink.messages
    server.socket.sendall(records[-held_back:])
    while not sink.messages:
        assert poll.poll(2000), "nothing wakes the client"
        client.receive()
    assert sink.messages == [message]
    client.close()
    server.close()


def test_what_was_altered_under_way_ends_the_connection(authority: Authority) -> None:
    server = Server(*authority.issue("altered", "IP:127.0.0.1"))
    client = FeederConnection(server.address, Sink(), 0.0, tls=Tls(ca=str(authority.pem)))
    server.accept(client)
    records = bytearray(server.sealed(batch(bytes(4096))))
    records[2000] ^= 1
    server.socket.sendall(records)
    poll = select.poll()
    poll.register(client.fileno(), select.POLLIN)
    assert poll.poll(2000)
    with pytest.raises(ConnectionLostError, match=server.address):
        receive_all(client)
    client.close()
    server.close()
