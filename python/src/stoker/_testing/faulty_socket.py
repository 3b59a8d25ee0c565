"""The sending side of a fake feeder's connection, with the faults that a test asks for."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from stoker._testing.state import Fault


class Cut(Exception):  # noqa: N818 - control flow of the fault injection
    """The connection ends here because a fault says so."""


class FaultySocket:
    """Sends frames, and does what a fault says. Belongs to the thread that writes."""

    def __init__(self, connection: socket.socket, wait_for_end: Callable[[], None]) -> None:
        """`wait_for_end` returns when the session has ended, for a feeder that falls silent."""
        self._socket, self._wait_for_end = connection, wait_for_end
        self.sent_bytes = 0
        """Bytes sent so far, by which a fault finds its place."""

    def send(self, frame: bytes, message: Any, fault: Fault) -> None:
        """Sends a frame, and the message after it. Raises `Cut` where the fault ends the connection."""
        total = len(frame) + len(message)
        if fault == Fault(shuffle=fault.shuffle):
            self.sent_bytes += total
            sent = self._socket.sendmsg([frame, message])
            if sent < len(frame):
                self._socket.sendall(frame[sent:])
                sent = len(frame)
            if sent < total:
                self._socket.sendall(memoryview(message)[sent - len(frame) :])
            return
        data = bytearray(frame) + bytes(message)
        begin = self.sent_bytes
        if fault.flip_at is not None and begin <= fault.flip_at < begin + total:
            data[fault.flip_at - begin] ^= fault.flip_mask
        if fault.extra_at is not None and begin <= fault.extra_at < begin + total:
            data[fault.extra_at - begin : fault.extra_at - begin] = fault.extra
        self.sent_bytes += total
        if fault.cut_at is not None and self.sent_bytes >= fault.cut_at:
            self._socket.sendall(data[: max(0, fault.cut_at - begin)])
            raise Cut
        if fault.silent_after is not None and self.sent_bytes >= fault.silent_after:
            self._socket.sendall(data[: max(0, fault.silent_after - begin)])
            self._wait_for_end()
            raise Cut
        self._socket.sendall(data)
