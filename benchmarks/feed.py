"""Compares the feed and the path reader with their upper limits, in one run, over the same bytes.

    python/.venv/bin/python benchmarks/feed.py DATASET [--batch-size 64] [--rounds 3] [--epochs 4] [--warm-up 6]

The limits are a plain Java sender to a plain Python receiver (`PlainSender`: one connection, mapped files, only bytes),
and a pass over the mapped chunk files. The feed and the path reader deliver every sample as a view. In all systems the
consumer reads each byte once, for a CRC-32C; Stoker verifies its own checksums besides. Each system runs in separate
processes. Rounds alternate between the systems, and the best round of each counts, because machines are noisy. Each
round measures a few epochs (passes over the files) in one process. The feeder has served some epochs before, so that
the JVM has compiled its code. CPU is the user and system time of the whole trainer process and of the whole feeder
process in the measured epochs; the least of the rounds counts.
"""

from __future__ import annotations

import argparse
import json
import mmap
import os
import re
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LIB = ROOT / "cli" / "target" / "dist" / "lib"
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of(pid: int | str) -> float:
    """Returns the CPU seconds that a process, or a thread as ``PID/task/TID``, has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def chunk_files(dataset: str) -> list[Path]:
    return sorted(Path(dataset, "chunks").rglob("*.arrow"))


# --- runs in a separate process and prints one JSON object -----------------------------------------------------------


def receive_plain(listener: int, secret: str, total: int) -> dict:
    """Receives from the process that connects to the listening socket and sends the secret first; reads each byte."""
    import google_crc32c
    import numpy as np

    buffer = np.empty(8 << 20, np.uint8)
    view = memoryview(buffer)
    with socket.socket(fileno=listener) as accepting, accepting.accept()[0] as connection:
        if connection.recv(len(secret), socket.MSG_WAITALL) != secret.encode():
            raise EOFError("another process has connected")
        began, cpu, got = time.perf_counter(), time.process_time(), 0
        while got < total:
            size = 0
            while size < len(view) and got < total:
                n = connection.recv_into(view[size : size + total - got])
                if n == 0:
                    raise EOFError(f"the sender stopped after {got} of {total} bytes")
                size += n
                got += n
            google_crc32c.value(buffer[:size])
        return {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu, "bytes": got}


def read_mapped(dataset: str, passes: int) -> dict:
    """Copies every chunk file out of its mapping, as a gathering reader does, and reads the copy once."""
    import google_crc32c
    import numpy as np

    files = chunk_files(dataset)
    target = np.empty(max(f.stat().st_size for f in files), np.uint8)
    began, cpu, total = time.perf_counter(), time.process_time(), 0
    for file in files * passes:
        with open(file, "rb") as handle, mmap.mmap(handle.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            source = np.frombuffer(mapped, np.uint8)
            np.copyto(target[: len(source)], source)
            google_crc32c.value(target[: len(source)])
            total += len(source)
            del source
    return {"seconds": time.perf_counter() - began, "cpu": time.process_time() - cpu, "bytes": total}


def local_share(before: dict, after: dict) -> float:
    """Of the bytes between two looks at a feed's statistics, those that crossed no socket."""
    handed, total = (after.get(key, 0) - before.get(key, 0) for key in ("local_read_bytes", "bytes"))
    return handed / total if total else 0.0


def read_feed(target: str, batch_size: int, warm_up: int, epochs: int) -> dict:
    """Every sample of every payload field is obtained as a view and read once, for a CRC-32C."""
    import google_crc32c

    from stoker import Feed

    with Feed(target, batch_size=batch_size) as feed:
        payload = [field.name for field in feed.info.fields if field.payload]
        opened, first = time.perf_counter(), 0.0
        for epoch in range(warm_up + epochs):
            if epoch in (0, warm_up):
                began, cpu, total, samples = time.perf_counter(), time.process_time(), 0, 0
                before = feed.stats()
            for batch in feed:
                first = first or time.perf_counter() - opened
                for name in payload:
                    for sample in batch[name]:
                        samples += 1
                        total += sample.nbytes
                        google_crc32c.value(sample)
        return {
            "seconds": time.perf_counter() - began,
            "cpu": time.process_time() - cpu,
            "bytes": total,
            "samples": samples,
            "first": first,
            "local": local_share(before, feed.stats()),
        }


# --- the measuring process -------------------------------------------------------------------------------------------


def child(*arguments: str, transport: str = "auto", descriptors: tuple[int, ...] = ()) -> dict:
    """Runs one system in a new process and returns what it measured."""
    done = subprocess.run(
        [sys.executable, __file__, "--child", *arguments],
        check=True,
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ | {"STOKER_TRANSPORT": transport},
        pass_fds=descriptors,
    )
    return json.loads(done.stdout.splitlines()[-1])


def java(main: str, *arguments: str) -> subprocess.Popen[str]:
    command = [os.path.join(os.environ.get("JAVA_HOME", "/usr"), "bin", "java"), "-Xmx512m", "-cp", f"{LIB}/*", main]
    return subprocess.Popen([*command, *arguments], stdin=subprocess.PIPE, text=True)


def plain(sender: subprocess.Popen[str], total: str) -> dict:
    """Has the sender connect to a new process, which receives `total` bytes."""
    assert sender.stdin is not None
    secret = secrets.token_hex(16)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        sender.stdin.write(f"{secret} tcp:{listener.getsockname()[1]}\n")
        sender.stdin.flush()
        number = listener.fileno()
        return child("plain", str(number), secret, total, descriptors=(number,))


def start_feeder(
    dataset: str, batch_size: int, *options: str, name: str = "bench", stoker: str = str(ROOT / "stoker")
) -> tuple[subprocess.Popen[str], str, float]:
    """Starts ``stoker feed`` and returns its process, its address and the seconds until it was ready."""
    began = time.perf_counter()
    command = [stoker, "feed", dataset, "--name", f"{name}-{os.getpid()}", "--port", "0"]
    command += ["--batch-size", str(batch_size), *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert process.stdout is not None
    for line in process.stdout:
        found = re.search(r"ready\D*?((?:\d+\.){3}\d+:\d+)", line)
        if found:
            return process, found[1], time.perf_counter() - began
    raise RuntimeError("the feeder ended before it was ready")


def with_cpu(pid: int, measure: Callable[[], dict]) -> dict:
    before = cpu_of(pid)
    result = measure()
    result["server_cpu"] = cpu_of(pid) - before
    return result


def report(results: dict[str, list[dict]]) -> None:
    best = {name: min(rounds, key=lambda r: r["seconds"] / r["bytes"]) for name, rounds in results.items()}
    lowest = {
        name: (min(r["cpu"] / r["bytes"] for r in rounds), min(r.get("server_cpu", 0) / r["bytes"] for r in rounds))
        for name, rounds in results.items()
    }
    ceiling = {
        "feed": "plain stream",
        "feed (unix)": "plain stream",
        "feed (local reads)": "mapped read",
        "path": "mapped read",
    }
    print(
        f"{'system':<22}{'GB/s':>8}{'samples/s':>12}{'of ceiling':>12}{'trainer CPU s/GB':>18}{'feeder CPU s/GB':>18}"
    )
    for name, r in best.items():
        speed = r["bytes"] / r["seconds"]
        over = ceiling.get(name)
        ratio = f"{speed / (best[over]['bytes'] / best[over]['seconds']):.2f}" if over else ""
        rate = f"{r['samples'] / r['seconds']:,.0f}" if "samples" in r else ""
        server = f"{lowest[name][1] * 1e9:.3f}" if lowest[name][1] else ""
        print(f"{name:<22}{speed / 1e9:>8.2f}{rate:>12}{ratio:>12}{lowest[name][0] * 1e9:>18.3f}{server:>18}")
    print(f"trainer CPU, feed / plain receiver: {lowest['feed'][0] / lowest['plain stream'][0]:.2f}")
    print(f"feeder CPU, feed / plain sender: {lowest['feed'][1] / lowest['plain stream'][1]:.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--warm-up", type=int, default=6)
    options = parser.parse_args()
    size = sum(f.stat().st_size for f in chunk_files(options.dataset))
    print(f"{options.dataset}: {len(chunk_files(options.dataset)):,} chunks, {size / 1e9:.2f} GB", flush=True)
    epochs, total = str(options.epochs), str(size * options.epochs)
    files = tempfile.NamedTemporaryFile("w", suffix=".txt")  # noqa: SIM115, deleted at the end
    files.write("".join(f"{file}\n" for file in chunk_files(options.dataset)))
    files.flush()
    sender = java("dev.stoker.bench.feed.PlainSender", files.name)
    feeder, address, ready = start_feeder(options.dataset, options.batch_size)
    results: dict[str, list[dict]] = {}
    try:
        batch = str(options.batch_size)
        first = child("feed", address, batch, "0", str(options.warm_up))
        print(f"stoker feed ready after {ready:.2f} s, first batch {first['first']:.2f} s after that", flush=True)
        for number in range(options.rounds):
            for name, measure in {
                "mapped read": lambda: child("mapped", options.dataset, epochs),
                "path": lambda: child("feed", options.dataset, batch, "1", epochs),
                "plain stream": lambda: with_cpu(sender.pid, lambda: plain(sender, total)),
                "feed": lambda: with_cpu(
                    feeder.pid, lambda: child("feed", address, batch, "0", epochs, transport="tcp")
                ),
                "feed (unix)": lambda: with_cpu(
                    feeder.pid, lambda: child("feed", address, batch, "0", epochs, transport="unix")
                ),
                "feed (local reads)": lambda: with_cpu(
                    feeder.pid, lambda: child("feed", address, batch, "1", epochs, transport="local-reads")
                ),
            }.items():
                results.setdefault(name, []).append(measure())
            print(f"round {number + 1} of {options.rounds} done", file=sys.stderr, flush=True)
    finally:
        sender.kill()
        files.close()
        feeder.terminate()
        feeder.wait(60)
    report(results)
    return 0


def run_child(arguments: list[str]) -> dict:
    match arguments:
        case ["plain", listener, secret, total]:
            return receive_plain(int(listener), secret, int(total))
        case ["mapped", dataset, passes]:
            return read_mapped(dataset, int(passes))
        case ["feed", target, batch_size, warm_up, epochs]:
            return read_feed(target, int(batch_size), int(warm_up), int(epochs))
    raise ValueError(f"unknown measurement {arguments}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(run_child(sys.argv[2:])))
        sys.exit(0)
    sys.exit(main())
