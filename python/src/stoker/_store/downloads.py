"""Threads that copy objects into the disk cache, ahead of their readers."""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import BinaryIO, Final, NamedTuple

from stoker._format import crc as crc_library
from stoker._store.disk_cache import DiskCache, cache_of_environment
from stoker._store.objects import NoRangesError, Objects
from stoker._store.remote_path import RemotePath
from stoker.errors import CorruptDataError

_THREADS: Final = 16
_IDLE_S: Final = 2.0
"""A thread without work ends after this time."""
_PART: Final = 8 << 20
"""Bytes of one request for a part of a large file."""
_WHOLE: Final = 12 << 20
"""Length up to which a file is read with one request. Each thread holds at most twice as many bytes."""
_STRIDE: Final = 1 << 20
_ATTEMPTS: Final = 3
_OPENS: Final = 4
"""How often a copy that was deleted before it was opened is read again."""


class FarFile(NamedTuple):
    """The first bytes of an immutable object, or all."""

    path: RemotePath
    id: str
    """A UUID as text."""
    kind: str
    """The end of the copy's name: `arrow`, `head` …"""
    length: int
    crc32c: int
    is_whole: bool
    """Whether the object ends there."""

    @property
    def copy(self) -> str:
        """The name of the copy."""
        return f"{self.id}-{self.crc32c:08x}.{self.kind}"


class Downloads:
    """The downloads of this process, at most 16 at a time, in the order in which they were asked for."""

    def __init__(self, cache: DiskCache) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._running: dict[str, Future[None]] = {}
        self._work: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._threads = 0
        self._without_ranges: set[Objects] = set()

    def start(self, files: Sequence[FarFile]) -> None:
        """Begins to copy the files that are not in the cache; does not wait."""
        for file in files:
            if not self.has(file):
                self._future(file)

    def open(self, file: FarFile) -> int:
        """Returns a descriptor of a copy, which is downloaded if necessary; the caller closes it.

        Raises `FileNotFoundError`, `CorruptDataError` if the object has other content, and `OSError`.
        """
        for _ in range(_OPENS):
            fd = self._cache.open(file.copy, file.length)
            if fd is None:
                self._future(file).result()
                fd = self._cache.open(file.copy, file.length)
            if fd is not None:
                return fd
        return self._open_private(file)

    def has(self, file: FarFile) -> bool:
        """Whether the cache has a copy."""
        return self._cache.has(file.copy, file.length)

    def verify(self, file: FarFile) -> None:
        """Deletes the copy if it is damaged."""
        fd = self._cache.open(file.copy, file.length)
        if fd is not None:
            with os.fdopen(fd, "rb") as copy:
                is_damaged = _checksum(copy) != file.crc32c
            if is_damaged:
                self._cache.delete(file.copy)

    def range(self, path: RemotePath, start: int, length: int) -> bytes | None:
        """Returns a part of an object; less only if the object ends there. None if the server does not support ranges.

        Raises `FileNotFoundError` and `OSError`.
        """
        objects = path.objects
        if objects not in self._without_ranges:
            try:
                return objects.get_range(path.key, start, length)
            except NoRangesError:
                self._without_ranges.add(objects)
        return None

    def forget(self, identity: str) -> None:
        """Deletes all copies of an object with that id."""
        self._cache.delete_all_of(identity)

    def each(self, calls: Sequence[Callable[[], None]]) -> None:
        """Makes calls with the threads' help; raises the first error."""
        _Parts(calls).run(self._offer)

    def _future(self, file: FarFile) -> Future[None]:
        with self._lock:
            found = self._running.get(file.copy)
            if found is not None:
                return found
            future = self._running[file.copy] = Future()
        try:
            self._offer(lambda: self._run(file, future))
        except RuntimeError as e:
            self._end(file, future, e)
        return future

    def _run(self, file: FarFile, future: Future[None]) -> None:
        error: BaseException | None = None
        try:
            self._copy(file)
        except BaseException as e:
            error = e
        self._end(file, future, error)

    def _end(self, file: FarFile, future: Future[None], error: BaseException | None) -> None:
        with self._lock:
            self._running.pop(file.copy, None)
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)

    def _copy(self, file: FarFile) -> None:
        with self._cache.filling(file.copy):
            if self.has(file):
                return  # another process was quicker
            temporary = self._cache.reserve(file.length)
            if temporary is None:
                return  # `open` reads it outside the cache
            try:
                with self._cache.writable(temporary) as out:
                    self._download(file, out)
                self._cache.publish(temporary, file.copy)
            except BaseException:
                self._cache.abandon(temporary)
                raise

    def _open_private(self, file: FarFile) -> int:
        """Downloads a file that the cache has no room for; its space is free again when it is closed."""
        out, fd = self._cache.private()
        try:
            with out:
                self._download(file, out)
        except BaseException:
            os.close(fd)
            raise
        return fd

    def _download(self, file: FarFile, out: BinaryIO) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                self._attempt(file, out)
            except CorruptDataError:
                if attempt == _ATTEMPTS:
                    raise
            else:
                return

    def _attempt(self, file: FarFile, out: BinaryIO) -> None:
        """Reads the object once. Raises `CorruptDataError` if the bytes are not the expected ones."""
        if file.length > _WHOLE and self._read_parts(file, out):
            with self._cache.explained():
                found = _checksum(out)
        else:
            found = self._read_blocks(file, out)
        if found != file.crc32c:
            raise CorruptDataError(
                f"{file.path}: {file.length} bytes with checksum {found:08x}, expected {file.crc32c:08x}"
            )

    def _read_parts(self, file: FarFile, out: BinaryIO) -> bool:
        """Reads several parts at a time; returns False if the server does not support ranges."""
        lock = threading.Lock()

        def read(at: int) -> None:
            length = min(_PART, file.length - at)
            data = self.range(file.path, at, length)
            if data is None:
                raise NoRangesError
            if len(data) != length:
                raise CorruptDataError(f"{file.path}: it ends before byte {at + length}, expected {file.length} bytes")
            with lock:
                self._write(out, at, data)

        try:
            self.each([partial(read, at) for at in range(0, file.length, _PART)])
        except NoRangesError:
            return False
        return True

    def _read_blocks(self, file: FarFile, out: BinaryIO) -> int:
        """Reads the bytes from the first one on; returns the checksum."""
        at = crc = 0
        for block in self._blocks(file):
            data = block if file.is_whole else block[: file.length - at]
            if at + len(data) <= file.length:
                self._write(out, at, data)
                crc = crc_library.extend(crc, data)
            at += len(data)
            if at == file.length and not file.is_whole:
                break
        if at != file.length:
            raise CorruptDataError(f"{file.path}: {at} bytes long, expected {file.length}")
        return crc

    def _blocks(self, file: FarFile) -> Iterable[bytes]:
        objects, key = file.path.objects, file.path.key
        if file.length <= _WHOLE:
            data = objects.get(key) if file.is_whole else self.range(file.path, 0, file.length)
            if data is not None:
                return [data]
        return objects.stream(key)

    def _write(self, out: BinaryIO, at: int, data: bytes) -> None:
        with self._cache.explained():
            out.seek(at)
            left = memoryview(data)
            while left:
                left = left[out.write(left) :]

    def _offer(self, work: Callable[[], None]) -> None:
        """Has a thread make a call. Raises `RuntimeError` if there is no thread, and the system starts none."""
        with self._lock:
            if self._threads < _THREADS:
                try:
                    threading.Thread(target=self._serve, name="stoker-download", daemon=True).start()
                    self._threads += 1
                except RuntimeError:
                    if not self._threads:
                        raise
            self._work.put(work)

    def _serve(self) -> None:
        while True:
            try:
                call = self._work.get(timeout=_IDLE_S)
            except queue.Empty:
                with self._lock:
                    if self._work.empty():
                        self._threads -= 1
                        return
                continue
            call()
            del call


class _Parts:
    """Calls that several threads make in turn."""

    def __init__(self, calls: Sequence[Callable[[], None]]) -> None:
        self._left = deque(calls)
        self._pending = len(calls)
        self._changed = threading.Condition()
        self._error: BaseException | None = None

    def run(self, offer: Callable[[Callable[[], None]], None]) -> None:
        """Makes all calls, also in this thread; raises the first error."""
        for _ in range(min(len(self._left), _THREADS) - 1):
            with contextlib.suppress(RuntimeError):  # this thread alone is enough
                offer(self._help)
        self._help()
        with self._changed:
            self._changed.wait_for(lambda: not self._pending)
        if self._error is not None:
            raise self._error

    def _help(self) -> None:
        while True:
            try:
                call = self._left.popleft()
            except IndexError:
                return
            try:
                if self._error is None:
                    call()
            except BaseException as e:
                self._error = e
            with self._changed:
                self._pending -= 1
                self._changed.notify_all()


def _checksum(file: BinaryIO) -> int:
    crc = 0
    file.seek(0)
    while data := file.read(_STRIDE):
        crc = crc_library.extend(crc, data)
    return crc


class _Process:
    downloads: Downloads | None = None
    lock = threading.Lock()


def _after_fork() -> None:
    _Process.downloads = None
    _Process.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def downloads() -> Downloads:
    """The downloads of this process. Raises `ValueError` if the cache is configured wrongly."""
    with _Process.lock:
        if _Process.downloads is None:
            _Process.downloads = Downloads(cache_of_environment())
        return _Process.downloads
