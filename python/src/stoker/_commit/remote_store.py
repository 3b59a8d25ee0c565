"""Files of a dataset in an object store, which creates an object in one atomic step."""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from stoker._commit.local_store import UnknownOutcome
from stoker._packing.segments import Bytes
from stoker._store.remote_path import RemotePath
from stoker.errors import CommitRefusedError

_PUBLISHES = 3
"""How often a chunk is uploaded if its upload fails, after the retries of the store."""


class RemoteStore:
    """Creates objects below a folder of a store. Safe for several threads."""

    publishes_together = False

    def __init__(self, root: RemotePath) -> None:
        self.root = root

    def path(self, name: str) -> RemotePath:
        """Returns the path of an object."""
        return self.root / name

    def require_atomic_creates(self) -> None:
        """Creates a test object twice. Raises `CommitRefusedError` if both succeed, because commits could be lost."""
        probe = self.path(f"_stoker/scratch/probe-{secrets.token_hex(16)}")
        try:
            probe.objects.create(probe.key, b"first")
            if probe.objects.create(probe.key, b"second"):
                raise CommitRefusedError(
                    f"the store of {self.root} created the same object twice, so it does not support conditional "
                    "writes (`If-None-Match: *`), and concurrent commits could be lost. Use another store"
                )
        finally:
            self.delete(probe)

    def create_if_absent(self, name: str, content: bytes) -> bool:
        """Creates an object unless its name is taken; returns whether it did. Raises `UnknownOutcome`, `OSError`.

        False is also possible if an earlier try succeeded and its answer was lost.
        """
        path = self.path(name)
        try:
            return path.objects.create(path.key, content)
        except PermissionError:
            raise
        except OSError as e:
            raise UnknownOutcome(str(e)) from e

    def replace(self, name: str, content: bytes) -> None:
        """Writes an object, also if there is one of this name. Raises `OSError`."""
        path = self.path(name)
        path.objects.replace(path.key, content)

    def unpublished(self, path: RemotePath) -> Upload:
        """Returns an object that is not created yet."""
        return Upload(path)

    def settle(self, paths: Sequence[RemotePath]) -> None:
        """Does nothing: objects are durable once they are created."""

    def delete(self, path: RemotePath) -> None:
        """Deletes an object, if there is one."""
        path.unlink()


class Upload:
    """The content of an object that is not created yet; a context manager, like `Unpublished`."""

    def __init__(self, path: RemotePath) -> None:
        self._path = path
        self._content = b""

    def __enter__(self) -> Upload:
        return self

    def __exit__(self, *_: object) -> None:
        self._content = b""

    def write(self, buffers: Sequence[Bytes]) -> None:
        """Appends buffers."""
        self._content = b"".join([self._content, *buffers])

    def publish(self) -> bool:
        """Creates the object; returns whether the name was free, or taken by these very bytes. Raises `OSError`."""
        failure: OSError | None = None
        for _ in range(_PUBLISHES):
            try:
                return self._path.objects.create(self._path.key, self._content) or (
                    self._path.read_bytes() == self._content
                )
            except PermissionError:
                raise
            except OSError as e:
                # The store repeats no write whose reply is lost. To write the same bytes again is safe.
                failure = e
        assert failure is not None
        raise failure
