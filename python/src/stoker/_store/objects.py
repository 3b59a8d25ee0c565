"""What Stoker needs of an object store."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol


class NotListableError(OSError):
    """The server has no request that lists files."""


class NoRangesError(OSError):
    """The server answers with the whole object when it is asked for a part."""


class Objects(Protocol):
    """The objects of one bucket, container, repository or server, by name. Safe for several threads.

    Every method raises `OSError`: `FileNotFoundError` if there is no such object, `PermissionError` if the store
    refuses. Temporary failures are retried before.
    """

    def get(self, name: str) -> bytes:
        """Returns a whole object."""
        ...

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """Returns a part of an object; less only if the object ends there. Raises `NoRangesError`."""
        ...

    def stream(self, name: str) -> Iterator[bytes]:
        """Returns a whole object, block by block. A caller that needs no more blocks ends the request."""
        ...

    def size(self, name: str) -> int:
        """Returns the length of an object in bytes."""
        ...

    def names(self, folder: str, after: str) -> list[str]:
        """Returns the names directly in a folder that are greater than `after`; none if it does not exist.

        Raises `NotListableError`.
        """
        ...

    def walk(self, folder: str) -> Iterator[str]:
        """Returns the full names of all objects below a folder, page by page. Raises `NotListableError`."""
        ...

    def create(self, name: str, content: bytes) -> bool:
        """Creates an object in one atomic step unless its name is taken; returns whether it did.

        False is also possible if an earlier try of the same call succeeded and its answer was lost.
        """
        ...

    def replace(self, name: str, content: bytes) -> None:
        """Writes an object in one atomic step, also if there is one of this name."""
        ...

    def delete(self, name: str) -> None:
        """Deletes an object; one that does not exist is not an error."""
        ...
