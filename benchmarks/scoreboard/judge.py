"""Says whether a resumed epoch was delivered exactly once, from the numbers of the samples alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

PASS, FAIL, NOT_OFFERED, NOT_INSTALLED = "pass", "fail", "not offered", "not installed"


@dataclass(frozen=True)
class Verdict:
    """The result of a case, with a reason of one line unless it passed."""

    result: str
    reason: str = ""

    @property
    def passed(self) -> bool:
        return self.result == PASS


def failed(reason: str) -> Verdict:
    return Verdict(FAIL, " ".join(reason.split())[:200])


Steps = Sequence[Sequence[int]]
"""The samples of a rank by step."""


def in_order(ranks: Sequence[Steps]) -> list[int]:
    """Returns the samples of all ranks, by step and then by rank."""
    longest = max((len(steps) for steps in ranks), default=0)
    return [number for step in range(longest) for rank in ranks if step < len(rank) for number in rank[step]]


def exactly_once(delivered: Iterable[int], samples: int) -> Verdict:
    """Checks that the samples 0 … `samples` − 1 were delivered once each."""
    counts = Counter(delivered)
    if not counts:
        return failed("the iteration delivered nothing")
    missing = sum(number not in counts for number in range(samples))
    unknown = sum(number not in range(samples) for number in counts)
    repeated = sum(count - 1 for count in counts.values())
    if not missing and not repeated and not unknown:
        return Verdict(PASS)
    found = [f"{missing} of {samples} missing"] * (missing > 0) + [f"{repeated} repeated"] * (repeated > 0)
    return failed(", ".join(found + [f"{unknown} unknown"] * (unknown > 0)))


def same_order(delivered: Sequence[int], expected: Sequence[int], unit: int) -> Verdict:
    """Checks that two sequences have the same samples in each unit, a global batch or several."""
    for first in range(0, max(len(delivered), len(expected)), unit):
        if sorted(delivered[first : first + unit]) != sorted(expected[first : first + unit]):
            return failed(f"each sample once, but another order from sample {first} on, though the same is documented")
    return Verdict(PASS)
