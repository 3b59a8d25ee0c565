#!/usr/bin/env bash
# Sender threads against Netty over the same pieces (docs/decisions/0013-transport-threads.md).
#   benchmarks/transport.sh DATASET [rounds] [milliseconds] [read limit of the cold file, bytes a second]
# Makes a file of 1 GB beside the dataset whose pages are not in memory, for the session that waits for its disk. With a
# limit, and as root with the blkio controller of cgroup v1, that disk is throttled to the limit.
set -euo pipefail
root=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/..
dataset=${1:?usage: benchmarks/transport.sh DATASET [rounds] [milliseconds] [bytes a second]}
cold=$dataset/../transport-cold.bin
group=/sys/fs/cgroup/blkio/stoker-transport-$$
trap 'rm -f -- "$cold"; rmdir "$group" 2>/dev/null || true' EXIT
head -c 1000000000 /dev/zero | tr '\0' 'x' >"$cold"
sync "$cold"
cat "$dataset"/chunks/*/*.arrow >/dev/null
limit() {
  [ -n "${1-}" ] || return 0
  mkdir "$group"
  device=$(stat -c '%Hd' "$cold"):$(stat -c '%Ld' "$cold")
  echo "$device $1" >"$group/blkio.throttle.read_bps_device"
  echo "$BASHPID" >"$group/cgroup.procs"
}
(
  limit "${4-}"
  exec "${JAVA_HOME:+$JAVA_HOME/bin/}java" -Xmx256m -XX:MaxDirectMemorySize=256m \
    -cp "$root/cli/target/dist/lib/*:$root/benchmarks/target/classes:$root/benchmarks/target/lib/*" \
    dev.stoker.benchmarks.TransportBenchmark "$dataset" "${2-3}" "${3-1000}" "$cold"
)
