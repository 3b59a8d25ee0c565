"""Dictionary batches of chunks: the class names of a categorical column, as docs/formats/chunk.md specifies them.

The message has one utf8 column. Its rows are the names in the order of the chunk's class ids.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._format.message import checked_offsets
from stoker.errors import CorruptDataError

_ALIGNMENT = 64
_HEAD = struct.Struct("<4siII6HIiIqhB5x4H8xiIq5H6xiIqIIIIqqII6q48x")
_MAX_NAME = 65_535
"""Bytes of a class name."""


class Dictionary(NamedTuple):
    """A dictionary batch in a chunk's head; its names are not checked yet."""

    length: int
    """Length of the message with its body."""
    rows: int
    """Number of names."""
    body: bytes
    """Offsets and text of the names."""


def head_length() -> int:
    """Bytes of a message in front of its body."""
    return _HEAD.size


def dictionary_batch(column: int, names: Sequence[str]) -> bytes:
    """The message with the class names of a column, which also names the dictionary."""
    texts = [name.encode() for name in names]
    offsets = np.cumsum([0, *(len(text) for text in texts)]).astype("<i4")
    data = b"".join(texts)
    return _head(column, len(texts), len(data)) + _padded(offsets.tobytes()) + _padded(data)


def read_dictionary(data: npt.NDArray[np.uint8], column: int, what: object) -> Dictionary:
    """The dictionary batch at the beginning of `data`; raises `CorruptDataError` if it is not in the canonical form."""
    if len(data) < _HEAD.size:
        raise CorruptDataError(f"{what}: the head ends where the dictionary of class names should be")
    head = data[: _HEAD.size].tobytes()
    values = _HEAD.unpack(head)
    rows, text = values[30], values[-1]
    length = _HEAD.size + _align(4 * rows + 4) + _align(text)
    # The lengths are checked first: the others do not fit into a message.
    if not (0 <= rows < length <= len(data) and text >= 0) or head != _head(column, rows, text):
        raise CorruptDataError(f"{what}: the dictionary of class names is damaged or missing")
    start = _HEAD.size + _align(4 * rows + 4)
    body = data[_HEAD.size : start + text].tobytes()
    return Dictionary(length, rows, body)


def class_names(dictionary: Dictionary, rows: int, what: object) -> list[str]:
    """The names by class id, checked; `rows`: of the chunk, which has at least one for each name."""
    if dictionary.rows > rows:
        raise CorruptDataError(f"{what}: {dictionary.rows} class names for {rows} rows")
    start = _align(4 * dictionary.rows + 4)
    data = np.frombuffer(dictionary.body, np.uint8)
    text = dictionary.body[start:]
    ends = checked_offsets(data, (0, 4 * dictionary.rows + 4), len(text), what).tolist()
    names: dict[str, None] = {}
    for begin, end in pairwise(ends):
        if end - begin > _MAX_NAME:
            raise CorruptDataError(f"{what}: class name {len(names)} has {end - begin} bytes, at most {_MAX_NAME}")
        try:
            name = text[begin:end].decode()
        except UnicodeDecodeError:
            raise CorruptDataError(f"{what}: class name {len(names)} is not UTF-8") from None
        if name in names:
            raise CorruptDataError(f"{what}: class name {name!r} is in the dictionary twice")
        names[name] = None
    return list(names)


def _head(column: int, rows: int, text: int) -> bytes:
    offsets = 4 * rows + 4
    body = _align(offsets) + _align(text)
    return _HEAD.pack(
        *(b"\xff\xff\xff\xff", _HEAD.size - 8, 24, 0, 12, 24, 16, 18, 4, 8, 0),
        *(16, 36, body, 4, 2, 8, 16, 8, 4, 16, 28, column),
        *(10, 24, 8, 4, 16, 16, 24, rows, 36, 0, 0, 1, rows, 0, 0, 3),
        *(0, 0, 0, offsets, _align(offsets), text),
    )


def _align(length: int) -> int:
    return -(-length // _ALIGNMENT) * _ALIGNMENT


def _padded(data: bytes) -> bytes:
    return data.ljust(_align(len(data)), b"\0")
