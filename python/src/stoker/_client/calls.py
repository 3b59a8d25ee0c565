"""Calls of the trainer's thread, and the recovery after one that was interrupted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from stoker._client.network import Network
from stoker._client.turn import Turn
from stoker.errors import StokerError

T = TypeVar("T")


class Calls:
    """Notes that a call began and did not end, and starts over with new connections before the next one.

    Only the trainer's thread makes calls. The background thread may recover in its place, in its turn.
    """

    def __init__(self, turn: Turn, network: Network) -> None:
        self._turn, self._network = turn, network
        self._calling = self.torn = False
        """Whether the trainer's thread is within a call, and whether one began that did not end."""
        self.closed = False
        """Whether the client is closed."""

    def run(self, work: Callable[[], T]) -> T:
        """Makes a call of the trainer's thread. Recovers first if an earlier call was interrupted."""
        self._calling = True
        try:
            if self.torn:
                self._turn.run(self._network.start_over)
            self.torn = True
            result = work()
            self.torn = False
            return result
        except StokerError:
            self.torn = False  # raised where nothing is half done
            raise
        finally:
            self._calling = False

    def recover(self) -> bool:
        """Recovers from an interrupted call, for the background thread in its turn.

        Returns False if a call of the trainer's thread is about to take the turn.
        """
        if self.torn:
            if self._calling:
                return False
            self._network.start_over()
            self.torn = False
        return True

    def raise_failure(self) -> None:
        """Raises the error that ended the client, or that the client is closed."""
        if self._network.failure is not None:
            raise self._network.failure
        if self.closed:
            raise StokerError("the feed is closed")
