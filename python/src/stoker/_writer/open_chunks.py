"""The chunks that a writer fills, one for each split, and the order of the rows in them."""

from __future__ import annotations

from stoker._packing.filling_chunk import FillingChunk
from stoker._packing.segments import Segment
from stoker._packing.shuffle import Block, cut, shuffled
from stoker._packing.values import text
from stoker._writer.chunk_output import ChunkOutput
from stoker._writer.writer_fields import WriterFields

_FRAME = 4096
"""Bytes assumed for the frame of a chunk whose fields are not decided yet."""
_WAITING = 2
"""Chunks that may wait or be packed beside the one that is filled."""
_ROW_OVERHEAD = 100
"""Approximate bytes of memory that a row in a block takes in addition to its values."""


class OpenChunks:
    """Finds the chunk that takes a row, and hands full chunks over: in the order of their rows, or shuffled in blocks.

    The thread that uses the writer owns it.
    """

    def __init__(self, fields: WriterFields, output: ChunkOutput, default_split: str, chunk_size: int) -> None:
        self._fields, self._output = fields, output
        self._default_split, self._chunk_size = default_split, chunk_size
        self._shuffle, self._buffer, self._seed = False, 0, 0
        self._blocks: dict[str, int] = {}
        """Blocks of each split that were shuffled."""
        self.open: dict[str, FillingChunk] = {}
        self.default: FillingChunk | None = None
        """The open chunk of the default split."""
        self.is_torn = False
        """Whether a chunk is being handed over. An interrupt or an error during that time can lose rows."""

    def shuffle(self, buffer_bytes: int, seed: int) -> None:
        """From now on, shuffles the rows within blocks of `buffer_bytes`, all splits together."""
        self._shuffle, self._buffer, self._seed = True, buffer_bytes, seed

    def chunk_for(self, split: str | None, size: int) -> FillingChunk:
        """Returns the open chunk of a split; it has room for `size` bytes or is empty."""
        name = self._default_split if split is None else split
        chunk = self.open.get(name)
        if chunk is None:
            if split is not None:
                checked_split(split)
            return self._put(self._empty(name))
        if not chunk.rows or chunk.bytes + size <= chunk.limit:
            return chunk
        self.is_torn = True
        if not self._shuffle:
            self._flush(chunk)
            chunk = self._put(self._empty(name))
        else:
            held = sum(c.bytes + _ROW_OVERHEAD * c.rows for c in self.open.values())
            if held + size > self._buffer:
                largest = max(self.open.values(), key=lambda c: c.bytes)
                self._put(self._flush_shuffled(largest, is_last=False))
                chunk = self.open[name]
                held = sum(c.bytes + _ROW_OVERHEAD * c.rows for c in self.open.values())
            # Rows that are written and rows that are collected share the buffer.
            self._output.wait(max(0, self._buffer - held) + _WAITING * self._chunk_size)
            chunk.close_rows(compact=True)
            chunk.limit = chunk.bytes + max(size, self._chunk_size)
        self.is_torn = False
        return chunk

    def _put(self, chunk: FillingChunk) -> FillingChunk:
        self.open[chunk.split] = chunk
        if chunk.split == self._default_split:
            self.default = chunk
        return chunk

    def _empty(self, split: str) -> FillingChunk:
        layout = self._fields.layout
        frame = layout.frame_bytes() if layout is not None else _FRAME
        return FillingChunk(split, self._fields.fields, frame, self._chunk_size)

    def _flush_shuffled(self, chunk: FillingChunk, is_last: bool) -> FillingChunk:
        """Packs a block in random order. Rows that fill no chunk go into the next block, unless this is the last."""
        self._output.prepare(self.open.values())
        fields = self._fields
        block = Block(fields.fields, chunk.take())
        number = self._blocks.get(chunk.split, 0)
        order = shuffled(self._seed, chunk.split, number, block.rows)
        self._blocks[chunk.split] = number + 1
        rest = self._empty(chunk.split)
        sizes = block.sizes(fields.row_bytes)[order]
        runs = cut(sizes, max(1, self._chunk_size - rest.bytes))
        packed = runs if is_last else runs[:-1]
        for start, end in packed:

            def rows(start: int = start, end: int = end) -> list[list[Segment]]:
                return [[segment] for segment in block.take(order[start:end])]

            own = int((sizes[start:end].sum() + _ROW_OVERHEAD * (end - start)) * (1 - block.shared))
            common = int(chunk.bytes * block.shared) if end == packed[-1][1] else 0
            self._output.submit(rows, chunk.split, own + common)
        if not is_last:
            start, end = runs[-1]
            rest.groups.append(block.take(order[start:end]))
            rest.whole, rest.rows, rest.bytes = 1, end - start, rest.bytes + int(sizes[start:end].sum())
        return rest

    def _flush(self, chunk: FillingChunk) -> None:
        self._output.prepare(self.open.values())
        self._output.wait(_WAITING * self._chunk_size)
        self._output.submit(chunk.take, chunk.split, chunk.bytes)

    def flush_all(self) -> None:
        """Hands all open chunks over."""
        for chunk in self.open.values():
            if chunk.rows and self._shuffle:
                self._flush_shuffled(chunk, is_last=True)
            elif chunk.rows:
                self._flush(chunk)
        self.open.clear()


def checked_split(split: str) -> str:
    """Returns the name of a split; ValueError if it is not one."""
    if not isinstance(split, str) or not split:
        raise ValueError(f"split is {split!r}; expected a name such as 'train'")
    text(split)
    return split
