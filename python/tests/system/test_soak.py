"""Memory does not grow with epochs. Takes minutes: `python/check -m soak`."""

import json
import subprocess
import sys

import pytest
from stoker_processes import REPOSITORY, make_tree


@pytest.mark.soak
def test_memory_after_many_epochs_is_that_after_one(cli, tmp_path):
    make_tree(tmp_path / "files", {"a": 4000, "b": 4000}, lambda n: 20_000)
    cli.run("ingest", tmp_path / "files", tmp_path / "data", "--label-from", "parent-dir", "--chunk-size", "1mb")
    script = REPOSITORY / "benchmarks" / "memory.py"
    out = subprocess.run(
        [sys.executable, script, tmp_path / "data", "--epochs", "50"], check=True, stdout=subprocess.PIPE, text=True
    ).stdout
    found = json.loads(out.splitlines()[-1])
    assert found["feeder_n"] - found["working_mb"] <= 600, out
    assert found["trainer_n"] - found["buffer_mb"] <= 64, out
    # Half an epoch's garbage more or less is the collector's choice; a leak of one batch an epoch would show.
    assert found["feeder_n"] <= 1.1 * found["feeder_1"] + 16, out
    assert found["trainer_n"] <= 1.02 * found["trainer_1"] + 2, out
