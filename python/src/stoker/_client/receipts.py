"""Receipts of consumed batches on their way to the ledger: coalesced, and kept until the feeder calls them durable.

Every method is called under the client's output lock.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from stoker._client.span import Arrival
from stoker._transport.feeder_connection import FeederConnection
from stoker._wire import encoding
from stoker._wire import protocol as p
from stoker.errors import ProtocolError

FLUSH_BYTES: Final = p.MAX_ACK_ENTRIES * p.ACK_ENTRY_BYTES


class Receipts:
    """Receipts that wait to be sent, that were sent but are not yet durable, and that dead connections left behind."""

    def __init__(self) -> None:
        self.oldest: float | None = None
        """When the oldest receipt not yet sent was made."""
        self._orphans: deque[tuple[int, bytes]] = deque()
        """(epoch, packed entries) whose connection ended before they were durable."""
        self._waiting: set[FeederConnection] = set()
        self._open: set[FeederConnection] = set()
        """Connections to which receipts were sent."""

    def add(self, epoch: int, arrivals: Sequence[Arrival], now: float) -> None:
        """Takes the receipts of one consumed batch, and sends full frames."""
        if self.oldest is None:
            self.oldest = now
        for connection, entry in arrivals:
            assert isinstance(connection, FeederConnection)
            if connection.read_only:
                continue
            if connection.state == "closed":
                self._orphans.append((epoch, entry))
                continue
            if connection.pending_epoch != epoch and connection.pending:
                self._send(connection)
            connection.pending_epoch = epoch
            connection.pending += entry
            self._waiting.add(connection)
            if len(connection.pending) >= FLUSH_BYTES:
                self._send(connection)

    def add_empty(self, connection: FeederConnection, epoch: int) -> bool:
        """Counts one entry for a subscription which says that the trainer has no number in an epoch.

        Returns False if the session's token is read-only, since the ledger then has nothing of the session.
        """
        if connection.read_only:
            return False
        self._open.add(connection)
        connection.sent_entries += 1
        connection.undurable.append((1, epoch, b""))
        return True

    def flush(self) -> None:
        """Sends everything that has a connection."""
        for connection in tuple(self._waiting):
            self._send(connection)
        self.oldest = None

    def _send(self, connection: FeederConnection) -> None:
        self._waiting.discard(connection)
        entries = bytes(connection.pending)
        if entries:
            frame = self._sent(connection, connection.pending_epoch, entries)
            connection.pending.clear()  # last: an interrupt may repeat receipts, but not lose them
            connection.send(frame)

    def _sent(self, connection: FeederConnection, epoch: int, entries: bytes) -> bytes:
        self._open.add(connection)
        count = len(entries) // p.ACK_ENTRY_BYTES
        connection.sent_entries += count
        connection.undurable.append((count, epoch, entries))
        return encoding.ack(connection.subscription, epoch, entries)

    def durable(self, connection: FeederConnection, count: int) -> None:
        """Notes that `count` entries of this session are durable; `ProtocolError` if fewer were sent."""
        if count > connection.sent_entries:
            text = f"{connection.address} reported {count} durable receipts, but was sent {connection.sent_entries}"
            raise ProtocolError(text, "bad_frame")
        while connection.undurable and connection.durable + connection.undurable[0][0] <= count:
            connection.durable += connection.undurable.popleft()[0]

    def adopt(self, connection: FeederConnection) -> bytes:
        """Returns ACK frames with all orphaned receipts, to send after the connection's SUBSCRIBE."""
        frames = []
        while self._orphans:
            epoch, entries = self._orphans[0]
            taken = 1
            while (
                taken < len(self._orphans)
                and self._orphans[taken][0] == epoch
                and len(entries) + len(self._orphans[taken][1]) <= FLUSH_BYTES
            ):
                entries += self._orphans[taken][1]
                taken += 1
            frames.append(self._sent(connection, epoch, entries))
            for _ in range(taken):
                self._orphans.popleft()
        return b"".join(frames)

    def lost(self, connection: FeederConnection) -> None:
        """Handles the end of a connection: its receipts, sent or not, become orphans unless they are durable."""
        self._waiting.discard(connection)
        self._open.discard(connection)
        self._orphans.extend((epoch, entries) for _, epoch, entries in connection.undurable if entries)
        if connection.pending:
            self._orphans.append((connection.pending_epoch, bytes(connection.pending)))
        connection.undurable.clear()
        connection.pending.clear()

    @property
    def unconfirmed(self) -> bool:
        """Whether any receipt is not durable yet."""
        return self.oldest is not None or bool(self._orphans) or any(c.undurable for c in tuple(self._open))

    @property
    def orphaned(self) -> bool:
        """Whether some receipts need a connection to be sent again."""
        return bool(self._orphans)
