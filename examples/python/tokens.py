"""Packs documents of token ids into blocks of a fixed length for a language model, and resumes exactly.

    python examples/python/tokens.py ./data/documents --block 1024

It concatenates the documents with an end token after each, and cuts the result into blocks. It pads nothing and loses
nothing. The state names the batch with the first token that no block contains yet, and its number of used tokens.
"""

from __future__ import annotations

import argparse
from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from stoker import Feed


class Blocks:
    """Iterates over blocks of `length` tokens, without end. `state` is the position after the last block."""

    def __init__(self, feed: Feed, field: str, length: int, end: int, state: Mapping[str, Any] | None = None) -> None:
        self._feed, self._field, self._length, self._end = feed, field, length, end
        self._gone = 0
        if state is not None:
            feed.load_state_dict(state["feed"])
            self._gone = state["gone"]
        self.state: dict[str, Any] = {"feed": feed.state_dict(), "gone": self._gone}

    def _tokens(self, batch: Any) -> np.ndarray:
        """Returns the documents of a batch in one array, with an end token after each."""
        rows = batch[self._field]
        places = np.arange(rows.offsets[-1]) + np.repeat(np.arange(len(rows)), rows.lengths)
        out = np.full(len(rows.values) + len(rows), self._end, rows.values.dtype)
        out[places] = rows.values
        return out

    def __iter__(self) -> Iterator[np.ndarray]:
        before = self.state["feed"]
        held: deque[tuple[dict[str, Any], np.ndarray]] = deque()  # (state before the batch, its tokens)
        gone = self._gone  # used tokens of the first batch in `held`
        there = -gone
        for batch in self._feed.batches():
            held.append((before, self._tokens(batch)))
            there += len(held[-1][1])
            before = batch.state
            while there >= self._length:
                block = np.empty(self._length, held[0][1].dtype)
                filled = 0
                while filled < self._length:
                    part = held[0][1][gone : gone + self._length - filled]
                    block[filled : filled + len(part)] = part
                    filled += len(part)
                    gone += len(part)
                    if gone == len(held[0][1]):
                        held.popleft()
                        gone = 0
                there -= self._length
                self.state = {"feed": held[0][0] if held else before, "gone": gone}
                yield block


def main() -> None:
    parser = argparse.ArgumentParser(description="Prints blocks of a dataset of token ids.")
    parser.add_argument("target", help="a dataset with lists of token ids, or a feed of it")
    parser.add_argument("--field", default="tokens")
    parser.add_argument("--block", type=int, default=1024)
    parser.add_argument("--blocks", type=int, default=4)
    options = parser.parse_args()
    with Feed(options.target, batch_size=16) as feed:
        for number, block in enumerate(Blocks(feed, options.field, options.block, end=0)):
            if number == options.blocks:
                break
            print(number, block[:8], "…", block[-4:])


if __name__ == "__main__":
    main()
