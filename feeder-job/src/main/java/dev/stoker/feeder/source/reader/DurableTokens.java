package dev.stoker.feeder.source.reader;

import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Says which drained receipts may be called durable: those that were drained before a checkpoint which has completed,
 * and which the sink has since written to the ledger's store. A completed checkpoint alone is no more than a promise,
 * and without durable checkpoint storage that promise dies with the process.
 *
 * <p>Owned by the mailbox thread.
 */
final class DurableTokens {

    private final NavigableMap<Long, Long> begun = new TreeMap<>();

    void begin(long checkpointId, long token) {
        begun.put(checkpointId, token);
    }

    void abort(long checkpointId) {
        begun.remove(checkpointId);
    }

    /**
     * Notes a completed checkpoint.
     *
     * @param checkpointId the checkpoint
     * @param published the checkpoint up to which receipts have been written to the ledger
     * @return the token up to which receipts are durable now
     */
    OptionalLong complete(long checkpointId, long published) {
        Map.Entry<Long, Long> done = begun.floorEntry(Math.min(checkpointId, published));
        if (done == null) {
            return OptionalLong.empty();
        }
        begun.headMap(done.getKey(), true).clear();
        return OptionalLong.of(done.getValue());
    }
}
