"""Erasures are killed with SIGKILL at random moments, and the same command finishes them. Takes minutes:
`python/check -m chaos -s -k erasure`, with CHAOS_ROUNDS and TEST_SEED if wanted."""

from __future__ import annotations

import os
import random
import shutil
import signal
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from stoker_processes import Cli, until

import stoker
from rounds import seed as run_seed

ROUNDS = int(os.environ.get("CHAOS_ROUNDS") or 20)


def _files_with(root: Path, *parts: bytes) -> list[Path]:
    files = [path for path in root.rglob("*") if path.is_file()]
    return [path for path in files if any(part in path.read_bytes() for part in parts)]


def _phase(root: Path) -> str:
    """The newest record of the erasure, as its file name."""
    names = {path.name for path in (root / "_stoker" / "erasures").glob("*/*.json")}
    return next((name for name in ("certificate.json", "deleting.json", "begun.json") if name in names), "nothing")


@pytest.fixture
def dataset(cli: Cli, tmp_path: Path) -> tuple[Path, dict[str, bytes], list[str]]:
    """Versions with chunks of a few samples, an overlay, an index, and a sample that was deleted before."""
    path = tmp_path / "data"
    content: dict[str, bytes] = {}
    rng = np.random.default_rng(1)
    for classes in ({"ant": 60, "cat": 40}, {"zorilla": 2, "bee": 20}):
        with stoker.Writer(
            path, {"label": "categorical", "data": "binary"}, payload=["data"], append=bool(content), chunk_size=4096
        ) as writer:
            for name, count in classes.items():
                for number in range(count):
                    key, data = f"{name}/{number:03d}.bin", rng.bytes(150 + int(rng.integers(400)))
                    writer.write({"key": key, "label": name, "data": data})
                    content[key] = data
    keys = sorted(content)
    erased = [keys[3], keys[30], *(key for key in keys if key.startswith("zorilla"))]
    cli.run("delete", path, keys[3], "--yes")
    labels = tmp_path / "labels.csv"
    labels.write_text(f"key,label\n{keys[30]},wolf\n{keys[31]},wolf\n")
    cli.run("update", path, labels, "--yes")
    cli.run("index", path)
    return path, content, erased


@pytest.mark.chaos
def test_an_erasure_killed_at_any_moment_is_finished_by_the_same_command(
    cli: Cli, tmp_path: Path, dataset: tuple[Path, dict[str, bytes], list[str]]
) -> None:
    rng = random.Random(run_seed())
    whole, content, erased = dataset
    others = {key: data for key, data in content.items() if key not in erased}
    seconds = 1.0
    phases: Counter[str] = Counter()
    for number in range(ROUNDS):
        path = tmp_path / f"round-{number}"
        shutil.copytree(whole, path)
        command = ("delete", path, *erased, "--erase", "--ingest-id", "erase-it", "--yes")
        process = cli.start(*command, start_new_session=True)
        begun = path / "_stoker" / "erasures" / "erase-it" / "begun.json"
        until(lambda begun=begun, process=process: begun.exists() or process.poll() is not None, "the erasure begins")
        since = time.monotonic()
        if number == 0:
            # Runs to its end, to learn how long that takes.
            said = process.communicate()
            assert process.returncode == 0, said
            seconds = time.monotonic() - since
        else:
            time.sleep(rng.random() * seconds)
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            phases[_phase(path)] += 1
        # Readers see all other samples, whatever was done.
        samples = stoker.open(path)
        assert set(samples.keys()) - set(erased) == set(others)
        for key in rng.sample(sorted(others), 20):
            assert samples[key]["data"] == others[key]

        cli.run(*command)

        samples = stoker.open(path)
        assert set(samples.keys()) == set(others)
        for key, data in others.items():
            assert samples[key]["data"] == data
        traces = [*(content[key] for key in erased), *(key.encode() for key in erased), b"zorilla"]
        assert _files_with(path, *traces) == []
        cli.run("verify", path, "--erased", path / "_stoker" / "erasures" / "erase-it" / "certificate.json")
        if number % 5 == 0:
            cli.run("verify", path)
        shutil.rmtree(path)
    print(f"{ROUNDS - 1} erasures killed; newest record at that time: {dict(phases)}")
    if ROUNDS > 10:
        assert phases["begun.json"] > 0
