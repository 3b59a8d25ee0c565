"""The Python of the documentation, to be run as it stands there."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from stoker_processes import REPOSITORY

USER_PAGES = ("python.md", "choosing.md", "random-access.md")
"""Pages whose snippets read the dataset and the feed that docs/python.md describes."""

NEEDS = {"torch": r"\btorch\b|\.nested\(", "jax": r"\bjax\b", "tensorflow": r"\btensorflow\b"}


def blocks(page: str) -> list[tuple[str, str, set[str]]]:
    """(name, code, what it needs beside the package) of each block of Python."""
    text = (REPOSITORY / "docs" / page).read_text("utf-8")
    found = []
    for match in re.finditer(r"^```python\n(.*?)^```$", text, re.M | re.S):
        line = text.count("\n", 0, match.start(1)) + 1
        code = match[1]
        needs = {name for name, pattern in NEEDS.items() if re.search(pattern, code)}
        found.append((f"{page}:{line}", "\n" * (line - 1) + code, needs))
    assert found, f"{page} has no Python"
    return found


def run(name: str, code: str, folder: Path) -> None:
    """Runs a block in the folder of the page's commands. JAX does not support forks, so it gets a separate process."""
    if re.search(NEEDS["jax"], code):
        done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return
    exec(compile(code, str(folder / name), "exec"), {"__name__": name})
