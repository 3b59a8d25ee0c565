"""Feed protocol 1: decodes requests for samples and their answers."""

from __future__ import annotations

from stoker._wire import protocol as p
from stoker.errors import ProtocolError


class _Texts:
    """Texts of known length, one after the other."""

    def __init__(self, kind: int, body: bytes | memoryview, at: int) -> None:
        self._kind, self._body, self.at = kind, body, at

    def next(self, length: int) -> str:
        """The next text of this number of bytes."""
        part = self._body[self.at : self.at + length]
        if len(part) != length:
            raise _bad(self._kind, f"{len(part)} bytes are left for a text of {length}")
        self.at += length
        try:
            return bytes(part).decode()
        except UnicodeDecodeError as e:
            raise _bad(self._kind, f"a text is not UTF-8: {e}") from e

    def require_end(self) -> None:
        """Refuses further bytes."""
        if self.at != len(self._body):
            raise _bad(self._kind, f"{len(self._body) - self.at} bytes too many")


def _bad(kind: int, problem: str) -> ProtocolError:
    return ProtocolError(f"{p.FRAME_NAMES[kind]} frame: {problem}", "bad_frame")


def _require(kind: int, body: bytes | memoryview, fixed: int) -> None:
    if len(body) < fixed:
        raise _bad(kind, f"{len(body)} bytes, at least {fixed} are needed")


def decode_get(body: bytes) -> p.Get:
    """Reads a GET."""
    _require(p.GET, body, p.GET_LAYOUT.size)
    request, count, flags, zero = p.GET_LAYOUT.unpack_from(body)
    if zero or flags > 1 or not 0 < count <= p.MAX_KEYS or count * 4 > len(body) - p.GET_LAYOUT.size:
        raise _bad(p.GET, f"{count} keys, flags {flags:#x}, {len(body)} bytes")
    texts = _Texts(p.GET, body, p.GET_LAYOUT.size)
    keys: list[str] = []
    for _ in range(count):
        if texts.at + 4 > len(body):
            raise _bad(p.GET, f"cut short after {len(keys)} of {count} keys")
        (length,) = p.U32.unpack_from(body, texts.at)
        texts.at += 4
        keys.append(texts.next(length))
    texts.require_end()
    return p.Get(request, tuple(keys), bool(flags))


def decode_samples(body: bytes | memoryview) -> p.Samples:
    """Reads a SAMPLES."""
    _require(p.SAMPLES, body, p.SAMPLES_LAYOUT.size)
    request, count, version, flags, length = p.SAMPLES_LAYOUT.unpack_from(body)
    at = p.SAMPLES_LAYOUT.size + count * p.ITEM_LAYOUT.size
    if flags > 1 or version >= 1 << 63 or at + length > len(body):
        raise _bad(p.SAMPLES, f"{count} items, a message of {length}, flags {flags:#x}, {len(body)} bytes")
    texts = _Texts(p.SAMPLES, body, at)
    items = []
    found = 0
    for number in range(count):
        place = p.ITEM_LAYOUT.unpack_from(body, p.SAMPLES_LAYOUT.size + number * p.ITEM_LAYOUT.size)
        problem = place[-1]
        item = p.Item._make((*place[:-1], texts.next(problem)))
        if item.state > p.DAMAGED or bool(problem) != (item.state == p.DAMAGED) or item.ordinal >= 1 << 63:
            raise _bad(p.SAMPLES, f"item {number}: {item}")
        found += item.state == p.FOUND
        items.append(item)
    if len(body) - texts.at != length or (length and not found):
        raise _bad(p.SAMPLES, f"{len(body) - texts.at} bytes are left for a message of {length} with {found} samples")
    return p.Samples(request, version, bool(flags), tuple(items), memoryview(body)[texts.at :])


def decode_list(body: bytes) -> p.List:
    """Reads a LIST."""
    _require(p.LIST, body, p.LIST_LAYOUT.size)
    request, limit, prefix, delimiter, after, zero = p.LIST_LAYOUT.unpack_from(body)
    if zero or not 0 < limit <= p.MAX_ENTRIES:
        raise _bad(p.LIST, f"limit {limit}")
    texts = _Texts(p.LIST, body, p.LIST_LAYOUT.size)
    found = p.List(request, limit, texts.next(prefix), texts.next(delimiter), texts.next(after))
    texts.require_end()
    return found


def decode_entries(body: bytes) -> p.Entries:
    """Reads an ENTRIES."""
    _require(p.ENTRIES, body, p.ENTRIES_LAYOUT.size)
    request, count, version, flags, zero = p.ENTRIES_LAYOUT.unpack_from(body)
    at = p.ENTRIES_LAYOUT.size + count * p.ENTRY_LAYOUT.size
    if zero or flags > 1 or version >= 1 << 63 or at > len(body) or (flags and not count):
        raise _bad(p.ENTRIES, f"{count} entries, flags {flags:#x}, {len(body)} bytes")
    names = _Texts(p.ENTRIES, body, at)
    entries = []
    for number in range(count):
        length, kind, ordinal, *place, zero = p.ENTRY_LAYOUT.unpack_from(
            body, p.ENTRIES_LAYOUT.size + number * p.ENTRY_LAYOUT.size
        )
        if zero or kind > 1 or ordinal >= 1 << 63:
            raise _bad(p.ENTRIES, f"entry {number} is of kind {kind}")
        entries.append(p.Entry(names.next(length), bool(kind), ordinal, *place))
    names.require_end()
    return p.Entries(request, version, bool(flags), tuple(entries))
