"""The background thread of a client: receives while the trainer is busy, and lets the client send statistics.

Between two rounds the thread refers to the client only weakly, so that a forgotten client can be collected.
"""

from __future__ import annotations

import threading
import time
import weakref
from typing import Any, Protocol

from stoker._client.calls import Calls
from stoker._client.frame_handler import FrameHandler
from stoker._client.network import Network
from stoker._client.turn import Turn

_AWAY_S = 0.005
"""If the trainer has not received for this many seconds, it is busy with something else."""


class Client(Protocol):
    """What a round needs of its client."""

    def tell_stats_if_due(self) -> None:
        """Sends the trainer's statistics if it is time."""


class Background:
    """The thread and its rounds. The client alone holds it."""

    def __init__(self, calls: Calls, turn: Turn, network: Network, handler: FrameHandler) -> None:
        self.calls, self.network = calls, network
        self._turn, self._handler = turn, handler
        self._seen_turns = -1
        self.thread: threading.Thread | None = None
        """None before the client is open."""

    def start(self, client: Client, parked: threading.Event) -> None:
        """Starts the thread. `parked` ends its pause between two rounds."""
        thread = threading.Thread(
            target=_run, args=(weakref.ref(client), weakref.ref(self), parked), name="stoker-feed", daemon=True
        )
        thread.start()
        self.thread = thread

    def join(self, timeout: float) -> None:
        """Waits for the end of the thread, unless it is this one."""
        if self.thread is not None and self.thread is not threading.current_thread():
            self.thread.join(timeout)

    def round(self, client: Client) -> float:
        """One round of the thread; returns the seconds until the next."""
        if self.calls.closed or self.network.failure is not None:
            return 60.0
        client.tell_stats_if_due()
        if self._turn.taken != self._seen_turns:
            self._seen_turns = self._turn.taken
            return _AWAY_S
        self._turn.run_if_free(self._drive)
        return _AWAY_S

    def _drive(self) -> None:
        """Receives while the trainer is busy, for a second at most, so that an unused client can be collected."""
        network, turn = self.network, self._turn
        if not self.calls.recover():
            return
        try:
            until = time.monotonic() + 1.0
            while not (turn.wanted or self.calls.closed or network.failure) and time.monotonic() < until:
                network.step(1.0)
                self._handler.renew_stale(time.monotonic())
        except BaseException as e:
            network.fail(e)


def _run(client_ref: weakref.ref[Any], background_ref: weakref.ref[Background], parked: threading.Event) -> None:
    pause = _AWAY_S
    while True:
        parked.wait(pause)
        parked.clear()
        client, background = client_ref(), background_ref()
        if client is None or background is None or background.calls.closed:
            return
        try:
            pause = background.round(client)
        except BaseException as e:
            # The trainer would not notice otherwise that its receipts are no longer sent.
            background.network.fail(e)
            return
        del client, background
