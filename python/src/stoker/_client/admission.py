"""Whether a client has its place: every feeder that answers must have admitted it before it takes a batch.

Belongs to the turn holder.
"""

from __future__ import annotations

import random

from stoker._client.feeder_pool import FeederPool
from stoker.errors import PlaceTakenError

_FIRST_PAUSE_S = 0.25
_LONGEST_PAUSE_S = 2.0


class Admission:
    """The feeders' replies so far, from the first WELCOME for a place to the last."""

    def __init__(self, place_timeout: float, patience_s: float) -> None:
        """Waits are in seconds.

        `place_timeout`: for a taken place to become free. `patience_s`: for the other feeders after the first WELCOME.
        """
        self.place_timeout = place_timeout
        self.complete = False
        """Whether the client may request batches."""
        self.withdrawing = False
        """Whether the client must close all connections and reconnect at `resume_at`."""
        self.refused_since: float | None = None
        """When a feeder first refused the place; None while the client has it or was not refused."""
        self.resume_at = 0.0
        """When to reconnect."""
        self._patience_s = patience_s
        self._since: float | None = None
        self._pause_s = _FIRST_PAUSE_S
        self._late: dict[str, float] = {}
        """Feeders that refused the client after it had its place, and when each first did."""

    def restart(self) -> None:
        """Notes that the client is about to reconnect to all feeders."""
        self.complete = self.withdrawing = False
        self._since = None

    def welcomed(self, address: str, now: float) -> None:
        """Notes that a feeder has admitted this client."""
        self._late.pop(address, None)
        if self._since is None:
            self._since = now

    def refused(self, address: str, text: str, now: float) -> PlaceTakenError | None:
        """Notes that a feeder says the place is taken; returns the error if this has lasted too long."""
        if self.complete:
            since = self._late.setdefault(address, now)
        else:
            since = self.refused_since = now if self.refused_since is None else self.refused_since
            self.withdrawing = True
            self.resume_at = now + self._pause_s * random.uniform(0.5, 1.5)
            self._pause_s = min(_LONGEST_PAUSE_S, self._pause_s * 1.5)
        if now - since < self.place_timeout:
            return None
        return PlaceTakenError(f"{text} (waited for {now - since:.1f} s, place_timeout is {self.place_timeout:g} s)")

    def look_at(self, feeders: FeederPool, now: float) -> bool:
        """Whether every feeder that answers has admitted this client."""
        if not self.complete and not self.withdrawing and self._since is not None and feeders.lane_map is not None:
            late = now - self._since > self._patience_s
            self.complete = all(late or feeders.has_answered(address) for address in feeders.lane_map.addresses)
            if self.complete:
                self.refused_since, self._pause_s = None, _FIRST_PAUSE_S
        return self.complete
