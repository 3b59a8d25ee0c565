#!/usr/bin/env bash
# Packing against tar, in one run: stoker ingest of a tree of equal files, and `tar -cf x tree && sync x` of the same
# tree, page cache warm, alternating. Prints seconds without and with the start of Flink, and the ratio.
#   benchmarks/ingest.sh [files] [bytes each] [rounds] [work directory]
# 1,000,000 files of 4 KB need 10 GB of disk: benchmarks/ingest.sh 1000000 4096.
# 50,000 files of 110 KB: benchmarks/ingest.sh 50000 110000.
set -euo pipefail
root=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/..
files=${1:-200000}
bytes=${2:-4096}
rounds=${3:-3}
work=${4:-${TMPDIR:-/tmp}/stoker-benchmark}
tree=$work/tree-$files-$bytes
mkdir -p "$work"

if [ ! -e "$tree.done" ]; then
  echo "making $files files of $bytes bytes in $tree"
  rm -rf -- "$tree"
  python3 "$root/benchmarks/make_tree.py" "$tree" "$files" "$bytes"
  sync "$work"
  touch "$tree.done"
fi

now() { date +%s.%N; }
minus() { awk -v a="$1" -v b="$2" 'BEGIN { printf "%.2f", a - b }'; }

echo "warming the page cache"
tar -cf - "$tree" 2>/dev/null | wc -c >/dev/null

for round in $(seq "$rounds"); do
  rm -rf -- "$work/x.tar" "$work/out"
  sync
  start=$(now)
  tar -cf "$work/x.tar" "$tree" 2>/dev/null && sync "$work/x.tar"
  tar=$(minus "$(now)" "$start")
  rm -f -- "$work/x.tar"
  sync
  start=$(now)
  "$root/stoker" ingest "$tree" "$work/out" --label-from parent-dir >"$work/out.txt" 2>"$work/err.txt" ||
    { cat "$work/err.txt"; exit 1; }
  wall=$(minus "$(now)" "$start")
  job=$(sed -n 's/.*B, \([0-9.]*\) s (start-up.*/\1/p' "$work/out.txt")
  awk -v round="$round" -v tar="$tar" -v job="$job" -v wall="$wall" -v files="$files" -v bytes="$bytes" 'BEGIN {
    printf "round %d: tar && sync %.2f s; ingest %.2f s (%.0f files/s, %.0f MB/s), start-up %.2f s; ",
      round, tar, job, files / job, files * bytes / job / 1e6, wall - job
    printf "tar / ingest %.2f\n", tar / job }'
done
rm -rf -- "$work/out"
