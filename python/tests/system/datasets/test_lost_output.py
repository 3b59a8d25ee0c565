"""Commands, as processes, whose output is lost."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyarrow as pa
import pytest
from stoker_processes import COMMAND, Cli, environment

from stoker import Writer


@pytest.mark.full("stores")
def test_a_full_disk_is_an_error_and_a_closed_pipe_is_not_reported(cli: Cli, tmp_path: Path):
    path = tmp_path / "data"
    with Writer(path, schema={"text": "utf8"}) as writer:
        keys = [f"sample/{i:05d}" for i in range(20_000)]
        writer.write_batch(pa.table({"key": keys, "text": ["some text"] * len(keys)}))

    for args in (["ls", path, "--recursive"], ["ls", path, "--recursive", "--json"], ["get", path, "sample/00001"]):
        command = [COMMAND, *map(str, args)]
        with open("/dev/full", "w") as full:
            lost = subprocess.run(command, env=environment(cli.home), stdout=full, stderr=subprocess.PIPE, text=True)
        assert lost.returncode == 1, args
        assert lost.stderr == (
            "stoker: standard output cannot be written, so the output is incomplete: No space left on device\n"
        )

    closed = subprocess.run(
        ["bash", "-c", '"$0" ls "$1" --recursive | head -n 1; echo "${PIPESTATUS[0]}"', str(COMMAND), str(path)],
        env=environment(cli.home),
        capture_output=True,
        text=True,
    )
    assert closed.stdout.splitlines()[1:] == ["141"]
    assert closed.stderr == ""
