"""The feeders that a client knows: dialling, patience, and which lane is read from which.

All of it belongs to the client's turn holder.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from dataclasses import dataclass

from stoker._client.lane_map import LaneMap, choose, place
from stoker._transport.discovery import FeedTarget
from stoker._transport.feeder_connection import ConnectionLostError, FeederConnection
from stoker._transport.local_transport import UnixAddress, reads_locally, transport, usable
from stoker.errors import FeedNotFoundError


@dataclass(frozen=True)
class Timing:
    """How patient a client is, in seconds. The defaults are the protocol's; tests shorten them."""

    failover: float = 0.5
    """Without reaching the first feeder of a lane, until the next in its list is asked (jittered upwards by half)."""
    ping: float = 5.0
    """Silence of an awaited feeder until it gets a PING; half of `failover` if another feeder could serve."""
    dead: float = 30.0
    """Silence after that until the connection is closed; `failover` if another feeder could serve."""
    attempt: float = 2.0
    """For one attempt to connect."""
    greeting: float = 10.0
    """For a WELCOME."""
    admission: float = 3.0
    """For the other feeders to answer HELLO, once the first has admitted the client."""
    forgive: float = 30.0
    """Until an avoided feeder is tried again although no newer map came."""
    refetch: float = 5.0
    """For a refused piece to come again, until the subscription is renewed."""
    ack: float = 0.05
    """For which a receipt may wait, to be sent together with others."""


class PooledFeeder:
    """One address."""

    def __init__(self, address: str, now: float, patience: float) -> None:
        self.address = address
        self.connection: FeederConnection | None = None
        self.down_since = now
        self.next_try = now
        self.attempts = 0
        self.patience = patience
        self.silences = 0
        """Times in a row that it was live and gave no sign of life."""
        self.silent_at = -math.inf
        """When it was so last."""
        self.ask_at: float | None = None
        """When it is dialled although it is avoided: what was silent may only have been busy."""
        self.answered = False
        """Whether an attempt or a connection has ended since the client last asked all feeders for a place."""
        self.error = ""
        """What ended the last attempt or connection."""

    @property
    def live(self) -> FeederConnection | None:
        """The connection, once it was welcomed."""
        c = self.connection
        return c if c is not None and c.state == "live" else None


class FeederPool:
    """Every address that was ever tried or named, and the placing of lanes."""

    def __init__(
        self,
        target: FeedTarget,
        timing: Timing,
        dial: Callable[[str, int, str | None], FeederConnection],
        drop: Callable[[FeederConnection, str], None],
        *,
        unix: bool = True,
    ) -> None:
        self.target = target
        self.by_address: dict[str, PooledFeeder] = {}
        self.lane_map: LaneMap | None = None
        self.serving: list[str | None] = []
        """The address that each lane is subscribed at."""
        self.failovers = 0
        self._timing = timing
        self._dial = dial
        self._drop = drop
        self._avoided: dict[str, float] = {}
        self._dark_since: float | None = None
        self._found: tuple[str, ...] = ()
        self._find_at = 0.0
        self._turn = 0
        self._reads_locally = reads_locally()
        self._refused_files: set[str] = set()
        self._nearby = unix and transport() != "tcp"
        self._unix: dict[str, UnixAddress] = {}
        """By address, as the newest lane map or the feed's file says."""
        self._deaf: set[str] = set()
        """Paths of Unix-domain sockets that did not answer."""

    def peer(self, address: str, now: float) -> PooledFeeder:
        """The peer of an address, known or new."""
        peer = self.by_address.get(address)
        if peer is None:
            patience = self._timing.failover * random.uniform(1.0, 1.5)
            peer = self.by_address[address] = PooledFeeder(address, now, patience)
        return peer

    @property
    def live(self) -> list[FeederConnection]:
        """Welcomed connections."""
        return [c for peer in self.by_address.values() if (c := peer.live) is not None]

    def adopt(self, lane_map: LaneMap, now: float) -> bool:
        """Takes a lane map over if it is newer, or if nothing else is known to live; true if it did."""
        if self.lane_map is not None and lane_map.generation <= self.lane_map.generation and len(self.live) > 1:
            return False
        if self.lane_map is None or not self.serving:
            self.serving = [None] * len(lane_map.lanes)
        known, self.lane_map = self.lane_map, lane_map
        self._unix = dict(lane_map.unix)
        if known is None or lane_map.generation != known.generation:
            self._avoided.clear()
            for peer in self.by_address.values():
                if peer.connection is None:
                    peer.down_since = peer.next_try = now
        return True

    def alternatives(self, address: str) -> bool:
        """Whether every lane that an address serves could be read elsewhere."""
        if self.lane_map is None:
            return False
        if any(c.address != address for c in self.live):
            return True
        mine = [lane for lane, server in enumerate(self.serving) if server == address]
        return bool(mine) and all(
            any(a != address and a not in self._avoided for a in self.lane_map.lanes[lane]) for lane in mine
        )

    def lost(self, connection: FeederConnection, why: str, now: float, *, impatient: bool) -> None:
        """A connection has ended. `impatient`: its lanes go elsewhere without waiting for this address."""
        peer = self.by_address[connection.address]
        if peer.connection is not connection:
            return
        was_live = connection.state == "live"
        if connection.path is not None and not was_live and not connection.refused_place:
            self._deaf.add(connection.path)
        if connection.state == "connecting" and now - connection.since <= self._timing.attempt:
            peer.ask_at = None  # it is not busy, but gone
        peer.connection = None
        peer.answered = True
        peer.error = why
        if was_live:
            peer.attempts = 0
            peer.down_since = now
        if impatient:
            peer.down_since = now - peer.patience
        pause = 0.0 if was_live else min(1.0, 0.02 * 2**peer.attempts) * random.uniform(0.5, 1.5)
        peer.attempts += 1
        peer.next_try = now + pause

    def silent(self, address: str, now: float) -> None:
        """A live feeder gives no sign of life. It is dialled again, and gets its lanes back once it answers.

        At once the first time, then after twice the time until another feeder is asked, and so on.
        """
        peer, timing = self.by_address[address], self._timing
        peer.silences = peer.silences + 1 if now - peer.silent_at < timing.forgive else 1
        peer.silent_at = now
        pause = timing.failover * 2.0 ** (peer.silences - 1) if peer.silences > 1 else 0.0
        peer.ask_at = now + min(pause, timing.forgive)

    def left(self, connection: FeederConnection, now: float) -> None:
        """A connection was ended by this side, and a new one is wanted at once."""
        peer = self.by_address[connection.address]
        if peer.connection is connection:
            peer.connection, peer.attempts, peer.down_since, peer.next_try = None, 0, now, now

    def start_over(self, now: float) -> None:
        """All connections were ended by this side, whatever their state; new ones are wanted at once."""
        for peer in self.by_address.values():
            peer.connection, peer.attempts, peer.down_since, peer.next_try = None, 0, now, now
        self.serving = []

    def welcomed(self, connection: FeederConnection) -> None:
        """A connection has become live."""
        peer = self.by_address[connection.address]
        peer.attempts = 0
        peer.ask_at = None
        self._dark_since = None
        self._avoided.pop(connection.address, None)

    def has_answered(self, address: str) -> bool:
        """Whether a feeder has welcomed this client, or cannot be reached."""
        peer = self.by_address.get(address)
        return peer is not None and (peer.live is not None or (peer.connection is None and peer.answered))

    def ask_again(self) -> None:
        """All feeders are about to be asked for a place."""
        self.serving = []
        for peer in self.by_address.values():
            peer.answered = False

    def is_alias(self, connection: FeederConnection) -> bool:
        """Whether the feeder is known by another address, at which it is dialled from now on."""
        return self.lane_map is not None and connection.address not in self.lane_map.addresses

    def care(self, now: float, *, everyone: bool = False) -> None:
        """Dials what is wanted and not connected, gives attempts up that take too long, decides whom to avoid.

        `everyone`: each feeder has to be asked for a place.
        """
        for peer in tuple(self.by_address.values()):
            self._check_attempt(peer, now)
        if self.lane_map is None:
            self._seek(now)
            return
        if everyone:
            for address in self.lane_map.addresses:
                self._try(self.peer(address, now), now)
        if self.live:
            self._dark_since = None
        elif self._dark_since is None:
            self._dark_since = now
        for address, since in tuple(self._avoided.items()):
            if now - since > self._timing.forgive:
                del self._avoided[address]
                self.peer(address, now).down_since = now
        wanted = dict.fromkeys(a for a in choose(self.lane_map, self._avoided) if a is not None)
        for address in wanted:
            peer = self.peer(address, now)
            if peer.live is None and now - peer.down_since > peer.patience and self._could_avoid(address):
                self._avoided[address] = now
                self.failovers += 1
        wanted = dict.fromkeys(a for a in choose(self.lane_map, self._avoided) if a is not None)
        if self._dark_since is not None and now - self._dark_since > self._timing.failover:
            wanted.update(dict.fromkeys(self.lane_map.addresses + self._discovered(now)))
        wanted.update(dict.fromkeys(a for a in self._avoided if now >= (self.peer(a, now).ask_at or math.inf)))
        for address in wanted:
            self._try(self.peer(address, now), now)

    def _could_avoid(self, address: str) -> bool:
        assert self.lane_map is not None
        return bool(self.live) or any(
            address in lane and any(a != address and a not in self._avoided for a in lane)
            for lane in self.lane_map.lanes
        )

    def _check_attempt(self, peer: PooledFeeder, now: float) -> None:
        c = peer.connection
        if c is None or c.state == "live":
            return
        limit = self._timing.attempt if c.state == "connecting" else self._timing.greeting
        if now - c.since > limit:
            what = {"connecting": "no answer", "securing": "no TLS handshake"}.get(c.state, "no WELCOME")
            self._drop(c, f"{what} within {limit:g} s")

    def _seek(self, now: float) -> None:
        """Before the first WELCOME: one address after the other, as each session may begin a run."""
        if any(peer.connection is not None for peer in self.by_address.values()):
            return
        addresses = self._discovered(now)
        for i in range(len(addresses)):
            peer = self.peer(addresses[(self._turn + i) % len(addresses)], now)
            if self._try(peer, now):
                self._turn += i + 1
                return

    def _discovered(self, now: float) -> tuple[str, ...]:
        if now >= self._find_at:
            self._find_at = now + 0.25
            try:
                self._found = self.target.addresses()
                self._unix = self.target.unix() | self._unix
            except FeedNotFoundError:
                if self.lane_map is None:
                    raise
        return self._found

    def _try(self, peer: PooledFeeder, now: float) -> bool:
        if peer.connection is not None or now < peer.next_try:
            return False
        path = self._path(peer.address)
        if path is not None:
            try:
                peer.connection = self._dial(peer.address, peer.attempts, path)
                return True
            except ConnectionLostError:
                self._deaf.add(path)
        try:
            peer.connection = self._dial(peer.address, peer.attempts, None)
        except ConnectionLostError as e:
            peer.ask_at = None
            peer.answered = True
            peer.error = str(e)
            peer.next_try = now + min(1.0, 0.02 * 2**peer.attempts) * random.uniform(0.5, 1.5)
            peer.attempts += 1
            return False
        return True

    def _path(self, address: str) -> str | None:
        """Returns the path of the Unix-domain socket for an address, None to connect over TCP."""
        near = self._unix.get(address)
        if near is None or not self._nearby or near.path in self._deaf or not usable(near):
            return None
        return near.path

    def local_files(self, connection: FeederConnection) -> int:
        """Returns the number of files to offer to keep for local reads: 0 if payload must come over the connection."""
        if connection.path is None or not self._reads_locally or connection.address in self._refused_files:
            return 0
        from stoker._transport import local_reads

        return local_reads.MOST_FILES if local_reads.supported() else 0

    def refuse_local_reads(self, address: str) -> None:
        """From the next connection on, payload of this feeder comes over it."""
        self._refused_files.add(address)

    def dial_nearer(self, connection: FeederConnection) -> FeederConnection | None:
        """Connects to the same feeder over its Unix-domain socket; the new connection takes the peer over."""
        path = self._path(connection.address)
        if path is None or connection.path is not None:
            return None
        peer = self.by_address[connection.address]
        try:
            peer.connection = self._dial(peer.address, peer.attempts, path)
        except ConnectionLostError:
            self._deaf.add(path)
            return None
        return peer.connection

    def rename(self, connection: FeederConnection) -> None:
        """Gives a feeder that was dialled by its Unix-domain socket the address that the lane map knows it by."""
        for address, near in self._unix.items():
            if near.path == connection.path and address != connection.address and address not in self.by_address:
                peer = self.by_address.pop(connection.address)
                peer.address = connection.address = address
                self.by_address[address] = peer
                return

    def arrange(self) -> dict[str, frozenset[int]]:
        """Reassigns the lanes; returns the lanes of each live address that has some."""
        assert self.lane_map is not None
        hopeless = {
            lane for lane, addresses in enumerate(self.lane_map.lanes) if all(a in self._avoided for a in addresses)
        }
        live = [c.address for c in self.live]
        self.serving = place(choose(self.lane_map, self._avoided), live, self.serving, hopeless)
        lanes: dict[str, set[int]] = {}
        for lane, address in enumerate(self.serving):
            if address is not None:
                lanes.setdefault(address, set()).add(lane)
        return {address: frozenset(mine) for address, mine in lanes.items()}

    def unused(self) -> list[FeederConnection]:
        """Live connections that serve no lane and are not needed to have one at all."""
        used = set(self.serving)
        return [c for c in self.live if c.address not in used] if None not in used else []

    def address_of(self, lane: int) -> str:
        """Where a lane is read, or should be."""
        served = self.serving[lane] if self.serving else None
        if served is None and self.lane_map is not None:
            served = choose(self.lane_map, self._avoided)[lane]
        return served or ""

    @property
    def refused(self) -> bool:
        """Whether some attempt has failed."""
        return any(peer.attempts for peer in self.by_address.values())

    def describe(self) -> str:
        """What became of each address that is not connected."""
        return "; ".join(
            peer.error if peer.address in peer.error else f"{peer.address}: {peer.error or 'no answer yet'}"
            for peer in self.by_address.values()
            if peer.live is None
        )
