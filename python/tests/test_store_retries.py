"""How long requests to stores are retried."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from far_stores import FileServer, web
from stoker._store import obstore_objects
from stoker._store.obstore_objects import open_objects


def test_the_time_and_not_the_number_limits_retries(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(obstore_objects._BACKOFF, "init_backoff", timedelta(milliseconds=1))
    monkeypatch.setitem(obstore_objects._BACKOFF, "max_backoff", timedelta(milliseconds=2))

    class Busy(FileServer):
        left = 40

        def serve_file(self, path: Path) -> None:
            if Busy.left:
                Busy.left -= 1
                return self.answer(503, b"slow down")
            return super().serve_file(path)

    (tmp_path / "a").write_bytes(b"content")
    with web(Busy, tmp_path) as (address, _):
        assert open_objects(address).get("a") == b"content"


class Requests:
    """In place of obstore: what each request is given as its store."""

    def __init__(self) -> None:
        self.stores: list[Any] = []

    def head(self, store: Any, name: str) -> dict[str, int]:
        self.stores.append(store)
        if name == "missing":
            raise FileNotFoundError
        raise TimeoutError


def test_a_store_that_has_never_answered_is_retried_for_a_shorter_time() -> None:
    requests = Requests()
    objects = obstore_objects.ObstoreObjects("s3://bucket", requests, lambda _, retried: retried.seconds)
    for name, error in (("a", TimeoutError), ("missing", FileNotFoundError), ("a", TimeoutError)):
        with pytest.raises(error):
            objects.size(name)
    assert requests.stores == [20, 20, 120]


def test_a_large_upload_has_more_time() -> None:
    asked = []
    objects = obstore_objects.ObstoreObjects("s3://bucket", None, lambda request_s, _: asked.append(request_s))
    for length in (0, (64 << 20) - 1, 64 << 20, 1 << 30):
        objects._store(length)
    assert asked == [120, 240, 17 * 120]
