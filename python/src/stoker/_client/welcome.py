"""What a feeder says of a stream, and what it says when it refuses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from stoker._format.requires import check_requires
from stoker._source.batch_source import StreamInfo
from stoker._wire import decoding
from stoker._wire import protocol as p
from stoker.errors import (
    BatchTooLargeError,
    CorruptDataError,
    FencedError,
    FormatTooNewError,
    OrderMismatchError,
    PlaceTakenError,
    ProtocolError,
    StateMismatchError,
    StokerError,
    UnauthorizedError,
)

_KEYS = (
    "protocol",
    "feed",
    "stream",
    "fingerprint",
    "order",
    "fields",
    "classes",
    "lane_rows",
    "samples",
    "batches",
    "largest_batch",
    "epochs",
    "run",
    "lane_map",
)


@dataclass(frozen=True)
class Welcome:
    """A WELCOME, validated."""

    info: StreamInfo
    feed_id: str
    feed_name: str
    feed_tag: int
    fingerprint_tag: int
    largest_batch: int
    lane_map: Mapping[str, Any]
    stats: bool = False
    """Whether the feeder takes STATS."""
    local_files: int = 0
    """Files that the feeder may hand over at a time; 0: payload comes over the connection."""
    read_only: bool = False
    """Whether the feeder takes no receipts, as the token is for reading only."""

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> Welcome:
        """Raises `ProtocolError` for a malformed one, `FormatTooNewError` for a newer protocol or feature."""
        decoding.require_keys(p.WELCOME, values, _KEYS)
        if values["protocol"] != p.VERSION:
            raise FormatTooNewError(f"the feeder speaks feed protocol {values['protocol']}, this client {p.VERSION}")
        try:
            check_requires(values, "WELCOME")
            feed = values["feed"]
            info = StreamInfo.from_json(values, "WELCOME", int(values["run"]))
            welcome = Welcome(
                info,
                str(feed["id"]),
                str(feed["name"]),
                p.tag(str(feed["id"])),
                p.tag(info.fingerprint),
                int(values["largest_batch"]),
                dict(values["lane_map"]),
                values.get("stats") is True,
                _natural(values.get("local_files", 0)),
                values.get("read_only") is True,
            )
        except (KeyError, TypeError, ValueError, AttributeError, CorruptDataError) as e:
            raise ProtocolError(f"WELCOME frame is malformed: {type(e).__name__}: {e}", "bad_frame") from e
        if sum(info.lane_rows) != info.samples or -(-info.samples // info.order.batch_size) != info.batches:
            raise ProtocolError(
                f"WELCOME frame contradicts itself: lanes of {sum(info.lane_rows)} rows, {info.samples} samples, "
                f"{info.batches} batches of {info.order.batch_size}",
                "bad_frame",
            )
        return welcome

    def difference(self, other: Welcome) -> str:
        """What differs between two welcomes of one feed, in words."""
        mine, theirs = self.info, other.info
        pairs: list[tuple[str, Any, Any]] = [
            (name, getattr(mine, name), getattr(theirs, name)) for name in ("dataset", "version", "split", "samples")
        ]
        order, other_order = mine.order.to_json(), theirs.order.to_json()
        names = [*order, *(name for name in other_order if name not in order)]
        pairs += [(name, order.get(name), other_order.get(name)) for name in names]
        found = [f"{name} was {a}, is {b}" for name, a, b in pairs if a != b]
        return "; ".join(found) or f"fingerprint was {mine.fingerprint}, is {theirs.fingerprint}"


def _natural(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 31:
        raise ValueError(f"{value!r} is not a count")
    return value


class Refusal(NamedTuple):
    """What an ERROR frame means for the client."""

    error: StokerError
    final: bool
    """Connecting again would be refused again."""
    counted: bool = False
    """Connecting again may help, but not for ever."""

    @staticmethod
    def of(code: str, text: str) -> Refusal:
        """The meaning of a code; unknown ones are taken like `internal`."""
        match code:
            case "fenced":
                return Refusal(FencedError(text, code), True)
            case "place_taken":
                return Refusal(PlaceTakenError(text, code), False)
            case "unauthorized":
                return Refusal(UnauthorizedError(text, code), True)
            case "order_mismatch":
                return Refusal(OrderMismatchError(text), True)
            case "unsupported_protocol":
                hint = f"(this client speaks feed protocol {p.VERSION}; update the older side)"
                return Refusal(FormatTooNewError(f"{text} {hint}"), True)
            case "version_mismatch":
                return Refusal(StateMismatchError(text), True)
            case "corrupt":
                return Refusal(CorruptDataError(text), True)
            case "too_large":
                return Refusal(BatchTooLargeError(text), True)
            case "wrong_feed" | "unknown_stream" | "world_size_mismatch":
                return Refusal(ProtocolError(text, code), True)
            case "shutting_down" | "origin_unavailable":
                return Refusal(ProtocolError(text, code), False)
            case _:
                return Refusal(ProtocolError(text, code), False, True)
