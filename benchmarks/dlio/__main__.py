"""Runs DLIO with Stoker's data loader, and with DLIO's own torch loader over the same files.

    python benchmarks/dlio OUT [--ranks 2] [--env DIR]

Installs DLIO, MPI and torch into OUT/env, lets DLIO generate the files of `workload/stoker.yaml` in OUT/data, packs
them with `stoker.Writer`, and prints what DLIO reports for both loaders.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
STOKER = HERE.parents[1] / "python" / "src"
DLIO = "dlio_benchmark==2.0.0"
NEEDED = (
    "google-crc32c",
    "numpy",
    "pyarrow",
    "torch==2.15.0",
    "mpi4py==4.1.2",
    "mpich==5.0.2",
    "hydra-core==1.3.8",
    "h5py",
    "psutil",
    "pydftracer==1.0.2",
    "Pillow",
    "pandas",
    "tensorflow-cpu; platform_machine == 'x86_64'",
    "tensorflow; platform_machine != 'x86_64'",
)
"""What DLIO imports here. Its other dependencies are DALI and libraries of torch."""
PACK = """
import sys
from pathlib import Path
import stoker
with stoker.Writer(sys.argv[2], schema={"image": "binary"}) as writer:
    for path in sorted(Path(sys.argv[1]).rglob("*.jpeg")):
        writer.write({"key": path.name, "image": path.read_bytes()})
"""
LOADERS = {"Stoker": (), "DLIO's torch loader": ("reader.data_loader_classname=null",)}


def install(env: Path, log: Path) -> Path:
    python = env / "bin" / "python"
    stamp = env / "dlio.stamp"
    if stamp.exists() and stamp.read_text() == str(NEEDED):
        return python
    if not python.exists():
        venv.create(env, with_pip=True)
    pip = [str(python), "-m", "pip", "install", "--disable-pip-version-check", "--no-input"]
    with open(log, "w") as out:
        for packages in (NEEDED, ("--no-deps", DLIO)):
            subprocess.run([*pip, *packages], stdout=out, stderr=out, check=True)
    stamp.write_text(str(NEEDED))
    return python


def dlio(python: Path, out: Path, ranks: int, name: str, *overrides: str) -> Path:
    """Runs DLIO's command and returns the folder of its output."""
    folder = out / name
    command = [str(python.with_name("mpiexec")), "-n", str(ranks)]
    command += [str(python), "-m", "dlio_benchmark.main", f"--config-dir={HERE}", "workload=stoker"]
    command += [f"hydra.run.dir={folder}", f"++workload.dataset.data_folder={out / 'data'}"]
    command += [f"++workload.{override}" for override in overrides]
    env = {**os.environ, "PYTHONPATH": f"{HERE}:{STOKER}", "OMP_NUM_THREADS": "1"}
    env.pop("STOKER_DLIO", None)  # the loader must read the files that were packed here
    with open(out / f"{name}.log", "w") as log:
        done = subprocess.run(command, stdout=log, stderr=log, env=env, cwd=out, check=False)
    if done.returncode:
        raise SystemExit(f"DLIO ended with {done.returncode}: see {out / name}.log")
    return folder


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT", help="a directory for the environment, data and results")
    parser.add_argument("--ranks", type=int, default=2, help="processes of DLIO (2)")
    parser.add_argument("--env", type=Path, help="the virtual environment (default: OUT/env)")
    options = parser.parse_args()
    if options.ranks < 1:
        parser.error(f"--ranks: {options.ranks} must be positive")
    if options.out.exists() and not options.out.is_dir():
        parser.error(f"OUT: {options.out} is a file; expected a directory")
    out = options.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    python = install((options.env or out / "env").absolute(), out / "install.log")
    packed = out / "data" / "packed"
    if not packed.exists():
        shutil.rmtree(out / "data", ignore_errors=True)  # of a run that was interrupted
        dlio(python, out, options.ranks, "generate", "workflow.generate_data=True", "workflow.train=False")
        pack = [str(python), "-c", PACK, str(out / "data" / "train"), str(out / "data" / "stoker")]
        subprocess.run(pack, env={**os.environ, "PYTHONPATH": str(STOKER)}, check=True)
        packed.touch()
    print(f"{'loader':<24}{'samples/s':>12}{'utilization':>14}")
    for number, (loader, overrides) in enumerate(LOADERS.items()):
        summary = json.loads(
            (dlio(python, out, options.ranks, f"train{number}", *overrides) / "summary.json").read_text()
        )
        metric = summary["metric"]
        rate, used = metric["train_throughput_mean_samples_per_second"], metric["train_au_mean_percentage"]
        print(f"{loader:<24}{rate:>12,.0f}{used:>12.1f} %", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
