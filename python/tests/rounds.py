"""How much random tests and matrices of tests do: seeds, rounds, budgets, and the cells that a run draws.

A random test names a budget of seconds and a minimum of rounds::

    def test_rows_of_any_order() -> None:
        def one(rng: Random) -> None: ...

        rounds(one, seconds=1, at_least=50)

`TEST_EFFORT=10` multiplies all budgets by ten. The minimum runs at any speed of the machine; a test that is stopped
below it fails. `TEST_SEED=N TEST_ROUND=K` repeats exactly one round, because a round draws from its seed and its number
alone. `known-seeds.txt` lists rounds that once failed, which run first. `TEST_ROUNDS=N` raises the minimum for a long
run of one test, and `TEST_FIRST=K` names its first round.

A matrix of tests has the mark `cells`: a run draws a quarter of its cells, with each value of each parameter, and runs
all of them with `STOKER_TIER=full`. A cell that the command line names runs always.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random, SystemRandom
from typing import Any, TypeVar

import numpy as np

KNOWN_SEEDS = Path(__file__).parent / "known-seeds.txt"
SHARE = 4
"""One cell of four is drawn."""
T = TypeVar("T")


@dataclass(frozen=True)
class Known:
    """A round that once failed."""

    test: str
    seed: int
    round: int


def known_seeds(lines: Iterable[str]) -> list[Known]:
    found = []
    for line in lines:
        words = line.partition("#")[0].split()
        if words:
            try:
                test, seed, number = words
                found.append(Known(test, int(seed), int(number)))
            except ValueError as e:
                raise ValueError(f"{KNOWN_SEEDS.name}: {line.strip()!r} is not: TEST SEED ROUND # what it found") from e
    return found


def _number(name: str) -> int | None:
    text = os.environ.get(name, "")
    return int(text) if text else None


def _drawn_seed() -> int:
    return SystemRandom().randrange(1, 1_000_000_000)


@dataclass(frozen=True)
class Settings:
    """The options of this run."""

    seed: int = field(default_factory=_drawn_seed)
    effort: float = 1
    only_round: int | None = None
    rounds: int = 0
    first: int = 0
    known: Sequence[Known] = ()

    @staticmethod
    def of_environment() -> Settings:
        seed, only_round = _number("TEST_SEED"), _number("TEST_ROUND")
        if only_round is not None and seed is None:
            raise ValueError("TEST_ROUND needs the seed of the round: TEST_SEED=N")
        return Settings(
            _drawn_seed() if seed is None else seed,
            float(os.environ.get("TEST_EFFORT") or 1),
            only_round,
            _number("TEST_ROUNDS") or 0,
            _number("TEST_FIRST") or 0,
            known_seeds(KNOWN_SEEDS.read_text("utf-8").splitlines()),
        )


SETTINGS = Settings.of_environment()
EXHAUSTIVE = os.environ.get("TEST_EXHAUSTIVE") == "1"
"""Whether to try all cases where others draw some. Tests of schedules and of interrupts have such a mode."""
ALL_CELLS = os.environ.get("STOKER_TIER") == "full"


def seed() -> int:
    """The seed of this run, for tests that have no rounds. Prints it."""
    print(f"random {_title()}: TEST_SEED={SETTINGS.seed}")
    return SETTINGS.seed


def is_replay() -> bool:
    """Whether this run repeats one round that TEST_ROUND names."""
    return SETTINGS.only_round is not None


class Round(Random):
    """The randomness of one round. It depends on the seed and the number of the round alone."""

    number: int

    def numpy(self) -> np.random.Generator:
        return np.random.default_rng(self.getrandbits(64))


def randomness(seed: int, number: int) -> Round:
    found = Round(f"{seed} {number}")
    found.number = number
    return found


def _title() -> str:
    """The test that runs, as pytest names it."""
    return re.sub(r" \(\w+\)$", "", os.environ.get("PYTEST_CURRENT_TEST", "outside of a test"))


def _name(title: str) -> str:
    """Its file and function: the name in known-seeds.txt."""
    return re.sub(r"\[.*", "", title.rpartition("/")[2])


def rounds(
    body: Callable[[Round], object], *, seconds: float = 0, at_least: int = 1, settings: Settings | None = None
) -> int:
    """Runs the body until the budget is over, and `at_least` times. Returns the number of rounds without known ones."""
    own = settings or SETTINGS
    title = _title()

    def one(seed: int, number: int) -> None:
        try:
            body(randomness(seed, number))
        except Exception as e:
            raise AssertionError(
                f"{title} failed in round {number} of seed {seed}: {str(e) or repr(e)}\n"
                f"Repeat the round with TEST_SEED={seed} TEST_ROUND={number} python -m pytest '{title}'"
            ) from e

    if own.only_round is not None:
        print(f"random {title}: round {own.only_round} of seed {own.seed} alone")
        one(own.seed, own.only_round)
        return 1
    for known in own.known:
        if known.test == _name(title):
            print(f"random {title}: known round {known.round} of seed {known.seed}")
            one(known.seed, known.round)
    least = max(at_least, own.rounds)
    begin = time.monotonic()
    done = 0
    try:
        while done < least or time.monotonic() - begin < seconds * own.effort:
            one(own.seed, own.first + done)
            done += 1
    finally:
        elapsed = max(time.monotonic() - begin, 1e-9)
        rate = done / elapsed
        print(
            f"random {title}: seed {own.seed}, {done:,} round{'s' * (done != 1)} in {elapsed:.1f} s"
            f" ({rate:,.{1 if rate < 10 else 0}f}/s)"
        )
    return done


def drawn(values: Iterable[T], seed: int, axes: Sequence[Callable[[T], Hashable]] = ()) -> list[T]:
    """A quarter of the values, rounded up, in their order; more if a kind on an axis would have none otherwise."""
    every = list(values)
    order = Random(seed).sample(range(len(every)), len(every))
    kinds = [{(n, axis(value)) for n, axis in enumerate(axes)} for value in every]
    missing: set[Any] = set().union(*kinds)
    chosen: list[int] = []
    while missing:
        best = max(order, key=lambda i: len(kinds[i] & missing))
        missing -= kinds[best]
        chosen.append(best)
    rest = [i for i in order if i not in chosen]
    chosen += rest[: max(0, -(-len(every) // SHARE) - len(chosen))]
    return [every[i] for i in sorted(chosen)]


def drawn_cells(items: Sequence[Any], seed: int) -> list[Any]:
    """The tests to run: of each function with the mark `cells` a quarter, with each value of each parameter."""
    matrices: dict[str, list[Any]] = {}
    for item in items:
        if item.get_closest_marker("cells"):
            matrices.setdefault(item.nodeid.partition("[")[0], []).append(item)
    left_out: set[Any] = set()
    for name, matrix in matrices.items():
        # Parameters that divide the tests in the same way are one axis, such as those that are listed together.
        axes = set()
        for argument in matrix[0].callspec.params:
            values = [repr(item.callspec.params[argument]) for item in matrix]
            axes.add(tuple(map(values.index, values)))
        places = range(len(matrix))
        by_axis = [axis.__getitem__ for axis in sorted(axes)] if len(axes) > 1 else []
        few = {matrix[place] for place in drawn(places, Random(f"{seed} {name}").getrandbits(32), by_axis)}
        left_out.update(item for item in matrix if item not in few)
    return [item for item in items if item not in left_out]
