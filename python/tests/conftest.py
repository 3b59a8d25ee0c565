"""Leaves out tests whose means are absent, and says so; where STOKER_TORCH=1, STOKER_BROWSER=1, STOKER_FUSE=1,
STOKER_AZURITE=1 or STOKER_CUDA=1 ask for them, they fail."""

import ctypes.util
import importlib.util
import os
import shutil
from pathlib import Path

import pytest

import rounds

FRAMEWORKS = (
    *("torch", "torchdata", "lightning", "accelerate", "transformers", "jax", "keras", "tensorflow"),
    *("nbclient", "ipykernel", "webdataset", "duckdb", "pandas", "polars"),
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

collect_ignore = []
left_out = []


def leave_out(folder, variable, why):
    if os.environ.get(variable) == "1":
        raise RuntimeError(f"{variable}=1 asks for tests/{folder}: {why}")
    collect_ignore.extend([folder, f"system/{folder}"])
    left_out.append(f"tests/{folder} is left out: {why}")


absent = [name for name in FRAMEWORKS if importlib.util.find_spec(name) is None]
if absent:
    for folder, variable in (("with_torch", "STOKER_TORCH"), ("with_cuda", "STOKER_CUDA")):
        leave_out(folder, variable, f"no {', '.join(absent)} here, python/env --torch installs them")
if not any(map(shutil.which, BROWSERS)):
    leave_out("with_browser", "STOKER_BROWSER", "no Chromium here (Debian: apt-get install chromium)")
if not os.access("/dev/fuse", os.R_OK | os.W_OK) or ctypes.util.find_library("fuse") is None:
    leave_out("with_fuse", "STOKER_FUSE", "no /dev/fuse or libfuse 2 here (Debian: apt-get install libfuse2)")
if not (Path(__file__).parents[2] / "storage/target/emulators/azure/complete").exists():
    leave_out("with_azurite", "STOKER_AZURITE", "no Azurite here (storage/src/test/emulators azure installs it)")
if shutil.which("nvidia-smi") is None:
    leave_out("with_cuda", "STOKER_CUDA", "no GPU of NVIDIA here (nvidia-smi is not found)")


def pytest_report_header():
    return [*left_out, f"random tests: TEST_SEED={rounds.SETTINGS.seed}"]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leaves out cells of matrices, see rounds.py. First -m and -k choose tests."""
    if not rounds.ALL_CELLS:
        kept = rounds.drawn_cells(items, rounds.SETTINGS.seed)
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Marks what --reruns runs again, so that .ci/totals.py can name it."""
    if getattr(item, "execution_count", 1) == 2:
        item.user_properties.append(("second_try", "yes"))


def pytest_terminal_summary(terminalreporter):
    """Says why something needed a second try: nobody else does."""
    for report in terminalreporter.stats.get("rerun", []):
        terminalreporter.section(f"first try of {report.nodeid}")
        terminalreporter.line(report.longreprtext)
