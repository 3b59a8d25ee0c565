"""The disk cache beside files of its user, and in places that other users of the machine have prepared."""

from __future__ import annotations

import os
import stat
import uuid
from pathlib import Path

import pytest

from stoker._store import disk_cache
from stoker._store.disk_cache import DiskCache
from stoker._store.downloads import Downloads

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Windows has neither owners nor modes of this kind")


def name(n: int) -> str:
    return f"{uuid.UUID(int=n)}-00000000.arrow"


def put(cache: DiskCache, n: int, length: int) -> None:
    with cache.filling(name(n)):
        temporary = cache.reserve(length)
        assert temporary is not None
        with cache.writable(temporary) as file:
            file.write(bytes(length))
        cache.publish(temporary, name(n))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def plant(path: Path, text: str = "precious") -> Path:
    """An old file, the first to be deleted if it were a copy."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (1, 1))
    return path


def make_foreign(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives a directory to another user, or makes this process another user's."""
    if os.geteuid() == 0:
        os.chown(path, 65534, 65534)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every temporary file is of a dead process."""
    monkeypatch.setattr(disk_cache, "_DEAD_S", -1)


def test_files_that_are_not_the_caches_stay_and_do_not_count(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 1000)
    put(cache, 1, 400)
    space = tmp_path / "copies"
    folder = name(1)[34:36]
    planted = [
        plant(tmp_path / "thesis.tex", "x" * 5000),
        plant(tmp_path / "results/run1.csv"),
        plant(space / "notes.txt"),
        plant(space / ".tmp-mine"),
        plant(space / "results/run1.csv"),
        plant(space / folder / "run1.csv"),
        plant(space / "ab" / name(1)),  # in the folder of another one
        plant(space / folder / "more" / name(1)),
    ]
    for n in range(2, 6):
        put(cache, n, 400)
    assert all(path.exists() for path in planted)
    assert sum(path.stat().st_size for path in space.rglob(f"{folder}/*-00000000.arrow")) <= 1000
    assert cache.has(name(5), 400)


def test_a_directory_with_other_files_does_not_become_a_cache(tmp_path: Path) -> None:
    for n in range(5):
        plant(tmp_path / f"copies/{n}.txt")
    cache = DiskCache(tmp_path, 1000)
    assert not cache.has(name(1), 400)
    expected = f"cannot use the disk cache {tmp_path / 'copies'}: it has files that are not the cache's: 0.txt, 1.txt"
    with pytest.raises(OSError, match="STOKER_CACHE_DIR") as caught:
        put(cache, 1, 400)
    assert str(caught.value).startswith(expected + ", 2.txt and 2 more; set ")
    cache.delete(name(1))
    assert len(list((tmp_path / "copies").iterdir())) == 5


def test_a_tag_of_another_program_does_not_make_a_cache(tmp_path: Path) -> None:
    plant(tmp_path / "copies/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55\n# of a browser\n")
    with pytest.raises(OSError, match=r"it has files that are not the cache's: CACHEDIR\.TAG;"):
        put(DiskCache(tmp_path, 1000), 1, 400)


def test_nobody_else_can_read_what_the_cache_makes(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        put(DiskCache(tmp_path, 1000), 1, 400)
    finally:
        os.umask(before)
    for path in (tmp_path / "copies").rglob("*"):
        assert mode(path) == (0o700 if path.is_dir() else 0o600)
    assert mode(tmp_path / "copies") == 0o700


def test_the_directory_of_another_user_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = DiskCache(tmp_path, 1000)
    put(cache, 1, 400)
    make_foreign(tmp_path / "copies", monkeypatch)
    for call in (lambda: cache.has(name(1), 400), lambda: put(cache, 2, 400), cache.private):
        with pytest.raises(OSError, match=r"cannot use the disk cache .*/copies: it belongs to .*set STOKER_CACHE_DIR"):
            call()
    assert (tmp_path / "copies" / name(1)[34:36] / name(1)).exists()


def test_write_permission_of_others_is_taken_away(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 1000)
    put(cache, 1, 400)
    (tmp_path / "copies").chmod(0o777)
    assert cache.has(name(1), 400)
    assert mode(tmp_path / "copies") == 0o755


def test_a_link_in_place_of_the_directory_is_refused_by_name(tmp_path: Path) -> None:
    other = DiskCache(tmp_path / "other", 1000)
    put(other, 1, 400)
    precious = plant(tmp_path / "other/copies/precious")
    (tmp_path / "copies").symlink_to(tmp_path / "other/copies")
    cache = DiskCache(tmp_path, 1000)
    for call in (lambda: cache.has(name(1), 400), lambda: put(cache, 2, 400)):
        with pytest.raises(OSError, match="copies: it is a file or a link, not a directory; set STOKER_CACHE_DIR"):
            call()
    assert precious.exists()
    assert other.has(name(1), 400)


@pytest.mark.parametrize("planted", ["link", "second name", "FIFO"])
def test_a_lock_that_somebody_planted_is_not_written_to(tmp_path: Path, planted: str) -> None:
    precious = plant(tmp_path / "authorized_keys")
    cache = DiskCache(tmp_path, 1000)
    put(cache, 1, 400)
    for lock in (tmp_path / "copies/lock", tmp_path / "copies" / name(2)[34:36] / f"{name(2)}.lock"):
        lock.parent.mkdir(exist_ok=True)
        lock.unlink(missing_ok=True)
        if planted == "link":
            lock.symlink_to(precious)
        elif planted == "second name":
            os.link(precious, lock)
        else:
            os.mkfifo(lock)
    with pytest.raises(OSError, match=f"{name(2)}.lock is .*; delete it; set STOKER_CACHE_DIR"):
        put(cache, 2, 400)
    with pytest.raises(OSError, match=r"lock is .*; delete it; set STOKER_CACHE_DIR"):
        cache.reserve(400)
    assert precious.read_text() == "precious"


def test_links_below_the_directory_are_not_followed(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 1000)
    put(cache, 1, 400)
    folder = tmp_path / "copies" / name(2)[34:36]
    precious = plant(tmp_path / "elsewhere" / name(2))
    folder.symlink_to(tmp_path / "elsewhere")
    copy = plant(tmp_path / "elsewhere/copy", "x" * 400)
    known = tmp_path / "copies" / name(1)[34:36] / name(1)
    known.unlink()
    known.symlink_to(copy)
    assert not cache.has(name(1), 400)
    assert not cache.has(name(2), len("precious"))
    cache.delete(name(2))
    cache.delete_all_of(str(uuid.UUID(int=2)))
    put(cache, 1, 400)  # takes the place of the link
    for n in (0x301, 0x401, 0x501):
        put(cache, n, 400)
    assert precious.read_text() == "precious"
    assert copy.stat().st_size == 400
    assert not known.is_symlink()


@pytest.mark.parametrize("identity", ["..", "../" * 12 + "home", f"{uuid.UUID(int=1)}/../../..", "*" * 36, ""])
def test_an_id_of_a_dataset_that_is_none_deletes_nothing(tmp_path: Path, identity: str) -> None:
    cache = DiskCache(tmp_path / "cache", 1000)
    put(cache, 1, 400)
    precious = [plant(tmp_path / "precious"), plant(tmp_path / "cache/precious")]
    Downloads(cache).forget(identity)
    assert all(path.exists() for path in precious)
    assert cache.has(name(1), 400)
    Downloads(cache).forget(str(uuid.UUID(int=1)))
    assert not cache.has(name(1), 400)


def test_the_directory_may_be_deleted_at_any_time(tmp_path: Path) -> None:
    import shutil

    cache = DiskCache(tmp_path, 1000)
    put(cache, 1, 400)
    shutil.rmtree(tmp_path / "copies")
    assert not cache.has(name(1), 400)
    put(cache, 1, 400)
    assert cache.has(name(1), 400)
