package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * Finds class names that only the deleted files of an erasure have. Chunks and overlays contain the names of the
 * classes that their rows use. Reads each file once. Used by one thread; reads with several.
 */
final class LastClasses {

    /** A class of a field. */
    record Name(String field, String name) implements Comparable<Name> {
        @Override
        public int compareTo(Name other) {
            return field.equals(other.field) ? name.compareTo(other.name) : field.compareTo(other.field);
        }
    }

    private final ObjectStore store;
    private final int threads;
    private final Set<String> deleted;
    private final Set<Name> names = ConcurrentHashMap.newKeySet();
    private final Set<String> seen = ConcurrentHashMap.newKeySet();

    /**
     * Reads the files that will be deleted.
     *
     * @param newest the newest version
     * @param affected indices of its chunks whose files will be deleted
     * @param others names of other chunk files and overlays that will be deleted
     * @param threads number of files to read at a time
     */
    LastClasses(Dataset dataset, ChunkTable newest, int[] affected, Collection<String> others, int threads)
            throws IOException {
        this.store = dataset.store();
        this.threads = threads;
        this.deleted = new HashSet<>(others);
        for (int chunk : affected) {
            deleted.add(ChunkNames.path(newest.id(chunk)));
        }
        for (String file : deleted) {
            try {
                names.addAll(names(ChunkReader.open(new ObjectRangeReader(store, file))));
            } catch (NoSuchObjectException e) {
                // Garbage collection has deleted it.
            } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
                // A damaged file may be that of any sample. Its names cannot be read.
            }
        }
    }

    /** Returns the class names in the dictionaries of a chunk or an overlay. */
    static Set<Name> names(ChunkHead head) {
        Set<Name> names = new TreeSet<>();
        for (int f = 0; f < head.fields().size(); f++) {
            if (head.fields().get(f).type() == ScalarType.CATEGORICAL) {
                String field = head.fields().get(f).name();
                head.classes(f).forEach(name -> names.add(new Name(field, name)));
            }
        }
        return names;
    }

    /** Returns the names that no other chunk of a version and no other overlay has, if their files exist. */
    Set<Name> notIn(Snapshot base) throws IOException {
        ChunkTable table = base.table();
        int[] chunks = IntStream.range(0, table.size())
                .filter(i -> !deleted.contains(ChunkNames.path(table.id(i))))
                .toArray();
        ParallelChunks.forEach(chunks, threads, () -> chunk -> {
            // Usually no name is left after the first chunks.
            if (!names.isEmpty() && seen.add(ChunkNames.path(table.id(chunk)))) {
                try {
                    names.removeAll(names(ChunkHeads.readStored(store, table, chunk)));
                } catch (NoSuchObjectException e) {
                    if (table.isLive(chunk)) {
                        throw e;
                    }
                }
            }
        });
        List<String> overlays = names.isEmpty() ? List.of() : overlays(table);
        ParallelChunks.forEach(IntStream.range(0, overlays.size()).toArray(), threads, () -> i -> {
            try {
                names.removeAll(names(ChunkReader.open(new ObjectRangeReader(store, overlays.get(i)))));
            } catch (NoSuchObjectException e) {
                // No version that can be opened has it.
            }
        });
        return new TreeSet<>(names);
    }

    /** Returns the overlays that were not read. Older versions may use others than this one. */
    private List<String> overlays(ChunkTable table) throws IOException {
        Set<String> overlays = new TreeSet<>();
        for (UUID id : table.overlays()) {
            overlays.add(ChunkNames.overlayPath(id));
        }
        for (ObjectInfo object : store.list(ChunkNames.OVERLAYS + "/").toList()) {
            overlays.add(object.name());
        }
        overlays.removeAll(deleted);
        return overlays.stream().filter(seen::add).toList();
    }
}
