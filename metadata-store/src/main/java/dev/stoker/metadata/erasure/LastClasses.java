package dev.stoker.metadata.erasure;

import dev.stoker.metadata.ChunkHeads;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ParallelChunks;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.NoSuchObjectException;
import java.io.IOException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Counts class names that only erased samples have. The log keeps them. */
final class LastClasses {

    private static final String CATEGORICAL = "categorical";

    private LastClasses() {}

    /** A class of a field. */
    private record Name(String field, String name) {}

    /**
     * Returns the number of class names of erased rows that no other chunk file has.
     *
     * @param affected indices of the chunks with erased rows
     * @param threads number of chunks to read at a time
     */
    static int count(Dataset dataset, ChunkTable newest, int[] affected, ErasedRows rows, int threads)
            throws IOException {
        Set<Name> names = ConcurrentHashMap.newKeySet();
        ParallelChunks.forEach(affected, threads, () -> chunk -> add(dataset, newest, chunk, rows, names));
        Set<Integer> without = IntStream.of(affected).boxed().collect(Collectors.toSet());
        int[] others = IntStream.range(0, newest.size())
                .filter(i -> !without.contains(i))
                .toArray();
        ParallelChunks.forEach(others, threads, () -> chunk -> {
            // Usually empty after the first chunks.
            if (!names.isEmpty()) {
                try {
                    ChunkHead head = ChunkHeads.read(dataset.store(), newest, chunk);
                    for (int f = 0; f < head.fields().size(); f++) {
                        if (isCategorical(head.fields().get(f))) {
                            String field = head.fields().get(f).name();
                            head.classes(f).forEach(name -> names.remove(new Name(field, name)));
                        }
                    }
                } catch (NoSuchObjectException e) {
                    if (newest.isLive(chunk)) {
                        throw e;
                    }
                }
            }
        });
        return names.size();
    }

    private static void add(Dataset dataset, ChunkTable newest, int chunk, ErasedRows rows, Set<Name> names)
            throws IOException {
        ChunkHead head;
        try {
            head = ChunkHeads.read(dataset.store(), newest, chunk);
        } catch (NoSuchObjectException e) {
            // Its versions are expired, so garbage collection may have deleted it.
            return;
        }
        for (int f = 0; f < head.fields().size(); f++) {
            if (isCategorical(head.fields().get(f))) {
                for (int row : rows.of(newest.id(chunk))) {
                    if (!head.column(f).isNull(row)) {
                        int id = head.column(f).intAt(row);
                        names.add(new Name(
                                head.fields().get(f).name(), head.classes(f).get(id)));
                    }
                }
            }
        }
    }

    private static boolean isCategorical(Field field) {
        return field.type().canonical().equals(CATEGORICAL);
    }
}
