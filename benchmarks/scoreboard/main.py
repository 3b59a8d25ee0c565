"""Runs the measurements and cases of all systems, and writes the results."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from scoreboard import cases, environment, picture, report, systems
from scoreboard.data import make_tree
from scoreboard.judge import NOT_INSTALLED

SIZES = {"110 KB": (4000, 110_000), "4 KB": (40_000, 4096)}
"""Files and their bytes."""
WORKERS = (0, 2)
DOCS = Path(__file__).resolve().parents[2] / "docs"


class Driver:
    """The process of a system, see `driver.py`."""

    def __init__(self, name: str, env: Path, log: Path) -> None:
        self.name = name
        with open(log, "w") as errors:
            self.process = subprocess.Popen(
                [environment.python_of(env, name.partition("@")[0]), "-m", "scoreboard.driver", name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env={**os.environ, "PYTHONPATH": environment.PATH, "PYTHONDONTWRITEBYTECODE": "1"},
            )

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        try:
            print(json.dumps(request), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else {"error": f"the process of {self.name} ended"}

    def close(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Scoreboard:
    """Results by system."""

    def __init__(self, asked: argparse.Namespace) -> None:
        self.asked = asked
        self.work = asked.out / "data"
        self.drivers: dict[str, Driver] = {}
        self.found: dict[str, Any] = {
            "date": time.strftime("%Y-%m-%d"),
            "machine": f"{os.cpu_count()} processors, Python {platform.python_version()}, {platform.system()}",
            "load": os.getloadavg()[0],
            "cases": [case.title for case in cases.CASES],
            "sizes": list(SIZES),
            "systems": {},
        }

    def start(self) -> None:
        logs = self.asked.out / "logs"
        logs.mkdir(parents=True, exist_ok=True)
        for name in self.asked.only.split(",") if self.asked.only else systems.NAMES:
            driver = Driver(name, self.asked.env, logs / f"{name}.log")
            reply = driver.ask(do="versions")
            system = systems.load(name)
            entry = {"title": system.title, "versions": reply.get("versions", ""), "speed": {}, "cases": []}
            self.found["systems"][name] = entry
            if "error" in reply:
                print(f"{system.title}: not installed: {reply['error']}", flush=True)
                entry["cases"] = [{"result": NOT_INSTALLED, "reason": reply["error"]} for _ in cases.CASES]
                driver.close()
            else:
                self.drivers[name] = driver

    def tree(self, files: int, size: int) -> str:
        tree = self.work / f"tree-{files}-{size}"
        if not (tree / "complete").exists():
            shutil.rmtree(tree, ignore_errors=True)
            make_tree(tree / "files", files, size)
            (tree / "complete").touch()
        return str(tree / "files")

    def target(self, name: str, label: str, tree: str) -> str:
        return tree if name == "files" else str(self.work / f"{name}-{label.replace(' ', '')}")

    def pack(self, name: str, label: str, tree: str, shards: int = 0) -> dict[str, Any]:
        target = self.target(name, label, tree)
        if name != "files":
            shutil.rmtree(target, ignore_errors=True)
        return self.drivers[name].ask(do="pack", tree=tree, target=target, shards=shards)

    def measure(self) -> None:
        for number in range(max(self.asked.rounds, self.asked.pack_rounds)):
            for label, (files, size) in SIZES.items():
                tree = self.tree(files, size)
                for name in self.drivers:
                    speed = self.found["systems"][name]["speed"].setdefault(label, {"pack": [], "read": {}})
                    if number < self.asked.pack_rounds and name in systems.PACKING:
                        self._packed(speed, self.pack(name, label, tree), files, files * size)
                    if number < self.asked.rounds:
                        self._read(speed, name, self.target(systems.PACKED_BY.get(name, name), label, tree))
            print(f"round {number + 1} of speed is done", flush=True)

    def _packed(self, speed: dict[str, Any], reply: dict[str, Any], files: int, total: int) -> None:
        if "error" in reply:
            speed["pack error"] = reply["error"]
        else:
            speed["pack"].append(files / reply["seconds"])
            speed["disk"] = reply["bytes"] / total

    def _read(self, speed: dict[str, Any], name: str, target: str) -> None:
        for workers in systems.WORKERS.get(name, WORKERS):
            reply = self.drivers[name].ask(do="read", target=target, workers=workers, seconds=self.asked.seconds)
            if "error" in reply:
                speed["read error"] = f"{workers} workers: {reply['error']}"
            else:
                speed["read"].setdefault(str(workers), []).append(reply["samples"] / reply["seconds"])

    def judge(self) -> None:
        tree = self.tree(cases.SAMPLES, cases.SAMPLE_BYTES)
        for name, driver in self.drivers.items():
            entry = self.found["systems"][name]
            target = self.target(name, "cases", tree)
            reply = self.pack(name, "cases", tree, cases.SHARDS)
            if "error" in reply:
                entry["cases"] = [{"result": "fail", "reason": f"packing: {reply['error']}"} for _ in cases.CASES]
                continue
            folder = str(self.work / f"cases-{name}")
            for number, case in enumerate(cases.CASES, 1):
                verdict = driver.ask(do="case", target=target, folder=folder, number=number)
                if "error" in verdict:
                    verdict = {"result": "fail", "reason": verdict["error"], "seconds": 0}
                entry["cases"].append(verdict)
                reason = f": {verdict['reason']}" if verdict["reason"] else ""
                print(f"{entry['title']}, {number} {case.title}: {verdict['result']}{reason}", flush=True)

    def close(self) -> None:
        for driver in self.drivers.values():
            driver.close()


def run(asked: argparse.Namespace) -> int:
    began = time.monotonic()
    board = Scoreboard(asked)
    try:
        board.start()
        if not asked.no_speed:
            board.measure()
        if not asked.no_cases:
            board.judge()
    finally:
        board.close()
    board.found["seconds"] = round(time.monotonic() - began)
    (asked.out / "results.json").write_text(json.dumps(board.found, indent=1))
    text = report.markdown(board.found)
    (asked.out / "scoreboard.md").write_text(text)
    print("\n" + text)
    try:
        picture.draw(board.found, asked.out / "scoreboard.svg", asked.out / "scoreboard.png")
    except ImportError as e:
        print(f"no picture: {e}", file=sys.stderr)
    if asked.docs:
        report.into_page(DOCS / "results" / "scoreboard.md", text)
        shutil.copy(asked.out / "scoreboard.svg", DOCS / "images")
    print(f"{asked.out}: results.json, scoreboard.md, scoreboard.svg, scoreboard.png")
    return 0
