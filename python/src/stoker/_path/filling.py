"""Opens windows, makes messages and fills them: the part of the path reader that runs in several threads."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from stoker._dataset.chunk import ChunkReader
from stoker._format.message import MessageLayout, batch_columns
from stoker._format.view import View
from stoker._memory.buffers import BufferPool
from stoker._memory.workers import Shared
from stoker._order.delivery import Piece
from stoker._order.stream_order import LaneEpoch
from stoker._path import batch_blocks
from stoker._path.assembler import Assembler, Gather
from stoker._path.batch_blocks import BatchBlock, Laid
from stoker._path.gather import OpenChunk, OpenWindow, gather
from stoker._path.path_stream import PathStream
from stoker._path.rows import RowBlock, Segment
from stoker._source.apart import Apart
from stoker._source.batch_source import DeliveredBatch, PieceData
from stoker.errors import CorruptDataError, MissingFileError

_LOG = logging.getLogger("stoker")
_SHARED = 16 << 20
"""Two threads copy a message of at least this many bytes: it is ready sooner, and fewer are in progress at a time."""
_PART = 2 << 20
"""About how many bytes of such a message a thread copies at a time."""


class Unfilled(NamedTuple):
    """A message whose payload is still to come."""

    data: PieceData
    piece: Piece
    gathers: list[Gather]
    address: int
    what: tuple[int, int, int]


class Filler:
    """Safe for several threads."""

    def __init__(
        self,
        stream: PathStream,
        on_corrupt: str,
        pool: BufferPool,
        offer: Callable[[Callable[[], None]], None],
        view: View | None = None,
    ) -> None:
        """`offer` is given work that another thread may help with. `view`: the columns of messages, by default all."""
        self._stream, self._on_corrupt = stream, on_corrupt
        self._offer, self.pool = offer, pool
        self._reader = ChunkReader(stream.snapshot)
        fields = stream.snapshot.info.fields
        self._columns = batch_columns(fields)
        self._numbers = (view or View([field.name for field in fields])).numbers
        self._layout = MessageLayout([self._columns[number] for number in self._numbers])
        self._heads_only = not any(column.payload for column in self._layout.columns)
        self._assembler = Assembler(self._layout, pool)
        self._said: set[int] = set()
        """Chunks with damaged samples that were warned of."""
        self._apart = pool.ordinary
        """Whether payload may stay in the files' mappings: until a message is wanted in one piece."""

    def _open_chunk(self, index: int, fetch: bool | None) -> OpenChunk | None:
        """Reads a head; None if it is damaged and damaged data are left out."""
        try:
            return OpenChunk(self._reader, index, fetch, heads_only=self._heads_only, views=self._apart)
        except MissingFileError:
            raise  # the store may be gone, which says nothing about the samples
        except CorruptDataError as e:
            if self._on_corrupt == "fail":
                raise
            self._say(index, e)
            return None

    def _say(self, index: int, problem: object) -> None:
        """Warns of samples that are left out, once for each chunk."""
        if index not in self._said:
            self._said.add(index)
            _LOG.warning('leaving out damaged samples (on_corrupt="skip"): %s', problem)

    def open_window(self, lane_epoch: LaneEpoch, w: int) -> OpenWindow:
        """Opens the chunks of a window and puts its rows in order."""
        members = self._stream.index[lane_epoch.window_chunks(w)].tolist()
        far = self._reader.far
        if far is not None:
            (far.fetch_heads if self._heads_only else far.fetch)(members)
        chunks: list[OpenChunk | None] = []
        fetch = None  # what holds for the first chunk is taken to hold for the window
        for index in members:
            chunk = self._open_chunk(index, fetch)
            chunks.append(chunk)
            fetch = chunk.fetch if chunk is not None else fetch
        places, rows = lane_epoch.window_rows(w)
        heads = [c.head if c is not None else None for c in chunks]
        block = RowBlock(self._columns, heads, places, rows, self._numbers)
        window = OpenWindow(self._reader, members, chunks, block, self._apart)
        size = self._stream.spec.batch_size
        window.longest = {kind: batch_blocks.longest(self._layout, window, size, kind) for kind in (False, True)}
        return window

    def stays_apart(self, window: OpenWindow) -> bool:
        """Whether the payload of batches of a window stays where it is."""
        return self._apart and window.apart

    def block(self, window: OpenWindow, firsts: Sequence[int], apart: bool) -> BatchBlock:
        """Returns a block of the full batches that begin at these rows of a window."""
        return BatchBlock(self._layout, window, firsts, self._stream.spec.batch_size, apart)

    def fill_blocks(self, epoch: int, batches: Sequence[Laid]) -> list[DeliveredBatch]:
        """Copies and checks batches of blocks. A batch that fails is filled like a batch outside a block."""
        out = []
        filled = iter(batch_blocks.fill([laid for laid in batches if laid.block.views is None], self.pool))
        for number, lane, block, i in batches:
            rows = block.rows
            if block.views is not None:
                apart = block.views.apart(i, block.lengths[i], self._copy_from_now_on)
                data = PieceData(lane, rows, False, 0, block.views.front(i), apart=apart)
            elif (buffer := next(filled)) is not None:
                data = PieceData(lane, rows, False, 0, buffer)
            else:
                segment = Segment(block.window, block.firsts[i], block.firsts[i] + rows)
                piece = Piece(lane, -1, rows)
                data = self.fill(self.message([segment], piece, (number, epoch, rows)))
            out.append(DeliveredBatch(epoch, number, [data]))
        return out

    def message(self, segments: list[Segment], piece: Piece, what: tuple[int, int, int]) -> Unfilled:
        """A message but for its payload, and what is still to be copied into it."""
        # What its user has written into a row must not come back if the epoch repeats it.
        made = self._assembler.assemble(segments, what, self._apart and not piece.repeated)
        data = PieceData(piece.lane, made.rows, piece.repeated, piece.rows - made.rows, made.buffer)
        message = Unfilled(data, piece, made.gathers, made.address, what)
        return self._left_apart(message, made.apart) if made.apart else message

    def _left_apart(self, message: Unfilled, length: int) -> Unfilled:
        """The same as `_Views` of a block, for one message."""
        columns: list[tuple[Any, ...]] = []
        for column, (window, first, last), at, _ in message.gathers:
            payload = window.block.payload[column]
            ends = payload.ends[first : last + 1] - payload.ends[first]
            rows = ends[1:] - ends[:-1]
            starts = payload.starts[first:last].astype(np.int64)
            columns.append((at + ends[:-1], rows, starts, window.block.places[first:last]))
        begins, rows, starts, files = (np.concatenate(arrays) for arrays in zip(*columns, strict=True))
        present = rows > 0
        begins, rows, starts, files = begins[present], rows[present], starts[present], files[present]
        window = message.gathers[0].segment.window
        views = partial(window.views, files, starts, starts + rows)
        apart = Apart(length, begins, begins + rows, views, self._copy_from_now_on)
        return message._replace(data=replace(message.data, apart=apart))

    def _copy_from_now_on(self) -> None:
        self._apart = False

    def _gather(self, gathers: list[Gather], buffer: Any, address: int) -> list[Gather]:
        """Copies payload, of large messages together with another thread; what was not right."""
        if sum(work.length for work in gathers) < _SHARED:
            return [work for work in gathers if not gather(work, buffer, address)]
        parts = [part for work in gathers for part in _divided(work)]
        shared = Shared(parts, lambda part: gather(part, buffer, address))
        self._offer(shared.help)
        return shared.finish()

    def fill(self, message: Unfilled) -> PieceData:
        """Copies and checks the payload of a message; rebuilds it without damaged rows if that is allowed."""
        data, piece, gathers, address, what = message
        if data.apart is not None:
            return data
        buffer = data.buffer
        bad: dict[Segment, set[int]] = {}
        for work in self._gather(gathers, buffer, address):
            at = work.at
            ends = work.segment.block.payload[work.column].ends
            for row in range(work.segment.start, work.segment.end):
                problem = work.segment.window.reread(work.column, row, buffer, at)
                if problem is not None:
                    if self._on_corrupt == "fail":
                        raise self._reader.corrupt(problem)
                    window = work.segment.window
                    self._say(window.indexes[int(work.segment.block.places[row])], problem)
                    bad.setdefault(work.segment, set()).add(row)
                at += int(ends[row + 1] - ends[row])
        if not bad:
            return data
        kept = []
        for segment in dict.fromkeys(work.segment for work in gathers):
            rows = [r for r in range(segment.start, segment.end) if r not in bad.get(segment, ())]
            kept += [Segment(segment.window, r, r + 1) for r in rows]
        return self.fill(self.message(kept, piece, what))


def _divided(work: Gather) -> Iterator[Gather]:
    """The same payload in runs of rows of `_PART` bytes or more."""
    column, segment, at, _ = work
    ends = segment.block.payload[column].ends
    row, base = segment.start, ends.item(segment.start) - at
    while row < segment.end:
        start = ends.item(row)
        stop = min(segment.end, int(ends.searchsorted(start + _PART, "left")))
        yield Gather(column, Segment(segment.window, row, stop), start - base, ends.item(stop) - start)
        row = stop
