"""The twelve resume cases of the scoreboard with Stoker, also in the workers of a DataLoader."""

import json
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[3] / "benchmarks"
PROGRAM = """
import json, sys
from pathlib import Path
from scoreboard import cases, forks, systems
from scoreboard.data import make_tree

folder = Path(sys.argv[1])
make_tree(folder / "tree", cases.SAMPLES, cases.SAMPLE_BYTES)
system = systems.load("stoker")
system.versions()  # imports, once for all ranks
forks.call(lambda: system.pack(str(folder / "tree"), str(folder / "packed"), cases.SHARDS), 60)
for name in ("stoker", "stoker@lanes=1"):
    numbers = range(1, 13) if name == "stoker" else (2, 6)
    referee = cases.Referee(systems.load(name), str(folder / "packed"), folder / name)
    for number in numbers:
        verdict = referee.judge(number)
        print(json.dumps([name, number, verdict.result, verdict.reason]), flush=True)
"""


def test_stoker_passes_each_case_but_that_of_another_batch_size_over_many_lanes(tmp_path):
    # In a separate process: the ranks are forked, which a process with threads must not be.
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        env={"PYTHONPATH": str(BENCHMARKS), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    verdicts = {
        (name, number): (result, reason) for name, number, result, reason in map(json.loads, done.stdout.splitlines())
    }
    assert [key for key, (result, _) in verdicts.items() if result != "pass"] == [("stoker", 6)], verdicts
    # The documentation bounds the repeats: none is left out, and fewer than lanes x (old + new size) repeat.
    reason = verdicts["stoker", 6][1]
    assert reason.endswith(" repeated")
    assert "missing" not in reason
    assert int(reason.split()[0]) < 16 * (16 + 8)
