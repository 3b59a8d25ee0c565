"""A feeder in a thread of this process, for tests: the real protocol, from anything that can name its pieces.

Blocking sockets, two threads a session. It can be told to misbehave: see `Fault` and `FakeFeeder`.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections import deque

from stoker._source.instance import host_id
from stoker._testing.session import Session, SessionHost
from stoker._testing.state import Fault, FeedState
from stoker._transport.local_transport import UnixAddress


class FakeFeeder(SessionHost):
    """One server of a feed. `start` binds, `stop` closes everything at once, `start` again takes the same port."""

    def __init__(self, state: FeedState, host: str = "127.0.0.1", port: int = 0) -> None:
        super().__init__(state, len(state.addresses))
        self.host, self.port = host, port
        state.addresses.append("")
        self.faults: deque[Fault] = deque()
        """Faults of the next connections, one each."""
        self.always: Fault | None = None
        """Applied to connections that have no fault from `faults`."""
        self._listener: socket.socket | None = None
        self._near: socket.socket | None = None
        self.near_is_deaf = False
        """Connections by the Unix-domain socket are cut off at once."""
        self._acceptor: threading.Thread | None = None

    @property
    def address(self) -> str:
        return f"{self.host}:{self.port}"

    def start(self) -> None:
        listener = socket.socket()
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((self.host, self.port))
        listener.listen(64)
        self.port = listener.getsockname()[1]
        self.state.addresses[self.index] = self.address
        self._listener = listener
        self._acceptor = threading.Thread(target=self._accept, args=(listener,), name="fake-feeder", daemon=True)
        self._acceptor.start()

    def listen_near(self, path: str, host: str | None = None) -> None:
        """Also listens on a Unix-domain socket, which the lane map lists. Call it after the start."""
        near = socket.socket(socket.AF_UNIX)
        near.bind(path)
        near.listen(64)
        self._near = near
        self.state.unix[self.address] = UnixAddress(host or host_id() or "", path)
        threading.Thread(target=self._accept, args=(near,), name="fake-feeder-near", daemon=True).start()

    def stop(self) -> None:
        """Closes everything, as if the process were killed."""
        doors = [door for door in (self._listener, self._near) if door is not None]
        self._listener = self._near = None
        for door in doors:
            with contextlib.suppress(OSError):
                door.shutdown(socket.SHUT_RDWR)
            door.close()
        self.flowing.set()
        for session in self.sessions:
            session.end()
        if self._acceptor is not None:
            self._acceptor.join(5)
        for session in self.sessions:
            session.join()

    def hold(self) -> None:
        """From now on nothing is sent and nothing read, but connections stay."""
        self.flowing.clear()

    def release(self) -> None:
        """Ends `hold`."""
        self.flowing.set()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            if connection.family != socket.AF_UNIX:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            fault = self.faults.popleft() if self.faults else self.always
            session = Session(self, connection, fault or Fault())
            if listener is self._near:
                session.path = connection.getsockname()
                if self.near_is_deaf:
                    connection.close()
                    continue
            with self.state.changed:
                if listener not in (self._listener, self._near):
                    connection.close()
                    return
                self.sessions.append(session)
                self.counts["connections"] += 1
                self.state.changed.notify_all()
            session.start()
