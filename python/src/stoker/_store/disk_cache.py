"""A directory with copies of immutable objects, shared by the processes of one user and bounded by a quota.

A copy is written under a temporary name and gets its name by a rename, so a killed process leaves no half copy. The
least recently used copies are deleted first. Readers verify what they read; nothing here is forced to disk.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

from stoker._store.file_lock import locked

_DEFAULT_QUOTA: Final = 50 << 30
_SIZE: Final = re.compile(r"([0-9]+)([kmgt]?)b?", re.IGNORECASE)
_TEMPORARY: Final = ".tmp-"
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
    found = _SIZE.fullmatch(text.strip())
    if not found:
        raise ValueError(f"STOKER_CACHE_SIZE={text!r} is not a size, such as 200g")
    return int(found[1]) << 10 * " kmgt".index(found[2].lower() or " ")


class DiskCache:
    """Copies by name. Any number of threads and processes may use one directory."""

    def __init__(self, folder: Path, quota: int) -> None:
        """`quota`: the bytes of all files together, also of unfinished ones."""
        self._folder, self._quota = folder, quota

    def find(self, name: str, length: int) -> Path | None:
        """The copy of that name and length, which is then the most recently used one."""
        path = self._path(name)
        try:
            if path.stat().st_size != length:
                return None
        except OSError:
            return None
        with contextlib.suppress(OSError):  # copies in a read-only directory are good, too
            os.utime(path)
        return path

    def delete(self, name: str) -> None:
        """Deletes a copy, if there is one."""
        with contextlib.suppress(OSError):
            self._path(name).unlink()

    def delete_all_of(self, prefix: str) -> None:
        """Deletes all copies whose names begin with 36 or more given characters."""
        for path in self._path(prefix).parent.glob(f"{prefix}*"):
            with contextlib.suppress(OSError):
                path.unlink()

    @contextlib.contextmanager
    def filling(self, name: str) -> Iterator[None]:
        """Holds the right to create the copy of a name, so that processes do not read the same object twice."""
        path = self._path(f"{name}.lock")
        with contextlib.ExitStack() as stack:
            with self.explained():
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                stack.enter_context(locked(path))
            try:
                yield
            finally:
                # A process that waits for the deleted file looks for the copy as the first thing.
                with contextlib.suppress(OSError):
                    path.unlink()

    def reserve(self, length: int) -> Path | None:
        """Deletes old copies until there is room; returns a new temporary file. None if the quota is too small."""
        if length > self._quota:
            return None
        with self.explained():
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            with locked(self._folder / "lock") as fd:
                total = self._total(fd) + length
                limit = min(self._quota, total + self._free() - length)
                if total > limit:
                    total = self._evict(min(limit - length, limit * 15 // 16)) + length
                    if total > limit:
                        self._note(fd, total - length)
                        return None
                # Before the file, so that a process killed in between leaves a note of too many bytes, not too few.
                self._note(fd, total)
                temporary = self._temporary()
                with temporary.open("xb") as file:
                    file.truncate(length)
            return temporary

    def publish(self, temporary: Path, name: str) -> None:
        """Gives a temporary file its name. Does nothing if another process has deleted the file."""
        path = self._path(name)
        with self.explained():
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            try:
                os.replace(temporary, path)
            except FileNotFoundError:  # this process was suspended for so long that another one took it for dead
                return
            except PermissionError:  # Windows: the copy of another process, which is open
                self.abandon(temporary)

    def abandon(self, temporary: Path) -> None:
        """Deletes a temporary file. Its bytes count until the files are counted again."""
        with contextlib.suppress(OSError):
            temporary.unlink()

    def private(self) -> tuple[BinaryIO, int]:
        """Returns a new file outside the quota, to be written, and a descriptor that reads it.

        It has no name, so its space is free when both are closed, also if the process is killed.
        """
        with self.explained():
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            path = self._temporary()
            flags = os.O_RDONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
            fd = os.open(path, flags | _UNNAMED, 0o600)
            try:
                return open(path, "r+b", 0, opener=lambda name, flags: os.open(name, flags | _UNNAMED)), fd
            except BaseException:
                os.close(fd)
                raise
            finally:
                self.abandon(path)

    @contextlib.contextmanager
    def explained(self) -> Iterator[None]:
        """Names the directory in errors of its file system, none of which means that an object is missing."""
        try:
            yield
        except OSError as e:
            raise OSError(
                f"cannot use the disk cache {self._folder}: {e.strerror or e}; set STOKER_CACHE_DIR to a writable "
                "directory on a local disk with free space"
            ) from e

    def _temporary(self) -> Path:
        return self._folder / f"{_TEMPORARY}{os.getpid()}-{secrets.token_hex(8)}"

    def _path(self, name: str) -> Path:
        return self._folder / name[34:36] / name

    def _free(self) -> int:
        """Bytes that may still be written to the disk."""
        return shutil.disk_usage(self._folder).free - _KEPT_FREE

    def _total(self, fd: int) -> int:
        """The bytes of all files as noted, which may be too many; counted if there is no note."""
        try:
            os.lseek(fd, 0, os.SEEK_SET)
            return int(os.read(fd, 32))
        except ValueError:
            return sum(size for _, size, _ in self._files())

    def _note(self, fd: int, total: int) -> None:
        os.lseek(fd, 0, os.SEEK_SET)
        os.write(fd, f"{total:<31}\n".encode())

    def _evict(self, limit: int) -> int:
        """Deletes files of dead processes, and then the least recently used copies until `limit` bytes are left.

        Returns the bytes that are left.
        """
        now = time.time()
        files = sorted(self._files())
        total = sum(size for _, size, _ in files)
        for last, size, path in files:
            if path.name.startswith(_TEMPORARY):
                if now - last < _DEAD_S:
                    continue
            elif total <= limit:
                continue
            try:
                path.unlink()
            except FileNotFoundError:
                pass
            except OSError:  # open in another process, where open files cannot be deleted
                continue
            total -= size
        return total

    def _files(self) -> list[tuple[float, int, Path]]:
        """Time of the last use, size and path of each file. A file that is being published may be there twice."""
        found = list(_files_in(self._folder))
        # Only now, so that a file which has left the folder is found in the one that it was moved to.
        for folder in list(self._folder.iterdir()):
            if folder.is_dir():
                found += _files_in(folder)
        return found


def _files_in(folder: Path) -> Iterator[tuple[float, int, Path]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            try:
                if entry.name.endswith("lock") or not entry.is_file():
                    continue
                stat = entry.stat()
            except OSError:
                continue
            yield stat.st_mtime, stat.st_size, Path(entry.path)
