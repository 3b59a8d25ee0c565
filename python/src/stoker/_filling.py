"""Opens windows, makes messages and fills them: the part of the path reader that runs in several threads."""

from __future__ import annotations

from typing import NamedTuple

from stoker._assemble import Assembler, Gather
from stoker._buffers import BufferPool
from stoker._chunk import ChunkReader
from stoker._delivery import Piece
from stoker._gather import OpenChunk, OpenWindow, gather
from stoker._message import MessageLayout, batch_columns
from stoker._order import LaneEpoch
from stoker._rows import RowBlock, Segment
from stoker._source import PieceData
from stoker._stream import PathStream
from stoker.errors import CorruptDataError


class Unfilled(NamedTuple):
    """A message whose payload is still to come."""

    data: PieceData
    piece: Piece
    gathers: list[Gather]
    address: int
    what: tuple[int, int, int]


class Filler:
    """Safe for several threads."""

    def __init__(self, stream: PathStream, on_corrupt: str, pool: BufferPool) -> None:
        self._stream, self._on_corrupt = stream, on_corrupt
        self._reader = ChunkReader(stream.snapshot)
        self._columns = batch_columns(stream.snapshot.info.fields)
        self._assembler = Assembler(MessageLayout(self._columns), pool)

    def _open_chunk(self, index: int, fetch: bool | None) -> OpenChunk | None:
        """Reads a head; None if it is damaged and damaged data are left out."""
        try:
            return OpenChunk(self._reader, index, fetch)
        except CorruptDataError:
            if self._on_corrupt == "fail":
                raise
            return None

    def open_window(self, lane_epoch: LaneEpoch, w: int) -> OpenWindow:
        """Opens the chunks of a window and puts its rows in order."""
        members = self._stream.index[lane_epoch.window_chunks(w)].tolist()
        chunks: list[OpenChunk | None] = []
        fetch = None  # what holds for the first chunk is taken to hold for the window
        for index in members:
            chunk = self._open_chunk(index, fetch)
            chunks.append(chunk)
            fetch = chunk.fetch if chunk is not None else fetch
        places, rows = lane_epoch.window_rows(w)
        block = RowBlock(self._columns, [c.head if c is not None else None for c in chunks], places, rows)
        return OpenWindow(self._reader, members, chunks, block)

    def message(self, segments: list[Segment], piece: Piece, what: tuple[int, int, int]) -> Unfilled:
        """A message but for its payload, and what is still to be copied into it."""
        made = self._assembler.assemble(segments, what)
        data = PieceData(piece.lane, made.rows, piece.repeated, piece.rows - made.rows, made.buffer)
        return Unfilled(data, piece, made.gathers, made.address, what)

    def fill(self, message: Unfilled) -> PieceData:
        """Copies and checks the payload of a message; makes it anew without damaged rows if that is allowed."""
        data, piece, gathers, address, what = message
        buffer = data.buffer
        bad: dict[Segment, set[int]] = {}
        for work in gathers:
            if gather(work, buffer, address):
                continue
            at = work.at
            ends = work.segment.block.payload[work.column].ends
            for row in range(work.segment.start, work.segment.end):
                problem = work.segment.window.reread(work.column, row, buffer, at)
                if problem is not None:
                    if self._on_corrupt == "fail":
                        raise CorruptDataError(f"{problem}; run: stoker verify {self._stream.snapshot.root}")
                    bad.setdefault(work.segment, set()).add(row)
                at += int(ends[row + 1] - ends[row])
        if not bad:
            return data
        kept = []
        for segment in dict.fromkeys(work.segment for work in gathers):
            rows = [r for r in range(segment.start, segment.end) if r not in bad.get(segment, ())]
            kept += [Segment(segment.window, r, r + 1) for r in rows]
        return self.fill(self.message(kept, piece, what))
