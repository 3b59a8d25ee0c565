"""Feed protocol 1: its constants, the layouts of frame bodies, and the types of messages.

Every frame is little-endian: u32 length (of what follows it), u8 type, u8 flags, u16 reserved, body, CRC-32C of the
bytes from offset 4 on. A BATCH frame has 80 bytes of header, then an Arrow record batch message. Its CRC-32C is in the
header and covers the header's bytes 4 to 68 and the message. `docs/formats/feed-protocol.md` is normative.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Final, NamedTuple

from stoker._order.spec import Tail

VERSION: Final = 1
MAGIC: Final = b"STKR"
DEFAULT_PORT: Final = 7420

HELLO: Final = 1
WELCOME: Final = 2
SUBSCRIBE: Final = 3
GRANT: Final = 4
BATCH: Final = 5
ACK: Final = 6
DURABLE: Final = 7
NACK: Final = 8
EPOCH_END: Final = 9
PING: Final = 10
PONG: Final = 11
BYE: Final = 12
ERROR: Final = 13
LANE_MAP: Final = 14
FILE: Final = 15
BATCH_REF: Final = 16
RELEASE: Final = 17
STATS: Final = 20
DELAY: Final = 21
SELECT: Final = 22
SELECTED: Final = 23
GET: Final = 24
SAMPLES: Final = 25
LIST: Final = 26
ENTRIES: Final = 27

FRAME_NAMES: Final = {
    HELLO: "HELLO",
    WELCOME: "WELCOME",
    SUBSCRIBE: "SUBSCRIBE",
    GRANT: "GRANT",
    BATCH: "BATCH",
    ACK: "ACK",
    DURABLE: "DURABLE",
    NACK: "NACK",
    EPOCH_END: "EPOCH_END",
    PING: "PING",
    PONG: "PONG",
    BYE: "BYE",
    ERROR: "ERROR",
    LANE_MAP: "LANE_MAP",
    FILE: "FILE",
    BATCH_REF: "BATCH_REF",
    RELEASE: "RELEASE",
    STATS: "STATS",
    DELAY: "DELAY",
    SELECT: "SELECT",
    SELECTED: "SELECTED",
    GET: "GET",
    SAMPLES: "SAMPLES",
    LIST: "LIST",
    ENTRIES: "ENTRIES",
}

PREFIX_BYTES: Final = 8
BATCH_HEADER_BYTES: Final = 80
BATCH_REF_BYTES: Final = 96
"""Length of a BATCH_REF before its inline bytes."""
SLICE_BYTES: Final = 16
ZEROS: Final = 0xFFFFFFFF
"""The number of a virtual file that contains only zeros."""
CRC_START: Final = 4
CRC_END: Final = 68
CRC_AT: Final = 76
BATCH_ALIGNMENT: Final = 64
"""Record batch messages have a length that is a multiple of this."""

MAX_RUN: Final = 1 << 62
"""The greatest run that a user may name."""
MAX_BEFORE_WELCOME: Final = 16 << 10
MAX_TO_SERVER: Final = 1 << 20
MAX_TO_CLIENT: Final = 64 << 20
MAX_BATCH: Final = (1 << 31) - 1
"""Limits on the u32 length of a frame."""

FLAG_REPEATED: Final = 1
MAX_KEYS: Final = 65_536
"""Keys of a GET."""
MAX_ENTRIES: Final = 16_384
"""Entries of an ENTRIES."""
MAX_REQUESTS: Final = 4
"""GET and LIST frames of a session without a whole answer."""
MISSING: Final = 0
FOUND: Final = 1
DAMAGED: Final = 2
"""States of an item of SAMPLES."""
ACK_ENTRY_BYTES: Final = 32
MAX_ACK_ENTRIES: Final = 256

PREFIX_LAYOUT: Final = struct.Struct("<IBBH")
HELLO_LAYOUT: Final = struct.Struct("<4sHH")
SUBSCRIBE_LAYOUT: Final = struct.Struct("<IIQIQBBHQ")
NO_BEGIN: Final = 2**64 - 1
"""The `begin` in a SUBSCRIBE of a trainer that came from the epoch before."""
GRANT_LAYOUT: Final = struct.Struct("<IIQ")
BATCH_LAYOUT: Final = struct.Struct("<IBBHQQIIQHHIIIQIIII")
BATCH_REF_LAYOUT: Final = struct.Struct("<IIII")
FILE_LAYOUT: Final = struct.Struct("<IIQQQ")
ACK_LAYOUT: Final = struct.Struct("<IIII")
ACK_ENTRY_LAYOUT: Final = struct.Struct("<QHHIIIII")
U32: Final = struct.Struct("<I")
U64: Final = struct.Struct("<Q")
NACK_LAYOUT: Final = struct.Struct("<IIQHHI")
EPOCH_END_LAYOUT: Final = struct.Struct("<IIQQ")
DELAY_LAYOUT: Final = struct.Struct("<IIQHHIII")
SELECT_LAYOUT: Final = struct.Struct("<II")
SELECTED_LAYOUT: Final = struct.Struct("<QQ")
GET_LAYOUT: Final = struct.Struct("<IIII")
SAMPLES_LAYOUT: Final = struct.Struct("<IIQII")
ITEM_LAYOUT: Final = struct.Struct("<IIQIIII")
LIST_LAYOUT: Final = struct.Struct("<IIIIII")
ENTRIES_LAYOUT: Final = struct.Struct("<IIQII")
ENTRY_LAYOUT: Final = struct.Struct("<IIQIIII")

assert BATCH_LAYOUT.size == BATCH_HEADER_BYTES
assert ACK_ENTRY_LAYOUT.size == ACK_ENTRY_BYTES


@dataclass(frozen=True, slots=True)
class BatchHeader:
    """The header of a BATCH frame, which describes its message."""

    length: int
    flags: int
    feed_tag: int
    fingerprint_tag: int
    epoch: int
    lane: int
    number: int
    """Virtual batch number."""
    piece: int
    pieces: int
    """Number of pieces of the whole delivered batch, over all lanes."""
    rows: int
    skipped: int
    source_rows: int
    """Rows of chunk files that the piece was made from."""
    view_tag: int
    """Identifies the columns of the message."""
    source_crc: int
    """CRC-32C of the message that these rows make with all columns."""
    subscription: int
    crc: int

    @property
    def repeated(self) -> bool:
        """Whether the rows were already part of this epoch."""
        return bool(self.flags & FLAG_REPEATED)


@dataclass(frozen=True, slots=True)
class Subscribe:
    """A subscription to the virtual numbers first, first + stride, … (`count` of them) of some lanes (none: all)."""

    subscription: int
    epoch: int
    first: int
    stride: int
    count: int
    tail: Tail
    lanes: tuple[int, ...] = ()
    empty_share: bool = False
    """The trainer has no number in the epoch, from its position on, and so has finished it; `count` is 0."""
    begin: int | None = None
    """The number at which the trainer began or resumed the epoch; None: it came from the epoch before."""


@dataclass(frozen=True, slots=True)
class Grant:
    """Leave to send up to and including virtual number `through`."""

    subscription: int
    through: int


@dataclass(frozen=True, slots=True)
class AckEntry:
    """One piece consumed, with the checksum as the client computed it."""

    number: int
    piece: int
    flags: int
    crc: int
    rows: int
    skipped: int
    source_rows: int
    source_crc: int


@dataclass(frozen=True, slots=True)
class Ack:
    """Pieces that the trainer has consumed."""

    subscription: int
    epoch: int
    entries: tuple[AckEntry, ...]


@dataclass(frozen=True, slots=True)
class Nack:
    """A piece whose checksum did not match."""

    subscription: int
    epoch: int
    number: int
    piece: int
    crc: int


@dataclass(frozen=True, slots=True)
class EpochEnd:
    """Everything subscribed has been sent."""

    subscription: int
    epoch: int
    batches: int
    rows: int


@dataclass(frozen=True, slots=True)
class Delay:
    """How the feeder spent the time before and while it wrote a piece, in microseconds."""

    subscription: int
    epoch: int
    number: int
    piece: int
    origin_us: int
    disk_us: int
    feeder_us: int


@dataclass(frozen=True, slots=True)
class Select:
    """The columns that a client wants of a stream: 0 for the key, then the fields."""

    columns: int
    """The number of columns of the stream."""
    selected: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Selected:
    """The answer to SELECT."""

    largest_batch: int
    """No message with the selected columns has more bytes."""
    view_tag: int


@dataclass(frozen=True, slots=True)
class Get:
    """A request for samples by key."""

    request: int
    keys: tuple[str, ...]
    stat_only: bool = False
    """Only where the samples are, without their values."""


class Item(NamedTuple):
    """The answer for one key of a GET."""

    key: int
    """Index in the request."""
    state: int
    """`MISSING`, `FOUND` or `DAMAGED`."""
    ordinal: int = 0
    row: int = 0
    length: int = 0
    crc32c: int = 0
    problem: str = ""
    """What is damaged."""


@dataclass(frozen=True, slots=True)
class Samples:
    """A part of the answer to a GET."""

    request: int
    version: int
    last: bool
    items: tuple[Item, ...]
    message: bytes | memoryview = b""
    """A record batch message whose rows are the items that were found, in their order."""


@dataclass(frozen=True, slots=True)
class List:
    """A request for a part of a listing."""

    request: int
    limit: int
    prefix: str = ""
    delimiter: str = ""
    after: str = ""
    """The name of the last entry that the client has."""


class Entry(NamedTuple):
    """An entry of a listing: a sample, or a common prefix."""

    name: str
    sample: bool
    ordinal: int = 0
    row: int = 0
    length: int = 0
    crc32c: int = 0


@dataclass(frozen=True, slots=True)
class Entries:
    """The answer to a LIST."""

    request: int
    version: int
    more: bool
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class FileAnnouncement:
    """A file that later BATCH_REF frames may refer to by its number."""

    file: int
    device: int
    inode: int
    length: int
    path: str


def tag(hex_digits: str) -> int:
    """Returns the u64 that identifies a feed id or a fingerprint in BATCH headers: its first 16 hex digits."""
    return int(hex_digits.replace("-", "")[:16], 16)
