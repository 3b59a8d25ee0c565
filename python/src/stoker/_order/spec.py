"""The order spec: what determines, with a stream, every batch of every epoch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stoker.errors import FormatTooNewError

Tail = Literal["pad", "drop", "keep"]
"""What becomes of the end of an epoch when the ranks' shares are unequal."""

TAILS: tuple[Tail, ...] = ("pad", "drop", "keep")


@dataclass(frozen=True)
class OrderSpec:
    """The order spec of function 1; validates."""

    seed: int = 0
    batch_size: int = 64
    lanes: int = 16
    shuffle_window: int = 1 << 30
    """Bytes over all lanes."""
    shuffle: str = "window"
    lane_order: str = "mixed"

    def __post_init__(self) -> None:
        problems = []
        for name, low, high in (
            ("seed", 0, 2**63 - 1),
            ("batch_size", 1, 65535),
            ("lanes", 1, 65535),
            ("shuffle_window", 0, 2**63 - 1),
        ):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                unit = " of bytes" if name == "shuffle_window" else ""
                problems.append(f"{name} must be an integer{unit} from {low} to {high}, is {value!r}")
        if self.shuffle not in ("window", "none"):
            problems.append(f"shuffle must be 'window' or 'none', is {self.shuffle!r}")
        if self.lane_order not in ("mixed", "fixed"):
            problems.append(f"lane_order must be 'mixed' or 'fixed', is {self.lane_order!r}")
        if problems:
            raise ValueError("; ".join(problems))

    def to_json(self) -> dict[str, Any]:
        """The full spec in canonical key order."""
        return {
            "function": 1,
            "seed": self.seed,
            "batch_size": self.batch_size,
            "lanes": self.lanes,
            "shuffle_window": self.shuffle_window,
            "shuffle": self.shuffle,
            "lane_order": self.lane_order,
        }

    def canonical(self) -> str:
        """The text that enters the fingerprint."""
        return json.dumps(self.to_json(), separators=(",", ":"))

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> OrderSpec:
        """Reads a partial or full spec; absent keys take their defaults, unknown ones are refused."""
        given = dict(values)
        function = given.pop("function", 1)
        if function != 1:
            raise FormatTooNewError(f"order function {function!r} is not known here (only 1); update stoker")
        unknown = sorted(set(given) - set(OrderSpec.__dataclass_fields__))
        if unknown:
            raise ValueError(f"order spec: unknown keys {', '.join(unknown)}")
        return OrderSpec(**given)
