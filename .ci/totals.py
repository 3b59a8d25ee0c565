"""Sums the reports of surefire, failsafe and pytest, and names the tests that needed a second try.

Fails when a test failed, was skipped, or none ran.
"""

from __future__ import annotations

import sys
import xml.etree.ElementTree as ET
from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
COLUMNS = ("tests", "failures", "errors", "skipped")


def count(files: Iterable[Path]) -> dict[str, int]:
    total = dict.fromkeys(COLUMNS, 0)
    for file in files:
        root = ET.parse(file).getroot()
        for suite in [root] if root.tag == "testsuite" else root.iter("testsuite"):
            for column in COLUMNS:
                total[column] += int(suite.get(column, 0))
    return total


def second_tries(files: Iterable[Path]) -> list[str]:
    """Names the tests that failed once and passed when run again.

    Why: docs/decisions/0028-test-strategy-and-second-tries.md.
    """
    return [
        f"{case.get('classname')}.{case.get('name')}"
        for file in files
        for case in ET.parse(file).getroot().iter("testcase")
        if case.find("failure") is None and case.find("error") is None
        if case.find("flakyFailure") is not None
        or case.find("flakyError") is not None
        or any(entry.get("name") == "second_try" for entry in case.iter("property"))
    ]


def main() -> int:
    files = {
        "surefire": list(ROOT.glob("*/target/surefire-reports/TEST-*.xml")),
        "failsafe": [
            *ROOT.glob("*/target/failsafe-reports/TEST-*.xml"),
            *ROOT.glob("cli/it/target/failsafe-reports/TEST-*.xml"),
        ],
        "pytest": list(ROOT.glob("python/target/pytest*.xml")),
    }
    reports = {name: count(found) for name, found in files.items()}
    for name, total in reports.items():
        print(f"{name}: " + ", ".join(f"{column} {total[column]}" for column in COLUMNS))
    everything = {column: sum(total[column] for total in reports.values()) for column in COLUMNS}
    print("all: " + ", ".join(f"{column} {everything[column]}" for column in COLUMNS))
    for test in (test for found in files.values() for test in second_tries(found)):
        print(f"passed at the second try: {test}")
    bad = [column for column in COLUMNS[1:] if everything[column]]
    bad += [f"no {name} report" for name in ("surefire", "pytest") if not reports[name]["tests"]]
    if bad:
        print("not green: " + ", ".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
