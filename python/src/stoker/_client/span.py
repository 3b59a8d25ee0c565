"""The part of an epoch that one consumer reads, and the assembly of its batches from pieces. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from stoker._format.plural import plural
from stoker._order.delivery import BatchPlan, Piece
from stoker._order.skip import Numbers, Skip, Skipped
from stoker._order.spec import Tail
from stoker._source.batch_source import DeliveredBatch, PieceData
from stoker.errors import ProtocolError


class Arrival(NamedTuple):
    """The source of a piece, and its receipt."""

    connection: object
    receipt: bytes
    """A packed ACK entry."""


class _Partial:
    """A batch whose pieces are arriving."""

    __slots__ = ("arrivals", "missing", "pieces")

    def __init__(self, pieces: int) -> None:
        self.pieces: list[PieceData | None] = [None] * pieces
        self.arrivals: list[Arrival | None] = [None] * pieces
        self.missing = pieces


class Span:
    """The virtual numbers first, first + stride, … (`count` of them) of one epoch that are not skipped; see `Numbers`.

    Index 0 is `first`.

    Threads: `add` and the attributes it changes belong to the receiving thread; `take` and `consumed` belong to the
    trainer's thread. The two threads share only `ready`, whose single operations are atomic.
    """

    def __init__(
        self, plan: BatchPlan, epoch: int, first: int, stride: int, count: int, tail: Tail, skipped: Skipped = ()
    ) -> None:
        if epoch < 0 or first < 0 or stride < 1 or count < 0:
            raise ValueError(f"epoch {epoch}, first {first}, stride {stride}, count {count}")
        self.epoch, self.first, self.stride, self.count, self.tail = epoch, first, stride, count, tail
        self._plan = plan
        numbers = Numbers(Skip.of(skipped, epoch, plan.batches), first, stride, count)
        self.number, self.index = numbers.number, numbers.index
        self.consumed = 0
        """Batches that the trainer is done with."""
        self.complete = 0
        """Every batch below this index has arrived."""
        self.granted = -1
        """The index through which the feeders may send."""
        self.ready: dict[int, DeliveredBatch] = {}
        self.arrivals: dict[int, Sequence[Arrival]] = {}
        self._partial: dict[int, _Partial] = {}
        self._ahead: set[int] = set()

    @property
    def key(self) -> tuple[int, int, int, int, Tail]:
        """Spans with equal keys are the same."""
        return self.epoch, self.first, self.stride, self.count, self.tail

    @property
    def received(self) -> bool:
        """Whether nothing is left to receive."""
        return self.complete == self.count

    def planned(self, index: int) -> list[Piece]:
        """The pieces that the order says make up a batch. Only for the receiving side."""
        return self._plan.delivered(self.epoch, self.number(index), self.tail)

    def wants(self, index: int, piece: int) -> bool:
        """Whether a piece is still missing."""
        if not self.complete <= index < self.count or index in self._ahead:
            return False
        partial = self._partial.get(index)
        return partial is None or (piece < len(partial.pieces) and partial.pieces[piece] is None)

    def check(self, index: int, piece: int, pieces: int, data: PieceData) -> None:
        """Compares a piece with the order; `ProtocolError` if they differ."""
        number, plan = self.number(index), self._plan
        planned = plan.pieces(self.epoch, number) if number < plan.full_batches else self.planned(index)
        found = (pieces, data.lane, data.rows + data.skipped, data.repeated)
        if piece < len(planned):
            p = planned[piece]
            if found == (len(planned), p.lane, p.rows, p.repeated):
                return
            expected = f"{plural(len(planned), 'piece')}, lane {p.lane}, {plural(p.rows, 'row')}, repeated {p.repeated}"
        else:
            expected = plural(len(planned), "piece")
        raise ProtocolError(
            f"epoch {self.epoch} batch {self.number(index)} piece {piece}: the feeder sent "
            f"{plural(found[0], 'piece')}, lane {found[1]}, {plural(found[2], 'row')}, repeated {found[3]}; "
            f"the order says {expected}",
            "bad_frame",
        )

    def add(self, index: int, piece: int, pieces: int, data: PieceData, arrival: Arrival) -> bool:
        """Adds a wanted piece; returns True if that completes its batch."""
        if pieces > 1:
            partial = self._partial.get(index)
            if partial is None:
                partial = self._partial[index] = _Partial(pieces)
            partial.pieces[piece] = data
            partial.arrivals[piece] = arrival
            partial.missing -= 1
            if partial.missing:
                return False
            del self._partial[index]
            self.arrivals[index] = partial.arrivals  # type: ignore[assignment]
            self.ready[index] = DeliveredBatch(self.epoch, self.number(index), partial.pieces)  # type: ignore[arg-type]
        else:
            self.arrivals[index] = (arrival,)
            self.ready[index] = DeliveredBatch(self.epoch, self.number(index), (data,))
        if index != self.complete:
            self._ahead.add(index)
            return True
        index += 1
        while index in self._ahead:
            self._ahead.remove(index)
            index += 1
        self.complete = index
        return True

    def lowest_missing(self, lanes: frozenset[int], without: set[tuple[int, int]]) -> tuple[int, int] | None:
        """(index, piece) of the first piece of some lanes that has not arrived, leaving some out."""
        for index in range(self.complete, min(self.count, self.granted + 1)):
            if index in self._ahead:
                continue
            for piece, planned in enumerate(self.planned(index)):
                if planned.lane in lanes and self.wants(index, piece) and (index, piece) not in without:
                    return index, piece
        return None

    def waiting_lanes(self, index: int) -> list[int]:
        """The lanes of the pieces that a batch still lacks."""
        return [p.lane for i, p in enumerate(self.planned(index)) if self.wants(index, i)]
