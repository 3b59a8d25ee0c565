"""The totals of the build fail for each difference between the reports and the list of all tests."""

import importlib.util
import sys
from pathlib import Path

import pytest

_PROGRAM = Path(__file__).resolve().parents[2] / ".ci" / "totals.py"

pytestmark = pytest.mark.skipif(not _PROGRAM.is_file(), reason="not a checkout of the repository")

LIST = """\
# a comment
default\t-\tstorage unit\tdev.stoker.ATest.reads
default\t-\tcli/it integration\tdev.stoker.BITCase.walks
default\t-\tpython package\ttests.test_a.test_one
default\ttorch\tpython torch\ttests.with_torch.test_b.test_two
stores\t-\tstorage unit\tdev.stoker.ATest.readsSlowly
feeds\t-\tpython systems\ttests.system.test_c.test_three
"""


@pytest.fixture
def totals(tmp_path, monkeypatch):
    """The program in a repository whose default tier has run without a fault."""
    spec = importlib.util.spec_from_file_location("totals", _PROGRAM)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "totals", module)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setattr(module, "LIST", tmp_path / "tests.tsv")
    for needs in module.NEEDS:
        monkeypatch.delenv(f"STOKER_{needs.upper()}", raising=False)
    (tmp_path / "tests.tsv").write_text(LIST)
    report(tmp_path, "storage/target/surefire-reports/TEST-A.xml", ("dev.stoker.ATest", "reads(int)[1]"))
    report(tmp_path, "cli/it/target/failsafe-reports/TEST-B.xml", ("dev.stoker.BITCase", "walks"))
    report(tmp_path, "python/target/pytest.xml", ("tests.test_a", "test_one[x-1]"))
    return module


def report(root, name, *cases, inside=""):
    file = root / name
    file.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(
        f'<testcase classname="{suite}" name="{test}" time="1.5">{inside}</testcase>' for suite, test in cases
    )
    file.write_text(f"<testsuites><testsuite>{text}</testsuite></testsuites>")


def run(totals, monkeypatch, capsys, *arguments):
    monkeypatch.setattr(sys, "argv", ["totals.py", *arguments])
    code = totals.main()
    return code, capsys.readouterr().out


def test_a_complete_run_passes_and_names_its_families(totals, monkeypatch, capsys):
    code, out = run(totals, monkeypatch, capsys)
    assert code == 0, out
    assert "cli/it integration" in out
    assert "all: tests 3, failures 0, errors 0, skipped 0" in out
    assert "left out: 1 tests that need torch; STOKER_TORCH=1 demands them" in out
    assert "only in the tier feeds: 1 tests of test_c" in out


def test_a_test_without_report_fails(totals, tmp_path, monkeypatch, capsys):
    report(tmp_path, "storage/target/surefire-reports/TEST-A.xml", ("dev.stoker.ATest", "other"))
    code, out = run(totals, monkeypatch, capsys)
    assert code == 1
    assert "dev.stoker.ATest.reads (storage unit) has no report" in out
    assert "dev.stoker.ATest.other (storage unit) is in no tier" in out


def test_a_module_without_report_fails(totals, tmp_path, monkeypatch, capsys):
    (tmp_path / "cli/it/target/failsafe-reports/TEST-B.xml").unlink()
    code, out = run(totals, monkeypatch, capsys)
    assert code == 1
    assert "no report of cli/it integration, which has 1 tests in this tier" in out


@pytest.mark.parametrize("outcome", ["failure", "error", "skipped"])
def test_a_test_that_did_not_pass_fails(totals, tmp_path, monkeypatch, capsys, outcome):
    report(tmp_path, "python/target/pytest.xml", ("tests.test_a", "test_one"), inside=f"<{outcome}/>")
    code, out = run(totals, monkeypatch, capsys)
    assert code == 1
    assert f"{outcome}: tests.test_a.test_one (python package)" in out


def test_a_test_of_another_tier_fails(totals, tmp_path, monkeypatch, capsys):
    report(tmp_path, "storage/target/surefire-reports/TEST-C.xml", ("dev.stoker.ATest", "readsSlowly"))
    code, out = run(totals, monkeypatch, capsys)
    assert code == 1
    assert "dev.stoker.ATest.readsSlowly (storage unit) ran in the tier default, but" in out
    assert run(totals, monkeypatch, capsys, "--tier", "stores")[0] == 0


def test_a_third_demands_its_tests_and_those_of_the_default_tier(totals, monkeypatch, capsys):
    code, out = run(totals, monkeypatch, capsys, "--tier", "full")
    assert code == 1
    assert "dev.stoker.ATest.readsSlowly (storage unit) has no report" in out
    assert "no report of python systems" in out


def test_a_variable_demands_what_needs_a_program(totals, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("STOKER_TORCH", "1")
    assert "no report of python torch" in run(totals, monkeypatch, capsys)[1]
    report(tmp_path, "python/target/pytest-torch.xml", ("tests.with_torch.test_b", "test_two"))
    assert run(totals, monkeypatch, capsys)[0] == 0
    monkeypatch.delenv("STOKER_TORCH")
    assert run(totals, monkeypatch, capsys)[0] == 0


def test_a_second_try_is_named(totals, tmp_path, monkeypatch, capsys):
    inside = '<properties><property name="second_try" value="yes"/></properties>'
    report(tmp_path, "python/target/pytest.xml", ("tests.test_a", "test_one"), inside=inside)
    assert "passed at the second try: tests.test_a.test_one" in run(totals, monkeypatch, capsys)[1]


def test_new_tests_are_added_with_the_tier_that_their_report_or_source_names(totals, tmp_path, monkeypatch, capsys):
    inside = '<properties><property name="tier" value="feeds"/><property name="needs" value="-"/></properties>'
    report(tmp_path, "python/target/pytest-kafka.xml", ("tests.system.test_d", "test_four"), inside=inside)
    report(
        tmp_path,
        "storage/target/surefire-reports/TEST-D.xml",
        *[("dev.stoker.DTest", name) for name in ("fast", "slow", "alsoFast")],
    )
    source = tmp_path / "storage/src/test/java/dev/stoker/DTest.java"
    source.parent.mkdir(parents=True)
    source.write_text(
        "package dev.stoker;\n\nclass DTest {\n"
        "    @Test\n    void fast() {}\n\n"
        '    @Test\n    @Tag("full-stores")\n    void slow() throws Exception {}\n\n'
        "    @ParameterizedTest\n    @ValueSource(ints = 1)\n    void alsoFast(int n) {}\n}\n"
    )
    assert run(totals, monkeypatch, capsys, "--update")[0] == 0
    lines = (tmp_path / "tests.tsv").read_text().splitlines()
    assert "feeds\t-\tpython kafka\ttests.system.test_d.test_four" in lines
    assert "default\t-\tstorage unit\tdev.stoker.DTest.fast" in lines
    assert "stores\t-\tstorage unit\tdev.stoker.DTest.slow" in lines
    assert "default\t-\tstorage unit\tdev.stoker.DTest.alsoFast" in lines
