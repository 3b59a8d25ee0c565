"""Exports what a feed knows of its waits to Prometheus."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from stoker._feed.feed import Feed
from stoker._feed.report import causes_of

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_MAX_CONNECTIONS: Final = 16
_REQUEST_S: Final = 5.0
"""How long a client may be silent."""


def prometheus(feed: Feed) -> str:
    """The feed's figures in Prometheus' text format, for a metrics page of your own; any thread.

    Of this process: where DataLoader workers read, each has its own.
    """
    watched = feed._reading.figures()
    labels, stats, stalls, _ = watched
    page = _Page(labels)
    page.add("stoker_batches_total", "counter", "Batches handed to the trainer.", stats["batches"])
    page.add("stoker_samples_total", "counter", "Samples handed to the trainer.", stats["samples"])
    page.add("stoker_bytes_total", "counter", "Bytes of the samples handed to the trainer.", stats["bytes"])
    page.add("stoker_seconds_total", "counter", "Seconds since the first batch was requested.", stats["seconds"])
    by_cause = [({"cause": cause}, seconds) for cause, seconds in causes_of(watched).items()]
    page.add_all("stoker_wait_seconds_total", "counter", "Seconds that the trainer waited, by cause.", by_cause)
    by_feeder = [({"feeder": s.feeder, "lane": str(s.lane), "cause": s.cause}, s.seconds) for s in stalls]
    page.add_all(
        "stoker_feeder_wait_seconds_total",
        "counter",
        "Seconds that the trainer waited, by feeder, lane and cause.",
        by_feeder,
    )
    for key, text in (
        ("reconnects", "Connections that were lost and restored."),
        ("failovers", "Lanes that moved to another feeder after a failure."),
        ("corrupt_pieces", "Pieces that arrived damaged."),
    ):
        if key in stats:
            page.add(f"stoker_{key}_total", "counter", text, stats[key])
    return page.text()


class _MetricsServer(ThreadingHTTPServer):
    """Clients that are silent cannot keep others out: the oldest connection makes room for a new one."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        self._lock = threading.Lock()
        self._open: dict[Any, None] = {}
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        with self._lock:
            oldest = next(iter(self._open)) if len(self._open) >= _MAX_CONNECTIONS else None
            if oldest is not None:
                del self._open[oldest]
            self._open[request] = None
        if oldest is not None:
            with contextlib.suppress(OSError):
                oldest.shutdown(socket.SHUT_RDWR)  # its thread ends and closes it
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass  # a client that left early


@contextlib.contextmanager
def serve_metrics(feed: Feed, port: int = 0, host: str = "127.0.0.1") -> Iterator[int]:
    """Serves `prometheus(feed)` at http://host:port/metrics until the block ends; gives the port."""

    class Handler(BaseHTTPRequestHandler):
        timeout = _REQUEST_S

        def do_GET(self) -> None:
            found = self.path.partition("?")[0] == "/metrics"
            body = prometheus(feed).encode() if found else b"metrics are at /metrics\n"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class names it so
            pass

    server = _MetricsServer((host, port), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.1,), name="stoker-metrics", daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Page:
    """Prometheus' text exposition format, version 0.0.4."""

    def __init__(self, labels: Mapping[str, str]) -> None:
        self._labels = dict(labels)
        self._lines: list[str] = []

    def add(self, name: str, kind: str, text: str, value: float) -> None:
        self.add_all(name, kind, text, [({}, value)])

    def add_all(self, name: str, kind: str, text: str, values: Sequence[tuple[Mapping[str, str], float]]) -> None:
        if not values:
            return
        self._lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
        for labels, value in values:
            pairs = ",".join(f'{key}="{_escaped(label)}"' for key, label in (self._labels | dict(labels)).items())
            self._lines.append(f"{name}{{{pairs}}} {value!r}")

    def text(self) -> str:
        return "\n".join(self._lines) + "\n"


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
