package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.dataset.Lease;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.StoreErrors;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Groups the files that no version contains by ingest, and decides on each group by its age and by the leases.
 *
 * @param leases leases of ingests that have not committed, read after the files were listed
 * @param isCopying whether a copy runs
 * @param olderThan minimum age; younger files stay, even without a lease
 */
record Leftovers(
        Dataset dataset, Map<String, Lease> leases, boolean isCopying, Duration olderThan, InstantSource clock) {

    /** Returns the leftovers, oldest first. A lease without files is one, too. */
    List<Leftover> of(List<Orphan> orphans) throws IOException {
        List<Leftover> leftovers = new ArrayList<>();
        Map<String, List<Orphan>> byIngest = new LinkedHashMap<>();
        leases.keySet().forEach(ingest -> byIngest.put(ingest, new ArrayList<>()));
        for (Orphan orphan : orphans) {
            String ingest;
            try {
                ingest = ingest(dataset, orphan);
            } catch (NoSuchObjectException e) {
                // Another collection has deleted it.
                continue;
            }
            if (ingest.isEmpty()) {
                leftovers.add(leftover(ingest, List.of(orphan)));
            } else {
                byIngest.computeIfAbsent(ingest, i -> new ArrayList<>()).add(orphan);
            }
        }
        byIngest.forEach((ingest, files) -> leftovers.add(leftover(ingest, files)));
        leftovers.sort(Comparator.comparing(Leftover::age).reversed());
        return leftovers;
    }

    private Leftover leftover(String ingest, List<Orphan> files) {
        Optional<Lease> lease = Optional.ofNullable(leases.get(ingest));
        Duration age = files.stream()
                .map(Orphan::age)
                .min(Comparator.naturalOrder())
                .orElseGet(() -> Duration.between(lease.orElseThrow().created(), clock.instant()));
        return new Leftover(ingest, lease, files, age, fate(ingest, lease.isPresent(), age));
    }

    /** The one rule for ages and leases. A file of an unknown ingest may belong to any running writer. */
    private Leftover.Fate fate(String ingest, boolean isLeased, Duration age) {
        if (isLeased) {
            return Leftover.Fate.LEASED;
        }
        if (age.compareTo(olderThan) < 0) {
            return Leftover.Fate.YOUNG;
        }
        boolean isBesideWriter = isCopying || (ingest.isEmpty() && !leases.isEmpty());
        return isBesideWriter ? Leftover.Fate.BESIDE_WRITERS : Leftover.Fate.DELETE;
    }

    /**
     * Returns the ingest that wrote a file, according to its content or name; empty if they do not say.
     *
     * @throws NoSuchObjectException if the file is gone
     */
    static String ingest(Dataset dataset, Orphan orphan) throws IOException {
        StoredKind kind = orphan.unfinished() ? StoredKind.UNFINISHED : StoredKind.of(orphan);
        return switch (kind) {
            case SKIP_LIST -> DatasetLayout.ingestOfSkipList(orphan.name()).orElseThrow();
            case CHUNK, OVERLAY -> ofHead(dataset, orphan.name());
            case INDEX_RUN, SCRATCH, SELECTION, UNFINISHED, FEED -> "";
        };
    }

    private static String ofHead(Dataset dataset, String name) throws IOException {
        try {
            return ChunkReader.open(new ObjectRangeReader(dataset.store(), name))
                    .identity()
                    .ingest();
        } catch (NoSuchObjectException e) {
            throw e;
        } catch (StokerException e) {
            StoreErrors.rethrow(e);
            return "";
        }
    }
}
