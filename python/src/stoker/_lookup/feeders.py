"""The feeders of a feed: opens sessions, keeps idle ones, and repeats a request at another feeder if one fails."""

from __future__ import annotations

import contextlib
import os
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from stoker._client.lane_map import LaneMap
from stoker._client.welcome import Welcome
from stoker._format.fork_lock import ForkLock
from stoker._lookup.session import Patience, RefusedError, Session
from stoker._transport.discovery import FeedTarget, ended_feed
from stoker._transport.feeder_connection import ConnectionLostError
from stoker._transport.local_transport import UnixAddress, transport, usable
from stoker._transport.security import Security
from stoker._version import __version__
from stoker._wire import encoding
from stoker.errors import (
    ConnectTimeoutError,
    FeedNotFoundError,
    ProtocolError,
    StateMismatchError,
    StokerError,
)

T = TypeVar("T")
_KEPT = 4
"""Idle sessions that are kept."""
_MAX_BROKEN = 4
"""Answers that may break the protocol before a request fails."""
_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 2.0


@dataclass(frozen=True)
class Choice:
    """What of which feed is looked up."""

    target: FeedTarget
    security: Security
    stream: str | None = None
    split: str | None = None
    version: int | None = None
    group: str = "default"
    connect_timeout: float = 30.0
    reconnect_timeout: float = 60.0
    patience: Patience = field(default_factory=Patience)


class Feeders:
    """See the module. Safe for several threads."""

    def __init__(self, choice: Choice) -> None:
        """Connects for the first time."""
        self._choice = choice
        self._lock = ForkLock()
        self._idle: list[Session] = []
        self._pid = os.getpid()
        self._closed = False
        self._known: tuple[str, ...] = ()
        self._unix: dict[str, UnixAddress] = {}
        self._turn = 0
        self._first: Welcome | None = None
        session = self._open(choice.connect_timeout)
        self.welcome = session.welcome
        """The first WELCOME; those of later sessions agree with it."""
        self._put(session)

    def call(self, request: Callable[[Session], T]) -> T:
        """Makes a request, and repeats it at another feeder if one fails."""
        broken = failures = 0
        until: float | None = None
        while True:
            session = self._take()
            fresh = session is None
            if session is None:
                left = self._choice.reconnect_timeout if until is None else until - time.monotonic()
                session = self._open(left)
            try:
                result = request(session)
            except (ConnectionLostError, RefusedError, ProtocolError) as e:
                session.close()
                if isinstance(e, RefusedError) and e.refusal.final:
                    raise e.refusal.error from None
                broken += isinstance(e, ProtocolError) or (isinstance(e, RefusedError) and e.refusal.counted)
                if broken >= _MAX_BROKEN:
                    raise (e.refusal.error if isinstance(e, RefusedError) else e) from None
                self._avoid(session.address)
                now = time.monotonic()
                until = now + self._choice.reconnect_timeout if until is None else until
                if fresh and now > until:
                    raise self._failure(e, self._choice.reconnect_timeout) from None
                if failures > 0:
                    # The first failure may be of a session that was idle for long.
                    pause = min(_FIRST_PAUSE_S * 2**failures, _LONGEST_PAUSE_S)
                    time.sleep(min(pause * random.uniform(0.5, 1.0), max(0.0, until - now)))
                failures += 1
            except BaseException:
                # An answer may be half received.
                session.close()
                raise
            else:
                self._put(session)
                return result

    def close(self) -> None:
        """Ends all sessions. Requests of other threads raise an error."""
        with self._lock:
            self._closed = True
            sessions, self._idle = self._idle, []
        for session in sessions:
            session.end()

    def _take(self) -> Session | None:
        with self._lock:
            if self._closed:
                raise ValueError("the feed was closed; open it again with stoker.open")
            if self._pid != os.getpid():
                # The parent process uses these connections.
                for session in self._idle:
                    session.close()
                self._idle, self._pid = [], os.getpid()
            return self._idle.pop() if self._idle else None

    def _put(self, session: Session) -> None:
        with self._lock:
            if not self._closed and len(self._idle) < _KEPT:
                self._idle.append(session)
                return
        session.end()

    def _avoid(self, address: str) -> None:
        """Closes idle sessions with a feeder that has failed, and asks the others first."""
        with self._lock:
            failed = [session for session in self._idle if session.address == address]
            self._idle = [session for session in self._idle if session.address != address]
            self._known = (*(known for known in self._known if known != address), address)
        for session in failed:
            session.close()

    def _open(self, limit_s: float) -> Session:
        """Connects to one of the feeders, within a limit."""
        until = time.monotonic() + limit_s
        pause = _FIRST_PAUSE_S
        failure: Exception = ConnectionLostError("no feeder is known")
        while True:
            for address in self._addresses():
                try:
                    return self._greet(address)
                except RefusedError as e:
                    if e.refusal.final:
                        raise e.refusal.error from None
                    failure = e.refusal.error
                except (ConnectionLostError, ProtocolError) as e:
                    failure = e
                self._turn += 1
            if time.monotonic() >= until:
                raise self._failure(failure, limit_s) from None
            time.sleep(min(pause * random.uniform(0.5, 1.0), max(0.0, until - time.monotonic())))
            pause = min(2 * pause, _LONGEST_PAUSE_S)

    def _failure(self, why: Exception, limit_s: float) -> StokerError:
        if isinstance(why, StokerError):
            return why
        target = self._choice.target
        ended = None if target.name is None else ended_feed(target.name)
        return ConnectTimeoutError(ended or f"no feeder of {target} answered within {limit_s:.0f} s: {why}")

    def _addresses(self) -> tuple[str, ...]:
        """Where to connect: feeders that were reached or named, those that failed last at the end."""
        target = self._choice.target
        try:
            named = target.addresses()
        except FeedNotFoundError:
            if self._first is None:
                raise
            named = ()  # A restarted feed is named again.
        with self._lock:
            self._known = tuple(dict.fromkeys((*self._known, *named)))
            return tuple(sorted(self._known, key=lambda address: (address not in named, self._known.index(address))))

    def _greet(self, address: str) -> Session:
        choice = self._choice
        first = self._first
        hello = encoding.hello(
            token=choice.security.token_for(choice.target),
            feed=first.feed_id if first is not None else choice.target.name,
            stream=choice.stream,
            group=choice.group,
            version=choice.version if first is None else first.info.version,
            look=True,
            client=f"stoker-python/{__version__}",
            sent=time.monotonic_ns(),
        )
        place = self._nearby(address)
        session = None
        if place is not None:
            # The address may answer if the socket does not.
            with contextlib.suppress(ConnectionLostError):
                session = Session(address, hello, choice.patience, 0, None, place.path)
        if session is None:
            tls = choice.security.tls_for(choice.target, address)
            session = Session(address, hello, choice.patience, self._turn, tls, None)
        try:
            self._check(session.welcome)
        except StokerError:
            session.end()
            raise
        return session

    def _nearby(self, address: str) -> UnixAddress | None:
        """The Unix-domain socket of a feeder on this machine."""
        if not self._choice.security.allows_unix or transport() == "tcp":
            return None
        place = self._unix.get(address) or self._choice.target.unix().get(address)
        return place if place is not None and usable(place) else None

    def _check(self, welcome: Welcome) -> None:
        choice, info = self._choice, welcome.info
        if choice.split is not None and info.split != choice.split:
            raise StateMismatchError(
                f"stream {info.stream} of {choice.target} has the split {info.split}, not {choice.split}: choose "
                "another stream"
            )
        if choice.version is not None and info.version != choice.version:
            raise StateMismatchError(
                f"{choice.target} reads version {info.version}, not {choice.version}: open the dataset by its path, or "
                "start a feed of that version"
            )
        first = self._first
        if first is not None and (info.dataset, info.version, info.split) != (
            first.info.dataset,
            first.info.version,
            first.info.split,
        ):
            raise StateMismatchError(
                f"{choice.target} was restarted with other data: {first.difference(welcome)}; open it again"
            )
        self._first = welcome if first is None else first
        lanes = LaneMap.from_json(welcome.lane_map, len(info.lane_rows))
        with self._lock:
            self._unix = dict(lanes.unix)
            self._known = tuple(dict.fromkeys((*self._known, *lanes.addresses)))
