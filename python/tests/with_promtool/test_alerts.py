"""The cases of the alert rules of `flink-conf/monitoring`, by Prometheus itself."""

import subprocess
from pathlib import Path

CASES = Path(__file__).parents[3] / "flink-conf" / "monitoring" / "alerts-test.yaml"


def test_promtool_runs_the_cases_of_the_rules():
    done = subprocess.run(["promtool", "test", "rules", CASES], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
