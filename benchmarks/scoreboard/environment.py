"""The virtual environments of the systems, at pinned versions. Needs the standard library only.

`requirements.txt` is for one environment that all systems share. `requirements-SYSTEM.txt` has the packages of a system
that cannot be installed beside the others: a separate environment, which sees the packages of the shared one.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
PATH = f"{HERE.parent}:{HERE.parents[1] / 'python' / 'src'}"
"""The Python path of a system's process: this package, and Stoker's as it is in this repository."""


def python_of(folder: Path, system: str) -> Path:
    """Returns the Python that runs a system."""
    separate = folder / "systems" / system / "bin" / "python"
    return separate if separate.exists() else folder / "bin" / "python"


def prepare(folder: Path, log: Path) -> Path:
    """Creates or updates the environments in a folder, and returns the shared Python.

    If packages cannot be installed together, each is tried alone. A package that cannot be installed is named, and its
    system is shown as not installed.
    """
    python = _environment(folder, HERE / "requirements.txt", log, above=None)
    for requirements in sorted(HERE.glob("requirements-*.txt")):
        _environment(folder / "systems" / requirements.stem.partition("-")[2], requirements, log, above=folder)
    return python


def _environment(folder: Path, requirements: Path, log: Path, above: Path | None) -> Path:
    python = folder / "bin" / "python"
    stamp = folder / "scoreboard.stamp"
    wanted = hashlib.sha256(requirements.read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == wanted and python.exists():
        return python
    print(f"installing {requirements.name} into {folder}; the log is {log}", flush=True)
    venv.create(folder, with_pip=True)
    if above is not None:
        _packages(folder).joinpath("shared.pth").write_text(f"{_packages(above)}\n")
    if not _pip(python, log, "-r", str(requirements)):
        for line in requirements.read_text().splitlines():
            if line and not line.startswith("#") and not _pip(python, log, line):
                print(f"{line} cannot be installed", file=sys.stderr, flush=True)
    stamp.write_text(wanted)
    return python


def _packages(folder: Path) -> Path:
    return next((folder / "lib").glob("python3.*/site-packages"))


def _pip(python: Path, log: Path, *arguments: str) -> bool:
    command = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input", *arguments]
    with open(log, "a") as out:
        return subprocess.run(command, stdout=out, stderr=out, check=False).returncode == 0
