"""Batches whose payload crosses no socket: the feeder says where it lies, and this process reads it there.

Large rows stay in the mapped files if no process can shorten these (`stoker._memory.leases`). Otherwise the kernel
copies out of the mappings (`stoker._memory.mapping`), so that a file that is cut short is an error and not the end of
the process; large rows are read with `preadv`. Belongs to the client's turn holder.
"""

from __future__ import annotations

import os
import stat
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from stoker._format.checksum import extend_at, shift
from stoker._format.crc import extend as _crc_extend
from stoker._memory import copying
from stoker._memory import mapping as _mapping
from stoker._memory.buffers import BufferPool
from stoker._memory.copying import LARGE, Target
from stoker._memory.file_reads import has_spare
from stoker._memory.leases import LeasedMapping, leased
from stoker._memory.workers import Workers
from stoker._source.apart import Apart
from stoker._wire import decoding
from stoker._wire import protocol as p
from stoker.errors import ProtocolError

MOST_FILES: Final = 4096
"""Files kept at a time. Mappings hold no descriptor; a process may have 65,530 of them."""
_MOST_OPEN: Final = 256
"""Descriptors kept for large rows, of all connections."""
_HALVED: Final = 2 << 20
"""From this message size in bytes on, a second thread copies half. The synchronization costs more for less."""
_PATIENCE_S: Final = 300.0
_BATCH_TYPE: Final = bytes([p.BATCH])


class LocalReadError(Exception):
    """A file cannot be read here, so the feeder must send payload over the connection. Never leaves the package."""


class _Open:
    """Descriptors kept by this process."""

    count = 0


def supported() -> bool:
    """Whether this process can read files the way it is done here."""
    return _mapping.supported()


class _Slices(NamedTuple):
    """Parts of a message, as columns."""

    files: npt.NDArray[np.int32]
    lengths: npt.NDArray[np.int32]
    offsets: npt.NDArray[np.int64]

    def part(self, start: int, stop: int) -> _Slices:
        return _Slices(self.files[start:stop], self.lengths[start:stop], self.offsets[start:stop])


def _middle(slices: _Slices) -> tuple[int, int]:
    """The first slice of the second half, and the bytes of the first half."""
    ends = np.cumsum(slices.lengths, dtype=np.int64)
    middle = min(int(ends.searchsorted(ends.item(-1) // 2)) + 1, len(ends) - 1)
    return middle, ends.item(middle - 1) if middle else 0


class Received(NamedTuple):
    """A batch of local files."""

    header: tuple[int, ...]
    message: npt.NDArray[np.uint8]
    """The message, or its beginning if payload lies apart."""
    crc: int
    """The checksum that was computed over header and message; a wrong one if bytes could not be read."""
    apart: Apart | None

    @property
    def length(self) -> int:
        """Length of the message."""
        return len(self.message) if self.apart is None else self.apart.length


class LocalReads:
    """The files that one feeder has told one connection of, and the batches that are read from them."""

    def __init__(self, limit: int) -> None:
        """`limit`: files at a time, as agreed with the feeder."""
        self._limit = limit
        self._zeros = np.zeros(64, np.uint8)
        # One place more than there are files, for the zeros: their number is the greatest there is, or -1.
        self._bases = np.zeros(limit + 1, np.int64)
        self._lengths = np.zeros(limit + 1, np.int64)
        self._bases[limit], self._lengths[limit] = self._zeros.ctypes.data, len(self._zeros) - 1
        self._mappings: dict[int, _mapping.Mapping] = {}
        self._leased = np.zeros(limit + 1, np.bool_)
        self._leased[limit] = True
        self._resident = self._leased.copy()
        """Whether all pages of a leased file are in memory."""
        self._apart = True
        """Whether payload may stay in the mappings: until a message is wanted in one piece."""
        self._fds = np.full(limit + 1, -1, np.int64)
        self._workers: Workers | None = None
        self._two_cores = len(os.sched_getaffinity(0)) > 1
        self._references = self._told = 0

    def __len__(self) -> int:
        return len(self._mappings)

    def announce(self, body: bytes) -> None:
        """Opens the file of a FILE frame; raises `LocalReadError` if it is not to be had here as the feeder has it."""
        file = decoding.decode_file(body)
        if file.file >= self._limit:
            raise ProtocolError(f"FILE frame of file {file.file}, agreed were {self._limit}", "bad_frame")
        self._forget(file.file)
        try:
            # A FIFO that has the name would be waited for.
            fd = os.open(file.path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
        except (OSError, ValueError) as e:
            raise LocalReadError(f"{file.path}: {getattr(e, 'strerror', None) or e}") from e
        kept = False
        try:
            found = os.fstat(fd)
            same = (found.st_dev, found.st_ino, found.st_size) == (file.device, file.inode, file.length)
            if not same or not stat.S_ISREG(found.st_mode):
                raise LocalReadError(f"{file.path} is not the same file here as on the feeder")
            lease = leased(fd, file.length, private=True)
            mapping = lease or _mapping.Mapping(fd, file.length)
            self._mappings[file.file] = mapping
            self._bases[file.file], self._lengths[file.file] = mapping.address, file.length
            if lease is not None:
                self._leased[file.file] = kept = True
                self._resident[file.file] = lease.resident()
                self._fds[file.file] = fd
            elif _Open.count < _MOST_OPEN and has_spare(fd):
                self._fds[file.file] = fd
                _Open.count += 1
                kept = True
        except OSError as e:
            raise LocalReadError(f"{file.path}: {e.strerror or e}") from e
        finally:
            if not kept:
                os.close(fd)

    def _forget(self, file: int) -> None:
        self._bases[file] = self._lengths[file] = 0
        if self._fds[file] >= 0 and not self._leased[file]:  # a lease's descriptor is closed with its mapping
            os.close(int(self._fds[file]))
            _Open.count -= 1
        self._fds[file], self._leased[file], self._resident[file] = -1, False, False
        self._mappings.pop(file, None)

    def close(self) -> None:
        """Lets go of all files."""
        if self._workers is not None:
            self._workers.close()
        for file in tuple(self._mappings):
            self._forget(file)

    def receive(self, frame: bytes, pool: BufferPool, limit: int) -> Received:
        """Returns the batch of a whole BATCH_REF frame.

        `limit` is the greatest length of a BATCH frame. Raises `ProtocolError` for a frame that refers to a file that
        was not announced.
        """
        header = decoding.unpack_batch_header(frame)
        message, inline, count = decoding.unpack_batch_ref(frame, limit)
        start = p.BATCH_REF_BYTES
        front = np.frombuffer(frame, np.uint8, inline, start)
        places = np.frombuffer(frame, np.int64, 2 * count, start + inline).reshape(count, 2)
        files, lengths = self._checked(places, message - inline)
        self._references += 1
        crc = _crc_extend(0, _BATCH_TYPE + frame[p.CRC_START + 1 : p.CRC_END])
        slices = _Slices(files, lengths, places[:, 1])
        if self._stays_apart(slices, message - inline, pool):
            found = self._check(slices, message - inline, _crc_extend(crc, front.tobytes()))
            if found is not None and found == header[-1]:
                buffer = pool.take(inline)
                buffer[:] = front
                return Received(header, buffer, found, self._views(slices, inline, message))
        buffer, address = pool.take_at(message)
        buffer[:inline] = front
        if message - inline < _HALVED or not self._two_cores:
            found = self._take(slices, message - inline, Target(buffer, address, inline, crc, 0))
        else:
            found = self._take_halves(buffer, address, inline, slices, crc)
        return Received(header, buffer, header[-1] ^ 0xFFFFFFFF if found is None else found, None)

    def _stays_apart(self, slices: _Slices, total: int, pool: BufferPool) -> bool:
        large = total > 0 and total >= LARGE * len(slices.files)
        return self._apart and pool.ordinary and large and bool(self._leased.take(slices.files).all())

    def _check(self, slices: _Slices, total: int, crc: int) -> int | None:
        """Returns the checksum `crc`, extended by the slices in the mappings; None if bytes lack."""
        if total < _HALVED or not self._two_cores:
            return self._extended(slices, crc)
        middle, half = _middle(slices)
        second = slices.part(middle, len(slices.files))
        job = self._second_thread().submit(lambda: self._extended(second, 0))
        try:
            first = self._extended(slices.part(0, middle), crc)
        finally:
            rest = self._second_thread().wait(job, "wait_read_s", "a batch")
        return None if first is None or rest is None else shift(first, total - half) ^ rest

    def _extended(self, slices: _Slices, crc: int) -> int | None:
        addresses = self._bases.take(slices.files) + slices.offsets
        resident = self._resident.take(slices.files).all()
        for address, length in zip(addresses.tolist(), slices.lengths.tolist(), strict=True):
            if not resident and not _mapping.populate(address, length):
                return None
            crc = extend_at(crc, address, length)
        return crc

    def _second_thread(self) -> Workers:
        if self._workers is None:
            self._workers = Workers(1, _PATIENCE_S, "local files")
        return self._workers

    def _views(self, slices: _Slices, inline: int, message: int) -> Apart:
        ends = inline + np.cumsum(slices.lengths, dtype=np.int64)
        files: dict[int, npt.NDArray[np.uint8]] = {-1: self._zeros}
        for file in set(slices.files.tolist()) - {-1}:
            mapping = self._mappings[file]
            assert isinstance(mapping, LeasedMapping)
            files[file] = mapping.bytes()
        each = zip(slices.files.tolist(), slices.offsets.tolist(), slices.lengths.tolist(), strict=True)
        views = [files[file][at : at + length] for file, at, length in each]
        return Apart(message, ends - slices.lengths, ends, lambda: views, self._copy_from_now_on)

    def _copy_from_now_on(self) -> None:
        self._apart = False

    def _take_halves(
        self, buffer: npt.NDArray[np.uint8], address: int, at: int, slices: _Slices, crc: int
    ) -> int | None:
        """Does what `_take` does, with a second thread for the second half."""
        middle, half = _middle(slices)
        total = int(slices.lengths.sum(dtype=np.int64))
        second, begin = slices.part(middle, len(slices.files)), at + half
        job = self._second_thread().submit(lambda: self._take(second, total - half, Target(buffer, address, begin)))
        try:
            first = self._take(slices.part(0, middle), half, Target(buffer, address, at, crc, 0))
        finally:
            rest = self._second_thread().wait(job, "wait_read_s", "a batch")
        return None if first is None or rest is None else shift(first, total - half) ^ rest

    def _checked(
        self, places: npt.NDArray[np.int64], total: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Files and lengths of slices that lie within files that are there."""
        halves = places.view(np.int32)
        files, lengths, offsets = halves[:, 0], halves[:, 1], places[:, 1]
        good = True
        if len(files):
            good = files.min() >= -1 and files.max() < self._limit and lengths.min() > 0 and offsets.min() >= 0
            good = bool(good and (offsets <= self._lengths.take(files) - lengths).all())
        if not good or int(lengths.sum(dtype=np.int64)) != total:
            raise ProtocolError("BATCH_REF frame refers to a file that was not announced", "bad_frame")
        return files, lengths

    def _take(self, slices: _Slices, total: int, target: Target) -> int | None:
        """Puts the slices, `total` bytes, in their place. Returns the checksum up to their end, None if bytes lack."""
        files, lengths, offsets = slices
        addresses = self._bases.take(files) + offsets
        if total and total >= LARGE * len(files):
            return copying.read(target, self._fds.take(files), offsets, lengths, addresses)
        return copying.copy(target, addresses, lengths)

    def due(self) -> int:
        """Returns the total of read references if it is time to tell the feeder, else 0."""
        if self._references - self._told < 16:
            return 0
        self._told = self._references
        return self._told
