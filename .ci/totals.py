"""Sums the reports of surefire, failsafe and pytest; fails when a test failed, was skipped, or none ran."""

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


def main() -> int:
    reports = {
        "surefire": count(ROOT.glob("*/target/surefire-reports/TEST-*.xml")),
        "failsafe": count(ROOT.glob("*/target/failsafe-reports/TEST-*.xml")),
        "pytest": count(ROOT.glob("python/target/pytest.xml")),
    }
    for name, total in reports.items():
        print(f"{name}: " + ", ".join(f"{column} {total[column]}" for column in COLUMNS))
    everything = {column: sum(total[column] for total in reports.values()) for column in COLUMNS}
    print("all: " + ", ".join(f"{column} {everything[column]}" for column in COLUMNS))
    bad = [column for column in COLUMNS[1:] if everything[column]]
    bad += [f"no {name} report" for name in ("surefire", "pytest") if not reports[name]["tests"]]
    if bad:
        print("not green: " + ", ".join(bad))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
