"""Which feeder serves which lane: the lane map and how lanes are placed on connections. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from stoker._format.plural import plural
from stoker._transport.discovery import split_address
from stoker._transport.local_transport import UnixAddress, read_unix
from stoker._wire.decoding import require_keys
from stoker._wire.protocol import LANE_MAP
from stoker.errors import ProtocolError


@dataclass(frozen=True)
class LaneMap:
    """For each lane the addresses that serve it, most preferred first. Advice: any feeder serves any lane."""

    generation: tuple[int, int]
    """(start of its author in ms, counter); the greater is the newer."""
    lanes: tuple[tuple[str, ...], ...]
    unix: Mapping[str, UnixAddress] = field(default_factory=dict)
    """By address, the Unix-domain socket of the same feeder."""

    @property
    def addresses(self) -> tuple[str, ...]:
        """Every address that some lane names."""
        return tuple(dict.fromkeys(address for lane in self.lanes for address in lane))

    @staticmethod
    def from_json(values: Mapping[str, Any], lanes: int) -> LaneMap:
        """Reads the JSON of a LANE_MAP frame for a stream of `lanes` lanes; raises `ProtocolError`."""
        require_keys(LANE_MAP, values, ("generation", "addresses", "lanes"))
        try:
            start, counter = (int(part) for part in values["generation"])
            addresses = [str(address) for address in values["addresses"]]
            for address in addresses:
                split_address(address)
            unix = read_unix(values.get("unix"))
            rows = [tuple(addresses[_index(i, len(addresses))] for i in lane) for lane in values["lanes"]]
        except (TypeError, ValueError) as e:
            raise ProtocolError(f"lane map is malformed: {e}", "bad_frame") from e
        if len(rows) != lanes:
            raise ProtocolError(f"the lane map has {plural(len(rows), 'lane')}, the stream has {lanes}", "bad_frame")
        return LaneMap((start, counter), tuple(rows), unix)


def _index(value: Any, size: int) -> int:
    if not isinstance(value, int) or not 0 <= value < size:
        raise ValueError(f"index {value!r} with {size} addresses")
    return value


def choose(lane_map: LaneMap, avoided: Collection[str]) -> list[str | None]:
    """The address wanted for each lane: the first not avoided, else the first at all, else none."""
    wanted: list[str | None] = []
    for addresses in lane_map.lanes:
        first = next((a for a in addresses if a not in avoided), None)
        wanted.append(first or (addresses[0] if addresses else None))
    return wanted


def place(
    wanted: Sequence[str | None], live: Sequence[str], serving: Sequence[str | None], hopeless: Collection[int]
) -> list[str | None]:
    """The live address to use for each lane.

    The wanted one if it is live; else the one that serves now, so that nothing stops while a connection is made; else
    any live one for a lane that is hopeless (everything in its list was tried) or wants nothing; else none yet.
    """
    alive = set(live)
    placed: list[str | None] = []
    for lane, address in enumerate(wanted):
        if address in alive:
            placed.append(address)
        elif serving[lane] in alive:
            placed.append(serving[lane])
        elif live and (address is None or lane in hopeless):
            placed.append(live[lane % len(live)])
        else:
            placed.append(None)
    return placed
