"""Reports in words how long a trainer waited for its data, and for what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from stoker._client.waits import Stall
from stoker._format.plural import plural

_SHOWN = 3
_ADVICE: Final = {
    "start": "connecting and reading the first window of an epoch: a smaller shuffle window starts sooner",
    "origin": "the dataset's store is the limit: move the dataset nearer, or feed from more machines",
    "disk": "the disk of the feeder's machine is the limit: use a faster disk, more memory for its cache, or more "
    "feeders",
    "network": "the network between feeder and trainer is the limit: check its load, or move the feeder nearer",
    "feeder": "the feeder's processor is the limit: give it more cores, or feed from more machines",
    "corrupt": "messages arrived damaged and were sent again: run stoker verify, check memory and network",
    "connect": "no feeder could be reached: check stoker ps and the feeder's log",
    "decoding": "decoding in this process is the limit: use more decode_threads or DataLoader workers",
    "window": "reading the heads of the next chunks is the limit: use a faster disk or a smaller shuffle window",
    "read": "reading the dataset is the limit: use a faster disk, or a feeder, which reads ahead",
    "kafka": "the brokers deliver too slowly: check them, and the network to them",
    "handing out": "assembling batches in this thread is the limit: use smaller batches, fewer columns, or DataLoader "
    "workers",
}


def causes_of(watched: Watched) -> dict[str, float]:
    """Seconds waited, by cause, longest first."""
    stats = watched.stats
    found = {key[5:-2]: s for key, s in stats.items() if key.startswith("wait_") and key.endswith("_s") and key[5:-2]}
    rest = stats["wait_s"] - sum(found.values())
    if rest > 0:
        found[watched.rest] = rest
    return dict(sorted(((c, s) for c, s in found.items() if s >= 0.0005), key=lambda pair: -pair[1]))


class Watched(NamedTuple):
    """A feed's figures at one moment."""

    labels: Mapping[str, str]
    """Who reads what."""
    stats: Mapping[str, float]
    """The values of `Feed.stats`."""
    stalls: Sequence[Stall]
    """Where the time waited for feeders went, most first."""
    rest: str
    """What waits are called that the source does not account for."""


def report(watched: Watched) -> str:
    """A few lines: how long the trainer waited, for whom, and what may help."""
    labels, stats, stalls, _ = watched
    rank = labels["rank"] + (f" worker {labels['worker']}" if labels["worker"] != "0" else "")
    causes = causes_of(watched)
    head = f"rank {rank} waited {stats['wait_s']:.1f} s of {stats['seconds']:.1f} s ({100 * stats['wait_share']:.0f} %)"
    parts = [f"{s.seconds:.1f} s for {s.feeder} lane {s.lane}, {s.cause}" for s in stalls[:_SHOWN] if s.seconds >= 0.05]
    parts += [f"{causes[c]:.1f} s {c}" for c in causes if causes[c] >= 0.05 and c not in {s.cause for s in stalls}]
    lines = [head + (": " + "; ".join(parts) if parts else "")]
    share = stats["seconds"] or 1.0
    rate, volume = stats["samples"] / share, stats["bytes"] / share / 1e6
    lines.append(
        f"  {plural(int(stats['batches']), 'batch')}, {plural(int(stats['samples']), 'sample')}: {rate:.0f} a second, "
        f"{volume:.1f} MB/s"
    )
    if stats["wait_share"] >= 0.02 and causes:
        main = next(iter(causes))
        lines.append(f"  mostly {main}: {_ADVICE.get(main, 'see docs/operations.md, Why does my trainer wait')}")
    elif stats["seconds"] > 0:
        lines.append("  the trainer is the limit: its data arrives before it asks")
    return "\n".join(lines)
