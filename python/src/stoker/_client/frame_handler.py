"""What arrives: frames are checked and turned into batches. Belongs to the client's turn holder."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from stoker._client.lane_map import LaneMap
from stoker._client.network import Network
from stoker._client.span import Arrival, Span
from stoker._client.subscriptions import Subscriptions
from stoker._client.waits import PageReads, Reporter, Waits
from stoker._client.welcome import Refusal, Welcome
from stoker._format.view import View
from stoker._memory.buffers import BufferPool
from stoker._order.delivery import BatchPlan
from stoker._source.apart import Apart
from stoker._source.batch_source import PieceData
from stoker._transport.feeder_connection import ConnectionLostError, FeederConnection
from stoker._wire import decoding, encoding
from stoker._wire import protocol as p
from stoker.errors import CorruptDataError, FencedError, PlaceTakenError, ProtocolError, StateMismatchError

if TYPE_CHECKING:
    from stoker._transport.local_reads import LocalReads

_MAX_REFUSED = 4
"""Times that one piece may arrive damaged, and an epoch may be ended without a piece of it."""
_MOST_BATCHES = 4096
"""Greatest number of batches that are granted ahead: each takes memory besides its message."""
_ELSEWHERE = ("shutting_down", "origin_unavailable", "wrong_feed")
"""Errors after which another feeder is asked first."""


class FrameHandler:
    """The `FrameSink` of a client's connections."""

    def __init__(
        self,
        target: object,
        network: Network,
        subscriptions: Subscriptions,
        pool: BufferPool,
        buffer_bytes: int,
        waits: Waits,
        report: Reporter,
    ) -> None:
        self.welcome: Welcome | None = None
        """The first WELCOME. Later ones must agree with it, until the client moves to another epoch."""
        self.feed_id: str | None = None
        """The feed of the first WELCOME."""
        self.columns: tuple[str, ...] | None = None
        """The columns to receive; None: all."""
        self._view = View(())
        """The same for the stream, once it is known."""
        self.joined = self._joined_before = 0
        """The run that this client takes part in; 0 before the first WELCOME."""
        self.plan: BatchPlan | None = None
        self.counts: Counter[str] = Counter()
        self._target = target
        self._network = network
        self._subscriptions = subscriptions
        self._pool = pool
        self._buffer_bytes = buffer_bytes
        self._waits = waits
        self._page_reads = PageReads()
        self._report = report
        self._refused: dict[tuple[Span, int, int], tuple[int, float]] = {}
        """(span, index, piece) -> (times, when last) that it came damaged; until it comes sound."""
        self._renewals = 0
        """Subscriptions in a row that ended without all their pieces."""
        self._took_part = False

    def join(self, run: int) -> None:
        """Another client of this feed has taken part in a run; before the first connection."""
        self.joined = self._joined_before = run
        self._took_part = run > 0

    def forget(self) -> None:
        """What comes next may be of another version."""
        self.welcome = self.plan = None
        self._refused.clear()
        self._renewals = 0

    def begin_again(self) -> bool:
        """See `FrameSink`. A run that was only named by a feeder that this client has left again is none."""
        if not self._took_part:
            self.joined = self._joined_before
        self.forget()
        return self._took_part

    def took_part(self) -> None:
        """Every feeder that answers has admitted this client."""
        self._took_part = True

    def is_refused(self, span: Span, index: int) -> bool:
        """Whether a piece of the batch came damaged and is awaited again."""
        return any(key[:2] == (span, index) for key in self._refused)

    # ---- BATCH

    def buffer_for(self, connection: FeederConnection, header: tuple[int, ...]) -> npt.NDArray[np.uint8]:
        """See `FrameSink`."""
        if connection.state != "live":
            raise ProtocolError(f"{connection.address} sent a BATCH before WELCOME", "bad_frame")
        return self._pool.take(header[0] - (p.BATCH_HEADER_BYTES - 4))

    def on_batch(
        self, connection: FeederConnection, header: tuple[int, ...], message: npt.NDArray[np.uint8], crc: int
    ) -> None:
        """See `FrameSink`."""
        self._on_batch(connection, header, message, crc, None)

    def _on_batch(
        self,
        connection: FeederConnection,
        header: tuple[int, ...],
        message: npt.NDArray[np.uint8],
        crc: int,
        apart: Apart | None,
    ) -> None:
        # fmt: off
        (_, _, flags, _, feed, fingerprint, epoch, lane, number, piece, pieces, rows, skipped, source_rows, view_tag,
         source_crc, subscription, zero, sent_crc) = header
        # fmt: on
        subscriptions = self._subscriptions
        if crc != sent_crc or zero or not 0 < subscription <= subscriptions.newest:
            self._on_damage(connection, header, crc)
            return
        welcome = self.welcome
        assert welcome is not None
        if feed != welcome.feed_tag or fingerprint != welcome.fingerprint_tag:
            self._network.fail(
                ProtocolError(
                    f"{connection.address} sent a batch of feed {feed:016x}, fingerprint {fingerprint:016x}; expected "
                    f"{welcome.feed_tag:016x}, {welcome.fingerprint_tag:016x}: it serves another feed",
                    "wrong_feed",
                )
            )
            return
        if view_tag != self._view.tag:
            raise ProtocolError(f"{connection.address} sent a batch with other columns than were selected", "bad_frame")
        span = subscriptions.receiving
        index = span.index(number) if span is not None and span.epoch == epoch else -1
        if span is None or index < 0 or not span.wants(index, piece):
            self.counts["duplicate_pieces"] += 1
            return
        if index > span.granted or flags & ~p.FLAG_REPEATED:
            raise ProtocolError(
                f"{connection.address} sent epoch {epoch} batch {number} with flags {flags:#x}; the grant ends at "
                f"{span.number(span.granted)}",
                "bad_frame",
            )
        data = PieceData(lane, rows, bool(flags), skipped, message, crc, apart)
        span.check(index, piece, pieces, data)
        if self._refused:
            self._refused.pop((span, index, piece), None)
        self._renewals = 0
        self._network.sound()
        self.counts["bytes"] += data.nbytes
        receipt = encoding.pack_ack_entry(number, piece, flags, crc, rows, skipped, source_rows, source_crc)
        if span.add(index, piece, pieces, data, Arrival(connection, receipt)) and span.received:
            subscriptions.go_on(self._network.feeders.live)

    def _on_reference(self, connection: FeederConnection, frame: bytes) -> None:
        if connection.state != "live":
            raise ProtocolError(f"{connection.address} sent BATCH_REF before WELCOME", "bad_frame")
        began = self._page_reads.begin()
        batch = connection.take_reference(frame, self._pool)
        header = batch.header
        if spent := self._page_reads.end(began):
            # Nobody else knows of it: the pages were read on this side.
            self._waits.explain(p.Delay(header[16], header[6], header[8], header[9], 0, round(spent * 1e6), 0))
        assert connection.files is not None
        if due := connection.files.due():
            with self._subscriptions.out:
                connection.send(encoding.release(due))
        self.counts["local_read_bytes"] += batch.length
        if batch.crc != header[-1]:
            # The replacement comes over the connection. If only local reads keep failing, the files are to blame.
            connection.faults += 1
            if connection.faults > _MAX_REFUSED:
                self._network.feeders.refuse_local_reads(connection.address)
                raise ConnectionLostError(f"{connection.address}: local reads of its chunk files fail here")
        self._on_batch(connection, header, batch.message, batch.crc, batch.apart)

    def _on_file(self, connection: FeederConnection, body: bytes) -> None:
        from stoker._transport.local_reads import LocalReadError

        if connection.files is None:
            raise ProtocolError(f"{connection.address} sent FILE, but local reads were not agreed", "bad_frame")
        try:
            connection.files.announce(body)
        except LocalReadError as e:
            self._network.feeders.refuse_local_reads(connection.address)
            raise ConnectionLostError(f"{connection.address}: {e}") from e

    def _on_damage(self, connection: FeederConnection, header: tuple[int, ...], crc: int) -> None:
        """Asks for a piece again. Which one it was follows from the order, as the header may be what is damaged."""
        self.counts["corrupt_pieces"] += 1
        span = self._subscriptions.current(connection)
        if span is None:
            return
        awaited = {key[1:] for key in self._refused if key[0] is span}
        named = (span.index(header[8]) if header[6] == span.epoch else -1, header[9])
        victim = named if named in awaited else span.lowest_missing(connection.lanes, awaited)
        if victim is None:
            return
        times = self._refused.get((span, *victim), (0, 0.0))[0] + 1
        self._refused[span, victim[0], victim[1]] = (times, time.monotonic())
        number, piece = span.number(victim[0]), victim[1]
        if times > _MAX_REFUSED:
            self._network.fail(
                CorruptDataError(
                    f"epoch {span.epoch} batch {number} piece {piece} arrived damaged {times} times from feeder "
                    f"{connection.address} (expected CRC {header[-1]:08x}, found {crc:08x}); run `stoker verify` on "
                    "the dataset; if it is intact, check the memory and network of both machines"
                )
            )
            return
        with self._subscriptions.out:
            connection.send(encoding.nack(p.Nack(connection.subscription, span.epoch, number, piece, crc)))

    def renew_stale(self, now: float) -> None:
        """Resubscribes if a refused piece does not come again, for example because its header was damaged too."""
        span = self._subscriptions.receiving
        self._refused = {key: value for key, value in self._refused.items() if key[0] is span}
        if any(now - when > self._network.timing.refetch for _, when in self._refused.values()):
            self._refused = {key: (times, now) for key, (times, _) in self._refused.items()}
            for connection in self._network.feeders.live:
                if self._subscriptions.current(connection) is not None:
                    self._subscriptions.subscribe(connection)

    # ---- the others

    def on_frame(self, connection: FeederConnection, kind: int, body: bytes) -> None:
        """See `FrameSink`."""
        if kind == p.BATCH_REF:
            self._on_reference(connection, body)
        elif kind == p.ERROR:
            self._on_error(connection, decoding.decode_json(kind, body))
        elif kind == p.WELCOME and connection.state == "greeting":
            self._on_welcome(connection, decoding.decode_json(kind, body))
        elif kind == p.BYE:
            raise ConnectionLostError(f"{connection.address} closed the session (BYE)")
        elif connection.state != "live":
            raise ProtocolError(f"{connection.address} sent {p.FRAME_NAMES[kind]} before WELCOME", "bad_frame")
        elif kind == p.DURABLE:
            self._subscriptions.durable(connection, decoding.decode_u64(kind, body))
        elif kind == p.FILE:
            self._on_file(connection, body)
        elif kind == p.LANE_MAP:
            self._on_lane_map(decoding.decode_json(kind, body))
        elif kind == p.SELECTED:
            self._on_selected(connection, decoding.decode_selected(body))
        elif kind == p.EPOCH_END:
            self._on_epoch_end(connection, decoding.decode_epoch_end(body))
        elif kind == p.DELAY:
            self._waits.explain(decoding.decode_delay(body))
        elif kind == p.PING:
            with self._subscriptions.out:
                connection.send(encoding.pong(decoding.decode_u64(kind, body)))
        elif kind == p.PONG:
            connection.ponged = max(connection.ponged, decoding.decode_u64(kind, body))
        else:
            raise ProtocolError(f"{connection.address} sent an unexpected frame {p.FRAME_NAMES[kind]}", "bad_frame")

    def _on_welcome(self, connection: FeederConnection, values: Mapping[str, Any]) -> None:
        welcome, known = Welcome.from_json(values), self.welcome
        if welcome.feed_id != (self.feed_id or welcome.feed_id):
            why = f"{connection.address} now serves another feed ({welcome.feed_name})"
            raise ConnectionLostError(why, elsewhere=True)
        if known is None:
            self.joined = max(self.joined, welcome.info.run)
            self.welcome, self.feed_id = welcome, welcome.feed_id
            self._select_of(welcome)
            self.plan = BatchPlan(welcome.info.order, welcome.info.lane_rows)
            self._limit_depth(welcome.largest_batch)
            self._subscriptions.lanes = len(welcome.info.lane_rows)
            self._network.welcomed = True
        elif welcome.info.fingerprint != known.info.fingerprint:
            raise StateMismatchError(
                f"{self._target} was restarted with another dataset version or order: {known.difference(welcome)}; "
                "restart the trainer"
            )
        now = time.monotonic()
        connection.limit_batches(welcome.largest_batch)
        connection.files = self._files(connection, welcome)
        connection.state = "live"
        connection.since = now
        connection.read_only = welcome.read_only
        takes_place = not self._network.looking and not (welcome.info.follows and welcome.info.epoch is None)
        if takes_place and not self._view.is_whole:
            with self._subscriptions.out:
                connection.send(encoding.select(p.Select(self._view.available, self._view.numbers)))
        if welcome.stats:
            connection.tells = True
            with self._subscriptions.out:
                connection.send(self._report())
        self._network.feeders.welcomed(connection)
        self._network.admission.welcomed(connection.address, now)
        self._on_lane_map(welcome.lane_map)
        if self._network.looking:
            return
        if connection.path is None:
            self._network.come_nearer(connection)
        else:
            self._network.feeders.rename(connection)
        self._network.admission.look_at(self._network.feeders, now)

    def _select_of(self, welcome: Welcome) -> None:
        """Finds the columns to receive in a stream; ends the client if the stream does not have them."""
        try:
            self._view = View([field.name for field in welcome.info.fields], self.columns)
        except ValueError as e:
            self._view = View([field.name for field in welcome.info.fields])
            self._network.fail(e)

    def _on_selected(self, connection: FeederConnection, answer: p.Selected) -> None:
        if self._view.is_whole or answer.view_tag != self._view.tag:
            raise ProtocolError(f"{connection.address} has selected other columns than it was asked for", "bad_frame")
        connection.limit_batches(answer.largest_batch)
        self._limit_depth(answer.largest_batch)

    def _limit_depth(self, largest_batch: int) -> None:
        """Sets how many batches are granted ahead."""
        self._subscriptions.depth = max(2, min(_MOST_BATCHES, self._buffer_bytes // max(1, largest_batch)))

    def _files(self, connection: FeederConnection, welcome: Welcome) -> LocalReads | None:
        if not welcome.local_files:
            return None
        if welcome.local_files > self._network.feeders.local_files(connection):
            raise ProtocolError(
                f"{connection.address} offers {welcome.local_files} files without a request", "bad_frame"
            )
        from stoker._transport.local_reads import LocalReads

        return LocalReads(welcome.local_files)

    def _on_lane_map(self, values: Mapping[str, Any]) -> None:
        lane_map = LaneMap.from_json(values, self._subscriptions.lanes)
        if self._network.feeders.adopt(lane_map, time.monotonic()):
            self._network.hurry()

    def _on_error(self, connection: FeederConnection, values: Mapping[str, Any]) -> None:
        code, text = str(values.get("code")), f"{connection.address}: {values.get('message')}"
        refusal = Refusal.of(code, text)
        lost = ConnectionLostError(f"{text} ({code})", elsewhere=code in _ELSEWHERE)
        if code == "wrong_feed" and self.feed_id is not None:
            raise lost  # the own feed has moved, and another one has its port
        if isinstance(refusal.error, FencedError) and self.feed_id is not None:
            if not self._wanted:
                raise lost  # nobody reads here at present: loader workers have taken the place of their own process
            if self._network.feeders.is_alias(connection):
                raise lost  # this client has taken the place itself, by the feeder's other address
        if isinstance(refusal.error, PlaceTakenError):
            connection.refused_place = True
            self._network.place_refused(connection, text)
            raise lost
        if refusal.final:
            self._network.fail(refusal.error)
        elif refusal.counted:
            self._network.broken(refusal.error)
        raise lost

    @property
    def _wanted(self) -> bool:
        return self._subscriptions.open or self._network.waiting_since is not None

    def _on_epoch_end(self, connection: FeederConnection, end: p.EpochEnd) -> None:
        span = self._subscriptions.current(connection)
        if span is None or end.subscription != connection.subscription:
            return
        awaited = {key[1:] for key in self._refused if key[0] is span}
        missing = span.lowest_missing(connection.lanes, awaited)
        if missing is None:
            return
        self._renewals += 1
        if self._renewals > _MAX_REFUSED:
            raise ProtocolError(
                f"{connection.address} ended epoch {span.epoch} "
                f"without batch {span.number(missing[0])} piece {missing[1]}",
                "bad_frame",
            )
        self._subscriptions.subscribe(connection)
