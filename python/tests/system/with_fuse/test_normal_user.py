"""A mount of a user other than root, who needs fusermount and may open /dev/fuse."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from stoker_processes import COMMAND, LIMIT_S, Cli

from images import image_tree

pytestmark = pytest.mark.full("programs")

NOBODY = 65534
FILES = 12

AS_NOBODY = f"setpriv --reuid {NOBODY} --regid {NOBODY} --clear-groups"

# In a namespace of mounts: the command and the data where the user may read them, and devices as machines usually have.
PREPARE = f"""
mount -t tmpfs -o mode=755 tmpfs "$PLACE"
cp -r "$DATA" "$SOURCE" "$PLACE"
mkdir "$PLACE/dist" "$PLACE/user"
mount --bind "$DIST" "$PLACE/dist"
chown {NOBODY}:{NOBODY} "$PLACE/user"
for device in "fuse 10 229" "null 1 3"; do
  set -- $device
  mknod -m 666 "$PLACE/$1" c "$2" "$3"
  mount --bind "$PLACE/$1" "/dev/$1"
done
cd "$PLACE/user"
export HOME="$PLACE/user" STOKER_HOME="$PLACE/user/home"
"""

PROGRAM = """
mkdir point
"$PLACE/dist/bin/stoker" mount "$PLACE/data" point --background > said
diff -r "$PLACE/photos" point
stat -c "%u %g" point point/*/*.png | sort -u
"$PLACE/dist/bin/stoker" unmount point
ls -A point
"""


@pytest.fixture(scope="module")
def folder(cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("normal-user")
    image_tree(folder / "photos", count=FILES)
    cli.run("ingest", folder / "photos", folder / "data")
    return folder


@pytest.fixture
def place() -> Iterator[Path]:
    """An empty directory below one that everybody may enter."""
    with tempfile.TemporaryDirectory(dir="/var/tmp") as place:
        Path(place).chmod(0o755)
        yield Path(place)


def as_nobody(folder: Path, place: Path, program: str, change: str = "") -> subprocess.CompletedProcess[str]:
    names = {
        "PLACE": str(place),
        "DATA": str(folder / "data"),
        "SOURCE": str(folder / "photos"),
        "DIST": str(COMMAND.parent / "cli" / "target" / "dist"),
        "PROGRAM": program,
    }
    script = f'{PREPARE}{change}exec {AS_NOBODY} bash -euc "$PROGRAM"'
    return subprocess.run(
        ["unshare", "--mount", "--propagation", "private", "bash", "-euc", script],
        env=os.environ | names,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )


def test_a_normal_user_mounts_and_unmounts(folder: Path, place: Path) -> None:
    done = as_nobody(folder, place, PROGRAM)
    assert (done.returncode, done.stdout) == (0, f"{NOBODY} {NOBODY}\n"), done.stderr


def test_a_user_who_may_not_open_the_device_is_told_so(folder: Path, place: Path) -> None:
    change = 'chmod 600 "$PLACE/fuse"\n'
    done = as_nobody(folder, place, 'mkdir point; "$PLACE/dist/bin/stoker" mount "$PLACE/data" point', change)
    assert done.returncode == 1
    assert "this user may not open /dev/fuse: ask the administrator for chmod 666 /dev/fuse" in done.stderr
