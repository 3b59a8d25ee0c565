"""Random tests keep their budget and their minimum, and each round can be repeated."""

from __future__ import annotations

import re
import time
from collections import Counter
from itertools import product
from random import Random
from types import SimpleNamespace

import pytest

import rounds as r
from rounds import Settings, drawn, drawn_cells, known_seeds, randomness, rounds


def test_the_minimum_runs_whatever_the_budget() -> None:
    drawn_numbers = []
    assert rounds(lambda rng: drawn_numbers.append(rng.random()), at_least=50, settings=Settings(7)) == 50
    assert drawn_numbers == [randomness(7, number).random() for number in range(50)]


def test_rounds_run_until_the_budget_is_over() -> None:
    begin = time.monotonic()
    assert rounds(lambda rng: None, seconds=0.02, settings=Settings(7)) > 1
    assert time.monotonic() - begin >= 0.02


def test_effort_multiplies_the_budget() -> None:
    begin = time.monotonic()
    rounds(lambda rng: None, seconds=0.01, settings=Settings(7, effort=10))
    assert time.monotonic() - begin >= 0.1


def test_an_option_raises_the_minimum_and_names_the_first_round() -> None:
    found = []
    assert rounds(lambda rng: found.append(rng.random()), at_least=2, settings=Settings(7, rounds=3, first=40)) == 3
    assert found == [randomness(7, number).random() for number in (40, 41, 42)]
    assert rounds(lambda rng: None, at_least=4, settings=Settings(7, rounds=3)) == 4


def test_a_test_that_is_stopped_below_the_minimum_fails() -> None:
    """An interrupt or a skip comes through, so the test does not pass."""
    with pytest.raises(pytest.skip.Exception):
        rounds(lambda rng: pytest.skip("not here"), at_least=3, settings=Settings(7))


def test_a_round_is_repeated_exactly_and_alone() -> None:
    found: list[float] = []
    rounds(lambda rng: found.append(rng.random()), at_least=20, settings=Settings(7))
    assert len(set(found)) == 20
    again: list[float] = []
    settings = Settings(7, only_round=17, known=[r.Known("test_rounds.py::test_a_round_is_repeated_exactly", 1, 1)])
    rounds(lambda rng: again.append(rng.random()), seconds=60, at_least=20, settings=settings)
    assert again == [found[17]]


def test_a_round_without_its_seed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEST_ROUND", "3")
    monkeypatch.delenv("TEST_SEED", raising=False)
    with pytest.raises(ValueError, match="TEST_SEED=N"):
        Settings.of_environment()


def test_options_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("SEED", "5"), ("ROUND", "6"), ("EFFORT", "0.5"), ("ROUNDS", "7"), ("FIRST", "8")):
        monkeypatch.setenv(f"TEST_{name}", value)
    read = Settings.of_environment()
    assert (read.seed, read.only_round, read.effort, read.rounds, read.first) == (5, 6, 0.5, 7, 8)


@pytest.mark.parametrize("cell", ["of a matrix"])
def test_known_seeds_run_first(capsys: pytest.CaptureFixture[str], cell: str) -> None:
    known = known_seeds(
        [
            "# test seed round",
            "",
            "test_rounds.py::test_known_seeds_run_first 5 9 # lost a row",
            "test_rounds.py::test_another 5 10",
        ]
    )
    found: list[float] = []
    done = rounds(lambda rng: found.append(rng.random()), at_least=2, settings=Settings(7, known=known))
    assert found == [randomness(*place).random() for place in ((5, 9), (7, 0), (7, 1))]
    assert done == 2
    assert capsys.readouterr().out.splitlines()[0].endswith(f"first[{cell}]: known round 9 of seed 5")


def test_known_seeds_of_the_file_run_first() -> None:
    found: list[float] = []
    settings = Settings(7, known=known_seeds(r.KNOWN_SEEDS.read_text("utf-8").splitlines()))
    rounds(lambda rng: found.append(rng.random()), settings=settings)
    assert found[0] == randomness(1, 2).random()


def test_known_seeds_that_cannot_be_read_are_refused() -> None:
    with pytest.raises(ValueError, match=r"known-seeds\.txt: 'test_x\.py::test_y 5' is not: TEST SEED ROUND"):
        known_seeds(["test_x.py::test_y 5"])


def test_seed_rounds_and_rate_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    rounds(lambda rng: None, at_least=1_234, settings=Settings(7))
    assert re.fullmatch(
        r"random tests/test_rounds\.py::test_seed_rounds_and_rate_are_printed: seed 7, 1,234 rounds in \d+\.\d s"
        r" \([\d,]+/s\)\n",
        capsys.readouterr().out,
    )


def test_a_failure_names_seed_and_round_and_how_to_repeat_it(capsys: pytest.CaptureFixture[str]) -> None:
    wrong = randomness(7, 4).random()

    def one(rng: Random) -> None:
        if rng.random() == wrong:
            raise KeyError("lost")

    with pytest.raises(AssertionError) as raised:
        rounds(one, at_least=9, settings=Settings(7))
    name = "tests/test_rounds.py::test_a_failure_names_seed_and_round_and_how_to_repeat_it"
    assert str(raised.value).splitlines() == [
        f"{name} failed in round 4 of seed 7: 'lost'",
        f"Repeat the round with TEST_SEED=7 TEST_ROUND=4 python -m pytest '{name}'",
    ]
    assert isinstance(raised.value.__cause__, KeyError)
    assert "seed 7, 4 rounds in" in capsys.readouterr().out


MATRIX = [(f"row {row}", f"column {column}") for row, column in product(range(5), range(8))]


def test_a_quarter_of_the_cells_is_drawn_with_each_row_and_column() -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for seed in range(100):
        few = drawn(MATRIX, seed, [lambda cell: cell[0], lambda cell: cell[1]])
        assert len(few) == 10
        assert few == sorted(set(few), key=MATRIX.index)
        assert len({row for row, _ in few}) == 5
        assert len({column for _, column in few}) == 8
        seen.update(few)
    assert set(seen) == set(MATRIX)
    assert drawn(MATRIX, 3) == drawn(MATRIX, 3)
    assert drawn(["only"], 3) == ["only"]
    assert len(drawn("abcde", 3)) == 2


class Item:
    """What the hook reads of a test."""

    def __init__(self, function: str, marked: bool, **params: object) -> None:
        self.nodeid = f"tests/{function}[{params}]"
        self.marked = marked
        self.callspec = SimpleNamespace(params=params)

    def get_closest_marker(self, name: str) -> bool:
        return name == "cells" and self.marked


def test_of_marked_matrices_a_quarter_runs() -> None:
    matrix = [Item("test_a.py::test_a", True, row=row, column=column) for row in range(5) for column in range(8)]
    listed = [Item("test_a.py::test_b", True, name=i, options={"tail": i}) for i in range(8)]
    others = [Item("test_a.py::test_c", False, name=i) for i in range(8)]
    for seed in range(20):
        kept = drawn_cells([*matrix, *listed, *others], seed)
        few = [item for item in kept if item in matrix]
        assert len(few) == 10
        assert {item.callspec.params["row"] for item in few} == set(range(5))
        assert {item.callspec.params["column"] for item in few} == set(range(8))
        assert len([item for item in kept if item in listed]) == 2
        assert kept[-8:] == others
    assert drawn_cells(matrix[3:4], 7) == matrix[3:4]
