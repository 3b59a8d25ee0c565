"""Compares a feed under TLS with a bulk stream of OpenSSL, and with the same feed in plain text, in one run.

    python/.venv/bin/python benchmarks/tls.py DATASET [--batch-size 64] [--rounds 3] [--epochs 4] [--warm-up 6]

The yardstick is a bulk stream: `openssl s_server -WWW` sends one file, which holds the bytes of all chunk files, once
for each epoch, over one connection. It writes records of 16 KiB. A Python process receives into one buffer of 8 MiB
with `ssl.SSLSocket.recv_into`, and looks at no byte. "s_client" is the same stream to `openssl s_client`, which writes
it to /dev/null in blocks of 8 KiB. All use the same certificate; the cipher of each is printed.

Feeders and s_server run on this machine, and each round measures all systems one after the other. The feeders have
served some epochs before. CPU is the user and system time of the whole process on each side in the measured epochs.
The ratios compare the systems of the same round; the table shows the median of the rounds, the smallest and the
largest. On a busy machine, compare the CPU times. The certificate is made with the command openssl. Everything else
is as in benchmarks/feed.py.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from feed import chunk_files, read_feed, start_feeder, with_cpu

REQUEST = b"GET /bulk HTTP/1.0\r\n\r\n"
YARDSTICK = "openssl"

# --- runs in a separate process and prints one JSON object -----------------------------------------------------------


def receive_bulk(port: int, ca: str) -> dict:
    """Receives the file from s_server; the HTTP header in front of it is part of the bytes."""
    buffer = memoryview(bytearray(8 << 20))
    context = ssl.create_default_context(cafile=ca)
    with (
        socket.create_connection(("127.0.0.1", port)) as plain,
        context.wrap_socket(plain, server_hostname="127.0.0.1") as secured,
    ):
        secured.sendall(REQUEST)
        began, cpu, got = time.perf_counter(), time.process_time(), 0
        count = 1
        while count:
            size = 0
            while size < len(buffer) and (count := secured.recv_into(buffer[size:])):
                size += count
            got += size
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        cipher = secured.cipher()
        return {"seconds": seconds, "cpu": cpu, "bytes": got, "cipher": cipher and cipher[0]}


def receive_s_client(port: int, size: int) -> dict:
    command = ["openssl", "s_client", "-quiet", "-connect", f"127.0.0.1:{port}"]
    began = time.perf_counter()
    subprocess.run(command, input=REQUEST, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"seconds": time.perf_counter() - began, "cpu": used.ru_utime + used.ru_stime, "bytes": size}


# --- the measuring process -------------------------------------------------------------------------------------------


def child(*arguments: object, ca: str = "") -> dict:
    environment = os.environ | {"STOKER_TRANSPORT": "tcp"} | ({"STOKER_TLS_CA": ca} if ca else {})
    command = [sys.executable, __file__, "--child", *map(str, arguments)]
    out = subprocess.check_output(command, env=environment, text=True, timeout=900)
    return json.loads(out.splitlines()[-1])


def cipher_of(address: str, ca: str) -> str:
    """Returns the cipher that a server agrees on with OpenSSL's defaults, which trainers use."""
    host, _, port = address.rpartition(":")
    context = ssl.create_default_context(cafile=ca)
    with (
        socket.create_connection((host, int(port))) as plain,
        context.wrap_socket(plain, server_hostname=host) as secured,
    ):
        cipher = secured.cipher()
        return cipher[0] if cipher else "none"


def start_s_server(files: str, pem: str, key: str) -> tuple[subprocess.Popen[bytes], int]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["openssl", "s_server", "-WWW", "-quiet", "-accept", f"127.0.0.1:{port}", "-cert", pem, "-key", key]
    process = subprocess.Popen(command, cwd=files, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return process, port
        except ConnectionRefusedError:
            time.sleep(0.05)
    raise RuntimeError("openssl s_server ended")


def spread(values: list[float]) -> str:
    return f"{statistics.median(values):.2f} ({min(values):.2f}-{max(values):.2f})"


def report(results: dict[str, list[dict]]) -> None:
    rates, clients, servers = (
        {name: [of(r) for r in rounds] for name, rounds in results.items()}
        for of in (
            lambda r: r["bytes"] / r["seconds"] / 1e9,
            lambda r: r["cpu"] / r["bytes"] * 1e9,
            lambda r: r["server_cpu"] / r["bytes"] * 1e9,
        )
    )
    print(f"{'':10}{'GB/s':>18}{'client CPU s/GB':>20}{'server CPU s/GB':>20}{'GB/s of openssl':>20}")
    for name in results:
        ratios = [a / b for a, b in zip(rates[name], rates[YARDSTICK], strict=True)]
        cells = spread(clients[name]), spread(servers[name]), spread(ratios)
        print(f"{name:10}{spread(rates[name]):>18}" + "".join(f"{cell:>20}" for cell in cells))
    both = {name: [c + s for c, s in zip(clients[name], servers[name], strict=True)] for name in results}
    for name in ("plain", YARDSTICK):
        ratios = [a / b for a, b in zip(both["TLS"], both[name], strict=True)]
        print(f"CPU of both sides, TLS / {name}: {spread(ratios)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset")
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--warm-up", type=int, default=6)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as files:
        pem, key = f"{files}/feeder.pem", f"{files}/feeder.key"
        options = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=benchmark"
        names = ["-addext", "subjectAltName=IP:127.0.0.1"]
        command = ["openssl", "req", "-x509", *options.split(), *names, "-keyout", key, "-out", pem]
        subprocess.run(command, check=True, capture_output=True)
        bulk = Path(files, "bulk")
        with bulk.open("wb") as out:
            for file in chunk_files(args.dataset) * args.epochs:
                out.write(file.read_bytes())
        s_server, port = start_s_server(files, pem, key)
        processes = [s_server]
        try:
            plain, plain_address, _ = start_feeder(args.dataset, args.batch_size, name="plain")
            processes.append(plain)
            tls_options = ["--tls-cert", pem, "--tls-key", key]
            secured, address, _ = start_feeder(args.dataset, args.batch_size, *tls_options, name="tls")
            processes.append(secured)
            child("feed", plain_address, args.batch_size, args.warm_up)
            child("feed", address, args.batch_size, args.warm_up, ca=pem)
            systems = {
                YARDSTICK: (s_server, lambda: child("bulk", port, pem)),
                "s_client": (s_server, lambda: child("s_client", port, bulk.stat().st_size)),
                "plain": (plain, lambda: child("feed", plain_address, args.batch_size, args.epochs)),
                "TLS": (secured, lambda: child("feed", address, args.batch_size, args.epochs, ca=pem)),
            }
            results: dict[str, list[dict]] = {name: [] for name in systems}
            for number in range(args.rounds):
                for name, (process, measure) in systems.items():
                    results[name].append(with_cpu(process.pid, measure))
                print(f"round {number + 1} of {args.rounds} done", file=sys.stderr, flush=True)
            print(f"ciphers: {results[YARDSTICK][0]['cipher']} (openssl), {cipher_of(address, pem)} (TLS)")
        finally:
            for process in processes:
                process.terminate()
                process.communicate()
    report(results)


def run_child(arguments: list[str]) -> dict:
    match arguments:
        case ["bulk", port, ca]:
            return receive_bulk(int(port), ca)
        case ["s_client", port, size]:
            return receive_s_client(int(port), int(size))
        case ["feed", address, batch_size, epochs]:
            return read_feed(address, int(batch_size), 0, int(epochs))
    raise ValueError(f"unknown measurement {arguments}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        print(json.dumps(run_child(sys.argv[2:])))
    else:
        main()
