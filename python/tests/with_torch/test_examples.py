"""The programs in examples/python, run as they stand on a small dataset of images."""

from __future__ import annotations

import collections
import os
import re
import runpy
import signal
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from images import image_dataset
from ports import free_port
from small_datasets import MANY, DatasetWriter, small_dataset
from stoker import Feed, errors

EXAMPLES = Path(__file__).parents[3] / "examples" / "python"
pytestmark = pytest.mark.filterwarnings("ignore")  # of other packages about themselves


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return image_dataset(tmp_path_factory.mktemp("examples") / "data").root


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Runs the main function of an example with arguments; returns what it returns."""
    for name in ("RANK", "WORLD_SIZE", "STOKER_FEED"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def run(name: str, *args: object) -> Any:
        monkeypatch.setattr(sys, "argv", [name, *map(str, args)])
        return runpy.run_path(str(EXAMPLES / name), run_name="example")["main"]()

    return run


def expected(images: Path, epochs: int = 1, **given: Any) -> list[tuple[int, int]]:
    with Feed(images, batch_size=16, **given) as feed:
        return [(b.epoch, b.number) for _ in range(epochs) for b in feed]


class Launch:
    """One torchrun of ddp.py."""

    def __init__(self, images: Path, folder: Path, processes: int, epochs: int) -> None:
        port = free_port()
        command = [sys.executable, "-m", "torch.distributed.run", f"--nproc-per-node={processes}"]
        command += [f"--master-port={port}", str(EXAMPLES / "ddp.py"), str(images), f"--epochs={epochs}"]
        env = {k: v for k, v in os.environ.items() if k not in ("RANK", "WORLD_SIZE")} | {"OMP_NUM_THREADS": "1"}
        out = subprocess.PIPE
        self.process = subprocess.Popen(command, cwd=folder, env=env, stdout=out, stderr=subprocess.STDOUT, text=True)
        self.text = ""
        self.steps: list[tuple[int, int, int]] = []
        self._more = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._more:
                self.text += line
                for rank, epoch, number in re.findall(r"rank (\d+) epoch (\d+) batch (\d+) ", line):
                    self.steps.append((int(epoch), int(number), int(rank)))
                self._more.notify_all()
        with self._more:
            self._more.notify_all()

    def after(self, steps: int) -> None:
        with self._more:
            done = self._more.wait_for(lambda: len(self.steps) >= steps or not self._reader.is_alive(), 120)
        assert done, self.text
        assert len(self.steps) >= steps, self.text

    def kill(self) -> None:
        pid = self.process.pid  # each rank has a separate session
        ranks = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for victim in (pid, *map(int, ranks)):
            os.kill(victim, signal.SIGKILL)
        self.process.wait(60)
        self._reader.join(60)

    def end(self) -> None:
        self._reader.join(180)
        assert self.process.wait(60) == 0, self.text


def test_a_killed_ddp_job_goes_on_where_its_checkpoint_stands(images: Path, tmp_path: Path) -> None:
    first = Launch(images, tmp_path, 2, 10**6)
    try:
        first.after(25)
    finally:
        first.kill()
    state = torch.load(tmp_path / "checkpoint.pt")["feed"]
    begun = state["epoch"], state["batch"]
    assert [s[:2] for s in first.steps if s[2] == 0 and s[:2] < begun] == [
        (e, n) for e, n in expected(images, begun[0] + 1, rank=0, world_size=2) if (e, n) < begun
    ]
    second = Launch(images, tmp_path, 2, begun[0] + 2)
    try:
        second.end()
    finally:
        if second.process.poll() is None:
            second.kill()
    for rank in range(2):
        whole = expected(images, begun[0] + 2, rank=rank, world_size=2)
        assert [s[:2] for s in second.steps if s[2] == rank] == [step for step in whole if step >= begun]


def test_lightning_resumes_and_validates(images: Path, run: Any) -> None:
    whole = expected(images, 4)
    model = run("with_lightning.py", images, "--steps", 13)
    assert model.seen == whole[:13]
    model = run("with_lightning.py", images, "--steps", 33)
    assert model.seen == whole[13:33]
    assert run("with_lightning.py", images, "--steps", 33).seen == []  # again after its end


@pytest.mark.cells
@pytest.mark.parametrize(
    ("example", "options"),
    [("with_accelerate.py", ("--epochs", 1)), ("with_trainer.py", ("--steps", 5)), ("with_keras.py", ())],
)
def test_an_example_that_is_run_again_after_its_end_does_not_fail(
    images: Path, run: Any, example: str, options: tuple[Any, ...]
) -> None:
    for _ in range(2):
        run(example, images, *options)


def test_accelerate_with_its_model_and_the_feeds_data(images: Path, run: Any) -> None:
    assert run("with_accelerate.py", images, "--epochs", 2) == expected(images, 2)


def test_accelerates_own_loaders_would_divide_twice(images: Path) -> None:
    from accelerate.data_loader import prepare_data_loader
    from torch.utils.data import DataLoader

    for dispatch, batches in ((False, DataLoader), (True, partial(DataLoader, batch_size=None))):
        with Feed(images, batch_size=16, rank=0, world_size=2) as feed:
            loader = prepare_data_loader(batches(feed), "cpu", 2, 0, put_on_device=True, dispatch_batches=dispatch)
            loader.state = SimpleNamespace(num_processes=2, process_index=0)
            with pytest.raises(errors.LoaderError, match="divide among 2 processes"):
                next(iter(loader))


def test_the_trainers_own_shard_would_divide_twice(images: Path) -> None:
    from transformers.trainer_pt_utils import IterableDatasetShard

    with Feed(images, batch_size=16, rank=1, world_size=2) as feed, pytest.raises(errors.LoaderError):
        next(iter(IterableDatasetShard(feed, batch_size=1, num_processes=2, process_index=1)))


def test_the_trainer_resumes_from_its_checkpoint(images: Path, run: Any) -> None:
    whole = expected(images, 4)
    assert run("with_trainer.py", images, "--steps", 20).seen == whole[:20]
    assert run("with_trainer.py", images, "--steps", 30).seen == whole[20:30]


def in_a_process(arguments: list[object], **variables: str) -> str:
    """What a program prints.

    JAX does not go together with the forks of other tests, so it never runs in this process.
    """
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stderr
    return done.stdout


def learned(said: str) -> bool:
    found = re.search(r"loss ([\d.]+) → ([\d.]+)", said)
    assert found is not None, said
    return float(found[2]) < 0.9 * float(found[1])


def test_jax_learns(images: Path) -> None:
    said = in_a_process([EXAMPLES / "with_jax.py", images, "--epochs", 2])
    assert said.startswith("20 steps")
    assert learned(said)


SHARES = """
import sys, jax.numpy as jnp, numpy as np
from stoker import Feed

with Feed(sys.argv[1], batch_size=16, tail="keep") as feed:
    for batch in feed:
        data = batch.to_jax()
        assert data["label"].tolist() == batch["label"].tolist()
        if len(batch._pieces) == 1:  # joined ones are a copy already
            assert data["label"].unsafe_buffer_pointer() == batch["label"].ctypes.data
        assert data["image"] is batch["image"]
        assert (data.keys, data.state) == (batch.keys, batch.state)
        assert jnp.from_dlpack(batch["label"]).sum() == batch["label"].sum()
with Feed(sys.argv[2], batch_size=7, lanes=3) as feed:
    missing = 0
    for batch in feed:
        try:
            batch.to_jax()
            assert not any(np.ma.getmaskarray(batch[name]).any() for name in ("flag", "half"))
        except ValueError as e:
            assert "to_jax(missing={" in str(e), e
        data = batch.to_jax(missing={"flag": False, "half": -1.0})
        absent = np.ma.getmaskarray(batch["label"])
        missing += absent.sum()
        assert (np.asarray(data["label"]) == batch["label"].filled(-100)).all()
        assert (np.asarray(data["half"])[np.ma.getmaskarray(batch["half"])] == -1.0).all()
        assert data.half.dtype == jnp.bfloat16
        assert data.box.dtype == jnp.float32 and data.box.shape == (7, 2, 2)
        assert data.pixels.tolist() == batch.pixels.tolist()
        valid = data.validity("flag")
        assert valid is None or valid.tolist() == batch.validity("flag").tolist()
        assert data.tokens is batch.tokens
assert missing
print("right")
"""


def test_jax_shares_the_memory_of_a_batch(images: Path, tmp_path: Path) -> None:
    many = small_dataset(tmp_path / "d", MANY).root
    assert in_a_process(["-c", SHARES, images, many]).strip() == "right"


@pytest.mark.parametrize("backend", ["jax", pytest.param("torch", marks=pytest.mark.soak)])
def test_keras_learns(images: Path, tmp_path: Path, backend: str) -> None:
    said = in_a_process(
        [EXAMPLES / "with_keras.py", images, "--epochs", 3], KERAS_BACKEND=backend, KERAS_HOME=str(tmp_path)
    )
    assert said.startswith(backend)
    assert learned(said)


def test_the_notebook_runs_from_top_to_bottom(images: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    monkeypatch.setenv("STOKER_DATA", str(images))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    book = nbformat.read(EXAMPLES / "notebook.ipynb", 4)
    assert not any(cell.get("outputs") for cell in book.cells)
    NotebookClient(book, timeout=120, kernel_name="python3").execute()
    printed = "".join(o.get("text", "") for cell in book.cells for o in cell.get("outputs", ()))
    assert "190 samples of circle, cross, square" in printed
    assert re.search(r"\d+ of 40 right", printed)


@pytest.fixture(scope="module")
def documents(tmp_path_factory: pytest.TempPathFactory) -> DatasetWriter:
    writer = DatasetWriter(
        tmp_path_factory.mktemp("documents") / "d", [{"name": "tokens", "type": "int32[]", "payload": True}]
    )
    rng = np.random.default_rng(3)
    lengths = rng.integers(0, 60, 90).tolist()
    rows = [{"key": f"{i:03}", "tokens": 1 + i * 100 + np.arange(n)} for i, n in enumerate(lengths)]
    writer.commit([rows[at : at + 15] for at in range(0, 90, 15)])
    return writer


def test_token_blocks_lose_nothing_and_resume_to_the_token(documents: DatasetWriter, run: Any) -> None:
    blocks_of = runpy.run_path(str(EXAMPLES / "tokens.py"), run_name="example")["Blocks"]

    def feed() -> Feed:
        return Feed(documents.root, batch_size=4, lanes=3, tail="keep", epochs=2)

    with feed() as f:
        stream = np.concatenate([np.append(row, 0) for b in f.batches() for row in b["tokens"]])
    for length in (1, 7, 64, 500):
        with feed() as f:
            packed = blocks_of(f, "tokens", length, end=0)
            seen = [(block, packed.state) for block in packed]
        assert len(seen) == len(stream) // length
        assert (np.concatenate([b for b, _ in seen]) == stream[: len(seen) * length]).all()
        counts = collections.Counter(np.concatenate([b for b, _ in seen]).tolist())
        assert max(n for token, n in counts.items() if token) <= 2
        for at in range(0, len(seen), max(1, len(seen) // 12)):
            with feed() as f:
                packed = blocks_of(f, "tokens", length, end=0, state=seen[at][1])
                assert packed.state == seen[at][1]
                rest = [block.tolist() for block in packed]
            assert rest == [block.tolist() for block, _ in seen[at + 1 :]], (length, at)
    run("tokens.py", documents.root, "--block", 64)
