"""The disk cache of far stores: quota, order of deletion, several processes, killed ones."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import threading
import uuid
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from far_stores import FileServer, web
from small_datasets import small_dataset
from stoker._format.checksum import crc32c
from stoker._store import disk_cache, hub, obstore_objects
from stoker._store import downloads as downloads_module
from stoker._store.disk_cache import DiskCache, parsed_size
from stoker._store.downloads import Downloads, FarFile
from stoker._store.remote_path import RemotePath


def name(n: int) -> str:
    return f"{uuid.UUID(int=n)}-00000000.arrow"


def put(cache: DiskCache, n: int, length: int) -> None:
    temporary = cache.reserve(length)
    assert temporary is not None
    with cache.writable(temporary) as file:
        file.write(bytes(length))
    cache.publish(temporary, name(n))


def served(address: str, root: Path, content: bytes) -> FarFile:
    """A file on a web server of that folder."""
    (root / "object").write_bytes(content)
    path = RemotePath.of(f"{address}/object")
    assert path is not None
    return FarFile(path, str(uuid.UUID(int=1)), "arrow", len(content), crc32c(content), True)


def used(folder: Path) -> int:
    """The bytes of all files that count."""
    files = [path for path in (folder / "copies").rglob("*") if path.is_file()]
    return sum(path.stat().st_size for path in files if path.name not in ("lock", "CACHEDIR.TAG"))


def copy(folder: Path, n: int) -> Path:
    return folder / "copies" / name(n)[34:36] / name(n)


def age(folder: Path, n: int, seconds: int) -> None:
    path = copy(folder, n)
    os.utime(path, (path.stat().st_mtime - seconds,) * 2)


def test_the_least_recently_used_copies_are_deleted(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 1000)
    for n in range(4):
        put(cache, n, 240)
        age(tmp_path, n, 100 - n)
    assert cache.has(name(0), 240)  # now the last one
    put(cache, 4, 240)
    assert cache.has(name(0), 240)
    assert not cache.has(name(1), 240)
    assert used(tmp_path) <= 1000


def test_a_copy_of_another_length_is_not_found(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 1000)
    put(cache, 1, 100)
    assert not cache.has(name(1), 101)


def test_what_is_being_written_counts(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 1000)
    reserved = [cache.reserve(300) for _ in range(3)]
    assert all(reserved)
    assert used(tmp_path) == 900
    assert cache.reserve(300) is None
    assert cache.reserve(1001) is None


def test_the_quota_holds_for_many_threads(tmp_path: Path) -> None:
    caches = [DiskCache(tmp_path, 5000) for _ in range(4)]

    def work(cache: DiskCache, first: int) -> None:
        for n in range(first, first + 20):
            put(cache, n, 700)

    threads = [threading.Thread(target=work, args=(cache, 100 * i)) for i, cache in enumerate(caches)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 5000 - 2 * 700 < used(tmp_path) <= 5000


def test_a_lost_note_is_counted_again(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 1000)
    put(cache, 1, 900)
    (tmp_path / "copies/lock").write_bytes(b"garbage")
    put(cache, 2, 900)
    assert used(tmp_path) == 900


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_the_file_of_a_killed_process_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom stoker._store.disk_cache import DiskCache\n"
        "cache = DiskCache(Path(sys.argv[1]), 1000)\n"
        f"with cache.filling({name(1)!r}):\n"
        "    cache.writable(cache.reserve(900)).write(b'half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)])
    assert done.returncode == -signal.SIGKILL
    cache = DiskCache(tmp_path, 1000)
    with cache.filling(name(1)):  # the lock has ended with the process
        assert not cache.has(name(1), 900)
    monkeypatch.setattr(disk_cache, "_DEAD_S", -1)
    put(cache, 2, 900)
    assert used(tmp_path) == 900


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_bytes_of_a_process_killed_while_it_reserves_are_noted(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom stoker._store.disk_cache import DiskCache\n"
        "cache = DiskCache(Path(sys.argv[1]), 1000)\n"
        "cache._note = cache._temporary = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "if sys.argv[2] == 'after the note':\n    cache._note = DiskCache._note.__get__(cache)\n"
        "cache.reserve(900)\n"
    )
    put(DiskCache(tmp_path, 1000), 1, 50)
    for place in ("before the note", "after the note"):
        done = subprocess.run([sys.executable, "-c", program, str(tmp_path), place])
        assert done.returncode == -signal.SIGKILL
        assert used(tmp_path) <= int((tmp_path / "copies/lock").read_text())
    assert int((tmp_path / "copies/lock").read_text()) == 950


def test_a_reserved_file_counts_while_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = []
    write = Downloads._write

    def counted(self: Downloads, *arguments: Any) -> None:
        counts.append(used(tmp_path / "cache"))
        write(self, *arguments)
        counts.append(used(tmp_path / "cache"))

    monkeypatch.setattr(Downloads, "_write", counted)
    with web(FileServer, tmp_path) as (address, _):
        os.close(Downloads(DiskCache(tmp_path / "cache", 1000)).open(served(address, tmp_path, bytes(600))))
    assert counts == [600, 600]


@pytest.mark.skipif(os.name == "nt", reason="Windows deletes the name of an open file when it is closed")
def test_a_file_outside_the_quota_has_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = []
    write = Downloads._write

    def looked(self: Downloads, *arguments: Any) -> None:
        write(self, *arguments)
        names.extend((tmp_path / "cache/copies").glob(".tmp*"))

    monkeypatch.setattr(Downloads, "_write", looked)
    with web(FileServer, tmp_path) as (address, _):
        fd = Downloads(DiskCache(tmp_path / "cache", 100)).open(served(address, tmp_path, b"content" * 100))
    assert not names
    with open(fd, "rb") as file:
        assert file.read() == b"content" * 100


@pytest.mark.skipif(os.name == "nt", reason="Windows does not delete open files")
def test_a_file_that_another_process_took_for_dead_is_downloaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = DiskCache(tmp_path / "cache", 1000)
    write = Downloads._write
    deleted = []

    def suspended(self: Downloads, *arguments: Any) -> None:
        for path in [] if deleted else (tmp_path / "cache/copies").glob(".tmp*"):
            path.unlink()
            deleted.append(path)
        write(self, *arguments)

    monkeypatch.setattr(Downloads, "_write", suspended)
    with web(FileServer, tmp_path) as (address, requests):
        file = served(address, tmp_path, bytes(600))
        os.close(Downloads(cache).open(file))
    assert len(deleted) == 1
    assert len(requests) == 2
    assert cache.has(file.copy, 600)


def test_a_thread_that_cannot_start_hangs_nobody(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    start = threading.Thread.start

    def limited(self: threading.Thread) -> None:
        if self.name == "stoker-download" and is_limited:
            raise RuntimeError("can't start new thread")
        start(self)

    def open_within_a_limit(file: FarFile) -> None:
        errors: list[BaseException] = []

        def call() -> None:
            try:
                os.close(downloads.open(file))
            except RuntimeError as e:
                errors.append(e)

        thread = threading.Thread(target=call, daemon=True)
        thread.start()
        thread.join(30)
        assert not thread.is_alive()
        if errors:
            raise errors[0]

    monkeypatch.setattr(threading.Thread, "start", limited)
    monkeypatch.setattr(downloads_module, "_IDLE_S", 60)
    downloads = Downloads(DiskCache(tmp_path / "cache", 1000))
    with web(FileServer, tmp_path) as (address, _):
        file = served(address, tmp_path, bytes(600))
        is_limited = True
        downloads.start([file])  # may fail: the reader downloads it
        with pytest.raises(RuntimeError, match="can't start new thread"):
            open_within_a_limit(file)
        done: list[int] = []
        downloads.each([partial(done.append, n) for n in range(3)])
        assert done == [0, 1, 2]
        is_limited = False
        open_within_a_limit(file)
        is_limited = True
        downloads._cache.delete(file.copy)
        open_within_a_limit(file)  # by the thread that is there
        assert downloads._threads == 1


def failing(number: int) -> Any:
    def fail(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    return fail


@pytest.mark.parametrize(
    ("place", "number"),
    [
        ("stoker._store.file_lock._lock", errno.ENOSYS),
        ("stoker._store.file_lock._lock", errno.ENOENT),
        ("stoker._store.disk_cache.DiskCache._files", errno.EIO),
        ("stoker._store.disk_cache.os.replace", errno.ENOSPC),
        ("stoker._store.disk_cache.Path.mkdir", errno.EROFS),
        ("stoker._store.downloads.memoryview", errno.ENOSPC),
    ],
)
def test_an_error_of_the_cache_names_its_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, number: int
) -> None:
    with web(FileServer, tmp_path) as (address, _):
        file = served(address, tmp_path, bytes(600))
        monkeypatch.setattr(place, failing(number), raising=False)
        with pytest.raises(OSError, match="set STOKER_CACHE_DIR to a writable") as caught:
            Downloads(DiskCache(tmp_path / "cache", 1000)).open(file)
    assert f"cannot use the disk cache {tmp_path / 'cache' / 'copies'}: {os.strerror(number)};" in str(caught.value)
    assert not isinstance(caught.value, FileNotFoundError)  # which means that the object is missing


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_named(tmp_path: Path) -> None:
    downloads = Downloads(DiskCache(tmp_path, 1000))
    with (
        open("/dev/full", "r+b", 0) as out,
        pytest.raises(OSError, match="No space left on device; set STOKER_CACHE_DIR"),
    ):
        downloads._write(out, 0, b"content")


def test_a_read_only_directory_with_copies_is_enough(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cache = DiskCache(tmp_path, 1000)
    put(cache, 1, 100)
    monkeypatch.setattr(os, "utime", failing(errno.EROFS))
    assert cache.has(name(1), 100)


def test_a_user_without_a_home_directory_sets_the_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless(_: Path) -> Path:
        raise RuntimeError("Could not determine home directory.")

    for variable in ("STOKER_CACHE_DIR", "XDG_CACHE_HOME", "HF_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(Path, "expanduser", homeless)
    with pytest.raises(ValueError, match="no home directory for the disk cache; set STOKER_CACHE_DIR"):
        disk_cache.cache_of_environment()
    assert hub._token() == ""
    assert obstore_objects._profile() is None


def test_processes_download_a_chunk_once(tmp_path: Path) -> None:
    small_dataset(tmp_path / "photos")
    program = (
        "import sys, stoker\n"
        "for batch in stoker.Feed(sys.argv[1], batch_size=5, epochs=1):\n    print(*batch.keys, sep='\\n')\n"
    )
    with web(FileServer, tmp_path) as (address, requests):
        environment = os.environ | {"STOKER_CACHE_DIR": str(tmp_path / "cache"), "PYTHONIOENCODING": "utf-8"}
        command = [sys.executable, "-c", program, f"{address}/photos"]
        processes = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) for _ in range(3)]
        outputs = [process.communicate()[0] for process in processes]
    assert all(process.returncode == 0 for process in processes)
    assert len(set(outputs)) == 1
    assert len(outputs[0].splitlines()) == 40
    chunks = [request for request in requests if request.startswith("GET /photos/chunks/")]
    whole = 6
    heads = 6  # of the check of the classes
    assert len(chunks) <= whole + heads


def test_sizes_are_parsed() -> None:
    assert parsed_size("200g") == 200 << 30
    assert parsed_size("5") == 5
    assert parsed_size("3MB") == 3 << 20
    for text in ("", "g", "1.5g", "-1", "1x"):
        with pytest.raises(ValueError, match="is not a size"):
            parsed_size(text)
