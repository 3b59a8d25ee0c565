"""The order spec: what determines, with a stream, every batch of every epoch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from stoker._condition.syntax import canonical, parse
from stoker.errors import ConditionError, FormatTooNewError

Tail = Literal["pad", "drop", "keep"]
"""What becomes of the end of an epoch when the ranks' shares are unequal."""

TAILS: tuple[Tail, ...] = ("pad", "drop", "keep")


_RESERVED = (
    "balance",
    "epoch_samples",
    "pack",
    "batch_by",
    "streams",
    "weights",
    "unit",
    "schedule",
    "per",
    "stop",
    "grain",
)
"""Keys that later functions will have."""


@dataclass(frozen=True)
class OrderSpec:
    """The order spec of functions 1 and 2; validates."""

    seed: int = 0
    batch_size: int = 64
    lanes: int = 16
    shuffle_window: int = 1 << 30
    """Bytes over all lanes."""
    shuffle: str = "window"
    lane_order: str = "mixed"
    where: str = ""
    """Canonical text of the condition that rows must satisfy; empty: all rows."""

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
        if not isinstance(self.where, str):
            problems.append(f"where must be a condition as text, is {self.where!r}")
        elif self.where:
            try:
                object.__setattr__(self, "where", canonical(parse(self.where)))
            except ConditionError as e:
                problems.append(f"where: {e}")
        if problems:
            raise ValueError("; ".join(problems))

    @property
    def function(self) -> int:
        """The version of the order function."""
        return 2 if self.where else 1

    def to_json(self) -> dict[str, Any]:
        """The full spec in canonical key order."""
        return {
            "function": self.function,
            "seed": self.seed,
            "batch_size": self.batch_size,
            "lanes": self.lanes,
            "shuffle_window": self.shuffle_window,
            "shuffle": self.shuffle,
            "lane_order": self.lane_order,
            **({"where": self.where} if self.where else {}),
        }

    def canonical(self) -> str:
        """The text that enters the fingerprint."""
        return json.dumps(self.to_json(), separators=(",", ":"), ensure_ascii=False)

    @staticmethod
    def from_json(values: Mapping[str, Any]) -> OrderSpec:
        """Reads a partial or full spec; absent keys take their defaults, unknown ones are refused."""
        given = dict(values)
        function = given.pop("function", None)
        if function not in (None, 1, 2) or isinstance(function, bool):
            raise FormatTooNewError(f"order function {function!r} is not known here (only 1 and 2); update stoker")
        reserved = [name for name in _RESERVED if name in given]
        if reserved:
            raise FormatTooNewError(f"order spec: {', '.join(reserved)} is not known here; update stoker")
        unknown = sorted(set(given) - set(OrderSpec.__dataclass_fields__))
        if unknown:
            raise ValueError(f"order spec: unknown keys {', '.join(unknown)}")
        spec = OrderSpec(**given)
        if function is not None and function != spec.function:
            raise ValueError(f"order spec: function is {function}, but its keys need function {spec.function}")
        return spec
