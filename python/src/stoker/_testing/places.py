"""The places of a fake feed: which session has which, and in which run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from stoker._testing.state import FeedState
from stoker.errors import ProtocolError

Place = tuple[str, int, int, int]
"""(group, rank, worker, replica)."""


class Occupant(Protocol):
    """A session, so far as places are concerned."""

    hello: dict[str, Any]
    identity: tuple[str, int, int, int, int] | None
    ended: bool

    def fail(self, code: str, message: str) -> None:
        """Sends ERROR and ends the session."""


def place_of(hello: dict[str, Any]) -> Place:
    """Returns the place that a HELLO asks for."""
    return hello["group"], hello["rank"], hello["worker"], hello["replica"]


def take_place(state: FeedState, session: Occupant, sessions: Sequence[Occupant]) -> int:
    """Gives a session its place, and fences the sessions that had it before. Returns its run.

    `sessions` are all sessions of the feeder. Raises `ProtocolError` if the session may not have the place.
    """
    hello = session.hello
    place = place_of(hello)
    with state.changed:
        run: int = hello["run"] or hello.get("joined", 0)
        known = state.runs.get(place, 0)
        others = list(_others(place, session, sessions))
        holder = next((s for s in others if s.hello.get("instance") != hello.get("instance")), None)
        if holder is not None and not hello["run"] > (state.group_runs.get(place[0]) or (0,))[0]:
            who = holder.hello.get("instance") or {"pid": 0, "host": "nowhere"}
            text = f'process {who["pid"]} on host {who["host"]} reads here; read in another group: group="…"'
            raise ProtocolError(text, "place_taken")
        if any(s.hello.get("sent", 0) > hello.get("sent", 0) > 0 for s in others):
            raise ProtocolError("a later connection of this process has replaced this one", "fenced")
        current, world = state.group_runs.get(place[0], (0, 0))
        if run == 0:
            is_own = hello.get("instance") is not None and bool(others)
            joins = current > 0 and world == hello["world_size"] and (known < current or is_own)
            run = current if joins else current + 1
        if run < known:
            raise ProtocolError(f"run {run} was taken over by run {known}", "fenced")
        if run == current and world != hello["world_size"]:
            raise ProtocolError(f"run {run} has world size {world}", "world_size_mismatch")
        state.runs[place] = run
        if run >= current:
            state.group_runs[place[0]] = (run, hello["world_size"])
        session.identity = (*place, run)
        before = [s for s in sessions if s is not session and s.identity and s.identity[:4] == place]
        before = [s for s in before if not s.hello.get("look")]
    for other in before:
        if not other.ended:
            other.fail("fenced", f"run {other.identity and other.identity[4]} was taken over by run {run}")
    return run


def _others(place: Place, session: Occupant, sessions: Sequence[Occupant]) -> Iterator[Occupant]:
    """Returns the other live sessions at a place, except those that only look."""
    for other in sessions:
        is_live = other is not session and not other.ended and not other.hello.get("look")
        if is_live and other.identity is not None and other.identity[:4] == place:
            yield other
