"""The parts of a release: they run without the sources, and their versions agree."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from stoker_processes import COMMAND, Cli, make_tree

import stoker

REPOSITORY = COMMAND.parent
DIST = REPOSITORY / "cli" / "target" / "dist"


def run(*command: object, home: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "STOKER_HOME": str(home), **environment}
    return subprocess.run(
        list(map(str, command)),
        env=env,
        cwd=home,
        capture_output=True,
        text=True,
        timeout=600,
        stdin=subprocess.DEVNULL,
    )


def test_versions_agree() -> None:
    pom = (REPOSITORY / "pom.xml").read_text()
    java = re.search(r"<artifactId>stoker-parent</artifactId>\s*<version>(.*?)</version>", pom)[1]
    assert java.replace("-SNAPSHOT", ".dev0") == stoker.__version__
    extra = re.search(r"stoker-command==([^\"]*)", (REPOSITORY / "python" / "pyproject.toml").read_text())[1]
    assert extra == stoker.__version__


@pytest.mark.full("programs")
def test_the_distribution_needs_no_sources(cli: Cli, tmp_path: Path) -> None:
    installed = tmp_path / "opt with space" / "stoker"
    shutil.copytree(DIST, installed, copy_function=os.link, ignore=shutil.ignore_patterns("classes-*"))
    make_tree(tmp_path / "photos", {"ant": 5, "bee": 5}, lambda n: 100)
    # A link to the command, as in /usr/local/bin.
    command = tmp_path / "stoker"
    command.symlink_to(installed / "bin" / "stoker")
    done = run(command, "ingest", "photos", "data", "--label-from", "parent-dir", home=tmp_path)
    assert done.returncode == 0, done.stderr
    assert sum(len(batch) for batch in stoker.Feed(tmp_path / "data", batch_size=3, epochs=1, tail="keep")) == 10
    assert list(installed.glob("classes-*.jsa")), "the archive of fast starts"


def test_too_few_open_files_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("stoker", "java.sh", "launch.sh"):
        shutil.copy(REPOSITORY / "cli" / "launcher" / name, tmp_path / "bin")
    done = run("bash", "-c", 'ulimit -n 64; exec "$0" --version', tmp_path / "bin" / "stoker", home=tmp_path)
    assert done.returncode == 1
    assert done.stderr == (
        "stoker: the limit of open files is 64, at least 128 are needed: raise it with ulimit -n 1024\n"
    )


def test_a_deleted_current_directory_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("stoker", "java.sh", "launch.sh"):
        shutil.copy(REPOSITORY / "cli" / "launcher" / name, tmp_path / "bin")
    (tmp_path / "gone").mkdir()
    script = 'cd gone; rmdir ../gone; exec "$0" --version'
    done = run("bash", "-c", script, tmp_path / "bin" / "stoker", home=tmp_path)
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if not line.startswith("shell-init: ")]
    assert said == ["stoker: the current directory was deleted: change to another one"]


@pytest.mark.full("programs")
def test_the_distribution_needs_no_compiler(cli: Cli, tmp_path: Path) -> None:
    """A Java runtime is enough, and none at all is one line."""
    java = Path(shutil.which("java") or os.path.join(os.environ["JAVA_HOME"], "bin", "java")).resolve()
    runtime = tmp_path / "runtime"
    (runtime / "bin").mkdir(parents=True)
    for part in ("lib", "conf", "release"):
        (runtime / part).symlink_to(java.parent.parent / part)
    shutil.copy(java, runtime / "bin" / "java")
    done = run(DIST / "bin" / "stoker", "--version", home=tmp_path, JAVA_HOME=str(runtime))
    assert done.stdout.startswith("stoker "), done.stderr
    done = run(DIST / "bin" / "stoker", "--version", home=tmp_path, JAVA_HOME=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == (
        f'stoker: JAVA_HOME is "{tmp_path}", which holds no Java (no bin/java): '
        "set it to Java of version 17 or newer, or unset it\n"
    )


@pytest.mark.full("programs")
def test_the_package_of_the_command_starts_its_distribution(cli: Cli, tmp_path: Path) -> None:
    package = tmp_path / "stoker_command"
    shutil.copytree(REPOSITORY / "python" / "command" / "src" / "stoker_command", package)
    (package / "dist").symlink_to(DIST)
    program = "import sys; from stoker_command import main; sys.argv[0] = 'stoker'; main()"
    done = run(sys.executable, "-c", program, "--version", home=tmp_path, PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout[:7]) == (0, "stoker "), done.stderr
    done = run(sys.executable, "-c", program, "verify", "no-such-dataset", home=tmp_path, PYTHONPATH=str(tmp_path))
    assert done.returncode != 0
    assert "no-such-dataset" in done.stderr


@pytest.mark.full("programs")
def test_a_change_of_any_module_of_the_command_builds_it(cli: Cli) -> None:
    """The launcher looks for newer sources in each module that the command consists of."""
    pom = (REPOSITORY / "pom.xml").read_text()
    modules = set(re.findall(r"<module>([a-z/-]+)</module>", pom))
    modules = {module for module in modules if (REPOSITORY / module / "src" / "main").is_dir()} - {"examples"}
    assert {"schemas", "feeder-job/server", "connectors/common", "cli"} <= modules
    script = """
        set -euo pipefail; exec 3>&2; root=$1; . "$root/cli/launcher/launch.sh"; . "$root/cli/launcher/build.sh"
        find() { printf '%s\\n' "$@" >&3; command find "$@"; }
        up_to_date"""
    done = subprocess.run(["bash", "-c", script, "-", REPOSITORY], capture_output=True, text=True, timeout=60)
    searched = done.stderr.splitlines()
    for module in modules:
        assert f"{REPOSITORY}/{module}/src/main" in searched, done.stderr
        assert f"{REPOSITORY}/{module}/pom.xml" in searched
