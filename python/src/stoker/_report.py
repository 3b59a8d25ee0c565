"""What a feed says of the time its trainer waited: in words, and for Prometheus."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from stoker._plural import plural
from stoker._position import worker_of
from stoker._waits import Stall

if TYPE_CHECKING:
    from stoker._feed import Feed

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_SHOWN = 3
_MAX_CONNECTIONS: Final = 16
_REQUEST_S: Final = 5.0
"""How long a client may be silent."""
_ADVICE: Final = {
    "start": "connecting and reading the first window of an epoch: a smaller shuffle window starts sooner",
    "origin": "the dataset's store is the limit: move the dataset nearer, or feed from more machines",
    "disk": "the disk of the feeder's machine is the limit: use a faster disk, more memory for its cache, or more "
    "feeders",
    "network": "the network between feeder and trainer is the limit: check its load, or move the feeder nearer",
    "feeder": "the feeder's processor is the limit: give it more cores, or feed from more machines",
    "corrupt": "messages arrived damaged and were sent again: run stoker verify, check memory and network",
    "connect": "no feeder could be reached: check stoker ps and the feeder's log",
    "decoding": "decoding in this process is the limit: use more decode_threads or DataLoader workers",
    "window": "reading the heads of the next chunks is the limit: use a faster disk or a smaller shuffle window",
    "read": "reading the dataset is the limit: use a faster disk, or a feeder, which reads ahead",
}


def causes_of(watched: Watched) -> dict[str, float]:
    """Seconds waited, by cause, longest first."""
    stats = watched.stats
    found = {key[5:-2]: s for key, s in stats.items() if key.startswith("wait_") and key.endswith("_s") and key[5:-2]}
    rest = stats["wait_s"] - sum(found.values())
    if rest > 0:
        found[watched.rest] = rest
    return dict(sorted(((c, s) for c, s in found.items() if s >= 0.0005), key=lambda pair: -pair[1]))


class Watched(NamedTuple):
    """A feed's figures at one moment."""

    labels: Mapping[str, str]
    """Who reads what."""
    stats: Mapping[str, float]
    """As `Feed.stats` has them."""
    stalls: Sequence[Stall]
    """Where the time waited for feeders went, most first."""
    rest: str
    """What waits are called that the source does not account for."""


def watch(feed: Feed) -> Watched:
    """Looks at a feed; any thread. Connects to nothing."""
    options, info, source = feed._options, feed._info, feed._source
    rank, world_size, replica = feed._seat()
    worker, _, _ = worker_of() or (0, 1, 0)
    labels = {"feed": str(options.target or os.environ.get("STOKER_FEED", "")), "group": options.group}
    if info is not None:
        labels |= {"stream": info.stream, "dataset": info.dataset_name, "version": str(info.version)}
    labels |= {"rank": str(rank), "world_size": str(world_size), "worker": str(worker), "replica": str(replica)}
    stalls = getattr(source, "stalls", None)
    rest = "decoding" if feed._decoding is not None else "handing out"
    return Watched(labels, feed._tally.stats(source), stalls() if stalls is not None else (), rest)


def report(watched: Watched) -> str:
    """A few lines: how long the trainer waited, for whom, and what may help."""
    labels, stats, stalls, _ = watched
    rank = labels["rank"] + (f" worker {labels['worker']}" if labels["worker"] != "0" else "")
    causes = causes_of(watched)
    head = f"rank {rank} waited {stats['wait_s']:.1f} s of {stats['seconds']:.1f} s ({100 * stats['wait_share']:.0f} %)"
    parts = [f"{s.seconds:.1f} s for {s.feeder} lane {s.lane}, {s.cause}" for s in stalls[:_SHOWN] if s.seconds >= 0.05]
    parts += [f"{causes[c]:.1f} s {c}" for c in causes if causes[c] >= 0.05 and c not in {s.cause for s in stalls}]
    lines = [head + (": " + "; ".join(parts) if parts else "")]
    share = stats["seconds"] or 1.0
    rate, volume = stats["samples"] / share, stats["bytes"] / share / 1e6
    lines.append(
        f"  {plural(int(stats['batches']), 'batch')}, {plural(int(stats['samples']), 'sample')}: {rate:.0f} a second, "
        f"{volume:.1f} MB/s"
    )
    if stats["wait_share"] >= 0.02 and causes:
        main = next(iter(causes))
        lines.append(f"  mostly {main}: {_ADVICE.get(main, 'see docs/operations.md')}")
    elif stats["seconds"] > 0:
        lines.append("  the trainer is the limit: its data arrives before it asks")
    return "\n".join(lines)


# ---- Prometheus


def prometheus(feed: Feed) -> str:
    """The feed's figures in Prometheus' text format, for a metrics page of your own; any thread.

    Of this process: where DataLoader workers read, each has its own.
    """
    watched = feed._end or watch(feed)
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
