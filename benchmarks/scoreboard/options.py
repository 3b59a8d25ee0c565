"""What the command can be asked. Needs the standard library only, as it runs before the environment exists."""

from __future__ import annotations

import argparse
from pathlib import Path

DESCRIPTION = """Packs and reads the same data with Stoker and with other loaders, and judges twelve resume cases.

    python benchmarks/scoreboard OUT

The systems are installed into OUT/env (5 GB) at the versions of requirements.txt, which takes a few minutes the first
time. OUT then has results.json, scoreboard.md, scoreboard.svg and scoreboard.png. docs/scoreboard.md defines the cases.
"""


def parse() -> argparse.Namespace:
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
    parser.add_argument("--docs", action="store_true", help="also put the results into docs/scoreboard.md")
    parser.add_argument("--ready", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.out = options.out.resolve()
    options.env = (options.env or options.out / "env").absolute()
    return options
