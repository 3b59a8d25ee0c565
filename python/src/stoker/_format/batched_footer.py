"""The end of an Arrow file with any number of record batches: footer flatbuffer, its length, and the magic."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import NamedTuple

from stoker._format.flatbuffer import Block
from stoker._format.footer import ENDING, Flat


class BatchedFooter(NamedTuple):
    """What a footer says; the caller has verified a checksum of its bytes."""

    schema_metadata: Mapping[str, str]
    batches: tuple[Block, ...]
    metadata: Mapping[str, str]


def tail_length(ending: bytes, file_length: int) -> int:
    """Bytes from the footer on, from the last bytes of a file; raises `ValueError` if there is no footer."""
    if len(ending) != ENDING or ending[4:] != b"ARROW1":
        raise ValueError("the file does not end with a footer; it may have been truncated")
    (length,) = struct.unpack_from("<i", ending)
    if not 8 <= length <= file_length - ENDING:
        raise ValueError(f"its footer has {length} bytes")
    return int(length) + ENDING


def read_batched_footer(tail: bytes) -> BatchedFooter:
    """Reads the bytes from the footer on. Raises `ValueError`, `IndexError` or `struct.error` if they are damaged."""
    flat = Flat(tail[:-ENDING])
    root = flat.target(0)
    schema = flat.slot(root, 1)
    if not schema or flat.blocks(flat.slot(root, 2)):
        raise ValueError("the footer has no schema, or dictionaries")
    return BatchedFooter(
        flat.pairs(flat.slot(schema, 2)), flat.blocks(flat.slot(root, 3)), flat.pairs(flat.slot(root, 4))
    )
