"""Starts the scoreboard in its own environment; see `main.py`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])

from scoreboard import options  # noqa: E402

if __name__ == "__main__":
    asked = options.parse()
    if asked.ready:
        from scoreboard import main

        sys.exit(main.run(asked))
    from scoreboard import environment

    asked.out.mkdir(parents=True, exist_ok=True)
    python = environment.prepare(asked.env, asked.out / "install.log")
    os.execv(python, [str(python), str(Path(__file__).resolve().parent), "--ready", *sys.argv[1:]])
