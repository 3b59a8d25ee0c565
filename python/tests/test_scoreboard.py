"""The judge of the scoreboard, whose systems need not be installed."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from scoreboard import cases, options, report, systems
from scoreboard.data import bytes_below, id_of, make_tree, samples, touch
from scoreboard.job import Job, NotOfferedError, same_share
from scoreboard.judge import FAIL, NOT_OFFERED, PASS, exactly_once, in_order, same_order


def test_an_epoch_in_which_each_sample_came_once_passes():
    assert exactly_once([3, 1, 0, 2], 4).result == PASS


@pytest.mark.parametrize(
    ("delivered", "reason"),
    [
        ([0, 1, 3], "1 of 4 missing"),
        ([0, 1, 1, 2, 3, 3], "2 repeated"),
        ([0, 0, 2, 3], "1 of 4 missing, 1 repeated"),
        ([0, 1, 2, 3, 4], "1 unknown"),
        ([], "the iteration delivered nothing"),
    ],
)
def test_missing_and_repeated_samples_fail_with_their_numbers(delivered, reason):
    verdict = exactly_once(delivered, 4)
    assert (verdict.result, verdict.reason) == (FAIL, reason)


def test_samples_are_ordered_by_step_and_then_by_rank():
    assert in_order([[[1, 2], [5, 6], [9]], [[3, 4], [7, 8]]]) == [1, 2, 3, 4, 5, 6, 7, 8, 9]


def test_the_order_within_a_global_batch_does_not_count():
    assert same_order([2, 1, 3, 4], [1, 2, 4, 3], 2).passed
    assert "from sample 2 on" in same_order([1, 2, 3, 5, 4, 6], [1, 2, 3, 4, 5, 6], 2).reason
    assert not same_order([1, 2], [1, 2, 3, 4], 2).passed


def test_a_state_of_a_rank_is_not_offered_to_another_number_of_ranks():
    assert same_share(["a", "b"], Job(world=2), Job(rank=1, world=2), "x") == "b"
    with pytest.raises(NotOfferedError, match="x documents no resume with another number of ranks"):
        same_share(["a", "b"], Job(world=2), Job(world=4), "x")


def test_a_system_that_cannot_resume_fails_every_case_as_not_offered(tmp_path):
    ray = systems.load("ray")
    verdicts = [cases.Referee(ray, "", tmp_path).judge(number) for number in range(1, 13)]
    assert {verdict.result for verdict in verdicts} == {NOT_OFFERED}
    assert all(verdict.reason for verdict in verdicts)


def test_every_case_gives_each_rank_and_worker_whole_batches():
    assert len(cases.CASES) == 12
    for case in cases.CASES:
        for life in case.lives:
            share = cases.SAMPLES // life.job.world // max(1, life.job.workers)
            assert share % life.job.batch == 0
            assert cases.SHARDS % (life.job.world * max(1, life.job.workers)) == 0


def test_samples_begin_with_their_number(tmp_path):
    make_tree(tmp_path, 1001, 100)
    found = [data for _, data in samples(tmp_path)]
    assert [id_of(data) for data in found] == list(range(1001))
    assert sum(touch(data) for data in found) == bytes_below(tmp_path) == 100_100


def test_every_system_has_an_adapter_that_needs_no_package_to_be_loaded():
    for name in systems.NAMES:
        system = systems.load(name)
        assert system.name == name
        assert system.title
        assert system.about_resume


def test_the_report_names_each_failure_once():
    entry = {"title": "x", "versions": "x 1", "speed": {}}
    verdicts = [{"result": PASS, "reason": ""}, *[{"result": FAIL, "reason": "3 repeated"}] * 2]
    found = {"date": "d", "machine": "m", "load": 0.0, "seconds": 1, "sizes": [], "cases": ["a", "b", "c"]}
    text = report.markdown(found | {"systems": {"x": entry | {"cases": verdicts}}})
    assert "| 2 | b | **fail** |" in text
    assert "| | **passed** | 1 |" in text
    assert text.count("3 repeated") == 1
    assert "- x, 2, 3: 3 repeated" in text


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--only", "nosuch"], "there is no system 'nosuch'; expected some of stoker, stoker@lanes=1"),
        (["--only", "stoker@lanes=1"], "stoker@lanes=1 reads what stoker has packed; add stoker"),
        (["--rounds", "0"], "--rounds: 0 must be positive"),
        (["--pack-rounds", "-1"], "--pack-rounds: -1 must be positive"),
        (["--seconds", "nan"], "--seconds: nan must be positive"),
        (["--no-speed", "--no-cases"], "leave nothing to do"),
        (["--docs", "--no-cases"], "--docs replaces all results"),
    ],
)
def test_mistakes_are_refused_before_anything_is_installed(tmp_path, capsys, arguments, problem):
    with pytest.raises(SystemExit, match="2"):
        options.parse([str(tmp_path / "out"), *arguments])
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_file_is_no_directory_for_the_results(tmp_path, capsys):
    (tmp_path / "file").touch()
    with pytest.raises(SystemExit, match="2"):
        options.parse([str(tmp_path / "file")])
    assert "is a file; expected a directory" in capsys.readouterr().err
    assert options.parse([str(tmp_path), "--only", "stoker,litdata"]).only == "stoker,litdata"
