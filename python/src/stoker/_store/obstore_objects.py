"""S3, Google Cloud Storage, Azure and web servers, with the package obstore.

obstore runs threads that do not survive a fork. A process that was forked from one that has used obstore must not use
it: `stoker._store.other_process`.
"""

from __future__ import annotations

import configparser
import contextlib
import functools
import json
import os
import random
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from stoker._store.failures import readable
from stoker._store.objects import NoRangesError, NotListableError
from stoker.errors import MissingDependencyError

_BACKOFF: Final = {"init_backoff": timedelta(seconds=0.1), "max_backoff": timedelta(seconds=5), "base": 3}
_RETRIED: Final = timedelta(minutes=2)
_RETRIED_FIRST: Final = timedelta(seconds=20)
"""How long a failing request is retried while the store has never answered: its address is probably wrong."""
_REQUEST_S: Final = 120
"""Limit of one request, and of every further `_UPLOADED` bytes that it sends."""
_UPLOADED: Final = 64 << 20
_OPTIONS: Final = {"connect_timeout": "10s", "user_agent": "stoker-python"}
_CREATES: Final = 8
"""How often an object is created if the store refuses its name, but has no such object."""
_BLOCK: Final = 1 << 20
_RENEWED: Final = timedelta(minutes=5)
"""How long credentials of a file are used before the file is read again."""


def open_objects(base: str, headers: dict[str, str] | None = None) -> ObstoreObjects:
    """Opens a store by its base, such as `s3://bucket`; sends nothing. Raises `MissingDependencyError`."""
    try:
        import obstore
        from obstore import store
    except ImportError as e:
        raise MissingDependencyError(
            f"{base} needs the package obstore: pip install 'stoker[cloud]'. Or start a feeder with `stoker feed`, and "
            "open it by its name"
        ) from e
    parts = urlsplit(base)
    options: dict[str, Any] = dict(_OPTIONS)
    if headers:
        options["default_headers"] = headers
    given: dict[str, Any] = {}
    kind: Callable[..., Any]
    if parts.scheme == "s3":
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        if endpoint:
            given["endpoint"] = endpoint
            options["allow_http"] = endpoint.startswith("http:")
        if not (os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")):
            given["region"] = "us-east-1"
        if not os.environ.get("AWS_ACCESS_KEY_ID") and _profile() is not None:
            given["credential_provider"] = _from_file
        kind = functools.partial(store.S3Store, parts.netloc)
    elif parts.scheme == "gs":
        emulator = os.environ.get("STORAGE_EMULATOR_HOST")  # as for Google's own clients
        if emulator:
            address = emulator if "://" in emulator else f"http://{emulator}"
            key = {"gcs_base_url": address, "disable_oauth": True, "client_email": "", "private_key": ""}
            given["service_account_key"] = json.dumps(key | {"private_key_id": ""})
            options["allow_http"] = address.startswith("http:")
        kind = functools.partial(store.GCSStore, parts.netloc)
    elif parts.scheme in ("http", "https"):
        options["allow_http"] = parts.scheme == "http"
        kind = functools.partial(store.HTTPStore, base)
    else:
        options["allow_http"] = os.environ.get("AZURE_ENDPOINT", "").startswith("http:") or bool(
            os.environ.get("AZURE_STORAGE_USE_EMULATOR")
        )
        kind = functools.partial(store.from_url, base)

    def opened(request_s: int, retried: timedelta) -> Any:
        # Only the time limits retries: with short pauses, any number of them is reached within seconds.
        retries = {"max_retries": 1 << 30, "retry_timeout": retried, "backoff": _BACKOFF}
        return kind(client_options=options | {"timeout": f"{request_s}s"}, retry_config=retries, **given)

    return ObstoreObjects(base, obstore, opened)


class ObstoreObjects:
    """The objects of a store that obstore knows."""

    def __init__(self, base: str, obstore: Any, opened: Callable[[int, timedelta], Any]) -> None:
        """`opened`: opens the store with a limit of one request in seconds, and a limit of all tries."""
        self._base, self._obstore, self._opened = base, obstore, functools.cache(opened)
        self._is_web = base.startswith("http")
        self._has_answered = False

    def _store(self, upload: int = 0) -> Any:
        """The store, for requests that send this number of bytes."""
        return self._opened(_REQUEST_S * (1 + upload // _UPLOADED), _RETRIED if self._has_answered else _RETRIED_FIRST)

    def _explained(self, name: str) -> _Explained:
        return _Explained(self, f"{self._base}/{name}")

    def get(self, name: str) -> bytes:
        """See `Objects`."""
        with self._explained(name):
            return bytes(self._obstore.get(self._store(), name).bytes())

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """See `Objects`."""
        if not length:  # which HTTP cannot express
            return b""
        with self._explained(name):
            return bytes(self._obstore.get_range(self._store(), name, start=start, length=length))

    def stream(self, name: str) -> Iterator[bytes]:
        """See `Objects`."""
        with self._explained(name):
            for block in self._obstore.get(self._store(), name).stream(min_chunk_size=_BLOCK):
                yield bytes(block)

    def size(self, name: str) -> int:
        """See `Objects`."""
        with self._explained(name):
            return int(self._obstore.head(self._store(), name)["size"])

    def names(self, folder: str, after: str) -> list[str]:
        """See `Objects`."""
        self._require_listing(folder)
        start = len(folder) + 1 if folder else 0
        with self._explained(folder):
            if after:
                pages = self._obstore.list(self._store(), folder, offset=f"{folder}/{after}" if folder else after)
                return [item["path"][start:] for page in pages for item in page if "/" not in item["path"][start:]]
            found = self._obstore.list_with_delimiter(self._store(), folder or None)
            paths = [*(item["path"] for item in found["objects"]), *found["common_prefixes"]]
            return [path[start:] for path in paths]

    def walk(self, folder: str) -> Iterator[str]:
        """See `Objects`."""
        self._require_listing(folder)
        with self._explained(folder):
            for page in self._obstore.list(self._store(), folder or None):
                yield from (item["path"] for item in page)

    def create(self, name: str, content: bytes) -> bool:
        """See `Objects`."""
        if self._is_web:
            raise PermissionError(f"{self._base}/{name}: a web server cannot create objects atomically")
        for attempt in range(_CREATES):
            if self._put(name, content):
                return True
            # S3 also refuses a write that meets another one. That one may fail, and its object may be deleted again.
            with contextlib.suppress(FileNotFoundError):
                self.size(name)
                return False
            time.sleep(random.uniform(0.05, 0.1) * 2**attempt)
        raise OSError(f"{self._base}/{name}: the store refused {_CREATES} times to create it, but it does not exist")

    def _put(self, name: str, content: bytes) -> bool:
        with self._explained(name):
            try:
                self._obstore.put(self._store(len(content)), name, content, mode="create", use_multipart=False)
            except self._obstore.exceptions.AlreadyExistsError:
                return False
        return True

    def replace(self, name: str, content: bytes) -> None:
        """See `Objects`."""
        if self._is_web:
            raise PermissionError(f"{self._base}/{name}: a web server cannot replace objects")
        with self._explained(name):
            self._obstore.put(self._store(len(content)), name, content, mode="overwrite", use_multipart=False)

    def delete(self, name: str) -> None:
        """See `Objects`."""
        with self._explained(name):
            try:
                self._obstore.delete(self._store(), name)
            except FileNotFoundError:
                return

    def _require_listing(self, folder: str) -> None:
        if self._is_web:
            raise NotListableError(f"{self._base}/{folder}: a web server cannot list files")


class _Explained:
    """Turns obstore's errors into the ones of `Objects`."""

    def __init__(self, objects: ObstoreObjects, where: str) -> None:
        self._objects, self._where = objects, where

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: Any) -> None:
        if error is None or isinstance(error, FileNotFoundError):
            self._objects._has_answered = True
        if error is None or isinstance(error, PermissionError | NotListableError):
            return
        where = self._where
        if isinstance(error, FileNotFoundError):
            raise FileNotFoundError(f"{where} does not exist") from error
        text = readable(str(error).partition("\n\nDebug source:")[0])
        if type(error).__name__ == "NotSupportedError":
            raise NoRangesError(f"{where}: {text}") from error
        if type(error).__name__ in ("PermissionDeniedError", "UnauthenticatedError"):
            raise PermissionError(
                f"not allowed to use {where}; check the credentials and their permissions: {text}"
            ) from error
        if isinstance(error, Exception) and type(error).__module__.startswith(("obstore", "pyo3")):
            raise OSError(f"{where}: {text}") from error


def _profile() -> configparser.SectionProxy | None:
    """The section of the credentials file of the AWS tools that has keys, if there is one."""
    path = Path(os.environ.get("AWS_SHARED_CREDENTIALS_FILE") or "~/.aws/credentials")
    parser = configparser.ConfigParser(interpolation=None)
    try:
        parser.read_string(path.expanduser().read_text("utf-8"), str(path))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except RuntimeError:  # no home directory
        return None
    except (OSError, ValueError, configparser.Error) as e:
        # Other credentials, such as those of the machine, may belong to somebody else. The parser's own message has
        # lines of the file.
        why = e.strerror if isinstance(e, OSError) else "it does not have the form of such files"
        raise PermissionError(
            f"cannot read the credentials file {path} of the AWS tools: {why}; correct it, or set AWS_ACCESS_KEY_ID "
            "and AWS_SECRET_ACCESS_KEY"
        ) from None
    name = os.environ.get("AWS_PROFILE", "default")
    section = parser[name] if parser.has_section(name) else None
    return section if section is not None and section.get("aws_access_key_id") else None


def _from_file() -> dict[str, Any]:
    section = _profile()
    if section is None:
        raise PermissionError("the credentials file of the AWS tools no longer has keys")
    return {
        "access_key_id": section["aws_access_key_id"],
        "secret_access_key": section["aws_secret_access_key"],
        "token": section.get("aws_session_token"),
        "expires_at": datetime.now(timezone.utc) + _RENEWED,
    }
