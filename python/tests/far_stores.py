"""Servers for the tests of datasets in stores: S3 (moto), a web server with ranges, and a stand-in for the Hub."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from stoker._store import remote_path

KEYS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test", "AWS_REGION": "us-east-1"}


@contextmanager
def serving(make: Callable[[], Any]) -> Iterator[Any]:
    """Runs a server in a thread."""
    server = make()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class Answer:
    """What the S3 server answers to uploads of some names, instead of creating the object."""

    name: str
    status: int
    times: int


_answers: list[Answer] = []


@contextmanager
def answering(name: str, status: int, times: int = 1) -> Iterator[None]:
    """Lets the S3 server refuse uploads whose names contain `name`; they must come."""
    answer = Answer(name, status, times)
    _answers.append(answer)
    try:
        yield
    finally:
        _answers.remove(answer)
    assert not answer.times


@contextmanager
def s3() -> Iterator[str]:
    """Runs an S3 server with the bucket `bucket`; gives its address."""
    pytest.importorskip("obstore")
    moto = pytest.importorskip("moto.server")
    import urllib.request

    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.s3.models import s3_backends
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        protocol_version = "HTTP/1.1"  # connections stay open

        def log(self, *_: Any) -> None:
            pass

    app = moto.DomainDispatcherApplication(moto.create_backend_app)
    writing = threading.Lock()

    def atomic(environment: dict[str, Any], start: Any) -> Any:
        """moto looks for the object and then creates it; a real server does both in one step."""
        # Requests to Google Cloud Storage are the same but for these two headers.
        if environment.get("HTTP_X_GOOG_IF_GENERATION_MATCH") == "0":
            environment["HTTP_IF_NONE_MATCH"] = "*"
        if not environment.get("HTTP_AUTHORIZATION", "").startswith("AWS4"):
            environment["HTTP_AUTHORIZATION"] = (
                "AWS4-HMAC-SHA256 Credential=test/20260101/us-east-1/s3/aws4_request, SignedHeaders=host, Signature=0"
            )
        if environment["REQUEST_METHOD"] != "PUT":
            return app(environment, start)
        for wanted in _answers:
            if wanted.name in environment["PATH_INFO"] and wanted.times:
                wanted.times -= 1
                start(f"{wanted.status} as the test says", [("Content-Length", "0")])
                return [b""]
        with writing:
            return app(environment, start)

    with serving(lambda: make_server("127.0.0.1", 0, atomic, threaded=True, request_handler=Quiet)) as server:
        address = f"http://127.0.0.1:{server.server_port}"
        urllib.request.urlopen(urllib.request.Request(f"{address}/bucket", method="PUT")).close()
        yield address
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].reset()


@contextmanager
def environment(**values: str) -> Iterator[None]:
    """Sets environment variables, and forgets the stores that are open."""
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    opened = remote_path._Process.opened
    remote_path._Process.opened = remote_path._Opened()
    try:
        yield
    finally:
        remote_path._Process.opened = opened
        for name, value in before.items():
            if value is None:
                os.environ.pop(name)
            else:
                os.environ[name] = value


class FileServer(BaseHTTPRequestHandler):
    """Serves the files of a folder, with ranges."""

    protocol_version = "HTTP/1.1"
    root: Path
    requests: list[str]
    """Method and path of each request."""
    ranges = True
    missing = 404
    """The status for what does not exist."""

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.requests.append(f"{self.command} {path}")
        self.serve_file(self.root / path.lstrip("/"))

    def serve_file(self, path: Path) -> None:
        if not path.is_file():
            return self.answer(self.missing, b"no such file")
        data = path.read_bytes()
        wanted = self.headers.get("Range")
        if wanted is None or not self.ranges:
            return self.answer(200, data)
        first, _, last = wanted.removeprefix("bytes=").partition("-")
        part = data[int(first) : int(last) + 1 if last else None]
        headers = {"Content-Range": f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}"}
        return self.answer(206, part, headers)

    def answer(self, status: int, data: bytes, headers: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


class HubServer(FileServer):
    """Answers like the Hugging Face Hub: pages of a tree, and redirects to another host, where the files are."""

    token = "secret"
    page = 2

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        path = unquote(url.path)
        self.requests.append(f"{self.command} {path}")
        if path.startswith("/cdn/"):
            if "Authorization" in self.headers:
                return self.answer(400, b"the token was given to another host")
            return self.serve_file(self.root / path.removeprefix("/cdn/"))
        if self.headers.get("Authorization") != f"Bearer {self.token}":
            return self.answer(401, b"no token")
        resolve, tree = "/datasets/me/photos/resolve/main/", "/api/datasets/me/photos/tree/main"
        if path.startswith(resolve):
            target = f"http://localhost:{self.server.server_port}/cdn/{path.removeprefix(resolve)}"
            return self.answer(302, b"", {"Location": target})
        if path.startswith(tree):
            return self.list(path.removeprefix(tree).strip("/"), url.query)
        return self.answer(404, b"")

    def list(self, folder: str, query: str) -> None:
        place = self.root / folder
        if not place.is_dir():
            return self.answer(404, b"{}")
        found = sorted(place.rglob("*") if "recursive" in query else place.iterdir())
        items = [
            {"type": "directory" if p.is_dir() else "file", "path": str(p.relative_to(self.root)), "size": 0}
            for p in found
        ]
        start = int(parse_qs(query).get("cursor", ["0"])[0])
        headers = {}
        if start + self.page < len(items):
            base = f"http://127.0.0.1:{self.server.server_port}{urlsplit(self.path).path}"
            more = "recursive=true&" if "recursive" in query else ""
            headers["Link"] = f'<{base}?{more}cursor={start + self.page}>; rel="next"'
        return self.answer(200, json.dumps(items[start : start + self.page]).encode(), headers)


@contextmanager
def web(kind: type[FileServer], root: Path) -> Iterator[tuple[str, list[str]]]:
    """Serves a folder; gives the address and the list of requests."""
    pytest.importorskip("obstore")
    requests: list[str] = []
    handler = type("Handler", (kind,), {"root": root, "requests": requests})
    with serving(lambda: ThreadingHTTPServer(("127.0.0.1", 0), handler)) as server:
        yield f"http://127.0.0.1:{server.server_port}", requests


def upload(folder: Path, uri: str) -> None:
    """Copies all files of a folder into a store."""
    to = remote_path.RemotePath.of(uri)
    assert to is not None
    for path in folder.rglob("*"):
        if path.is_file():
            target = to / path.relative_to(folder).as_posix()
            assert target.objects.create(target.key, path.read_bytes())
