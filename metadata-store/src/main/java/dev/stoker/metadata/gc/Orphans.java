package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;

/**
 * Finds and deletes the files of a dataset that no version contains: chunks, lists of left-out samples, superseded runs
 * of its sample index, and temporary files. A chunk
 * that any version ever contained is not an orphan, even if it was removed. Running writers also have such files;
 * {@link GarbageCollection} distinguishes them.
 */
public final class Orphans {

    private Orphans() {}

    /**
     * Contains listed files.
     *
     * @param chunks files with names of Stoker's chunks
     * @param overlays files with names of Stoker's overlays
     * @param skipLists lists of what ingests have left out
     * @param indexRuns runs of the sample index that another run supersedes
     * @param scratch temporary files of work that several machines do
     * @param unfinished unfinished files of writers
     */
    record Files(
            List<ObjectInfo> chunks,
            List<ObjectInfo> overlays,
            List<ObjectInfo> skipLists,
            List<ObjectInfo> indexRuns,
            List<ObjectInfo> scratch,
            List<ObjectInfo> unfinished) {}

    /** Finds all orphans, in no particular order. Omits files without names of Stoker's files. */
    public static List<Orphan> find(Dataset dataset, InstantSource clock) throws IOException {
        return without(dataset, list(dataset), clock);
    }

    /**
     * Lists the files of a dataset. The caller must read the log afterwards, so that no committed file counts as an
     * orphan.
     */
    public static Files list(Dataset dataset) throws IOException {
        ObjectStore store = dataset.store();
        return new Files(
                list(store, DatasetLayout.CHUNKS, name -> ChunkNames.idOf(name).isPresent()),
                list(
                        store,
                        ChunkNames.OVERLAYS,
                        name -> ChunkNames.idOfOverlay(name).isPresent()),
                list(
                        store,
                        DatasetLayout.SKIP_LISTS,
                        name -> DatasetLayout.ingestOfSkipList(name).isPresent()),
                supersededRuns(store),
                list(store, DatasetLayout.SCRATCH, name -> true),
                store.listUnfinished("").toList());
    }

    private static List<ObjectInfo> supersededRuns(ObjectStore store) throws IOException {
        List<ObjectInfo> runs =
                list(store, DatasetLayout.INDEX, name -> IndexRange.ofName(name).isPresent());
        List<IndexRange> superseded = IndexRange.superseded(runs.stream()
                .flatMap(run -> IndexRange.ofName(run.name()).stream())
                .toList());
        runs.removeIf(run ->
                IndexRange.ofName(run.name()).filter(superseded::contains).isEmpty());
        return runs;
    }

    private static List<ObjectInfo> list(ObjectStore store, String directory, Predicate<String> names)
            throws IOException {
        List<ObjectInfo> found = new ArrayList<>();
        try (ObjectIterator objects = store.list(directory)) {
            while (objects.hasNext()) {
                ObjectInfo object = objects.next();
                if (names.test(object.name())) {
                    found.add(object);
                }
            }
        }
        return found;
    }

    /** Returns the listed files that no version contains now. */
    static List<Orphan> without(Dataset dataset, Files files, InstantSource clock) throws IOException {
        List<Orphan> orphans = new ArrayList<>();
        for (ObjectInfo object : files.unfinished) {
            orphans.add(orphan(object, clock, true));
        }
        Set<UUID> known = known(dataset);
        for (ObjectInfo overlay : files.overlays) {
            if (!isKeptOverlay(dataset, known, overlay.name())) {
                orphans.add(orphan(overlay, clock, false));
            }
        }
        for (ObjectInfo chunk : files.chunks) {
            if (!known.contains(ChunkNames.idOf(chunk.name()).orElseThrow())) {
                orphans.add(orphan(chunk, clock, false));
            }
        }
        for (ObjectInfo run : files.indexRuns) {
            orphans.add(orphan(run, clock, false));
        }
        for (ObjectInfo file : files.scratch) {
            orphans.add(orphan(file, clock, false));
        }
        for (ObjectInfo list : files.skipLists) {
            if (!isOfVersion(dataset, list.name())) {
                orphans.add(orphan(list, clock, false));
            }
        }
        return orphans;
    }

    /** Whether an overlay stays: a version has it or had it, or it is damaged and does not say it, or it is gone. */
    private static boolean isKeptOverlay(Dataset dataset, Set<UUID> known, String name) throws IOException {
        if (known.contains(ChunkNames.idOfOverlay(name).orElseThrow())) {
            return true;
        }
        try {
            return OverlayFiles.addedIn(dataset, name).isPresent();
        } catch (StokerException e) {
            return true;
        }
    }

    /** Whether a version names a list of skipped samples. A failed attempt of its ingest may have written others. */
    private static boolean isOfVersion(Dataset dataset, String skipList) throws IOException {
        String ingest = DatasetLayout.ingestOfSkipList(skipList).orElseThrow();
        return new VersionCommitter(dataset, InstantSource.system(), "")
                .standing(ingest)
                .filter(entry -> entry.properties().containsValue(skipList))
                .isPresent();
    }

    static Orphan orphan(ObjectInfo object, InstantSource clock, boolean unfinished) {
        Duration age = Duration.ofMillis(Math.max(0, clock.millis() - object.modifiedMs()));
        return new Orphan(object.name(), object.length(), age, unfinished);
    }

    private static Set<UUID> known(Dataset dataset) throws IOException {
        Snapshot latest;
        do {
            latest = dataset.latest();
            // A recovery deletes a damaged entry before it writes it again. Without the entry, its version is not the
            // latest one.
            dataset.log().requireNewest(latest.version());
        } while (dataset.latestVersion() > latest.version());
        ChunkTable table = latest.table();
        Set<UUID> known = new HashSet<>(2 * table.size());
        known.addAll(table.overlays());
        for (int i = 0; i < table.size(); i++) {
            known.add(table.id(i));
        }
        return known;
    }

    /**
     * Deletes orphans, except those that were committed after they were found.
     *
     * @return the deleted files
     */
    public static List<Orphan> delete(Dataset dataset, Collection<Orphan> orphans) throws IOException {
        Set<UUID> known = known(dataset);
        List<Orphan> deleted = new ArrayList<>();
        for (Orphan orphan : orphans) {
            Optional<UUID> id = ChunkNames.idOf(orphan.name());
            if (id.isPresent() && known.contains(id.get())) {
                continue;
            }
            if (ChunkNames.idOfOverlay(orphan.name()).isPresent() && isKeptOverlay(dataset, known, orphan.name())) {
                continue;
            }
            if (DatasetLayout.ingestOfSkipList(orphan.name()).isPresent() && isOfVersion(dataset, orphan.name())) {
                continue;
            }
            if (dataset.store().delete(orphan.name())) {
                deleted.add(orphan);
            }
        }
        return deleted;
    }
}
