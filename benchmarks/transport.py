"""Compares the two candidates for the feeder's data path: sender threads and Netty.

    python3 benchmarks/transport.py DATASET [--sample-bytes 110000] [--rounds 5] [--gigabytes 8]

Both send the same batches (64 slices of mapped chunk files behind a small buffer) to a receiver that only counts.
Rounds alternate; the best of each counts, and the first warms up and does not. CPU is that of the sender's process.
"""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_of(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def receive(port: int, total: int) -> float:
    """Returns the seconds that so many bytes took."""
    view = memoryview(bytearray(8 << 20))
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        began = time.perf_counter()
        got = 0
        while got < total:
            n = connection.recv_into(view)
            if n == 0:
                raise EOFError("the sender ended")
            got += n
        return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--sample-bytes", type=int, default=110_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--gigabytes", type=float, default=8)
    parser.add_argument("--class-path", default=f"{ROOT}/benchmarks/target/classes:{ROOT}/benchmarks/target/lib/*")
    options = parser.parse_args()
    total = int(options.gigabytes * 1e9)
    command = ["java", "-Xmx512m", "-cp", options.class_path, "dev.stoker.benchmarks.TransportSenders"]
    senders = {}
    for kind in ("threads", "netty"):
        process = subprocess.Popen(
            [*command, kind, options.dataset, str(options.sample_bytes)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        assert process.stdout is not None
        senders[kind] = (process, int(process.stdout.readline()))
    results: dict[str, list[tuple[float, float]]] = {kind: [] for kind in senders}
    try:
        for number in range(options.rounds + 1):
            for kind, (process, port) in senders.items():
                before = cpu_of(process.pid)
                seconds = receive(port, total)
                if number > 0:
                    results[kind].append((seconds, cpu_of(process.pid) - before))
    finally:
        for process, _ in senders.values():
            process.kill()
    for kind, rounds in results.items():
        best = total / min(seconds for seconds, _ in rounds) / 1e9
        cpu = min(used for _, used in rounds) / options.gigabytes
        print(f"{kind:<10}{best:8.2f} GB/s{cpu:10.3f} CPU s/GB")


if __name__ == "__main__":
    main()
