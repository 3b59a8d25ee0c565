package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Contains the files of a dataset that a collection may delete. Omits files without names of Stoker's files.
 *
 * @param files the files by kind
 */
record StoreListing(Map<StoredKind, List<ObjectInfo>> files) {

    /** The order in which the files are reported. */
    private static final List<StoredKind> ORDER = List.of(
            StoredKind.UNFINISHED,
            StoredKind.OVERLAY,
            StoredKind.CHUNK,
            StoredKind.INDEX_RUN,
            StoredKind.SCRATCH,
            StoredKind.SELECTION,
            StoredKind.SKIP_LIST,
            StoredKind.FEED);

    /**
     * Lists the files of a dataset. The caller must read the leases and then the log afterwards, so that no file of a
     * running or committed ingest counts as one of no version.
     */
    static StoreListing read(Dataset dataset, Set<StoredKind> kinds) throws IOException {
        Map<StoredKind, List<ObjectInfo>> files = new EnumMap<>(StoredKind.class);
        for (StoredKind kind : kinds) {
            files.put(
                    kind,
                    kind == StoredKind.UNFINISHED
                            ? dataset.store().listUnfinished("").toList()
                            : list(dataset.store(), kind));
        }
        files.computeIfPresent(StoredKind.INDEX_RUN, (kind, runs) -> superseded(runs));
        return new StoreListing(files);
    }

    private static List<ObjectInfo> list(ObjectStore store, StoredKind kind) throws IOException {
        List<ObjectInfo> found = new ArrayList<>();
        try (ObjectIterator objects = store.list(kind.folder())) {
            while (objects.hasNext()) {
                ObjectInfo object = objects.next();
                if (kind.hasName(object.name())) {
                    found.add(object);
                }
            }
        }
        return found;
    }

    private static List<ObjectInfo> superseded(List<ObjectInfo> runs) {
        List<IndexRange> superseded = IndexRange.superseded(runs.stream()
                .flatMap(run -> IndexRange.ofName(run.name()).stream())
                .toList());
        return runs.stream()
                .filter(run -> IndexRange.ofName(run.name())
                        .filter(superseded::contains)
                        .isPresent())
                .toList();
    }

    /** Returns the files with their ages by what needs them, without those that are needed. */
    Map<Marks.Standing, List<Orphan>> by(Marks marks, InstantSource clock) throws IOException {
        Map<Marks.Standing, List<Orphan>> found = new EnumMap<>(Marks.Standing.class);
        for (StoredKind kind : ORDER) {
            for (ObjectInfo file : of(kind)) {
                Marks.Standing standing = marks.of(kind, file.name());
                if (standing != Marks.Standing.NEEDED) {
                    Duration age = Duration.ofMillis(Math.max(0, clock.millis() - file.modifiedMs()));
                    found.computeIfAbsent(standing, s -> new ArrayList<>())
                            .add(new Orphan(file.name(), file.length(), age, kind == StoredKind.UNFINISHED));
                }
            }
        }
        return found;
    }

    /** Returns the files of a kind. */
    List<ObjectInfo> of(StoredKind kind) {
        return files.getOrDefault(kind, List.of());
    }
}
