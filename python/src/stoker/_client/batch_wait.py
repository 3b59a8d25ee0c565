"""One wait of the trainer for a batch: its cause, and when it has lasted too long. Belongs to the turn holder."""

from __future__ import annotations

import logging
import time

from stoker._client.frame_handler import FrameHandler
from stoker._client.network import Network
from stoker._client.span import Span
from stoker._transport.discovery import FeedTarget
from stoker.errors import BatchTimeoutError, ConnectTimeoutError

_LOG = logging.getLogger("stoker")
_TELL_S = 5.0
"""A wait without any feeder is told after this time: the failure of one feeder is over within a second."""


class BatchWait:
    """One wait."""

    __slots__ = ("begun", "cause", "looked_at", "told", "unconnected")

    def __init__(self, begun: float, cause: str) -> None:
        self.begun = self.looked_at = begun
        self.cause = cause
        self.unconnected = 0.0
        self.told = False


class WaitLimits:
    """How long a wait may last, in seconds: without a connection, and with one."""

    def __init__(
        self,
        target: FeedTarget,
        network: Network,
        handler: FrameHandler,
        reconnect_timeout: float,
        batch_timeout: float,
    ) -> None:
        self._target, self._network, self._handler = target, network, handler
        self._reconnect_timeout, self._batch_timeout = reconnect_timeout, batch_timeout

    def check(self, span: Span, index: int, wait: BatchWait, now: float) -> None:
        """Checks a long wait: raises an error if it has lasted too long, else notes its cause.

        Time without a connection counts only towards the reconnect timeout, other time towards the batch timeout.
        """
        elapsed, wait.looked_at = now - wait.looked_at, now
        lanes = span.waiting_lanes(index)
        if not lanes:
            return
        lane, feeders = lanes[0], self._network.feeders
        address = feeders.address_of(lane)
        peer = feeders.by_address.get(address)
        connection = peer.live if peer is not None else None
        what = f"epoch {span.epoch} batch {span.number(index)}"
        if connection is None:
            wait.cause = "connect"
            wait.unconnected += elapsed
            since = max(wait.begun, peer.down_since if peer is not None else wait.begun)
            if now - since > self._reconnect_timeout:
                raise ConnectTimeoutError(
                    f"{self._target}: {what} is in lane {lane}, but no feeder could be reached for "
                    f"{self._reconnect_timeout:g} s (since {_clock(now - since)}): {feeders.describe()}"
                )
            if not wait.told and now - since > _TELL_S:
                wait.told = True
                _LOG.warning(
                    "%s: no feeder can be reached since %s; waiting up to %g s for it (reconnect_timeout): %s",
                    self._target,
                    _clock(now - since),
                    self._reconnect_timeout,
                    feeders.describe(),
                )
        elif now - wait.begun - wait.unconnected > self._batch_timeout:
            quiet = self._network.quiet_s(connection, now)
            said = f"; before that: {peer.error}" if peer is not None and peer.error else ""
            raise BatchTimeoutError(
                f"{self._target}: {what} did not arrive from feeder {address}, lane {lane}, within "
                f"{now - wait.begun:.1f} s (since {_clock(now - wait.begun)}; last message {quiet:.1f} s ago{said}); "
                "see the feeder's log, or raise batch_timeout"
            )
        elif wait.cause == "feeder" and self._handler.is_refused(span, index):
            wait.cause = "corrupt"


def _clock(seconds_ago: float) -> str:
    return time.strftime("%H:%M:%S", time.localtime(time.time() - seconds_ago))
