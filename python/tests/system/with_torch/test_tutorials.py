"""The tutorials, run from the first command to the last, on data like a reader's: images of many sizes, text files."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from stoker_processes import COMMAND, Cli

from images import encoded
from ports import free_port

pytestmark = pytest.mark.full("programs")

REPOSITORY = COMMAND.parent
BLOCK = re.compile(r"^```(bash|python)\n(.*?)^```$", re.M | re.S)


@pytest.fixture(scope="module")
def folder(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where a reader types: photos in classes, documents."""
    root = tmp_path_factory.mktemp("tutorial with space")
    for n in range(150):
        file = root / "photos" / ("cat", "dog", "fox")[n % 3] / f"{n} (1).png"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(encoded(n, 20 + 7 * n % 60))
    words = random.Random(3)
    for n in range(60):
        file = root / "documents" / ("news", "plays")[n % 2] / f"{n}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(" ".join(words.choice(("feed", "naïve", "π", "chunk")) for _ in range(words.randrange(1, 90))))
    return root


def follow(page: str, folder: Path, other: dict[str, str] | None = None) -> list[str]:
    """Does what the page says, block after block, in one shell; returns the output of each command block."""
    text = (REPOSITORY / "docs" / "tutorials" / page).read_text("utf-8")
    for given, replacement in (other or {}).items():
        assert given in text
        text = text.replace(given, replacement)
    script = ["set -euo pipefail"]
    for match in BLOCK.finditer(text):
        kind, code = match.groups()
        if kind == "python":
            file = re.match(r"# (\w+\.py)\n", code)
            assert file, f"{page}: a program without its file's name"
            script.append(f"cat > {file[1]} <<'END_OF_PROGRAM'\n{code}END_OF_PROGRAM")
        else:
            script += [code, "printf '\\n----\\n'"]
    place = f"{REPOSITORY}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    env = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE", "STOKER_FEED")}
    # Not the home of other tests, whose feeds have the same names.
    env |= {"PATH": place, "STOKER_HOME": str(folder / "home"), "STOKER": str(REPOSITORY)}
    # A session, so that nothing that the page starts outlives a failure.
    shell = subprocess.Popen(
        ["bash", "-c", "\n".join(script)],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        output, _ = shell.communicate(timeout=240)
    finally:
        if shell.poll() != 0:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(shell.pid, signal.SIGKILL)
    assert shell.returncode == 0, output
    return output.split("\n----\n")


def losses(output: str) -> list[tuple[int, int]]:
    return [(int(epoch), int(batch)) for epoch, batch in re.findall(r"^epoch (\d+) batch (\d+) loss", output, re.M)]


def test_from_an_image_folder(folder: Path, cli: Cli) -> None:
    outputs = follow("image-folder.md", folder)
    trained, crashed, fed = outputs[2:5]
    whole = losses(trained)
    assert len(whole) == len(set(whole)) > 10
    assert "classes ('cat', 'dog', 'fox')" in trained
    # The second run continues behind the checkpoint of the first, and ends like the run without a crash.
    assert "continues at" in crashed
    assert losses(crashed) == whole[-len(losses(crashed)) :]
    assert (folder / "first.log").exists()
    assert len(losses(fed)) > 10


def test_a_token_dataset(folder: Path, cli: Cli) -> None:
    shutil.copy(REPOSITORY / "examples" / "python" / "tokens.py", folder)
    outputs = follow("tokens.md", folder)
    one, two = ((folder / name).read_text().splitlines() for name in ("one", "two"))
    assert len(one) == len(two) == 10
    assert one != two
    assert "news" in outputs[-2]


def test_a_cluster(folder: Path, cli: Cli) -> None:
    if not (folder / "data" / "photos").exists():
        cli.run("ingest", folder / "photos", folder / "data" / "photos", "--label-from", "parent-dir")
    # Other ports than the page's, which something else may use.
    rpc, rest = free_port(), free_port()
    copy = 'cp -r "$STOKER/flink-conf/one-machine" conf'
    other = {copy: f"{copy}\nsed -i 's/6123/{rpc}/; s/8081/{rest}/' conf/config.yaml", "--port 7420-7429": "--port 0"}
    outputs = follow("cluster.md", folder, other)
    assert "exactly" in outputs[2] or "ok" in outputs[2], outputs[2]
