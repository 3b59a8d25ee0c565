#!/usr/bin/env bash
# The quickstart after the build: draw, ingest, train, audit. Called by ./quickstart, with python/.venv in place.
set -euo pipefail
here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
root=$(cd -- "$here/../.." && pwd)
python=$root/python/.venv/bin/python
work=$root/examples/quickstart/target
mkdir -p "$work"

"$python" "$here/draw.py" "$work/shapes"
"$root/stoker" ingest "$work/shapes" "$work/data" --replace --label-from parent-dir --split val=0.1
"$root/stoker" run "$work/data" --name quickstart -- "$python" "$here/train.py"
"$root/stoker" audit quickstart
