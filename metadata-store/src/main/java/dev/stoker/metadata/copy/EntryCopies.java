package dev.stoker.metadata.copy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.chunks.ParallelChunks;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * Makes versions visible at the target, in order. The chunks of expired versions are not copied, and no reader may see
 * such a version as the newest one. The entry that has expired them is therefore published first, with its chunk table:
 * with both, a reader needs no earlier entry. Used by one thread.
 */
final class EntryCopies {

    /** Number of entries that are in memory at a time. */
    private static final int BLOCK = 64;

    private final Dataset source;
    private final Replica replica;
    private final CopyPlan plan;
    private final int threads;

    EntryCopies(Dataset source, Replica replica, CopyPlan plan, int threads) {
        this.source = source;
        this.replica = replica;
        this.plan = plan;
        this.threads = threads;
    }

    /**
     * Publishes the versions that the target lacks.
     *
     * @param visible the last one
     * @return number of published versions
     */
    int publish(long visible) throws IOException {
        replica.deleteTablesAfter(Math.max(visible, plan.before()));
        NavigableSet<Long> missing = new TreeSet<>(plan.missing().headSet(visible, true));
        int count = missing.size();
        if (!plan.present().isEmpty()) {
            // A copy may have been killed between an entry and its second copy.
            complete(replica.incomplete(plan.present()));
        }
        if (count > 0 && !plan.table().expired().isEmpty()) {
            replica.leaveExpirySign();
        }
        Optional<Long> pivot = plan.pivot(visible);
        if (pivot.isPresent()) {
            replica.publish(source.anySnapshot(pivot.get()).table());
            publish(List.of(pivot.get()));
            missing.remove(pivot.get());
        }
        List<Long> all = new ArrayList<>(missing);
        for (int first = 0; first < all.size(); first += BLOCK) {
            publish(all.subList(first, Math.min(all.size(), first + BLOCK)));
        }
        return count;
    }

    private void publish(List<Long> versions) throws IOException {
        byte[][] entries = read(versions);
        for (int i = 0; i < entries.length; i++) {
            replica.publish(versions.get(i), entries[i]);
        }
        complete(versions, entries);
    }

    private void complete(NavigableSet<Long> incomplete) throws IOException {
        List<Long> all = new ArrayList<>(incomplete);
        for (int first = 0; first < all.size(); first += BLOCK) {
            List<Long> versions = all.subList(first, Math.min(all.size(), first + BLOCK));
            complete(versions, read(versions));
        }
    }

    private byte[][] read(List<Long> versions) throws IOException {
        byte[][] entries = new byte[versions.size()][];
        forEach(versions, i -> entries[i] = replica.sourceEntry(versions.get(i)));
        return entries;
    }

    private void complete(List<Long> versions, byte[][] entries) throws IOException {
        forEach(versions, i -> replica.complete(versions.get(i), entries[i]));
    }

    private void forEach(List<Long> versions, ParallelChunks.Work work) throws IOException {
        ParallelChunks.forEach(IntStream.range(0, versions.size()).toArray(), threads, () -> work);
    }
}
