package dev.stoker.metadata.copy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.UnknownVersionException;
import dev.stoker.metadata.gc.KeptChunks;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.dataset.Tag;
import dev.stoker.schemas.log.ExpiredVersions;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * What the target lacks. Immutable.
 *
 * @param last the last version to copy
 * @param present versions that have an entry at the target
 * @param table the source's chunks up to the last version
 * @param needed indexes of the chunks that a reader of the target may read
 * @param tagged versions that a tag names
 * @param lengths lengths of the target's chunk files
 */
record CopyPlan(
        long last,
        NavigableSet<Long> present,
        ChunkTable table,
        int[] needed,
        Set<Long> tagged,
        Map<UUID, Long> lengths) {

    /**
     * Compares the source with the target.
     *
     * @throws CopyRefusedException if the target's log is no beginning of the source's log
     */
    static CopyPlan of(Dataset source, Optional<Replica> replica, ObjectStore target, CopyRule rule)
            throws IOException {
        source.requireNewest();
        NavigableSet<Long> present = replica.isPresent() ? replica.get().versions() : new TreeSet<>();
        ChunkTable latest = source.latest().table();
        long newest = latest.version();
        long top = present.isEmpty() ? 0 : present.last();
        if (top > newest) {
            throw new CopyRefusedException(replica.orElseThrow().dataset().where() + " has version " + top + ", but "
                    + (newest == 0 ? "there is no version in " : "version " + newest + " is the newest of ")
                    + source.where() + "; check which of the two is the source, or give the copy another target");
        }
        if (newest == 0 || rule.version().orElse(newest) > newest) {
            throw new UnknownVersionException(source.where(), rule.version().orElse(0), newest);
        }
        if (replica.isPresent() && top > 0) {
            requirePrefix(replica.get(), present);
        }
        long last = Math.max(rule.version().orElse(newest), top);
        NavigableSet<Long> missing = missing(present, last);
        requireNotExpiredLater(source, latest, last, missing);
        Set<Long> tagged = new Tags(source)
                .all().values().stream()
                        .map(Tag::version)
                        .filter(version -> version <= last)
                        .collect(Collectors.toSet());
        KeptChunks kept = KeptChunks.upTo(source, last, tagged);
        return new CopyPlan(last, present, kept.table(), kept.kept().stream().toArray(), tagged, lengths(target));
    }

    /** Checks the newest version: its entry, and the state that all entries together give. */
    private static void requirePrefix(Replica replica, NavigableSet<Long> present) throws IOException {
        long top = present.last();
        if (!replica.isSame(top)) {
            throw replica.diverged(firstDifferent(replica, new ArrayList<>(present)));
        }
        if (replica.isWhole(present) && !replica.isSameState(top)) {
            throw replica.diverged(firstOfAll(replica, present));
        }
    }

    /** After a commit to the target, all entries differ. */
    private static long firstDifferent(Replica replica, List<Long> versions) throws IOException {
        int low = 0;
        int high = versions.size() - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (replica.isSame(versions.get(middle))) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return versions.get(low);
    }

    private static long firstOfAll(Replica replica, NavigableSet<Long> versions) throws IOException {
        for (long version : versions) {
            if (!replica.isSame(version)) {
                return version;
            }
        }
        return versions.last();
    }

    private static NavigableSet<Long> missing(NavigableSet<Long> present, long last) {
        NavigableSet<Long> missing = new TreeSet<>();
        for (long version = 1; version <= last; version++) {
            if (!present.contains(version)) {
                missing.add(version);
            }
        }
        return missing;
    }

    /** A copy that ends before the entry which has expired a version would show the version without its chunks. */
    private static void requireNotExpiredLater(Dataset source, ChunkTable latest, long last, NavigableSet<Long> missing)
            throws CopyRefusedException {
        for (ExpiredVersions.Range range : latest.expired().ranges()) {
            Long version = missing.ceiling(range.first());
            if (range.by() > last && version != null && version <= range.last()) {
                throw new CopyRefusedException("Version " + version + " of " + source.where()
                        + " was expired by version " + range.by()
                        + ", so its chunks may be gone, and a copy up to version "
                        + last + " would show it; copy up to version " + range.by() + " or a later one");
            }
        }
    }

    private static Map<UUID, Long> lengths(ObjectStore target) throws IOException {
        Map<UUID, Long> lengths = new HashMap<>();
        try (ObjectIterator objects = target.list(DatasetLayout.CHUNKS)) {
            while (objects.hasNext()) {
                ObjectInfo object = objects.next();
                ChunkNames.idOf(object.name()).ifPresent(id -> lengths.put(id, object.length()));
            }
        }
        return lengths;
    }

    /** Returns the versions without an entry at the target. */
    NavigableSet<Long> missing() {
        return missing(present, last);
    }

    /** Returns whether the target has a file of the chunk with the right length. */
    boolean isPresent(int chunk) {
        Long length = lengths.get(table.id(chunk));
        return length != null && length == table.length(chunk);
    }

    /** Returns whether the chunks of a version are copied. */
    boolean isKept(long version) {
        return tagged.contains(version) || !table.expired().contains(version);
    }

    /** Returns the newest version of the target. */
    long before() {
        return present.isEmpty() ? 0 : present.last();
    }

    /** Returns the chunks that the target lacks, or has with another length. */
    int[] absent() {
        return Arrays.stream(needed).filter(chunk -> !isPresent(chunk)).toArray();
    }

    /**
     * Returns up to which version the target may show versions: none that it does not show yet may lack a chunk.
     *
     * @param damaged chunks that cannot be copied
     */
    long visible(List<Integer> damaged) {
        long visible = last;
        for (int chunk : damaged) {
            visible = Math.min(visible, table.addedIn(chunk) - 1);
        }
        NavigableSet<Long> missing = missing();
        boolean isStable = false;
        while (!isStable) {
            isStable = true;
            for (ExpiredVersions.Range range : table.expired().ranges()) {
                Long version = missing.ceiling(range.first());
                if (range.by() > visible && version != null && version <= Math.min(range.last(), visible)) {
                    visible = version - 1;
                    isStable = false;
                }
            }
        }
        return visible;
    }

    /**
     * Returns the version whose chunk table and entry become visible before earlier ones, because some of these were
     * expired and their chunks are not copied.
     *
     * @param visible the last version to publish
     */
    Optional<Long> pivot(long visible) {
        NavigableSet<Long> missing = missing();
        long pivot = 0;
        for (ExpiredVersions.Range range : table.expired().ranges()) {
            Long version = missing.ceiling(range.first());
            if (range.by() <= visible && version != null && version <= range.last()) {
                pivot = Math.max(pivot, range.by());
            }
        }
        return pivot > 0 && missing.contains(pivot) ? Optional.of(pivot) : Optional.empty();
    }
}
