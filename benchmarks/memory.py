"""Measures the memory of a feeder and a trainer after one epoch and after many.

    python/.venv/bin/python benchmarks/memory.py DATASET [--epochs 1 10 50] [--batch-size 64] [--buffer 64]

Both are separate processes. Resident memory is read from /proc. Mapped files (chunks, libraries) belong to the page
cache and are listed separately: only a process's private memory can grow without bound. The budgets are the feeder's
open windows (--working-memory) and the trainer's buffer. The trainer's figure excludes an interpreter that has imported
NumPy, pyarrow and stoker. Prints a table and, as its last line, JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
WORKING_MB = 64

TRAINER = """
import json, sys
import stoker
def rss():
    found = (line.partition(":") for line in open("/proc/self/status").read().splitlines())
    return {k: int(v.split()[0]) / 1024 for k, _, v in found if k in ("RssAnon", "RssFile", "RssShmem")}
target, epochs, buffer = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
print(json.dumps(rss()), flush=True)
with stoker.Feed(target, buffer_bytes=buffer) as feed:
    for epoch in range(1, epochs[-1] + 1):
        for batch in feed:
            batch.keys
        if epoch in epochs:
            del batch
            print(json.dumps(rss()), flush=True)
            sys.stdin.readline()
"""


def memory_of(pid: int) -> dict[str, float]:
    """Returns resident MiB by kind."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    found = (line.partition(":") for line in lines)
    return {k: int(v.split()[0]) / 1024 for k, _, v in found if k in ("RssAnon", "RssFile", "RssShmem")}


def own(memory: dict[str, float]) -> float:
    return memory["RssAnon"] + memory["RssShmem"]


def measure(dataset: str, epochs: list[int], batch_size: int, buffer_mb: int) -> list[dict[str, float]]:
    """Returns MiB of own memory after each of some epochs: of the feeder, and of the trainer beyond its imports."""
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"STOKER_HOME": home}
        environment.pop("STOKER_FEED", None)
        options = ["--batch-size", str(batch_size), "--working-memory", f"{WORKING_MB}mb", "--port", "0"]
        feeder = subprocess.Popen(
            [str(ROOT / "stoker"), "feed", dataset, "--name", "memory", *options],
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert feeder.stdout is not None
            for line in feeder.stdout:
                if line.startswith("ready at"):
                    break
            else:
                raise SystemExit(f"the feeder ended with {feeder.wait()}")
            trainer = subprocess.Popen(
                [sys.executable, "-c", TRAINER, "memory", json.dumps(epochs), str(buffer_mb << 20)],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            try:
                assert trainer.stdout is not None
                assert trainer.stdin is not None
                imported = json.loads(trainer.stdout.readline())
                found = []
                for epoch in epochs:
                    mine = json.loads(trainer.stdout.readline())
                    theirs = memory_of(feeder.pid)
                    found.append(
                        {
                            "epoch": epoch,
                            "feeder": own(theirs),
                            "trainer": own(mine) - own(imported),
                            "feeder_mapped": theirs["RssFile"],
                            "trainer_imports": own(imported),
                        }
                    )
                    trainer.stdin.write("\n")
                    trainer.stdin.flush()
                if trainer.wait() != 0:
                    raise SystemExit(f"the trainer ended with {trainer.returncode}")
            finally:
                trainer.kill()
                trainer.communicate()
            return found
        finally:
            feeder.terminate()
            feeder.communicate()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--epochs", type=int, nargs="+", default=[1, 10, 50], help="when to look (default: 1 10 50)")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--buffer", type=int, default=64, help="the trainer's buffer in MiB (default: 64)")
    args = parser.parse_args()
    epochs = sorted(set(args.epochs))
    if epochs[0] < 1:
        parser.error("--epochs: at least 1")
    found = measure(args.dataset, epochs, args.batch_size, args.buffer)
    print(f"{'MiB after epochs':24}" + "".join(f"{epoch:>9}" for epoch in epochs) + "   budget   beyond it, at most")
    limits = {"feeder": f"{WORKING_MB:9}{600:21}", "trainer": f"{args.buffer:9}{64:21}"}
    names = {"feeder": "feeder", "trainer": "trainer beyond imports", "feeder_mapped": "feeder, mapped files"}
    for key, name in names.items():
        print(f"{name:24}" + "".join(f"{at[key]:9.1f}" for at in found) + limits.get(key, ""))
    print(json.dumps({"working_mb": WORKING_MB, "buffer_mb": args.buffer, "after": found}))


if __name__ == "__main__":
    main()
