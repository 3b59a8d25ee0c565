"""Commands in a warm JVM: they answer what processes answer, and nothing of one reaches the next."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import stoker_processes
import warm_command
from stoker_processes import COMMAND, LIMIT_S, Cli, environment, make_tree, until
from warm_command import WarmCommand

TIMES = re.compile(
    r"[0-9.]+ (?:ms|s|kB/s|MB/s|samples/s|rows/s)\b|seconds\":[0-9.e-]+|\d\d\d\d-\d\d-\d\d[T ][0-9:.]+Z?"
)
PROGRESS = re.compile(r"^(?:starting|listing|packing|committing|exporting)\b.*(?:…| left|/s|B)\n", re.M)
"""After five seconds, as on a loaded machine."""
IDS = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|(?<=logs/info-)[0-9]+")


@pytest.fixture
def warm(tmp_path: Path) -> Iterator[WarmCommand]:
    started = WarmCommand(COMMAND, environment(tmp_path / "home"), LIMIT_S, "-Dstoker.test.requests=2")
    yield started
    started.close()


def steady(answer: tuple[int, str, str], folders: tuple[Path, Path]) -> tuple[int, str, str]:
    """Without what differs between two runs: the folder, times, random ids."""
    code, out, err = answer
    err = PROGRESS.sub("", err)
    for folder in folders:
        out, err = (text.replace(str(folder), "FOLDER") for text in (out, err))
    out, err = (IDS.sub("ID", TIMES.sub("TIME", text)) for text in (out, err))
    return code, out, err


def test_answers_are_those_of_processes(cli: Cli, tmp_path: Path) -> None:
    folders = tmp_path / "warm", tmp_path / "cold"
    for folder in folders:
        make_tree(folder / "files", {"ant": 9, "bee": 8}, lambda n: 20 + n)
        make_tree(folder / "again", {"ant": 1}, lambda n: 20 + n)
    one = "--parallelism", "1"
    commands = (
        ("--version",),
        ("help", "ingest"),
        ("nope",),
        ("ingest", "{0}/files"),
        ("info", "{0}/absent"),
        ("ingest", "{0}/files", "{0}/data", "--label-from", "parent-dir", *one),
        ("ingest", "{0}/again", "{0}/data", "--append", "--json", "--label-from", "parent-dir"),
        ("verify", "{1}/data"),
        ("info", "{1}/data", "--json"),
        ("ls", "{1}/data", "--recursive", "--json"),
        ("export", "{0}/data", "{0}/out", "--format", "jsonl", "--columns", "key,label", *one),
        ("ingest", "{0}/out", "{0}/rows", "--key", "key", "--json", *one),
        ("compact", "{1}/data"),
        ("info", "viewfs://nowhere/data"),
    )
    # The first ingest of a process prepares fast starts.
    cli.process("ingest", folders[0] / "files", tmp_path / "first")
    pids = set()
    for words in commands:
        answers = [
            run(*(word.format(folder, folders[0]) for word in words))
            for run, folder in zip((cli.finish, cli.process), folders, strict=True)
        ]
        assert steady(answers[0], folders) == steady(answers[1], folders), words
        home = warm_command.of_home(cli.home)
        pids.add(None if home is None else home.pid)
    assert pids != {None} or os.environ.get("STOKER_WARM") == "0"


def test_it_is_replaced_after_many_commands(warm: WarmCommand) -> None:
    assert warm.pid is None
    assert warm.answer("--version")[0] == 0
    first = warm.pid
    assert warm.answer("nope")[0] == 2
    assert warm.pid is None
    assert not Path(f"/proc/{first}").exists()
    assert warm.answer("--version")[0] == 0
    assert warm.retired == ["2 requests"]
    assert warm.pid not in (None, first)


def test_a_command_without_end_is_killed_with_its_jvm_and_its_threads_are_shown(warm: WarmCommand) -> None:
    warm.answer("--version")
    warm.limit_s = 1
    with pytest.raises(AssertionError, match=r"not within 1 s\n(.|\n)*Full thread dump (.|\n)*WaitVerb"):
        warm.answer("wait", "nobody", "--timeout", "100s")
    assert warm.retired == ["time-out"]
    assert warm.pid is None
    warm.limit_s = LIMIT_S
    assert warm.answer("--version")[0] == 0


def test_a_process_without_end_is_killed_and_its_threads_are_shown(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stoker_processes, "LIMIT_S", 5)
    with pytest.raises(AssertionError, match=r"not within 5 s\n(.|\n)*Full thread dump (.|\n)*WaitVerb"):
        cli.process("wait", "nobody", "--timeout", "100s")


def test_an_end_of_the_jvm_is_told(warm: WarmCommand) -> None:
    warm.answer("--version")
    os.kill(warm.pid, signal.SIGKILL)
    with pytest.raises(AssertionError, match="the JVM that answers commands ended"):
        warm.answer("--version")
    assert warm.answer("--version")[0] == 0


def test_remote_stores_end_with_their_command(warm: WarmCommand) -> None:
    code, _, err = warm.answer("info", "viewfs://nowhere/data")
    assert code == 1
    assert "viewfs://nowhere/" in err
    assert warm.retired == ["remote stores keep logins, connections and threads"]


def test_each_home_has_its_own(tmp_path: Path) -> None:
    make_tree(tmp_path / "files", {"ant": 2}, lambda n: 9)
    homes = [WarmCommand(COMMAND, environment(tmp_path / name), LIMIT_S) for name in ("one", "two")]
    try:
        homes[0].answer("ingest", tmp_path / "files", tmp_path / "data")
        homes[1].answer("--version")
        assert len({home.pid for home in homes}) == 2
        assert [log.name for log in (tmp_path / "one" / "logs").iterdir()] == [f"ingest-{homes[0].pid}.log"]
        homes[0].answer("export", tmp_path / "data", tmp_path / "out", "--format", "arrow")
        assert sorted(log.name.split("-")[0] for log in (tmp_path / "one" / "logs").iterdir()) == ["export", "ingest"]
        assert list((tmp_path / "two" / "logs").iterdir()) == []
    finally:
        for home in homes:
            home.close()


def test_commands_of_several_threads(cli: Cli) -> None:
    with ThreadPoolExecutor(3) as pool:
        said = list(pool.map(lambda verb: cli.fails(verb), ("one", "two", "three")))
    assert [text.split("\n")[0] for text in said] == [
        f"stoker: there is no verb {verb}" for verb in ("one", "two", "three")
    ]


@pytest.mark.parametrize("change", ["variable", "directory", "umask", "off"])
def test_changed_surroundings_need_a_process(change: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    umask = os.umask(0o077) if change == "umask" else None
    if change == "variable":
        monkeypatch.setenv("HADOOP_CONF_DIR", str(tmp_path))
    elif change == "directory":
        monkeypatch.chdir(tmp_path)
    elif change == "off":
        monkeypatch.setenv("STOKER_WARM", "0")
    try:
        assert Cli(tmp_path / "home").run("--version").startswith("stoker ")
    finally:
        if umask is not None:
            os.umask(umask)
    assert warm_command.of_home(tmp_path / "home") is None


def test_it_ends_with_the_tests(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\n"
        f"sys.path[:0] = {sys.path!r}\n"
        "from pathlib import Path\n"
        "from stoker_processes import COMMAND, LIMIT_S, environment\n"
        "from warm_command import WarmCommand\n"
        f"warm = WarmCommand(COMMAND, environment(Path({str(tmp_path / 'home')!r})), LIMIT_S)\n"
        "warm.answer('--version')\n"
        "print(warm.pid, flush=True)\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, timeout=LIMIT_S)
    assert done.returncode == -signal.SIGKILL
    status = Path(f"/proc/{int(done.stdout)}/stat")
    # Who takes over orphans may leave a zombie.
    until(lambda: not status.exists() or ") Z " in status.read_text(), "the JVM ends")
