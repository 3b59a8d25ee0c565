"""Dataset repositories of the Hugging Face Hub: files over HTTP, folders from its API. Opens all kinds of stores."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from stoker._store.objects import Objects
from stoker._store.obstore_objects import open_objects

BASE: Final = re.compile(r"hf://datasets/([^/@]+/[^/@]+)(?:@([^/]+))?")


def open_store(base: str) -> Objects:
    """Opens a store of any kind in this process. Raises `MissingDependencyError`, `ValueError`."""
    return HubObjects(base) if base.startswith("hf:") else open_objects(base)


class HubObjects:
    """The files of one revision of a dataset repository."""

    def __init__(self, base: str) -> None:
        """`base`: `hf://datasets/OWNER/NAME[@REVISION]`."""
        found = BASE.fullmatch(base)
        if not found:
            raise ValueError(f"{base}: expected hf://datasets/OWNER/NAME[@REVISION]/PATH")
        self._base = base
        repository, revision = found[1], quote(found[2] or "main", safe="%")
        host = os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")
        token = _token()
        self._headers = {"authorization": f"Bearer {token}"} if token else {}
        self._tree = f"{host}/api/datasets/{repository}/tree/{revision}"
        self._files = open_objects(f"{host}/datasets/{repository}/resolve/{revision}", self._headers)

    def get(self, name: str) -> bytes:
        """See `Objects`."""
        return self._files.get(name)

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """See `Objects`."""
        return self._files.get_range(name, start, length)

    def stream(self, name: str) -> Iterator[bytes]:
        """See `Objects`."""
        return self._files.stream(name)

    def size(self, name: str) -> int:
        """See `Objects`."""
        return self._files.size(name)

    def names(self, folder: str, after: str) -> list[str]:
        """See `Objects`."""
        start = len(folder) + 1 if folder else 0
        names = [item["path"][start:] for item in self._items(folder, "")]
        return [name for name in names if name > after]

    def walk(self, folder: str) -> Iterator[str]:
        """See `Objects`."""
        for item in self._items(folder, "?recursive=true"):
            if item["type"] == "file":
                yield item["path"]

    def create(self, name: str, content: bytes) -> bool:
        """See `Objects`; the Hub has no atomic creation."""
        raise PermissionError(
            f"{self._base}/{name}: the Hub cannot create files atomically; write the dataset to a directory and upload "
            "that with: hf upload --repo-type dataset"
        )

    def replace(self, name: str, content: bytes) -> None:
        """See `Objects`."""
        raise PermissionError(f"{self._base}/{name}: Stoker replaces nothing on the Hub")

    def delete(self, name: str) -> None:
        """See `Objects`."""
        raise PermissionError(f"{self._base}/{name}: Stoker deletes nothing on the Hub")

    def _items(self, folder: str, query: str) -> Iterator[dict[str, Any]]:
        from stoker._store import hub_pages  # only here, because TLS takes 40 ms to import

        url = f"{self._tree}/{quote(folder)}".rstrip("/") + query
        start = f"{folder}/" if folder else ""
        for item in hub_pages.items(url, self._headers, f"{self._base}/{folder}"):
            if not item["path"].startswith(start):
                raise OSError(
                    f"{self._base}/{folder}: the listing has {item['path'][:200]!r}, which is not in the folder"
                )
            yield item


def _token() -> str:
    """The token of `HF_TOKEN`, or of `hf auth login`; "" for none."""
    if os.environ.get("HF_TOKEN"):
        return os.environ["HF_TOKEN"]
    home = os.environ.get("HF_HOME") or "~/.cache/huggingface"
    path = Path(os.environ.get("HF_TOKEN_PATH") or f"{home}/token")
    try:
        return path.expanduser().read_text("utf-8").strip()
    except (OSError, RuntimeError):  # no such file, no home directory
        return ""
