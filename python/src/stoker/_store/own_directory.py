"""A directory of this user, in a place where other users of the machine may create directories, links and FIFOs.

Files are opened relative to an open directory whose owner was checked, and no link is followed, so it makes no
difference when another user exchanges a name. Windows opens no directories; paths and the permissions of the place
serve there.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

_OPENS_DIRECTORIES: Final = os.open in os.supports_dir_fd
_CLOSED: Final = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NOFOLLOW", 0)
_DIRECTORY: Final = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | _CLOSED
_FILE: Final = _CLOSED | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_WRITES: Final = os.O_WRONLY | os.O_RDWR
_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH


class ForeignFileError(PermissionError):
    """A name belongs to a link, a FIFO, or a file of another user."""


class OwnDirectory:
    """An open directory whose owner was checked. The names that its methods take are those of entries, not paths."""

    def __init__(self, path: Path, fd: int | None) -> None:
        self._path, self._fd = path, fd

    @staticmethod
    @contextlib.contextmanager
    def opened(path: Path) -> Iterator[OwnDirectory]:
        """Opens a directory of this user, or one of root to which nobody else can write.

        Raises `ForeignFileError` for a link, a file and the directory of another user, and `OSError`.
        """
        with _directory(path, str(path), None) as directory:
            yield directory

    @contextlib.contextmanager
    def below(self, name: str, create: bool = False) -> Iterator[OwnDirectory]:
        """Opens a directory in this one; `create` makes it for this user only. Raises like `opened`."""
        if create:
            with contextlib.suppress(FileExistsError):
                os.mkdir(self._name(name), 0o700, dir_fd=self._fd)
        with _directory(self._path / name, self._name(name), self._fd) as directory:
            yield directory

    def open(self, name: str, flags: int) -> int:
        """Returns a descriptor of a regular file; a new one is for this user only.

        Raises `ForeignFileError` for a link, a FIFO and a file of another user, and `OSError`. For writing, a file
        that has a second name is foreign, too.
        """
        try:
            fd = os.open(self._name(name), flags | _FILE, 0o600, dir_fd=self._fd)
        except OSError as e:
            if e.errno == errno.ELOOP:
                raise ForeignFileError(errno.EPERM, f"{name} is a link, not a file; delete it") from None
            raise
        try:
            found = os.fstat(fd)
            if not stat.S_ISREG(found.st_mode) or not _is_trusted(found) or (flags & _WRITES and found.st_nlink > 1):
                raise ForeignFileError(errno.EPERM, f"{name} is not a file of this user alone; delete it")
        except BaseException:
            os.close(fd)
            raise
        return fd

    def unlink(self, name: str) -> None:
        """Deletes a file, or a link and not its target."""
        os.unlink(self._name(name), dir_fd=self._fd)

    def move(self, name: str, target: OwnDirectory, new: str) -> None:
        """Gives a file a new name. A file that has it is deleted."""
        os.replace(self._name(name), target._name(new), src_dir_fd=self._fd, dst_dir_fd=target._fd)

    def touch(self, name: str) -> None:
        """Notes that a file was used now."""
        os.utime(self._name(name), dir_fd=self._fd)

    def entries(self) -> list[tuple[str, os.stat_result]]:
        """The names in the directory, and what they are; links are not followed."""
        found = []
        with os.scandir(self.place) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):  # deleted meanwhile
                    found.append((entry.name, entry.stat(follow_symlinks=False)))
        return found

    @property
    def place(self) -> int | Path:
        """The directory, as calls of the system take it."""
        return self._path if self._fd is None else self._fd

    def _name(self, name: str) -> str:
        return str(self._path / name) if self._fd is None else name


@contextlib.contextmanager
def _directory(path: Path, name: str, parent: int | None) -> Iterator[OwnDirectory]:
    if not _OPENS_DIRECTORIES:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise ForeignFileError(errno.ENOTDIR, "it is a file or a link, not a directory")
        yield OwnDirectory(path, None)
        return
    try:
        fd = os.open(name, _DIRECTORY, dir_fd=parent)
    except OSError as e:
        if e.errno in (errno.ELOOP, errno.ENOTDIR):
            raise ForeignFileError(errno.ENOTDIR, "it is a file or a link, not a directory") from None
        raise
    try:
        _require_trusted(fd)
        yield OwnDirectory(path, fd)
    finally:
        os.close(fd)


def _require_trusted(fd: int) -> None:
    found = os.fstat(fd)
    if not _is_trusted(found):
        raise ForeignFileError(errno.EPERM, f"it belongs to {_user(found.st_uid)}, not to {_user(os.geteuid())}")
    if found.st_mode & _OTHERS_WRITE:
        if found.st_uid != os.geteuid():
            raise ForeignFileError(errno.EPERM, f"it belongs to {_user(found.st_uid)}, and others can write to it")
        with contextlib.suppress(OSError):  # of a file system without modes
            os.fchmod(fd, stat.S_IMODE(found.st_mode) & ~_OTHERS_WRITE)


def _is_trusted(found: os.stat_result) -> bool:
    return not _OPENS_DIRECTORIES or found.st_uid in (0, os.geteuid())


def _user(uid: int) -> str:
    try:
        import pwd

        return f"user {pwd.getpwuid(uid).pw_name}"
    except (ImportError, KeyError):
        return f"the user with the id {uid}"
