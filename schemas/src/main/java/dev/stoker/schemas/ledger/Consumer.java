package dev.stoker.schemas.ledger;

import java.util.Objects;

/**
 * Identifies one reader of a stream.
 *
 * @param feed the feed's id
 * @param stream the stream's name in the feed
 * @param group name of the trainers that share one pass
 * @param fingerprint fingerprint of stream and order, 32 hex digits
 * @param run launch of the group's trainers
 * @param rank from 0 to world size - 1
 * @param worldSize number of ranks of the run
 * @param worker from 0 to workers - 1
 * @param workers number of workers of the rank
 * @param replica number of the copy, for several readers of the same batches
 */
public record Consumer(
        String feed,
        String stream,
        String group,
        String fingerprint,
        long run,
        int rank,
        int worldSize,
        int worker,
        int workers,
        int replica) {
    public Consumer {
        Objects.requireNonNull(feed, "feed");
        Objects.requireNonNull(stream, "stream");
        Objects.requireNonNull(group, "group");
        Objects.requireNonNull(fingerprint, "fingerprint");
        if (run < 0 || worldSize < 1 || rank < 0 || rank >= worldSize) {
            throw new IllegalArgumentException("Rank " + rank + " of " + worldSize + ", run " + run);
        }
        if (workers < 1 || worker < 0 || worker >= workers || replica < 0) {
            throw new IllegalArgumentException("Worker " + worker + " of " + workers + ", replica " + replica);
        }
    }
}
