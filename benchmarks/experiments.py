"""Runs the experiments of docs/results/experiments.md, with sizes that take about 15 minutes on two processors.

    ./mvnw -q -Dfast -DskipTests package && python/env && apt-get install memcached
    python/.venv/bin/python -m pip install matplotlib mnist1d pylibmc
    python/.venv/bin/python benchmarks/experiments.py FIGURES [--only units accuracy] [--pictures docs/images]

Leaves in the directory FIGURES, for each experiment, the tables as NAME.md and the figures as NAME.json. With
--pictures it draws NAME.svg there. Each experiment is a script that can also be run alone, with larger sizes.
"""

from __future__ import annotations

import argparse
import importlib.util
import shutil
import subprocess
import sys
import time
from pathlib import Path

EXPERIMENTS = {
    "units": ["--megabytes", "128", "--rounds", "2"],
    "memcached": [],
    "cold_boot": [],
    "epochs": [],
    "objects": [],
    "accuracy": [],
}
"""Scripts beside this one, and their options."""
PACKAGES = {"memcached": ["pylibmc"], "cold_boot": ["pylibmc"], "accuracy": ["mnist1d"]}
PROGRAMS = {"memcached": ["memcached"], "cold_boot": ["memcached"]}


def problems(options: argparse.Namespace) -> list[str]:
    """Returns what would fail after minutes."""
    packages = {package for name in options.only for package in PACKAGES.get(name, [])}
    if options.pictures:
        packages.add("matplotlib")
    programs = {program for name in options.only for program in PROGRAMS.get(name, [])}
    found = [f"{p} is missing: python -m pip install {p}" for p in sorted(packages) if not importlib.util.find_spec(p)]
    found += [f"{p} is missing: apt-get install {p}" for p in sorted(programs) if not shutil.which(p)]
    for folder in (options.figures, options.pictures):
        if folder and folder.exists() and not folder.is_dir():
            found.append(f"{folder} is a file; expected a directory")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figures", type=Path, metavar="FIGURES", help="a directory for the tables and figures")
    parser.add_argument(
        "--only", nargs="+", choices=EXPERIMENTS, default=list(EXPERIMENTS), help="experiments to run (default: all)"
    )
    parser.add_argument("--pictures", type=Path, help="a directory for the pictures; needs matplotlib")
    options = parser.parse_args()
    wrong = problems(options)
    if wrong:
        parser.error("; ".join(wrong))
    for folder in filter(None, (options.figures, options.pictures)):
        folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in options.only:
        command = [sys.executable, str(Path(__file__).with_name(f"{name}.py")), *EXPERIMENTS[name]]
        command += ["--json", str(options.figures / f"{name}.json")]
        if options.pictures:
            command += ["--picture", str(options.pictures / f"{name.replace('_', '-')}.svg")]
        began = time.monotonic()
        with open(options.figures / f"{name}.md", "wb") as tables:
            code = subprocess.run(command, stdout=tables).returncode
        print(f"\n{name}: {time.monotonic() - began:.0f} s, exit code {code}", flush=True)
        print((options.figures / f"{name}.md").read_text(), flush=True)
        if code:
            failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
