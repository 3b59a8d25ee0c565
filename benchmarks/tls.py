"""Measures what TLS costs: the same feed over TCP in plain text and under TLS, in one run.

    python/.venv/bin/python benchmarks/tls.py DATASET [--batch-size 64] [--rounds 3] [--epochs 4] [--warm-up 6]

Both feeders run on this machine, and rounds alternate between them; the best round of each counts, for CPU the one with
the least. The certificate is made with the command openssl. Everything else is as in benchmarks/feed.py.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile

from feed import read_feed, start_feeder, with_cpu


def child(address: str, ca: str, args: argparse.Namespace) -> dict:
    numbers = [str(args.batch_size), str(args.warm_up), str(args.epochs)]
    environment = os.environ | {"STOKER_TRANSPORT": "tcp"} | ({"STOKER_TLS_CA": ca} if ca else {})
    out = subprocess.check_output([sys.executable, __file__, "--child", address, *numbers], env=environment, text=True)
    return json.loads(out.splitlines()[-1])


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
        files_of_tls = ["--tls-cert", pem, "--tls-key", key]
        feeders = {
            "plain": (*start_feeder(args.dataset, args.batch_size, name="plain")[:2], ""),
            "TLS": (*start_feeder(args.dataset, args.batch_size, *files_of_tls, name="tls")[:2], pem),
        }
        results: dict[str, list[dict]] = {name: [] for name in feeders}
        try:
            for _ in range(args.rounds):
                for name, (process, address, ca) in feeders.items():
                    results[name].append(with_cpu(process.pid, lambda a=address, c=ca: child(a, c, args)))
        finally:
            for process, _, _ in feeders.values():
                process.terminate()
                process.communicate()
    passes = (args.warm_up + args.epochs) / args.epochs
    print(f"{'':8}{'GB/s':>8}{'CPU s/GB trainer':>20}{'feeder':>10}")
    for name, rounds in results.items():
        rate = max(r["bytes"] / r["seconds"] for r in rounds) / 1e9
        mine = min(r["cpu"] / r["bytes"] for r in rounds) * 1e9
        # The feeder's CPU time covers all epochs, including the warm-up.
        theirs = min(r["server_cpu"] / r["bytes"] / passes for r in rounds) * 1e9
        print(f"{name:8}{rate:8.2f}{mine:20.2f}{theirs:10.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        address, batch_size, warm_up, epochs = sys.argv[2:]
        print(json.dumps(read_feed(address, int(batch_size), int(warm_up), int(epochs))))
    else:
        main()
