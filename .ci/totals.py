#!/usr/bin/env python3
"""Sums the reports of Surefire, Failsafe and pytest, and compares them with the list of all tests.

`.ci/tests.tsv` lists every test: its tier, the program that it needs, its family (a module and a kind of test), and its
name. This program fails if a test failed or was skipped, if a test of the tier that ran has no report, or if a test ran
that the list does not name in this tier. It prints the time and the started processes of each family, the slowest
classes, the tests that needed a second try, and the tests that only other tiers run.

usage: .ci/totals.py [--tier default|stores|feeds|programs|full] [--update]
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIST = ROOT / ".ci" / "tests.tsv"
PARTS = ("stores", "feeds", "programs")
"""The thirds of the full tier."""
NEEDS = ("torch", "browser", "fuse", "azurite", "promtool")
"""What a test can need: it must run if STOKER_TORCH=1, STOKER_BROWSER=1 and so on, and may run otherwise."""
KINDS = {"surefire": "unit", "failsafe": "integration"}
PARAMETERS = re.compile(r"[(\[].*", re.DOTALL)
SLOWEST = 30
NAMED = 20
"""At most this number of tests is named for each problem."""


@dataclass(frozen=True)
class Result:
    """What a report says of one test, or of one case of a test with parameters."""

    runner: str
    family: str
    suite: str
    name: str
    seconds: float
    outcome: str
    second_try: bool
    tier: str
    needs: str
    """Both are empty in the reports of Java tests."""

    @property
    def id(self) -> str:
        """The test without its parameters."""
        return f"{self.suite}.{PARAMETERS.sub('', self.name)}"


def java_results() -> Iterator[Result]:
    for runner, kind in KINDS.items():
        for pattern in ("*", "*/*"):
            for file in sorted(ROOT.glob(f"{pattern}/target/{runner}-reports/TEST-*.xml")):
                module = file.relative_to(ROOT).parents[2]
                yield from results(runner, f"{module} {kind}", file)


def python_results() -> Iterator[Result]:
    for file in sorted((ROOT / "python" / "target").glob("pytest*.xml")):
        yield from results("pytest", f"python {file.stem.partition('-')[2] or 'package'}", file)


def results(runner: str, family: str, file: Path) -> Iterator[Result]:
    for case in ET.parse(file).getroot().iter("testcase"):
        outcome = next((tag for tag in ("failure", "error", "skipped") if case.find(tag) is not None), "passed")
        yield Result(
            runner,
            family,
            case.get("classname", ""),
            case.get("name", ""),
            float(case.get("time", "0").replace(",", "")),
            outcome,
            outcome == "passed" and is_second_try(case),
            entry(case, "tier"),
            entry(case, "needs"),
        )


def entry(case: ET.Element, name: str) -> str:
    return next((found.get("value", "") for found in case.iter("property") if found.get("name") == name), "")


def is_second_try(case: ET.Element) -> bool:
    """Whether the test failed once and passed when run again.

    Why: docs/decisions/0028-test-strategy-and-second-tries.md.
    """
    return (
        case.find("flakyFailure") is not None
        or case.find("flakyError") is not None
        or entry(case, "second_try") == "yes"
    )


def started_processes() -> Counter[str]:
    """How many processes the tests of each family started; modules write it if STOKER_COUNT_PROCESSES=1."""
    counts: Counter[str] = Counter()
    for pattern in ("*", "*/*"):
        for file in ROOT.glob(f"{pattern}/target/started-processes/*.txt"):
            module = file.relative_to(ROOT).parents[2]
            counts[f"{module} {file.stem.partition('-')[0]}"] += int(file.read_text())
    return counts


def print_families(ran: list[Result]) -> None:
    seconds: Counter[str] = Counter()
    tests: Counter[str] = Counter()
    for result in ran:
        seconds[result.family] += result.seconds
        tests[result.family] += 1
    processes = started_processes()
    print(f"{'family':32}{'tests':>8}{'seconds':>10}{'processes':>11}")
    for family, total in seconds.most_common():
        print(f"{family:32}{tests[family]:8}{total:10.1f}{processes[family]:11}")
    print(f"{'all':32}{len(ran):8}{sum(seconds.values()):10.1f}{sum(processes.values()):11}")


def print_slowest(ran: list[Result]) -> None:
    seconds: Counter[str] = Counter()
    for result in ran:
        seconds[f"{result.suite} ({result.family})"] += result.seconds
    print(f"the {SLOWEST} slowest classes:")
    for suite, total in seconds.most_common(SLOWEST):
        print(f"{total:10.1f} s  {suite}")


def print_runners(ran: list[Result]) -> None:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for result in ran:
        counts[result.runner][result.outcome] += 1
    counts["all"] = sum(counts.values(), Counter())
    for runner, outcomes in counts.items():
        print(
            f"{runner}: tests {outcomes.total()}, failures {outcomes['failure']}, errors {outcomes['error']}, "
            f"skipped {outcomes['skipped']}"
        )


@dataclass(frozen=True)
class Test:
    """One line of the list."""

    tier: str
    needs: str
    family: str
    id: str

    @property
    def key(self) -> tuple[str, str]:
        return self.family, self.id


def listed() -> list[Test]:
    return [Test(*line.split("\t")) for line in LIST.read_text().splitlines() if line and not line.startswith("#")]


def tiers_of(tier: str) -> set[str]:
    """The tiers that a run has: a third of the full tier runs beside the default tier."""
    return {"default", *PARTS} if tier == "full" else {"default", tier}


def is_demanded(test: Test) -> bool:
    return test.needs == "-" or os.environ.get(f"STOKER_{test.needs.upper()}") == "1"


def compare(ran: list[Result], tests: list[Test], tier: str) -> Iterator[str]:
    """What the reports and the list say differently."""
    in_run = {test.key: test for test in tests if test.tier in tiers_of(tier)}
    demanded = {key for key, test in in_run.items() if is_demanded(test)}
    # A class that fails before or after its tests has a report without a name of a test.
    seen = {(result.family, result.id) for result in ran if result.name}
    known = {test.key for test in tests}
    without = {family for family, _ in demanded} - {family for family, _ in seen}
    for family in sorted(without):
        yield f"no report of {family}, which has {sum(f == family for f, _ in demanded)} tests in this tier"
    yield from named(
        "has no report; if it was removed on purpose, remove its line from .ci/tests.tsv",
        (key for key in demanded - seen if key[0] not in without),
    )
    yield from named("is in no tier; `.ci/totals.py --update` adds its line", seen - known)
    yield from named(
        f"ran in the tier {tier}, but .ci/tests.tsv has it in another; its tag and its line must agree",
        (seen & known) - set(in_run),
    )
    for needs, count in Counter(test.needs for key, test in in_run.items() if key not in seen | demanded).items():
        print(f"left out: {count} tests that need {needs}; STOKER_{needs.upper()}=1 demands them")


def named(problem: str, pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    found = sorted(pairs)
    for family, test in found[:NAMED]:
        yield f"{test} ({family}) {problem}"
    if len(found) > NAMED:
        yield f"… and {len(found) - NAMED} more"


def print_others(tests: list[Test], tier: str) -> None:
    """Says what only other tiers run."""
    others: Counter[str] = Counter(test.tier for test in tests if test.tier not in tiers_of(tier))
    for name, count in sorted(others.items()):
        classes = sorted({test.id.rpartition(".")[0].rpartition(".")[2] for test in tests if test.tier == name})
        print(f"only in the tier {name}: {count} tests of {', '.join(classes)}")


def update(ran: list[Result], tests: list[Test]) -> None:
    """Adds the tests that ran and are not listed; their tier is the one that their sources name."""
    known = {test.key for test in tests}
    new: dict[tuple[str, str], Test] = {}
    for result in ran:
        key = result.family, result.id
        if result.outcome == "passed" and key not in known | set(new):
            tier, needs = (result.tier, result.needs) if result.tier else tags_in_source(result.id)
            new[key] = Test(tier, needs, *key)
    write(sorted([*tests, *new.values()], key=lambda test: test.key))
    print(f"{LIST.relative_to(ROOT)}: {len(new)} tests added, {len(tests) + len(new)} in all")


def write(tests: Iterable[Test]) -> None:
    head = "# Every test: tier, need, family, name. Read and extended by .ci/totals.py.\n"
    LIST.write_text(head + "".join(f"{test.tier}\t{test.needs}\t{test.family}\t{test.id}\n" for test in tests))


def tags_in_source(test: str) -> tuple[str, str]:
    """The tier and the need that tags name in the source of a Java test, on the method or on its class."""
    suite, _, method = test.rpartition(".")
    name = suite.split("$")[0].replace(".", "/") + ".java"
    files = [file for file in ROOT.rglob(name) if "target" not in file.parts]
    of_class, _, body = (files[0].read_text() if files else "").partition("\nclass ")
    of_method = re.search(rf"(?:\n    @.*)+\n    (?:\S+ )+{re.escape(method)}\(", body)
    tags = re.findall(r'@Tag\("([\w-]+)"\)', of_class + (of_method[0] if of_method else ""))
    parts = [tag.removeprefix("full-") for tag in tags if tag.startswith("full-")]
    return (parts or ["default"])[0], next((tag for tag in tags if tag in NEEDS), "-")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tier", choices=("default", *PARTS, "full"), default="default")
    parser.add_argument("--update", action="store_true", help="add tests that ran and are not listed")
    arguments = parser.parse_args()
    ran = [*java_results(), *python_results()]
    tests = listed() if LIST.exists() else []
    if arguments.update:
        update(ran, tests)
        return 0
    print_families(ran)
    print_slowest(ran)
    print_others(tests, arguments.tier)
    bad = [f"{result.outcome}: {result.id} ({result.family})" for result in ran if result.outcome != "passed"]
    bad += compare(ran, tests, arguments.tier)
    for result in ran:
        if result.second_try:
            print(f"passed at the second try: {result.suite}.{result.name}")
    print_runners(ran)
    for problem in bad:
        print(f"not green: {problem}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
