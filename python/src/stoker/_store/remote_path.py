"""Paths of object stores, with the part of `pathlib.Path` that reading a dataset needs."""

from __future__ import annotations

import os
import re
import sys
import threading
from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import unquote

from stoker._format.inherited import never_free
from stoker._store.hub import BASE, open_store
from stoker._store.objects import Objects
from stoker._store.other_process import OtherProcess

# One slash is enough: Path("s3://bucket") has lost the other.
_URI: Final = re.compile(r"(s3a?|gs|az|abfss?|https?):/{1,2}([^/]+)/?(.*)", re.IGNORECASE | re.DOTALL)
_HUB: Final = re.compile(r"hf:/{1,2}(.*)", re.IGNORECASE | re.DOTALL)


class _Opened:
    """The stores that this process has opened."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.stores: dict[str, Objects] = {}
        self.other: OtherProcess | None = None


class _Process:
    """Whether this process was forked from one that may have used obstore, whose threads do not survive a fork."""

    opened = _Opened()
    is_after_obstore = False


def _after_fork() -> None:
    never_free(_Process.opened)
    _Process.opened = _Opened()
    # The program itself may have used it, too.
    _Process.is_after_obstore |= "obstore" in sys.modules


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def objects_at(base: str) -> Objects:
    """The objects of a store, which is opened once in each process."""
    opened = _Process.opened
    found = opened.stores.get(base)
    if found is None:
        with opened.lock:
            found = opened.stores.get(base)
            if found is None:
                found = opened.stores[base] = _open(opened, base)
    return found


def _open(opened: _Opened, base: str) -> Objects:
    if _Process.is_after_obstore:
        if opened.other is None:
            opened.other = OtherProcess()
        return opened.other.objects(base)
    return open_store(base)


class _Stat(NamedTuple):
    st_size: int


class RemotePath:
    """A folder or an object of a store. Immutable; survives pickling and forks."""

    __slots__ = ("_base", "key")

    def __init__(self, base: str, key: str) -> None:
        """`base`: of the store, as in `objects_at`. `key`: the name in the store, "" for its root."""
        self._base, self.key = base, key

    @staticmethod
    def of(uri: str) -> RemotePath | None:
        """The path of a URI; None if Python does not read its scheme. Raises `ValueError` for a malformed one."""
        hub = _HUB.fullmatch(uri)
        if hub:
            found = BASE.match(f"hf://{hub[1]}")
            if not found or hub[1][len(found[0]) - 5 :][:1] not in ("", "/"):
                raise ValueError(f"{uri}: expected hf://datasets/OWNER/NAME[@REVISION]/PATH")
            return RemotePath(found[0], _key(hub[1][len(found[0]) - 5 :]))
        match = _URI.fullmatch(uri)
        if not match:
            known = re.match(r"(s3a?|gs|az|abfss?|https?):/+", uri, re.IGNORECASE)
            if known:
                where = "HOST" if known[1].lower().startswith("http") else "BUCKET"
                raise ValueError(f"{uri}: expected {known[1]}://{where}/PATH")
            return None
        scheme = {"s3a": "s3", "abfs": "abfss"}.get(match[1].lower(), match[1].lower())
        user, at, host = match[2].rpartition("@")
        if ":" in user or (at and not scheme.startswith("abfs")):
            raise ValueError(
                f"{scheme}://…@{host}: a location must not contain a user or password; give credentials in the "
                "environment"
            )
        where = re.split("[?#]", uri, maxsplit=1)[0]
        if where != uri:
            raise ValueError(f"{where}: a location must not contain a query or a fragment; write ? as %3F and # as %23")
        key = unquote(match[3])
        if ".." in key.split("/"):
            raise ValueError(f"{uri}: the location of a store must not contain ..")
        return RemotePath(f"{scheme}://{match[2]}", _key(key))

    @property
    def objects(self) -> Objects:
        """The store."""
        return objects_at(self._base)

    @property
    def is_read_only(self) -> bool:
        """Whether the store has no atomic creation."""
        return self._base.startswith(("http", "hf:"))

    @property
    def name(self) -> str:
        """The last part."""
        return self.key.rpartition("/")[2] or self._base.rpartition("/")[2].partition("@")[0]

    @property
    def parent(self) -> RemotePath:
        """The folder that this is in."""
        return RemotePath(self._base, self.key.rpartition("/")[0])

    def __truediv__(self, name: str) -> RemotePath:
        return RemotePath(self._base, f"{self.key}/{name}" if self.key else name)

    def __str__(self) -> str:
        # `of` reads it again as the same path.
        is_hub = self._base.startswith("hf:")
        key = self.key if is_hub else re.sub("[%?#]", lambda found: f"%{ord(found[0]):02X}", self.key)
        return f"{self._base}/{key}" if key else self._base

    def __repr__(self) -> str:
        return f"RemotePath({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RemotePath) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> tuple[type[RemotePath], tuple[str, str]]:
        return RemotePath, (self._base, self.key)

    def resolve(self) -> RemotePath:
        """The same path."""
        return self

    def read_bytes(self) -> bytes:
        """A whole object."""
        return self.objects.get(self.key)

    def stat(self) -> _Stat:
        """The size of an object; `FileNotFoundError` if there is none."""
        return _Stat(self.objects.size(self.key))

    def exists(self) -> bool:
        """Whether there is such an object."""
        try:
            self.objects.size(self.key)
        except FileNotFoundError:
            return False
        except PermissionError:
            # Public buckets answer like this if an object is missing and listing is not allowed.
            if not self._base.startswith("http"):
                raise
            return False
        return True

    def is_dir(self) -> bool:
        """Whether there is an object below this folder."""
        return next(self.objects.walk(self.key), None) is not None

    def names(self, after: str = "") -> list[str]:
        """The names in this folder that are greater than `after`."""
        return self.objects.names(self.key, after)

    def glob(self, pattern: str) -> Iterator[RemotePath]:
        """The objects below this folder that match; `*` is one part of a path."""
        parts = pattern.split("/")
        fixed = next(i for i, part in enumerate(parts) if "*" in part)
        folder = "/".join([self.key, *parts[:fixed]]).strip("/")
        start = len(self.key) + 1 if self.key else 0
        for key in self.objects.walk(folder):
            found = key[start:].split("/")
            if len(found) == len(parts) and all(map(fnmatchcase, found, parts)):
                yield RemotePath(self._base, key)

    def unlink(self, missing_ok: bool = False) -> None:
        """Deletes the object."""
        self.objects.delete(self.key)


AnyPath = Path | RemotePath
"""A path that datasets can be read from."""


def _key(text: str) -> str:
    return "/".join(part for part in text.split("/") if part not in ("", "."))


def list_names(folder: AnyPath, after: str = "") -> list[str]:
    """The names in a folder, of a store only those greater than `after`; none if the folder does not exist.

    Raises `NotListableError`.
    """
    if isinstance(folder, RemotePath):
        return folder.names(after)
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
