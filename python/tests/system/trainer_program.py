"""A trainer: reads epochs of a feed and appends one JSON line for each batch that it has finished with.

Arguments: file of the lines, target, number of epochs, options as a Python dict. Its own options: `state` to begin
at, `stepwise` to wait for a line of standard input before each batch, `waits` to note its wait for each batch, and
of which lane at which feeder its last piece was.
"""

import ast
import hashlib
import json
import sys
import time

import stoker


def arrival(feed, batch):
    """Lane and feeder of a batch's last piece."""
    span = feed._reading.source._subscriptions.reading
    index = span.index(batch.number)
    return span.planned(index)[-1].lane, span.arrivals[index][-1].connection.address


def main() -> None:
    notes, target, epochs, text = sys.argv[1:]
    options = ast.literal_eval(text)
    state = options.pop("state", None)
    stepwise = options.pop("stepwise", False)
    waits = options.pop("waits", False)
    with open(notes, "a", encoding="utf-8") as out, stoker.Feed(target, **options) as feed:
        if state is not None:
            feed.load_state_dict(state)
        allowed = False
        for _ in range(int(epochs)):
            batches = iter(feed)
            while True:
                if stepwise and not allowed:
                    sys.stdin.readline()
                    allowed = True
                began = time.monotonic()
                batch = next(batches, None)
                waited = time.monotonic() - began
                if batch is None:
                    break
                allowed = False
                digest = hashlib.sha256()
                for piece in batch._pieces:
                    digest.update(len(piece.buffer).to_bytes(8, "little"))
                    digest.update(piece.buffer)
                line = {
                    "view": [batch.epoch, batch.number, batch.repeated, batch.skipped, batch.keys, digest.hexdigest()],
                    "state": batch.state,
                }
                if waits:
                    line["wait"] = (waited, time.time(), *arrival(feed, batch))
                out.write(json.dumps(line) + "\n")
                out.flush()


main()
