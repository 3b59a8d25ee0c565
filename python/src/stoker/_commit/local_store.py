"""Files of a dataset in a local directory, written as the Java half writes them.

A file is written under a temporary name beside its place, forced to disk, and gets its name by `link(2)`, which is
atomic and fails if the name is taken; exclusive creation would show an empty file first. Then the directory is forced.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
from collections.abc import Sequence
from pathlib import Path

from stoker._commit import past_cache
from stoker._packing.segments import Bytes

TEMPORARY = ".tmp-"
_NO_LINKS = (errno.EPERM, errno.EOPNOTSUPP, errno.ENOTSUP, errno.ENOSYS)
_FLAGS = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_VECTOR = 1024
"""IOV_MAX."""
_JOINED_BELOW = 16 << 10
"""Shorter buffers on average are joined before they are written."""


class UnknownOutcome(OSError):  # noqa: N818 - what it says is no error yet
    """The store cannot tell whether a file got its name."""


class FileCalls:
    """The calls that change a file system; tests replace them."""

    def mkdir(self, path: Path) -> None:
        path.mkdir()

    def create(self, path: Path) -> int:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o666)

    def write(self, fd: int, buffers: Sequence[Bytes]) -> int:
        if not hasattr(os, "writev"):
            return os.write(fd, b"".join(buffers))
        return os.writev(fd, buffers)

    def force(self, fd: int) -> None:
        os.fsync(fd)

    def link(self, source: Path, target: Path) -> None:
        os.link(source, target)

    def rename(self, source: Path, target: Path) -> None:
        os.replace(source, target)

    def unlink(self, path: Path) -> None:
        os.unlink(path)

    def force_directory(self, path: Path) -> None:
        if os.name == "nt":  # where directories cannot be opened, and names are durable with their files
            return
        fd = os.open(path, os.O_RDONLY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)


class LocalStore:
    """Creates files below a directory. Safe for several threads."""

    publishes_together = True
    """One commit of the file system's journal serves all files that were written before."""

    def __init__(self, root: Path, calls: FileCalls | None = None) -> None:
        self.root = root
        self._calls = calls or FileCalls()
        self._durable: set[Path] = set()
        self.past_cache = past_cache.PastCache()

    def path(self, name: str) -> Path:
        """Returns the path of a file."""
        return self.root / name

    def create_if_absent(self, name: str, content: bytes) -> bool:
        """Creates a file unless its name is taken; returns whether it did. Raises `UnknownOutcome`, `OSError`."""
        target = self.path(name)
        if target.exists():
            return False
        with Unpublished(self, target) as file:
            file.write([content])
            if not file.publish():
                return False
        self.force_directory(target.parent)
        return True

    def replace(self, name: str, content: bytes) -> None:
        """Writes a file in one atomic step, also if there is one of this name. Raises `OSError`."""
        target = self.path(name)
        with Unpublished(self, target) as file:
            file.write([content])
            file.replace()
        self.force_directory(target.parent)

    def require_atomic_creates(self) -> None:
        """Does nothing: a file system without hard links fails at the first file."""

    def unpublished(self, path: Path) -> Unpublished:
        """Returns a file that has no name yet. `settle` makes its name durable."""
        return Unpublished(self, path, directory_forced=False)

    def settle(self, paths: Sequence[Path]) -> None:
        """Makes the names of published files durable."""
        directories = {path.parent for path in paths}
        for directory in directories:
            self._calls.force_directory(directory)
        for parent in {directory.parent for directory in directories}:
            if os.access(parent, os.R_OK):  # other users' directories cannot be forced
                self._calls.force_directory(parent)

    def delete(self, path: Path) -> None:
        """Deletes a file. Raises `OSError`."""
        self._calls.unlink(path)

    def ensure(self, directory: Path, forced: bool = True) -> None:
        """Creates what is missing of a path, and forces the names of all directories seen for the first time.

        Not `forced`: the name of the last directory is left to the caller, `force_directory(directory.parent)`.
        """
        if directory in self._durable or directory.parent == directory:
            return
        if not directory.is_dir():
            self.ensure(directory.parent)
            try:
                self._calls.mkdir(directory)
            except FileExistsError:
                if not directory.is_dir():
                    raise
        if not forced:
            return
        # The process that created it may not have forced it yet. Other users' directories cannot be forced.
        if os.access(directory.parent, os.R_OK):
            self._calls.force_directory(directory.parent)
        self._durable.add(directory)

    def force_directory(self, directory: Path) -> None:
        """Makes the names in a directory durable; raises `UnknownOutcome`."""
        try:
            self._calls.force_directory(directory)
        except OSError as e:
            raise UnknownOutcome(f"{directory}: {e}") from e

    @property
    def calls(self) -> FileCalls:
        return self._calls


class Unpublished:
    """A file that has no name yet; a context manager that removes what was not published."""

    def __init__(self, store: LocalStore, target: Path, directory_forced: bool = True) -> None:
        """`directory_forced`: whether the directory's name must be durable before the file is."""
        self._store, self._calls = store, store.calls
        self._target, self._directory_forced = target, directory_forced
        self._temporary = target.with_name(f"{TEMPORARY}{secrets.token_hex(8)}-{target.name}")
        self._fd = -1
        self._left = False

    def __enter__(self) -> Unpublished:
        self._store.ensure(self._target.parent, self._directory_forced)
        try:
            self._fd = self._calls.create(self._temporary)
        except OSError as e:
            raise explained(self._target, e) from e
        self._left = True
        return self

    def write(self, buffers: Sequence[Bytes]) -> None:
        """Writes the content, with as few calls as possible."""
        try:
            if sum(map(len, buffers)) >= past_cache.SHORTEST and past_cache.begin(self._fd):
                self._store.past_cache.write(self._fd, buffers, self._calls.write)
                return
            for start in range(0, len(buffers), _VECTOR):
                self._write_some(list(buffers[start : start + _VECTOR]))
        except OSError as e:
            raise explained(self._target, e) from e

    def _write_some(self, buffers: list[Bytes]) -> None:
        if len(buffers) > 8 and sum(map(len, buffers)) < _JOINED_BELOW * len(buffers):
            buffers = [b"".join(buffers)]
        while buffers:
            written = self._calls.write(self._fd, buffers)
            while buffers and written >= len(buffers[0]):
                written -= len(buffers.pop(0))
            if buffers and written:
                buffers[0] = memoryview(buffers[0])[written:]

    def publish(self) -> bool:
        """Forces the content and gives the file its name; returns whether the name was free.

        The directory is not forced: the caller does, once for several files. Raises `UnknownOutcome`, `OSError`.
        """
        self._force()
        if not self._link():
            return False
        self._remove()
        return True

    def replace(self) -> None:
        """Forces the content and gives the file its name, which may be taken. Raises `OSError`."""
        self._force()
        self._calls.rename(self._temporary, self._target)
        self._left = False

    def _force(self) -> None:
        try:
            self._calls.force(self._fd)
        except OSError as e:
            raise explained(self._target, e) from e
        finally:
            os.close(self._fd)
            self._fd = -1

    def _link(self) -> bool:
        try:
            self._calls.link(self._temporary, self._target)
        except FileExistsError:
            # Over NFS the first reply may be lost and the call be sent again: then the name is taken by this very file.
            try:
                return os.path.samefile(self._temporary, self._target)
            except OSError as e:
                raise UnknownOutcome(f"{self._target}: {e}") from e
        except OSError as e:
            if e.errno in _NO_LINKS:
                raise OSError(
                    e.errno,
                    f"the file system of {self._target} does not support hard links, which atomic commits need; put "
                    "the dataset on another file system",
                ) from e
            if e.errno in (errno.EACCES, errno.ENOSPC, errno.EDQUOT):
                raise explained(self._target, e) from e
            raise UnknownOutcome(f"{self._target}: {e}") from e
        return True

    def _remove(self) -> None:
        # The file stands; what is left is listed as unfinished and removed by a later clean-up.
        with contextlib.suppress(OSError):
            self._calls.unlink(self._temporary)
        self._left = False

    def __exit__(self, *_: object) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        if self._left:
            self._remove()


def explained(target: Path, error: OSError) -> OSError:
    """Returns the same error with advice for the user."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return OSError(
            error.errno, f"no space left to write {target}; free some space (or raise the quota) and run again"
        )
    if error.errno == errno.EACCES:
        return PermissionError(error.errno, f"not allowed to write {target}; check the owner and mode of its directory")
    return OSError(error.errno, f"cannot write {target}: {error.strerror}")
