"""Leaves out the tests of the torch integration where torch is absent, unless STOKER_TORCH=1 asks for them."""

import importlib.util
import os

collect_ignore = []
if importlib.util.find_spec("torch") is None:
    if os.environ.get("STOKER_TORCH") == "1":
        raise RuntimeError("STOKER_TORCH=1 asks for the tests with torch, and there is none: run python/env --torch")
    collect_ignore += ["with_torch", "system/with_torch"]


def pytest_report_header():
    return "tests/with_torch is left out: no torch here, python/env --torch installs it" if collect_ignore else None
