"""The page of the experiments names what exists, and the parts of its scripts that can fail silently are right."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from stoker import Feed

_ROOT = Path(__file__).resolve().parents[2]
_DOCS = _ROOT / "docs"
_BENCHMARKS = _ROOT / "benchmarks"
_RESULTS = _DOCS / "results"
_PAGE = _RESULTS / "experiments.md"

pytestmark = pytest.mark.skipif(not (_ROOT / ".git").exists(), reason="not a checkout of the repository")


@pytest.fixture
def accuracy(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(_BENCHMARKS)
    return importlib.import_module("accuracy")


def test_every_picture_of_the_documentation_is_on_a_page() -> None:
    text = "".join(page.read_text("utf-8") for page in _DOCS.rglob("*.md"))
    text += (_ROOT / "README.md").read_text("utf-8")
    unused = [picture.name for picture in (_DOCS / "images").iterdir() if f"images/{picture.name}" not in text]
    assert unused == []


def test_every_experiment_has_a_section_with_its_command_and_picture() -> None:
    experiments = re.search(
        r"^EXPERIMENTS = \{(.*?)^\}", (_BENCHMARKS / "experiments.py").read_text("utf-8"), re.M | re.S
    )
    assert experiments is not None
    names = re.findall(r'^    "(\w+)":', experiments[1], re.M)
    sections = _PAGE.read_text("utf-8").split("\n## ")
    for name in names:
        picture = f"](../images/{name.replace('_', '-')}.svg)"
        assert any(f"benchmarks/{name}.py" in section and picture in section for section in sections), name
    assert len(names) == 6


def test_every_command_on_the_pages_names_a_script_and_options_that_it_has() -> None:
    options: dict[str, set[str]] = {}
    for page in (_DOCS / "results.md", *_RESULTS.glob("*.md")):
        for script in set(re.findall(r"benchmarks/\w+\.(?:py|sh)", page.read_text("utf-8"))):
            assert (_ROOT / script).is_file(), f"{page.name}: {script}"
    for script, given in re.findall(r"(benchmarks/\w+\.py)((?: +[-\w./]+)*)", _PAGE.read_text("utf-8")):
        options.setdefault(script, set()).update(re.findall(r"--[\w-]+", given))
    for script, named in options.items():
        done = subprocess.run([sys.executable, _ROOT / script, "--help"], capture_output=True, text=True, check=True)
        assert named <= set(re.findall(r"--[\w-]+", done.stdout)), script


@pytest.mark.parametrize("shuffled", [True, False])
def test_the_network_trains_in_the_order_that_a_feed_delivers(
    accuracy: ModuleType, tmp_path: Path, shuffled: bool
) -> None:
    x = np.zeros((600, accuracy.POINTS), np.float32)
    y = np.arange(600) // 60
    packed = accuracy.pack(tmp_path, accuracy.Data(x, y, x, y), 5, shuffled)
    assert len(packed.chunks.rows) > 50
    assert np.array_equal(packed.samples, np.arange(600)) == (not shuffled)
    window = int(0.1 * packed.chunks.lengths.sum())
    with Feed(tmp_path, batch_size=accuracy.BATCH, shuffle_window=window, seed=7, tail="keep") as feed:
        for epoch in range(2):
            read = np.concatenate([batch["id"] for batch in feed])
            assert np.array_equal(read, accuracy.stoker_order(packed, 0.1, 7, epoch))


def test_gradients_are_the_slopes_of_the_cross_entropy(accuracy: ModuleType) -> None:
    rng = np.random.default_rng(1)
    sizes = ((6, 5), (5, 4), (4, 3), (5,), (4,), (3,))
    parameters = [rng.normal(size=size) for size in sizes]
    x, y = rng.normal(size=(8, 6)), rng.integers(0, 3, 8)

    def loss() -> float:
        scores = accuracy.layers(parameters, x)[-1]
        return float((np.log(np.exp(scores).sum(1)) - scores[np.arange(8), y]).mean())

    for value, slopes in zip(parameters, accuracy.gradients(parameters, x, y), strict=True):
        place = tuple(0 for _ in value.shape)
        before = value[place]
        value[place] = before + 1e-5
        above = loss()
        value[place] = before - 1e-5
        below = loss()
        value[place] = before
        assert slopes[place] == pytest.approx((above - below) / 2e-5, abs=1e-7)


def test_p_values_are_adjusted_for_their_number_and_stay_in_order(accuracy: ModuleType) -> None:
    assert accuracy.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert accuracy.holm([0.7, 0.6]) == [1.0, 1.0]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["file", "--only", "units"], "file is a file; expected a directory"),
        (["out", "--only", "units", "--pictures", "file"], "file is a file; expected a directory"),
        (["out", "--only", "accuracy"], "mnist1d is missing: python -m pip install mnist1d"),
        (["out", "--only", "cold_boot"], "memcached is missing: apt-get install memcached"),
        (["out", "--only", "units", "--pictures", "out"], "matplotlib is missing: python -m pip install matplotlib"),
    ],
)
def test_what_is_missing_is_told_before_the_first_experiment(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    arguments: list[str],
    problem: str,
) -> None:
    monkeypatch.syspath_prepend(_BENCHMARKS)
    experiments = importlib.import_module("experiments")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.chdir(tmp_path)
    Path("file").touch()
    monkeypatch.setattr("sys.argv", ["experiments.py", *arguments])
    with pytest.raises(SystemExit, match="2"):
        experiments.main()
    assert problem in capsys.readouterr().err
    assert not Path("out").exists()
