"""Leaves out the tests of other tiers, and tests whose means are absent, and says so; where STOKER_TORCH=1,
STOKER_BROWSER=1, STOKER_FUSE=1, STOKER_AZURITE=1, STOKER_PROMTOOL=1 or STOKER_CUDA=1 ask for them, they fail.

STOKER_TIER is default, full, or the third of the full tier that runs beside the default tier: stores, feeds or
programs. Without it, as for a test that is named to pytest, all tests run.
"""

import ctypes.util
import importlib.util
import os
import shutil
import sys
from pathlib import Path

import pytest

import rounds

FRAMEWORKS = (
    *("torch", "torchdata", "lightning", "accelerate", "transformers", "jax", "keras", "tensorflow"),
    *("nbclient", "ipykernel", "webdataset", "duckdb", "pandas", "polars"),
)
BROWSERS = ("chromium", "chromium-browser", "google-chrome")

PARTS = ("stores", "feeds", "programs")
FOLDERS = {
    "with_torch": "torch",
    "with_browser": "browser",
    "with_fuse": "fuse",
    "with_azurite": "azurite",
    "with_promtool": "promtool",
}
"""What the tests of a folder need."""
PART_OF_FOLDER = {
    "with_browser": "programs",
    "with_fuse": "programs",
    "with_azurite": "stores",
    "with_promtool": "programs",
}

TIER = os.environ.get("STOKER_TIER") or "full"
TIERS = {"default", *PARTS} if TIER == "full" else {"default", TIER}
if TIER not in ("default", "full", *PARTS):
    raise RuntimeError(f"STOKER_TIER={TIER} is no tier: use default, full, {', '.join(PARTS)}")

collect_ignore = []
left_out = []
if TIER != "full":
    left_out.append(f"tests of the tiers {', '.join(sorted(TIERS))} run (STOKER_TIER)")


def leave_out(folder, variable, why):
    part = PART_OF_FOLDER.get(folder, "default")
    if os.environ.get(variable) == "1" and part in TIERS:
        raise RuntimeError(f"{variable}=1 asks for tests/{folder}: {why}")
    collect_ignore.extend([folder, f"system/{folder}"])
    left_out.append(f"tests/{folder} is left out: {why}")


for folder, part in PART_OF_FOLDER.items():
    if part not in TIERS:
        collect_ignore.extend([folder, f"system/{folder}"])
if "programs" not in TIERS:
    collect_ignore.append("system/with_torch")

absent = [name for name in FRAMEWORKS if importlib.util.find_spec(name) is None]
if absent:
    for folder, variable in (("with_torch", "STOKER_TORCH"), ("with_cuda", "STOKER_CUDA")):
        leave_out(folder, variable, f"no {', '.join(absent)} here, python/env --torch installs them")
if not any(map(shutil.which, BROWSERS)):
    leave_out("with_browser", "STOKER_BROWSER", "no Chromium here (Debian: apt-get install chromium)")
if not os.access("/dev/fuse", os.R_OK | os.W_OK) or ctypes.util.find_library("fuse") is None:
    leave_out("with_fuse", "STOKER_FUSE", "no /dev/fuse or libfuse 2 here (Debian: apt-get install libfuse2)")
EMULATORS = "metadata-store/storage/src/test/emulators"
if not (Path(__file__).parents[2] / EMULATORS.replace("src/test", "target") / "azure/complete").exists():
    leave_out("with_azurite", "STOKER_AZURITE", f"no Azurite here ({EMULATORS} azure installs it)")
if shutil.which("promtool") is None:
    leave_out("with_promtool", "STOKER_PROMTOOL", "no promtool here (.ci/promtool installs it)")
if shutil.which("nvidia-smi") is None:
    leave_out("with_cuda", "STOKER_CUDA", "no GPU of NVIDIA here (nvidia-smi is not found)")


def pytest_itemcollected(item):
    """Marks the tests of folders that belong to a third, so that `-m full` chooses them."""
    parts = item.path.parts
    folders = PART_OF_FOLDER | ({"with_torch": "programs"} if "system" in parts else {})
    for folder, part in folders.items():
        if folder in parts and item.get_closest_marker("full") is None:
            item.add_marker(pytest.mark.full(part))


def tier_of(item):
    """The tier of a test: a mark `full` names its third of the full tier."""
    mark = item.get_closest_marker("full")
    if mark is None:
        return "default"
    (part,) = mark.args
    assert part in PARTS, f"{item.nodeid} has the mark full({part!r}); the thirds are {', '.join(PARTS)}"
    return part


def needs_of(item):
    return next((needs for folder, needs in FOLDERS.items() if folder in item.path.parts), "-")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leaves out the tests of other tiers, and cells of matrices (rounds.py). First -m and -k choose tests.

    .ci/totals.py finds tier and need of a test in the reports.
    """
    kept = []
    for item in items:
        tier = tier_of(item)
        item.user_properties += [("tier", tier), ("needs", needs_of(item))]
        if tier in TIERS or item.get_closest_marker("soak") or item.get_closest_marker("chaos"):
            kept.append(item)
    if not rounds.ALL_CELLS:
        kept = rounds.drawn_cells(kept, rounds.SETTINGS.seed)
    chosen = set(kept)
    config.hook.pytest_deselected(items=[item for item in items if item not in chosen])
    items[:] = kept


if os.environ.get("STOKER_COUNT_PROCESSES") == "1":
    started = [0]

    def count_process(event, arguments):
        if event in ("subprocess.Popen", "os.fork", "os.posix_spawn"):
            started[0] += 1

    sys.addaudithook(count_process)

    def pytest_sessionfinish(session):
        """Writes how many processes these tests started, for .ci/totals.py."""
        report = session.config.option.xmlpath
        if report:
            group = Path(report).stem.partition("-")[2] or "package"
            file = Path(report).parent / "started-processes" / f"{group}-{os.getpid()}.txt"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(str(started[0]))


def pytest_report_header():
    return [*left_out, f"random tests: TEST_SEED={rounds.SETTINGS.seed}"]


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
