"""Memory does not grow with epochs. Takes a minute or two: `python/check -m soak`."""

import json
import os
import subprocess
import sys

import pytest
from stoker_processes import REPOSITORY, make_tree


@pytest.mark.soak
def test_memory_does_not_grow_with_epochs(cli, tmp_path):
    make_tree(tmp_path / "files", {"a": 4000, "b": 4000}, lambda n: 20_000)
    cli.run("ingest", tmp_path / "files", tmp_path / "data", "--label-from", "parent-dir", "--chunk-size", "1mb")
    script = REPOSITORY / "benchmarks" / "memory.py"
    # A young generation of fixed size, since a larger one is only touched bit by bit and looks like a leak.
    out = subprocess.run(
        [sys.executable, script, tmp_path / "data", "--epochs", "1", "50", "100"],
        env=os.environ | {"STOKER_JAVA_OPTS": "-XX:+UseSerialGC -Xmn24m"},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    ).stdout
    found = json.loads(out.splitlines()[-1])
    first, warm, last = found["after"]
    for after in (first, warm, last):
        assert after["feeder"] - found["working_mb"] <= 600, out
        assert after["trainer"] - found["buffer_mb"] <= 64, out
    # A batch has 1.3 MB: one kept in each epoch, or a tenth of one in the feeder, would show.
    assert last["feeder"] - warm["feeder"] <= 8, out
    assert last["trainer"] - warm["trainer"] <= 8, out
