"""What the command can be asked. Needs the standard library only, as it runs before the environment exists."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from scoreboard import systems

DESCRIPTION = """Packs and reads the same data with Stoker and with other loaders, and judges twelve resume cases.

    python benchmarks/scoreboard OUT

The systems are installed into OUT/env (5 GB) at the versions of requirements.txt, which takes a few minutes the first
time. OUT then has results.json, scoreboard.md, scoreboard.svg and scoreboard.png. docs/results/scoreboard.md defines
the cases.
"""


def parse(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Returns the options; refuses what would fail after the installation."""
    parser = argparse.ArgumentParser(
        prog="scoreboard", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, metavar="OUT", help="a directory for the environment, data and results")
    parser.add_argument("--env", type=Path, help="the virtual environment (default: OUT/env)")
    parser.add_argument("--only", default="", metavar="SYSTEM,…", help="systems to run (default: all)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds of reading (3)")
    parser.add_argument("--pack-rounds", type=int, default=2, help="rounds of packing (2)")
    parser.add_argument("--seconds", type=float, default=2, help="length of one measurement of reading (2)")
    parser.add_argument("--no-speed", action="store_true", help="judge the resume cases only")
    parser.add_argument("--no-cases", action="store_true", help="measure the speed only")
    parser.add_argument("--docs", action="store_true", help="also put the results into docs/results/scoreboard.md")
    parser.add_argument("--ready", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    for problem in problems(options):
        parser.error(problem)
    options.out = options.out.resolve()
    options.env = (options.env or options.out / "env").absolute()
    return options


def problems(options: argparse.Namespace) -> list[str]:
    """Returns one message for each mistake in the options; none if they are right."""
    only = options.only.split(",") if options.only else list(systems.NAMES)
    found = [
        f"--only: there is no system {name!r}; expected some of {', '.join(systems.NAMES)}"
        for name in only
        if name not in systems.NAMES
    ]
    found += [
        f"--only: {name} reads what {packed} has packed; add {packed}"
        for name, packed in systems.PACKED_BY.items()
        if name in only and packed not in only
    ]
    for name in ("rounds", "pack_rounds", "seconds"):
        if not getattr(options, name) > 0:
            found.append(f"--{name.replace('_', '-')}: {getattr(options, name)} must be positive")
    if options.no_speed and options.no_cases:
        found.append("--no-speed and --no-cases together leave nothing to do")
    if options.docs and (options.only or options.no_speed or options.no_cases):
        found.append("--docs replaces all results of the page, so it needs all systems, the speed and the cases")
    if options.out.exists() and not options.out.is_dir():
        found.append(f"OUT: {options.out} is a file; expected a directory")
    return found
