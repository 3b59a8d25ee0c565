"""Starts the command ``stoker`` of the distribution in this package."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Replaces this process by the command; its exit status is the command's."""
    launcher = Path(__file__).resolve().parent / "dist" / "bin" / "stoker"
    try:
        os.execvp("bash", ["bash", str(launcher), *sys.argv[1:]])
    except FileNotFoundError:
        sys.exit("stoker: bash not found: install it (Debian: apt-get install bash)")
