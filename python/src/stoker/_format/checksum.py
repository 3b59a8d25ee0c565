"""CRC-32C: of bytes, of concatenations (from the parts' CRCs and lengths), and the self-checksum of metadata files."""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Callable
from typing import Any

import google_crc32c
import numpy as np
import numpy.typing as npt

from stoker._format import crc as library
from stoker.errors import CorruptDataError

U32 = npt.NDArray[np.uint32]


def crc32c(data: bytes | npt.NDArray[Any]) -> int:
    """CRC-32C of bytes or of a contiguous array."""
    value: int = library.value(data)
    return value


def _native_extend() -> Callable[[int, int, int], int] | None:
    """`crc32c_extend(crc, address, length)` of the library behind google-crc32c, which releases the GIL."""
    try:
        library = ctypes.CDLL(google_crc32c._crc32c.__file__)
        function = library.crc32c_extend
    except (AttributeError, OSError, TypeError):
        return None
    function.restype = ctypes.c_uint32
    function.argtypes = [ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t]
    probe = np.frombuffer(b"123456789", np.uint8)
    if function(0, probe.ctypes.data, 9) != 0xE3069283:
        return None
    return function


_EXTEND = _native_extend()


def extend(crc: int, data: npt.NDArray[np.uint8], address: int, start: int, end: int) -> int:
    """Extends the CRC-32C `crc` by data[start:end]. Does not hold the GIL if the library allows that.

    `address` is the address of the first byte of `data`.
    """
    if _EXTEND is not None:
        return _EXTEND(crc, address + start, end - start)
    value: int = library.extend(crc, data[start:end].tobytes())
    return value


def extend_at(crc: int, address: int, length: int) -> int:
    """The same for memory that has no array."""
    if _EXTEND is not None:
        return _EXTEND(crc, address, length)
    value: int = library.extend(crc, ctypes.string_at(address, length))
    return value


# CRC of A followed by B = shift(CRC of A, length of B) ^ CRC of B, where shift runs zero bytes through the register:
# a linear map of 32 bits, kept as the image of each bit.

ORDER = 2**31 - 1
"""A shift by this number of bytes is the identity (the order of x modulo the polynomial)."""


def _byte_table() -> list[int]:
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = (byte >> 1) ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


def _compose(outer: U32, inner: U32) -> U32:
    """Images of the bits under `inner`, then `outer`."""
    bits = inner[:, None] >> np.arange(32, dtype=np.uint32) & np.uint32(1)
    images: U32 = np.bitwise_xor.reduce(bits * outer, axis=1)
    return images


@functools.cache
def _digit_maps(backwards: bool) -> npt.NDArray[np.uint32]:
    """[digit place of the length, hexadecimal digit, bit] -> image of the bit."""
    table = _byte_table()
    if backwards:
        first = {entry >> 24: byte for byte, entry in enumerate(table)}

        def step(r: int) -> int:
            byte = first[r >> 24]
            return ((r ^ table[byte]) << 8) & 0xFFFFFFFF | byte
    else:

        def step(r: int) -> int:
            return table[r & 0xFF] ^ (r >> 8)

    unit = np.array([step(1 << bit) for bit in range(32)], np.uint32)
    maps = np.zeros((8, 16, 32), np.uint32)
    for place in range(8):
        power = np.uint32(1) << np.arange(32, dtype=np.uint32)
        for digit in range(16):
            maps[place, digit] = power
            power = _compose(unit, power)
        unit = power
    return maps


@functools.cache
def _forward() -> list[list[list[list[int]]]]:
    """[place][digit][nibble of the crc][value] for the scalar shift."""
    maps = _digit_maps(False)
    out = np.zeros((8, 16, 8, 16), np.uint32)
    for value in range(16):
        for bit in range(4):
            if value >> bit & 1:
                out[:, :, :, value] ^= maps[:, :, bit::4]
    return out.tolist()  # type: ignore[no-any-return]


@functools.cache
def _byte_maps(backwards: bool) -> tuple[U32, ...]:
    """For each byte of the crc: flat [place, digit, value] for the vectorised shift."""
    maps = _digit_maps(backwards)
    out = np.zeros((4, 8, 16, 256), np.uint32)
    for bit in range(8):
        images = np.moveaxis(maps[:, :, bit::8], 2, 0)
        np.bitwise_xor(out[..., : 1 << bit], images[..., None], out=out[..., 1 << bit : 2 << bit])
    return tuple(t.reshape(-1) for t in out)


def _shift_each(crcs: U32, lengths: npt.NDArray[np.int64], backwards: bool) -> U32:
    """`shift`, or its inverse, of each crc by its length."""
    left = (lengths % ORDER).astype(np.uint32)
    tables = _byte_maps(backwards)
    for place in range(max(1, (int(left.max(initial=0)).bit_length() + 3) // 4)):
        at = ((left >> np.uint32(4 * place) & np.uint32(15)) + np.uint32(16 * place)) << np.uint32(8)
        images = tables[0].take(at | crcs & np.uint32(255))
        for byte in (1, 2, 3):
            images ^= tables[byte].take(at | crcs >> np.uint32(8 * byte) & np.uint32(255))
        crcs = images
    return crcs


def shift(crc: int, length: int) -> int:
    """The part of `crc` in the CRC of a concatenation in which `length` bytes follow."""
    tables = _forward()
    place = 0
    length %= ORDER
    while length:
        digit = length & 15
        if digit:
            t = tables[place][digit]
            crc = (
                t[0][crc & 15]
                ^ t[1][crc >> 4 & 15]
                ^ t[2][crc >> 8 & 15]
                ^ t[3][crc >> 12 & 15]
                ^ t[4][crc >> 16 & 15]
                ^ t[5][crc >> 20 & 15]
                ^ t[6][crc >> 24 & 15]
                ^ t[7][crc >> 28]
            )
        length >>= 4
        place += 1
    return crc


class RunningCrcs:
    """CRCs of the concatenation of any run of parts, from the CRC and length of each part.

    Each part's CRC is shifted back by the length of everything up to its end; the XOR of a run of
    these, shifted forward by the length up to the run's end, is the run's CRC.
    """

    def __init__(self, crcs: U32, lengths: npt.NDArray[np.int64]) -> None:
        count = len(crcs)
        self._ends = np.zeros(count + 1, np.int64)
        np.cumsum(lengths, out=self._ends[1:])
        shifted = _shift_each(crcs.astype(np.uint32), self._ends[1:], True)
        self._prefix = np.zeros(count + 1, np.uint32)
        np.bitwise_xor.accumulate(shifted, out=self._prefix[1:])

    def of(self, start: int, end: int) -> int:
        """CRC of the parts [start, end), concatenated."""
        return shift(int(self._prefix[end]) ^ int(self._prefix[start]), int(self._ends[end]))

    def of_each(self, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> U32:
        """`of` for several runs."""
        return _shift_each(self._prefix[ends] ^ self._prefix[starts], self._ends[ends], False)


_SELF = re.compile(rb"stoker\.crc32c=([0-9a-f]{8})")
_MARK = b"stoker.crc32c="
ADVICE = "restore the file from a copy, or run `stoker verify` on the dataset to see what else is damaged"


def check_self(data: bytes, what: str, advice: str = ADVICE) -> None:
    """Verifies the self-checksum of a metadata file; raises `CorruptDataError` naming `what`."""
    first = data.find(_MARK)  # later ones are text of users
    match = _SELF.match(data, first) if first >= 0 else None
    if match is None:
        raise CorruptDataError(f"{what}: it has no checksum, so it was cut off or overwritten; {advice}")
    view = np.frombuffer(data, np.uint8)
    start, end = match.span(1)
    crc = library.value(view[:start])
    crc = library.extend(crc, b"00000000")
    crc = library.extend(crc, view[end:])
    if crc != int(match[1], 16):
        raise CorruptDataError(f"{what}: checksum {crc:08x}, expected {match[1].decode()}; {advice}")
