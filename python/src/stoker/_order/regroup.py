"""Computes where a pass over an epoch resumes when the batch size has changed.

Lanes, windows and the rows within them do not depend on the batch size; only the numbering does. In every lane, the
consumed rows are the rows before a certain row. The new position is the greatest one that has only consumed rows before
it. No row is left out, and consumed rows after that position come again.

With L lanes, old size A and new size B, fewer than L · (A + B) rows come again; if A divides B, fewer than L · B.
Once the shortest lane has no batch of A left, a smaller B can repeat additional rows of each lane, at most the
difference in length to the shortest lane. docs/decisions/0012-order-function-and-job-size.md derives these bounds.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from stoker._order.delivery import BatchPlan
from stoker._order.spec import OrderSpec

I64 = npt.NDArray[np.int64]


def rows_before(plan: BatchPlan, lane_rows: Sequence[int], epoch: int, batch: int) -> I64:
    """Returns, for each lane, the rows in the batches below a number."""
    size, rows = plan.spec.batch_size, np.array(lane_rows, np.int64)
    full = rows // size
    if batch >= plan.full_batches:
        rest = rows - full * size
        joint = (batch - plan.full_batches) * size - (np.cumsum(rest) - rest)
        before: I64 = full * size + np.clip(joint, 0, rest)
        return before
    turn = _round_of(full, batch)
    taken = np.minimum(full, turn) * size
    for number in range(_numbers_before(full, turn), batch):
        taken[plan.pieces(epoch, number)[0].lane] += size
    return taken


def batches_within(plan: BatchPlan, lane_rows: Sequence[int], epoch: int, taken: I64) -> int:
    """The greatest number below which every batch lies within the first `taken` rows of its lanes."""
    size, rows = plan.spec.batch_size, np.array(lane_rows, np.int64)
    full = rows // size
    done = np.minimum(taken // size, full)
    unfinished = done < full
    if unfinished.any():
        turn = int(done[unfinished].min())
        number = _numbers_before(full, turn)
        while done[plan.pieces(epoch, number)[0].lane] > turn:
            number += 1
        return number
    rest, got = rows - full * size, taken - full * size
    unread = np.flatnonzero(got < rest)
    if not len(unread):
        return plan.batches
    first = unread[0]
    return plan.full_batches + int(rest[:first].sum() + got[first]) // size


def _numbers_before(full: I64, turn: int) -> int:
    return int(np.minimum(full, turn).sum())


def _round_of(full: I64, number: int) -> int:
    """The last round that begins at or before a number."""
    turns = range(int(full.max(initial=0)) + 1)
    return bisect_right(turns, number, key=lambda turn: _numbers_before(full, turn)) - 1


def regroup(order: OrderSpec, before: OrderSpec, lane_rows: Sequence[int], epoch: int, batch: int) -> tuple[int, int]:
    """(position under `order`, rows that come again) for a position under `before`, which differs in batch size only.

    Raises ValueError if the epoch has no such position.
    """
    old, new = BatchPlan(before, lane_rows), BatchPlan(order, lane_rows)
    if not 0 <= batch <= old.batches:
        raise ValueError(f"batch {batch} of {old.batches}")
    taken = rows_before(old, lane_rows, epoch, batch)
    position = batches_within(new, lane_rows, epoch, taken)
    again: Any = taken.sum() - rows_before(new, lane_rows, epoch, position).sum()
    return position, int(again)
