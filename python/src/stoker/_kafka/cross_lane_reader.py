"""Pieces out of lanes that a consumer does not read from end to end: joint batches, and what uneven lanes end with.

A consumer of its own reads them, so that what the main one has fetched ahead stays. It begins a lane where the first
piece that is wanted should stand, reads on while the next one is near and leaps where it is far; whatever comes is
judged by its headers, and what does not fit is searched for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from stoker._kafka.guesses import TopicGuesses
from stoker._kafka.record import BATCH, Position
from stoker._kafka.topic_log import AtEnd, Lost, Record, TopicLog, same_piece

_FAR_BYTES = 2 << 20
"""More than this is not read over: a broker gives whole batches of records, of a megabyte."""

Key = tuple[int, int, int]
"""Epoch, batch, lane."""


class CrossLaneReader:
    """One thread. Nothing is read but while somebody waits, but for a batch of records of each lane."""

    def __init__(
        self,
        topic: Callable[[], TopicLog],
        guesses: TopicGuesses,
        search: Callable[[int, Position], tuple[int, Record | None]],
        check: Callable[[int, Record], None],
    ) -> None:
        """`topic` opens the consumer once it is needed; `search` finds a position, `check` refuses a foreign record."""
        self._open, self._guesses, self._search, self._check = topic, guesses, search, check
        self.topic: TopicLog | None = None
        self._wanted: dict[int, deque[Position]] = {}
        self._parts: dict[int, list[Record]] = {}
        self._kept: dict[Key, list[Record]] = {}
        self._aside: dict[int, deque[Record]] = {}
        """Records that arrived before anyone asked for them, by lane."""
        self._reading: set[int] = set()
        self._aimed: set[int] = set()
        """Lanes whose first record since they were aimed has not come."""
        self._patient: set[int] = set()
        """Lanes that wait for the feed; there is nothing to leap to."""
        self.seen: dict[int, Position] = {}

    def forget(self) -> None:
        """Nothing is wanted any more."""
        for of in (self._wanted, self._parts, self._kept, self._aside):
            of.clear()
        if self.topic is not None and self._reading:
            self.topic.read_from({})
        self._reading.clear()
        self._aimed.clear()
        self._patient.clear()

    def expect(self, key: Key) -> None:
        """Announces a piece that will be taken. The pieces of a lane come in the order of the lane's partition."""
        epoch, batch, lane = key
        wanted = self._wanted.setdefault(lane, deque())
        wanted.append(Position(epoch, BATCH, batch))
        if len(wanted) == 1:
            aside = self._aside.pop(lane, deque())
            while aside and wanted:
                self._take(lane, aside.popleft())
            if aside:
                self._aside[lane] = aside
            if wanted and lane not in self._reading:
                self._aim(lane)

    def take(self, key: Key, wait_s: float) -> list[Record] | None:
        """The records of a piece that was expected, or None if it has not come in this time."""
        if key not in self._kept and self.topic is not None:
            for found in self.topic.poll(wait_s, 1):
                if isinstance(found, (Lost, AtEnd)):
                    self._came_to_nothing(found)
                elif found[0] in self._reading:
                    self._take(*found)
        return self._kept.pop(key, None)

    def _came_to_nothing(self, found: Lost | AtEnd) -> None:
        lane = found.partition
        # At the end of a partition, no later record can show that the guess was too late. This happens after an
        # aborted transaction, for example.
        if self._wanted.get(lane) and (isinstance(found, Lost) or lane in self._aimed):
            self._patient.add(lane)
            self._find(lane)

    def close(self) -> None:
        """Idempotent."""
        if self.topic is not None:
            self.topic.close()
            self.topic = None

    def _aim(self, lane: int, offset: int | None = None) -> None:
        """Reads a lane from an offset on, by default from the guessed offset of the next wanted record."""
        if self.topic is None:
            self.topic = self._open()
        if offset is None:
            offset = self._guesses.offset(lane, self._next(lane))
            self._aimed.add(lane)
        if lane in self._reading:
            self.topic.seek(lane, offset)
        else:
            self.topic.add(lane, offset)
            self._reading.add(lane)

    def _stop(self, lane: int) -> None:
        if lane in self._reading and self.topic is not None:
            self.topic.remove(lane)
            self._reading.discard(lane)

    def _next(self, lane: int) -> Position:
        return self._wanted[lane][0]._replace(part=len(self._parts.get(lane, ())))

    def _take(self, lane: int, record: Record) -> None:
        self._check(lane, record)
        if not self._wanted.get(lane):
            self._aside.setdefault(lane, deque()).append(record)
            self._stop(lane)
            return
        position, wanted = record.position, self._next(lane)
        first = lane in self._aimed
        self._aimed.discard(lane)
        self.seen[lane] = position
        if first:
            self._guesses.saw(lane, position, record.offset, record.header.parts)
        if position > wanted:
            self._find(lane)
        elif position < wanted:
            if first and lane not in self._patient and self._is_far(lane, record, wanted):
                self._find(lane)
        else:
            self._keep(lane, record)

    def _keep(self, lane: int, record: Record) -> None:
        header = record.header
        parts = self._parts.setdefault(lane, [])
        same_piece(parts, record)
        parts.append(record)
        self._guesses.saw(lane, record.position, record.offset, header.parts)
        if len(parts) < header.parts:
            return
        del self._parts[lane]
        self._patient.discard(lane)
        wanted = self._wanted[lane]
        wanted.popleft()
        self._kept[(header.epoch, header.batch, lane)] = parts
        if wanted and lane in self._reading and self._is_far(lane, record, wanted[0]):
            self._aim(lane)

    def _is_far(self, lane: int, record: Record, wanted: Position) -> bool:
        parts = record.header.parts
        distance = self._guesses.place(lane, wanted, parts) - self._guesses.place(lane, record.position, parts)
        return distance * len(record.value) > _FAR_BYTES

    def _find(self, lane: int) -> None:
        """Finds the next wanted record by search, and continues from its offset, or from where it will be written."""
        offset, record = self._search(lane, self._next(lane))
        self._aimed.discard(lane)
        if record is None:
            self._patient.add(lane)
            self._aim(lane, offset)
            return
        self._stop(lane)
        self._keep(lane, record)
        if self._wanted[lane]:
            far = lane not in self._parts and self._is_far(lane, record, self._wanted[lane][0])
            self._aim(lane, None if far else record.offset + 1)
