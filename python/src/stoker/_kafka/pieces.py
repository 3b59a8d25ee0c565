"""Pieces of batches out of the records of a topic."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._format.message import MessageLayout, batch_columns
from stoker._format.plural import plural
from stoker._format.view import ColumnCut, View
from stoker._kafka.join import Cut, join
from stoker._kafka.plan import PieceRequest
from stoker._kafka.record import TopicInfo, message_of
from stoker._kafka.sample_reader import SampleReader
from stoker._kafka.target import TopicTarget
from stoker._kafka.topic_log import Record
from stoker._memory.buffers import BufferPool
from stoker._order.delivery import BatchPlan
from stoker._source.batch_source import PieceData
from stoker.errors import CorruptDataError, StateMismatchError


def _heap(length: int) -> npt.NDArray[np.uint8]:
    return np.empty(length, np.uint8)


class Message(NamedTuple):
    """A lane's whole piece of a batch."""

    buffer: npt.NDArray[np.uint8]
    rows: int
    skipped: int


class TopicPieces:
    """What the records of a feed, or of an epoch of one that follows its dataset, are made into."""

    def __init__(
        self, target: TopicTarget, topic: TopicInfo, pool: BufferPool, columns: tuple[str, ...] | None = None
    ) -> None:
        """`topic`: the description in a control record. `columns`: the columns that the pieces have; None: all."""
        self._target, self._info, self._pool = target, topic.info, pool
        self.plan = BatchPlan(topic.info.order, topic.info.lane_rows)
        self._samples = SampleReader(topic.info.fields, topic.info.classes, topic.schema_id) if topic.samples else None
        """Where records hold samples."""
        whole = MessageLayout(batch_columns(topic.info.fields))
        view = View([field.name for field in topic.info.fields], columns)
        self._whole = whole
        """The layout of the topic's messages, which have all columns."""
        self._column_cut = None if view.is_whole else ColumnCut(topic.info.fields, view)
        self._layout = whole if self._column_cut is None else self._column_cut.layout
        """The layout of pieces."""

    def check(self, lane: int, record: Record) -> None:
        """Refuses a record of another feed."""
        if self._info.epoch not in (None, record.header.epoch):
            return  # another epoch has another version, and is skipped
        if record.header.fingerprint != self._info.fingerprint:
            raise StateMismatchError(
                f"{self._target}, partition {lane}, offset {record.offset}: {record.position} belongs to another feed: "
                f"fingerprint {record.header.fingerprint}, expected {self._info.fingerprint}. A topic holds one feed"
            )

    def whole(self, parts: list[Record]) -> Message:
        """The message of a piece, out of its parts."""
        header = parts[0].header
        where = f"{self._target}, {parts[0].position}"
        rows = [part.header.rows for part in parts]
        what = (header.batch, header.epoch, self.plan.spec.batch_size)
        skipped = sum(part.header.skipped for part in parts)
        if self._samples is not None:
            values = [part.value for part in parts if part.header.rows]
            if self._column_cut is None:
                buffer = self._samples.message(self._whole, values, self._pool, what, where)
                return Message(buffer, len(values), skipped)
            whole = self._samples.message(self._whole, values, BufferPool(0), what, where)
            return Message(self._column_cut.cut(whole, self._pool.take, what), len(values), skipped)
        messages = [message_of(part.value, where) for part in parts]
        if self._column_cut is not None and len(parts) > 1:
            messages = [self._column_cut.cut(message, _heap, what) for message in messages]
        if len(parts) == 1 and self._column_cut is not None:
            buffer = self._column_cut.cut(messages[0], self._pool.take, what)
        elif len(parts) == 1:
            buffer = self._pool.take(len(messages[0]))
            buffer[:] = messages[0]
        else:
            cuts = [Cut(m, n, 0, n) for m, n in zip(messages, rows, strict=True)]
            buffer = join(self._layout, cuts, self._pool, what)
        return Message(buffer, sum(rows), skipped)

    def wanted(self, epoch: int, number: int, want: PieceRequest, message: Message) -> PieceData:
        """What a batch wants of a lane's piece."""
        if message.rows + message.skipped != want.of:
            raise CorruptDataError(
                f"{self._target}: epoch {epoch} batch {want.batch}, lane {want.lane} has "
                f"{plural(message.rows, 'row')} and "
                f"{message.skipped} left out; the order expects {want.of} in total"
            )
        buffer, rows, skipped = message
        if want.rows < want.of:
            rows = min(want.rows, message.rows)
            skipped = want.rows - rows
            cut = Cut(message.buffer, message.rows, 0, rows)
            buffer = join(self._layout, [cut], self._pool, (number, epoch, self.plan.spec.batch_size))
        return PieceData(want.lane, rows, want.repeated, skipped, buffer)
