"""Flipped bits of every format that the package reads, and of the bytes between a feeder and a trainer: an error, or the
right content. `python/check -m soak -s -k flip` flips a million bits; TEST_FLIPS and TEST_SEED choose others."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

import flips as f

SEED = int(os.environ.get("TEST_SEED", time.time_ns() % 1_000_000_000))


def flip_everything(folder: Path, flips: int) -> None:
    print(f"TEST_SEED={SEED}")
    formats = f.all_formats(folder)
    share = flips / sum(1 / form.dear for form in formats)
    results = [f.flip_bits(form, max(1, round(share / form.dear)), np.random.default_rng(SEED)) for form in formats]
    print(f.table(results))
    assert not [problem for result in results for problem in result.wrong]
    assert all(result.refused or result.format.unread for result in results)


def test_flipped_bits_are_refused_or_change_nothing(tmp_path: Path) -> None:
    flip_everything(tmp_path, f.budget(3_000))


@pytest.mark.soak
def test_a_million_flipped_bits_are_refused_or_change_nothing(tmp_path: Path) -> None:
    flip_everything(tmp_path, f.budget(1_000_000))
