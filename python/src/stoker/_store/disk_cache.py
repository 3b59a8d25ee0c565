"""A directory with copies of immutable objects, shared by the processes of one user and bounded by a quota.

Layout: `<place>/copies/<two hex digits>/<id>-<checksum>.<kind>`, where the digits are the last two of the id. A
directory `copies` is a cache if it has the file `CACHEDIR.TAG` that the cache writes. Only files with such names and
temporary files of the cache are counted and deleted.

A copy is written under a temporary name and gets its name by a rename, so a killed process leaves no half copy. The
least recently used copies are deleted first. Readers verify what they read; nothing here is forced to disk.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from stoker._format.sizes import bytes_of
from stoker._store.file_lock import locked
from stoker._store.own_directory import ForeignFileError, OwnDirectory

_DEFAULT_QUOTA: Final = 50 << 30
_SPACE: Final = "copies"
_ID: Final = "[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{10}([0-9a-f]{2})"
_COPY: Final = re.compile(_ID + r"-[0-9a-f]{8}\.[a-z]+")
_FOLDER: Final = re.compile("[0-9a-f]{2}")
_TEMPORARY: Final = re.compile(r"\.tmp-[0-9]+-[0-9a-f]{16}")
_LOCK: Final = "lock"
_TAG: Final = "CACHEDIR.TAG"
_TAGGED: Final = (
    b"Signature: 8a477f597d28d172789f06886806bc55\n"
    b"# Copies of chunks, which the Python package of Stoker may delete at any time.\n"
    b"# Programs that make backups leave out directories with such a file: https://bford.info/cachedir/\n"
)
_FOREIGN_NAMES: Final = 3
"""Foreign files that an error names."""
_DEAD_S: Final = 3600
"""A temporary file that nothing was written to for this long is of a dead process."""
_KEPT_FREE: Final = 1 << 30
"""Bytes that the cache leaves free on the disk."""
_UNNAMED: Final = getattr(os, "O_TEMPORARY", 0)
"""Deletes a file when it is closed, on Windows, where the name of an open file cannot be deleted."""


def cache_of_environment() -> DiskCache:
    """The cache that `STOKER_CACHE_DIR` and `STOKER_CACHE_SIZE` describe. Raises `ValueError`."""
    home = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        folder = Path(os.environ.get("STOKER_CACHE_DIR") or f"{home}/stoker").expanduser()
    except RuntimeError as e:
        raise ValueError(
            "this user has no home directory for the disk cache; set STOKER_CACHE_DIR to a directory on a local disk"
        ) from e
    text = os.environ.get("STOKER_CACHE_SIZE")
    return DiskCache(folder, _DEFAULT_QUOTA if not text else parsed_size(text))


def parsed_size(text: str) -> int:
    """The bytes of a size such as `200g`."""
    try:
        return bytes_of(text)
    except ValueError as e:
        raise ValueError(f"STOKER_CACHE_SIZE={e}") from None


class DiskCache:
    """Copies by name. Any number of threads and processes of one user may use one directory."""

    def __init__(self, place: Path, quota: int) -> None:
        """`place`: where the directory of the copies is made. `quota`: the bytes of all files, also unfinished ones."""
        self._space, self._quota = place / _SPACE, quota

    def open(self, name: str, length: int) -> int | None:
        """Returns a descriptor of the copy of that name and length, which is then the most recently used one."""
        with self._existing() as space:
            if space is None:
                return None
            try:
                with space.below(_folder(name)) as folder:
                    fd = folder.open(name, os.O_RDONLY)
                    if os.fstat(fd).st_size != length:
                        os.close(fd)
                        return None
                    with contextlib.suppress(OSError, NotImplementedError):  # read-only directories are good, too
                        folder.touch(name)
                    return fd
            except (FileNotFoundError, ForeignFileError):
                return None

    def has(self, name: str, length: int) -> bool:
        """Whether there is a copy of that name and length, which is then the most recently used one."""
        fd = self.open(name, length)
        if fd is not None:
            os.close(fd)
        return fd is not None

    def delete(self, name: str) -> None:
        """Deletes a copy, if there is one."""
        self._unlink(_folder(name), name)

    def delete_all_of(self, identity: str) -> None:
        """Deletes all copies of an object with that id. Does nothing for a text that is not an id."""
        match = re.fullmatch(_ID, identity)
        with self._existing() as space, contextlib.suppress(FileNotFoundError, ForeignFileError):
            if match and space is not None:
                with space.below(match[1]) as folder:
                    for name, _ in folder.entries():
                        if name.startswith(identity) and _COPY.fullmatch(name):
                            with contextlib.suppress(OSError):
                                folder.unlink(name)

    @contextlib.contextmanager
    def filling(self, name: str) -> Iterator[None]:
        """Holds the right to create the copy of a name, so that processes do not read the same object twice."""
        lock = f"{name}.lock"
        with contextlib.ExitStack() as stack:
            with self._created() as space, space.below(_folder(name), create=True) as folder:
                stack.enter_context(locked(folder.open(lock, os.O_RDWR | os.O_CREAT)))
            try:
                yield
            finally:
                # A process that waits for the deleted file looks for the copy as the first thing.
                self._unlink(_folder(name), lock)

    def reserve(self, length: int) -> str | None:
        """Deletes old copies until there is room; returns a new temporary file. None if the quota is too small."""
        if length > self._quota:
            return None
        with self._created() as space, locked(space.open(_LOCK, os.O_RDWR | os.O_CREAT)) as fd:
            total = self._total(space, fd) + length
            limit = min(self._quota, total + _free(space) - length)
            if total > limit:
                total = self._evict(space, min(limit - length, limit * 15 // 16)) + length
                if total > limit:
                    self._note(fd, total - length)
                    return None
            # Before the file, so that a process killed in between leaves a note of too many bytes, not too few.
            self._note(fd, total)
            temporary = self._temporary()
            with os.fdopen(space.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL), "r+b", 0) as file:
                file.truncate(length)
        return temporary

    def writable(self, temporary: str) -> BinaryIO:
        """Opens a temporary file."""
        with self._created() as space:
            return os.fdopen(space.open(temporary, os.O_RDWR), "r+b", 0)

    def publish(self, temporary: str, name: str) -> None:
        """Gives a temporary file its name. Does nothing if another process has deleted the file."""
        with self._created() as space, space.below(_folder(name), create=True) as folder:
            try:
                space.move(temporary, folder, name)
            except FileNotFoundError:  # this process was suspended for so long that another one took it for dead
                return
            except PermissionError:  # Windows: the copy of another process, which is open
                self.abandon(temporary)

    def abandon(self, temporary: str) -> None:
        """Deletes a temporary file. Its bytes count until the files are counted again."""
        self._unlink("", temporary)

    def private(self) -> tuple[BinaryIO, int]:
        """Returns a new file outside the quota, to be written, and a descriptor that reads it.

        It has no name, so its space is free when both are closed, also if the process is killed.
        """
        with self._created() as space:
            name = self._temporary()
            fd = space.open(name, os.O_RDONLY | os.O_CREAT | os.O_EXCL | _UNNAMED)
            try:
                return os.fdopen(space.open(name, os.O_RDWR | _UNNAMED), "r+b", 0), fd
            except BaseException:
                os.close(fd)
                raise
            finally:
                with contextlib.suppress(OSError):
                    space.unlink(name)

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Names the directory in errors of its file system, none of which means that an object is missing."""
        try:
            yield
        except _CacheError:
            raise
        except OSError as e:
            raise _CacheError(
                f"cannot use the disk cache {self._space}: {e.strerror or e}; set STOKER_CACHE_DIR to a writable "
                "directory on a local disk with free space"
            ) from e

    def _unlink(self, folder: str, name: str) -> None:
        with contextlib.suppress(OSError), self._existing() as space:
            if space is not None:
                _unlink(space, folder, name)

    @contextlib.contextmanager
    def _existing(self) -> Iterator[OwnDirectory | None]:
        """Opens the directory of the copies; None if it does not exist, or nobody has made it a cache yet."""
        with self.explained(), contextlib.ExitStack() as stack:
            try:
                space = stack.enter_context(OwnDirectory.opened(self._space))
                is_cache = _is_tagged(space)
            except FileNotFoundError:
                is_cache = False
            yield space if is_cache else None

    @contextlib.contextmanager
    def _created(self) -> Iterator[OwnDirectory]:
        """Opens the directory of the copies, which is made if it does not exist."""
        with self.explained():
            with contextlib.suppress(FileExistsError):
                self._space.mkdir(parents=True, mode=0o700)
            with OwnDirectory.opened(self._space) as space:
                _tag(space)
                yield space

    def _temporary(self) -> str:
        return f".tmp-{os.getpid()}-{secrets.token_hex(8)}"

    def _total(self, space: OwnDirectory, fd: int) -> int:
        """The bytes of all files as noted, which may be too many; counted if there is no note."""
        try:
            os.lseek(fd, 0, os.SEEK_SET)
            return int(os.read(fd, 32))
        except ValueError:
            return sum(size for _, size, _, _ in self._files(space))

    def _note(self, fd: int, total: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        os.write(fd, f"{total:<31}\n".encode())

    def _evict(self, space: OwnDirectory, limit: int) -> int:
        """Deletes files of dead processes, and then the least recently used copies until `limit` bytes are left.

        Returns the bytes that are left.
        """
        now = time.time()
        files = sorted(self._files(space))
        total = sum(size for _, size, _, _ in files)
        for last, size, folder, name in files:
            if not folder:
                if now - last < _DEAD_S:
                    continue
            elif total <= limit:
                continue
            try:
                _unlink(space, folder, name)
            except FileNotFoundError:
                pass
            except OSError:  # open in another process, where open files cannot be deleted
                continue
            total -= size
        return total

    def _files(self, space: OwnDirectory) -> list[tuple[float, int, str, str]]:
        """Time of the last use, size, folder and name of each file; the folder of a temporary file is "".

        A file that is being published may be there twice.
        """
        found = [(s.st_mtime, s.st_size, "", name) for name, s in space.entries() if _TEMPORARY.fullmatch(name)]
        # Only now, so that a file which has left the directory is found in the folder that it was moved to.
        for folder, _ in space.entries():
            if not _FOLDER.fullmatch(folder):
                continue
            with contextlib.suppress(FileNotFoundError, ForeignFileError), space.below(folder) as within:
                found += [
                    (s.st_mtime, s.st_size, folder, name)
                    for name, s in within.entries()
                    if _COPY.fullmatch(name) and _folder(name) == folder and stat.S_ISREG(s.st_mode)
                ]
        return found


class _CacheError(OSError):
    """Names the directory of the cache."""


def _folder(name: str) -> str:
    """The folder of a copy."""
    return name[34:36]


def _unlink(space: OwnDirectory, folder: str, name: str) -> None:
    """Deletes a file of a folder, or of the directory itself if that is ""."""
    if folder:
        with space.below(folder) as within:
            within.unlink(name)
    else:
        space.unlink(name)


def _free(space: OwnDirectory) -> int:
    """Bytes that may still be written to the disk."""
    return shutil.disk_usage(space.place).free - _KEPT_FREE


def _is_tagged(space: OwnDirectory) -> bool:
    """Whether the directory is a cache, or one that another process makes at this moment."""
    try:
        fd = space.open(_TAG, os.O_RDONLY)
    except (FileNotFoundError, ForeignFileError):
        return False
    with os.fdopen(fd, "rb") as file:
        return _TAGGED.startswith(file.read(len(_TAGGED) + 1))


def _tag(space: OwnDirectory) -> None:
    """Makes a cache of an empty directory. Raises `OSError` for one that has other files."""
    if _is_tagged(space):
        return
    others = sorted(name for name, _ in space.entries())
    if others and not _is_tagged(space):
        more = f" and {len(others) - _FOREIGN_NAMES} more" if len(others) > _FOREIGN_NAMES else ""
        raise OSError(
            errno.ENOTEMPTY, f"it has files that are not the cache's: {', '.join(others[:_FOREIGN_NAMES])}{more}"
        )
    with (
        contextlib.suppress(FileExistsError),
        os.fdopen(space.open(_TAG, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file,
    ):
        file.write(_TAGGED)
