package dev.stoker.feeder.source.reader;

import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;

/**
 * Says which drained receipts may be called durable. A completed checkpoint only promises that its ledger files will be
 * published, and without durable checkpoint storage that promise dies with the process. The files of a checkpoint are
 * published before the next one completes, so receipts count as durable one checkpoint later.
 *
 * <p>Owned by the mailbox thread.
 */
final class DurableTokens {

    private final NavigableMap<Long, Long> begun = new TreeMap<>();
    private OptionalLong published = OptionalLong.empty();

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
     * @param ending whether the reader has emitted all it ever will
     * @return the token up to which receipts are durable now
     */
    OptionalLong complete(long checkpointId, boolean ending) {
        Map.Entry<Long, Long> done = begun.floorEntry(checkpointId);
        if (done == null) {
            return OptionalLong.empty();
        }
        OptionalLong durable = ending ? OptionalLong.of(done.getValue()) : published;
        published = OptionalLong.of(done.getValue());
        begun.headMap(checkpointId, true).clear();
        return durable;
    }
}
