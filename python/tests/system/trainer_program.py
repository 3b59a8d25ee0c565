"""A trainer: reads epochs of a feed and appends one JSON line for each batch that it has finished with.

Arguments: file of the lines, target, number of epochs, options as a Python dict. Its own options: `state` to begin
at, `stepwise` to wait for a line of standard input before each batch.
"""

import ast
import hashlib
import json
import sys

import stoker


def main() -> None:
    notes, target, epochs, text = sys.argv[1:]
    options = ast.literal_eval(text)
    state = options.pop("state", None)
    stepwise = options.pop("stepwise", False)
    with open(notes, "a", encoding="utf-8") as out, stoker.Feed(target, **options) as feed:
        if state is not None:
            feed.load_state_dict(state)
        for _ in range(int(epochs)):
            batches = iter(feed)
            while True:
                if stepwise:
                    sys.stdin.readline()
                batch = next(batches, None)
                if batch is None:
                    break
                digest = hashlib.sha256()
                for piece in batch._pieces:
                    digest.update(len(piece.buffer).to_bytes(8, "little"))
                    digest.update(piece.buffer)
                line = {
                    "view": [batch.epoch, batch.number, batch.repeated, batch.skipped, batch.keys, digest.hexdigest()],
                    "state": batch.state,
                }
                out.write(json.dumps(line) + "\n")
                out.flush()


main()
