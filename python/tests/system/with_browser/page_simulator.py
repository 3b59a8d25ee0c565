"""Serves a feeder's page with a status that is made up, of as many ranks as a test wants."""

from __future__ import annotations

import json
import math
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[4] / "feeder-job/server/src/main/resources/dev/stoker/server/ui/page.html"


SAMPLE = 110_000
"""Bytes of a sample."""


def _rows(seconds: float) -> int:
    """Returns how many samples one trainer has used: 64 a second, a little faster and slower in turn."""
    return int(64 * (seconds + 2 * math.sin(seconds / 11) + math.sin(seconds / 4)))


class SimulatedFeeder:
    """A feed of one group. Its last rank waits as long as `waits` says (share of time by cause), the others less."""

    def __init__(self, ranks: int, waits: dict[str, float]) -> None:
        self._ranks, self._waits = ranks, waits
        self.problems: list[str] = []
        """Services that the feed waits for."""
        self._started = time.time() - 3600
        feeder = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                kind, body = feeder._answer(self.path)
                self.send_response(200 if body else 404)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"

    def __enter__(self) -> SimulatedFeeder:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, path: str) -> tuple[str, bytes]:
        if path == "/":
            return "text/html; charset=utf-8", PAGE.read_bytes()
        if path == "/status.json":
            return "application/json", json.dumps(self._status()).encode()
        if path == "/history.json":
            now = time.time()
            moments = [now - s for s in range(300, 0, -1)]
            used = [_rows(moment - self._started) * self._ranks for moment in moments]
            history = [[int(1000 * moment), rows, SAMPLE * rows] for moment, rows in zip(moments, used, strict=True)]
            return "application/json", json.dumps(history).encode()
        return "text/plain", b""

    def _status(self) -> dict[str, Any]:
        now = time.time()
        seconds = now - self._started
        ranks = [self._rank(rank, seconds) for rank in range(self._ranks)]
        step = int(seconds)
        group = {
            "stream": "train", "dataset": "photos", "version": 12, "split": "train", "group": "default", "run": 1,
            "world_size": self._ranks, "epoch": step // 4000, "next": step % 4000, "batches": 4000, "samples": 256_000,
            "epochs": 90, "ranks": ranks,
        }  # fmt: skip
        rows = sum(rank["used_rows"] for rank in ranks)
        totals = dict.fromkeys(
            ("batches", "rejected", "origin_reads", "origin_bytes", "origin_metadata", "nacks", "refetches", "corrupt",
             "open_windows", "pending_receipts", "lookups", "lookup_keys", "lookup_bytes", "lanes"), 0,
        )  # fmt: skip
        size = SAMPLE * rows
        totals |= {"rows": rows, "bytes": size, "used_rows": rows, "used_bytes": size, "sessions": self._ranks}
        return {
            "feed": {"name": "photos", "id": "6f1d2c3b-4a59-5687-8000-000000000001"},
            "feeders": ["10.0.0.1:7420", "10.0.0.2:7420"], "lanes": 16,
            "address": "10.0.0.1:7420", "started_ms": int(1000 * self._started), "now_ms": int(1000 * now),
            "totals": totals, "groups": [group], "problems": self.problems,
            "tiers": [
                {"name": "memory", "unit": "bytes", "used": 6 << 30, "limit": 8 << 30, "hits": 9120, "misses": 880,
                 "loads": 720, "load_seconds": 80.0, "failures": 0, "off": "", "note": ""},
                {"name": "open windows", "unit": "bytes", "used": 600 << 20, "limit": 1 << 30},
            ],
        }  # fmt: skip

    def _rank(self, rank: int, seconds: float) -> dict[str, Any]:
        part = (rank + 1) / self._ranks
        causes = {cause: share * part * seconds for cause, share in self._waits.items()}
        waited = sum(causes.values())
        longest = max(causes, key=causes.__getitem__)
        rows = _rows(seconds)
        return {
            "rank": rank, "worker": 0, "workers": 1, "replica": 0, "connected": True, "client": "stoker-python/0.1.0",
            "epoch": 0, "next": 0, "pieces": 0, "rows": rows, "bytes": SAMPLE * rows, "used_rows": rows,
            "used_bytes": SAMPLE * rows,
            "server": {"idle": seconds, "origin": 0, "disk": waited, "build": 0, "write": 0},
            "trainer": {"seconds": seconds, "waited": waited, "batches": int(seconds), "samples": 2 * rows, "bytes": 0,
                        "causes": causes,
                        "waits": [{"feeder": "10.0.0.1:7420", "lane": 3, "cause": longest, "seconds": waited,
                                   "times": 9}]},
        }  # fmt: skip
