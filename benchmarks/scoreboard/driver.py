"""The process of one system: imports it once, and forks for each measurement and case.

Reads one JSON object a line from its standard input, and answers each with one. Its log is the standard error.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from scoreboard import forks, systems
from scoreboard.cases import Referee
from scoreboard.data import bytes_below, touch
from scoreboard.job import Job, System
from scoreboard.judge import failed

PACK_S = 300
BATCH = 64


def pack(system: System, tree: str, target: str, shards: int) -> dict[str, Any]:
    """Packs a tree, and synchronizes the written files."""
    began = time.perf_counter()
    system.pack(tree, target, shards)
    written = [file for file in Path(target).rglob("*") if file.is_file()]
    for file in written:
        with open(file, "rb") as handle:
            os.fsync(handle.fileno())
    return {"seconds": time.perf_counter() - began, "bytes": bytes_below(target)}


def read(system: System, target: str, workers: int, seconds: float) -> dict[str, Any]:
    """Reads epochs from their second batch on for a time, after a warm-up of a third of it."""
    reader = system.open(target, Job(workers=workers, batch=BATCH))
    samples = total = epoch = 0
    spent = 0.0
    warm = time.perf_counter() + seconds / 3
    end = time.perf_counter() + 5 * seconds
    while spent < seconds and time.perf_counter() < end:
        warming = time.perf_counter() < warm
        batches = iter(reader.epoch(epoch))
        next(batches)  # whatever has to start has started
        began = time.perf_counter()
        for batch in batches:
            nbytes = sum(touch(sample) for sample in batch)
            now = time.perf_counter()
            if warming:
                if now > warm:
                    warming, began = False, now
                continue
            samples += len(batch)
            total += nbytes
            if spent + now - began > seconds:
                break
        if not warming:
            spent += time.perf_counter() - began
        epoch += 1
    if not samples:
        raise RuntimeError(f"no batch after the first {seconds:.0f} s")
    return {"samples": samples, "bytes": total, "seconds": spent}


def answer(system: System, referees: dict[str, Referee], request: dict[str, Any]) -> dict[str, Any]:
    match request:
        case {"do": "versions"}:
            return {"versions": system.versions()}
        case {"do": "pack", "tree": tree, "target": target, "shards": shards}:
            return forks.call(lambda: pack(system, tree, target, shards), PACK_S)
        case {"do": "read", "target": target, "workers": workers, "seconds": seconds}:
            return forks.call(lambda: read(system, target, workers, seconds), 60 + 6 * seconds)
        case {"do": "case", "target": target, "folder": folder, "number": number}:
            if folder not in referees:
                referees[folder] = Referee(system, target, Path(folder))
            began = time.perf_counter()
            try:
                verdict = referees[folder].judge(number)
            except Exception as e:
                verdict = failed(f"{type(e).__name__}: {e}")
            return {"result": verdict.result, "reason": verdict.reason, "seconds": time.perf_counter() - began}
    raise ValueError(f"unknown request {request}")


def main() -> None:
    system = systems.load(sys.argv[1])
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a system prints goes to the log
    referees: dict[str, Referee] = {}
    for line in sys.stdin:
        try:
            reply = answer(system, referees, json.loads(line))
        except Exception as e:
            reply = {"error": " ".join(f"{type(e).__name__}: {e}".split())[:300]}
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
