"""The launcher builds Flink's SQL client, 110 MB, only for a directory that is there."""

import subprocess
from pathlib import Path

import pytest

BUILD = Path(__file__).parents[2] / "cli" / "launcher" / "build.sh"


@pytest.mark.parametrize(
    ("arguments", "there"),
    [
        ([], True),
        (["."], True),
        (["./nodir"], False),
        (["-e", "SHOW TABLES"], True),
        (["-e", "nodir", "."], True),
        (["-D", "a=b", "./nodir", "-f", "x.sql"], False),
        (["--execute=SHOW TABLES", "./nodir"], False),
        (["s3a://bucket/datasets"], True),
        (["-e"], True),
    ],
)
def test_a_directory_is_looked_for_before_the_client_is_built(tmp_path, arguments, there):
    done = subprocess.run(
        ["bash", "-c", f'set -eu; . "{BUILD}"; has_datasets_directory "$@"', "bash", *arguments],
        cwd=tmp_path, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert (done.returncode == 0) is there, done.stderr
    assert done.stderr == ""
