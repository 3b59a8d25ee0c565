"""Tells whether a feeder that the trainer waits for gives a sign of life. Belongs to the turn holder."""

from __future__ import annotations

from stoker._transport.feeder_connection import FeederConnection


class LivenessCheck:
    """Whether a connection has been heard of while the trainer waits."""

    __slots__ = ("asked_at", "bytes", "frames", "heard_at")

    def __init__(self, now: float) -> None:
        self.heard_at = now
        self.asked_at: float | None = None
        self.bytes = self.frames = -1

    def heard(self, connection: FeederConnection, now: float) -> bool:
        """A whole frame, or a good part of a batch: a few stray bytes are not a sign of life within a broken frame."""
        if connection.frames_received == self.frames and connection.bytes_received - self.bytes < 4096:
            return False
        self.frames, self.bytes = connection.frames_received, connection.bytes_received
        self.heard_at = now
        self.asked_at = None
        return True
