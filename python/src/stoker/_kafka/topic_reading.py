"""The lanes that a consumer reads from end to end: their partitions are read on and on.

Takes records in, drops those that come again, finds those that are missing, and knows what is consumed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from stoker._kafka.pieces import Message, TopicPieces
from stoker._kafka.plan import LanePlan, Span
from stoker._kafka.record import BATCH, Position
from stoker._kafka.topic_log import AtEnd, Lost, Record, TopicLog, same_piece
from stoker._order.skip import Skip

_COMMIT_S = 2.0

Key = tuple[int, int, int]
"""Epoch, batch, lane."""


class TopicReading:
    """One thread; the Kafka client's own threads fetch ahead."""

    def __init__(
        self,
        stream: TopicLog,
        look: TopicLog,
        search: Callable[[int, Position], tuple[int, Record | None]],
        counts: dict[str, int],
        buffer_bytes: int,
    ) -> None:
        """`stream` reads on, `look` looks at single records, `search` finds a position; about a buffer is kept."""
        self._stream, self._look, self._search, self._counts = stream, look, search, counts
        self._buffer_bytes = buffer_bytes
        self._pieces: TopicPieces | None = None
        self._plan: LanePlan | None = None
        self._parts: dict[int, list[Record]] = {}
        """The parts of the piece that is arriving, by lane."""
        self._kept: dict[Key, Message] = {}
        self._kept_bytes: dict[int, int] = {}
        self._paused: set[int] = set()
        self._seen: dict[int, tuple[Position, int]] = {}
        """The position of the last record, and the offset after it, by lane."""
        self._after: dict[Key, int] = {}
        """The offset after a piece."""
        self._taken: dict[tuple[int, int], list[Key]] = {}
        """Pieces by the epoch and number that they went into, until that is consumed."""
        self._last: dict[int, Position] = {}
        """The last piece that was kept, by lane."""
        self._stalled: dict[int, int] = {}
        """Lanes that have gone through all that is planned, and the offset of what follows."""
        self._consumed: dict[int, int] = {}
        self._committed: dict[int, int] = {}
        self._commit_at = 0.0

    @property
    def lanes(self) -> frozenset[int] | None:
        """Those that are read; None if nothing of any is wanted."""
        return self._plan.lanes if self._plan is not None else None

    def begin(self, plan: LanePlan, pieces: TopicPieces) -> None:
        """Reads on from where a plan begins."""
        self.forget()
        self._plan, self._pieces = plan, pieces
        offsets = {}
        for lane in sorted(plan.lanes):
            wanted = plan.next(lane)
            if wanted is not None:
                offsets[lane] = self._search(lane, wanted)[0]
        self._stream.read_from(offsets)

    def extend(self, span: Span, skip: Skip) -> None:
        """Reads what follows, too."""
        assert self._plan is not None
        self._plan.add(span, skip)
        for lane, offset in self._stalled.items():
            self._seek(lane, offset)
        self._stalled.clear()

    def _seek(self, lane: int, offset: int) -> None:
        self._stream.seek(lane, offset)
        self._paused.discard(lane)

    def forget(self) -> None:
        """Nothing of what is read is wanted."""
        self._plan = None
        self._kept.clear()
        self._kept_bytes.clear()
        self._parts.clear()
        self._paused.clear()
        self._after.clear()
        self._taken.clear()
        self._seen.clear()
        self._last.clear()
        self._stalled.clear()

    # ---- pieces

    def take(self, key: Key, wait_s: float) -> Message | None:
        """A piece, or None if it has not come in this time."""
        lane = key[2]
        if key not in self._kept:
            if lane in self._paused and lane not in self._stalled:
                self._paused.discard(lane)
                self._stream.resume([lane])
            self.receive(wait_s)
        message = self._kept.pop(key, None)
        if message is not None:
            self._kept_bytes[lane] -= len(message.buffer)
            self._resume(lane)
        return message

    def seen(self, lane: int) -> Position | None:
        """Where a lane stood last."""
        return self._seen[lane][0] if lane in self._seen else None

    def receive(self, wait_s: float) -> None:
        """Takes in what comes in this time."""
        elsewhere: set[int] = set()
        for found in self._stream.poll(wait_s):
            if isinstance(found, Lost):
                self._resync(found.partition, None)
                elsewhere.add(found.partition)
            elif not isinstance(found, AtEnd) and found[0] not in elsewhere:
                lane, record = found
                self._counts["bytes"] += len(record.value)
                if not self._take_in(lane, record):
                    elsewhere.add(lane)  # what follows of it was polled before, and comes again

    def _take_in(self, lane: int, record: Record) -> bool:
        """Returns whether the lane is read on; otherwise it continues at another offset."""
        assert self._plan is not None
        assert self._pieces is not None
        self._pieces.check(lane, record)
        if lane in self._stalled:
            return True
        position = record.position
        wanted = self._plan.next(lane)
        if wanted is None and position.kind == BATCH and position > self._last.get(lane, position):
            self._stalled[lane] = record.offset
            self._stream.pause([lane])
            return True
        parts = self._parts.get(lane, [])
        if wanted is not None and parts:
            wanted = wanted._replace(part=len(parts))
        if wanted is not None and position > wanted:
            self._resync(lane, record)
            return False
        self._seen[lane] = (position, record.offset + 1)
        if position != wanted:
            self._counts["duplicates"] += position.kind == BATCH
            return True
        same_piece(parts, record)
        parts.append(record)
        if len(parts) < record.header.parts:
            self._parts[lane] = parts
            return True
        self._parts.pop(lane, None)
        self._plan.took(lane)
        self._last[lane] = position
        key = (position.epoch, position.batch, lane)
        self._kept[key] = message = self._pieces.whole(parts)
        self._after[key] = record.offset + 1
        self._kept_bytes[lane] = self._kept_bytes.get(lane, 0) + len(message.buffer)
        most, lanes = self._buffer_bytes // 2, len(self._plan.lanes)
        # To pause a lane is to fetch again what was fetched of it.
        if lane not in self._paused and self._kept_bytes[lane] * lanes > most < sum(self._kept_bytes.values()):
            self._paused.add(lane)
            self._stream.pause([lane])
        return True

    def _resume(self, lane: int) -> None:
        assert self._plan is not None
        if lane in self._paused and self._kept_bytes[lane] <= self._buffer_bytes // (4 * len(self._plan.lanes)):
            self._paused.discard(lane)
            self._stream.resume([lane])

    def _resync(self, lane: int, ahead: Record | None) -> None:
        """Searches for the missing record elsewhere, after a lane did not continue with the expected one."""
        assert self._plan is not None
        self._counts["gaps"] += 1
        self._parts.pop(lane, None)
        wanted = self._plan.next(lane)
        if wanted is None:
            self._seek(lane, ahead.offset + 1 if ahead else self._search(lane, Position(0, 0))[0])
            return
        offset, found = self._search(lane, wanted)
        if ahead is not None and (found is None or offset >= ahead.offset):
            found = self._look.scan(lane, wanted, ahead.offset)
            if found is None:
                raise self._look.gap(lane, wanted, ahead)
            offset = found.offset
        self._seek(lane, offset)

    # ---- progress

    def went_into(self, epoch: int, number: int, key: Key) -> None:
        """A piece is part of a batch that is delivered."""
        self._taken.setdefault((epoch, number), []).append(key)

    def consumed(self, epoch: int, number: int) -> None:
        """The trainer is done with a batch."""
        changed = {}
        for key in self._taken.pop((epoch, number), ()):
            offset = self._after.pop(key, None)
            if offset is not None:
                changed[key[2]] = self._consumed[key[2]] = max(offset, self._consumed.get(key[2], 0))
        if changed:
            self._stream.consumed(changed)

    def pass_by(self, offsets: Mapping[int, int]) -> None:
        """Everything before these offsets of these lanes counts as consumed; told at once, and now and then again."""
        for lane, offset in offsets.items():
            if offset > self._consumed.get(lane, -1):
                self._consumed[lane] = offset
                self._commit_at = 0.0
        if time.monotonic() >= self._commit_at:
            # Nobody else repeats what is lost of partitions that are not read yet.
            self._committed.clear()
        self.commit()

    def commit(self, *, last: bool = False) -> None:
        """Tells what is consumed, for information, now and then."""
        now = time.monotonic()
        if not last and now < self._commit_at:
            return
        self._commit_at = now + _COMMIT_S
        for lane, (position, offset) in self._seen.items():
            # Nothing in front of it is still to be consumed.
            if not any(key[2] == lane for key in self._after) and lane not in self._parts:
                wanted = self._plan.next(lane) if self._plan is not None else None
                if wanted is None or position < wanted:
                    self._consumed[lane] = max(offset, self._consumed.get(lane, 0))
        changed = {lane: o for lane, o in self._consumed.items() if self._committed.get(lane) != o}
        if changed:
            # Should this be lost, as with its broker, the client's own thread tells it again.
            self._stream.consumed(changed)
            self._stream.commit(changed, wait=last)
            self._committed |= changed
