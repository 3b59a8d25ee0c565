"""The disk cache of far stores: quota, order of deletion, several processes, killed ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import uuid
from pathlib import Path

import pytest

from far_stores import FileServer, web
from small_datasets import small_dataset
from stoker._store import disk_cache
from stoker._store.disk_cache import DiskCache, parsed_size


def name(n: int) -> str:
    return f"{uuid.UUID(int=n)}-00000000.arrow"


def put(cache: DiskCache, n: int, length: int) -> None:
    temporary = cache.reserve(length)
    assert temporary is not None
    temporary.write_bytes(bytes(length))
    cache.publish(temporary, name(n))


def used(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and path.name != "lock")


def age(cache: DiskCache, n: int, length: int, seconds: int) -> None:
    path = cache.find(name(n), length)
    assert path is not None
    os.utime(path, (path.stat().st_mtime - seconds,) * 2)


def test_the_least_recently_used_copies_are_deleted(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 1000)
    for n in range(4):
        put(cache, n, 240)
        age(cache, n, 240, 100 - n)
    assert cache.find(name(0), 240) is not None  # now the last one
    put(cache, 4, 240)
    assert cache.find(name(0), 240) is not None
    assert cache.find(name(1), 240) is None
    assert used(tmp_path) <= 1000


def test_a_copy_of_another_length_is_not_found(tmp_path: Path) -> None:
    cache = DiskCache(tmp_path, 1000)
    put(cache, 1, 100)
    assert cache.find(name(1), 101) is None


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
    (tmp_path / "lock").write_bytes(b"garbage")
    put(cache, 2, 900)
    assert used(tmp_path) == 900


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_the_file_of_a_killed_process_is_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = (
        "import os, signal, sys\nfrom pathlib import Path\nfrom stoker._store.disk_cache import DiskCache\n"
        "cache = DiskCache(Path(sys.argv[1]), 1000)\n"
        f"with cache.filling({name(1)!r}):\n"
        "    cache.reserve(900).write_bytes(b'half')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)])
    assert done.returncode == -signal.SIGKILL
    cache = DiskCache(tmp_path, 1000)
    with cache.filling(name(1)):  # the lock has ended with the process
        assert cache.find(name(1), 900) is None
    monkeypatch.setattr(disk_cache, "_DEAD_S", -1)
    put(cache, 2, 900)
    assert used(tmp_path) == 900


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
