"""Damaged and hostile files end an ingest with one clear error, in a small heap."""

from __future__ import annotations

import pytest
from hostile_files import FILES
from stoker_processes import LIMIT_S, QUICK_JVM, Cli

pytestmark = pytest.mark.full("stores")

HEAP = "128m"
DIRECT = "256m"
"""Flink's own buffers take half of it."""


@pytest.mark.cells
@pytest.mark.parametrize("name", FILES)
def test_a_hostile_file_is_refused_by_name_within_a_small_heap(cli: Cli, tmp_path, name):
    write, reason = FILES[name]
    write(tmp_path / name)
    small = ("env", f"STOKER_JAVA_OPTS={QUICK_JVM} -Xmx{HEAP} -XX:MaxDirectMemorySize={DIRECT}")

    process = cli.start("ingest", tmp_path / name, tmp_path / "data", "--order", "listed", within=small)
    try:
        out, err = process.communicate(timeout=LIMIT_S)
    finally:
        process.kill()

    assert process.returncode in (1, 2), out + err
    said = [line for line in err.splitlines() if line.startswith("stoker: ") and name in line]
    assert len(said) == 1, err
    assert reason in said[0]
    assert "OutOfMemoryError" not in out + err
    assert "\tat " not in out + err
    assert not list(tmp_path.glob("data/_stoker/log/*"))
