"""The store of a dataset by its path."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from stoker._commit.local_store import LocalStore
from stoker._commit.remote_store import RemoteStore
from stoker._packing.segments import Bytes
from stoker._store.remote_path import AnyPath, RemotePath
from stoker.errors import CommitRefusedError


class NewFile(Protocol):
    """A file that has no name yet."""

    def write(self, buffers: Sequence[Bytes]) -> None:
        """Appends buffers."""
        ...

    def publish(self) -> bool:
        """Gives the file its name; returns whether the name was free. Raises `OSError`."""
        ...


class Store(Protocol):
    """Creates files below a folder, each in one atomic step. Safe for several threads."""

    publishes_together: bool
    """Whether files are published faster one after the other, by one thread, than each by the thread that wrote it."""

    @property
    def root(self) -> Any:
        """The folder."""
        ...

    def path(self, name: str) -> Any:
        """Returns the path of a file."""
        ...

    def require_atomic_creates(self) -> None:
        """Raises `CommitRefusedError` if two writers could create the same file."""
        ...

    def create_if_absent(self, name: str, content: bytes) -> bool:
        """Creates a file unless its name is taken; returns whether it did. Raises `UnknownOutcome`, `OSError`."""
        ...

    def replace(self, name: str, content: bytes) -> None:
        """Writes a file in one atomic step, also if there is one of this name. Raises `OSError`."""
        ...

    def unpublished(self, path: Any) -> AbstractContextManager[NewFile]:
        """Returns a file that has no name yet. `settle` makes its name durable."""
        ...

    def settle(self, paths: Sequence[Any]) -> None:
        """Makes the names of published files durable."""
        ...

    def delete(self, path: Any) -> None:
        """Deletes a file. Raises `OSError`."""
        ...


def store_of(root: AnyPath) -> Store:
    """Returns the store of a folder; its paths are of the same kind. Raises `CommitRefusedError` if it is read-only."""
    if not isinstance(root, RemotePath):
        return LocalStore(root)
    if root.is_read_only:
        raise CommitRefusedError(
            f"Python only reads {root}: a web server cannot create files atomically. Write the dataset to a directory "
            "and upload that"
        )
    return RemoteStore(root)
