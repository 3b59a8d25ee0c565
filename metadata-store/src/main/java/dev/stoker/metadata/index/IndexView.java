package dev.stoker.metadata.index;

import dev.stoker.metadata.index.run.DamagedRunException;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.index.IndexedRow;
import dev.stoker.schemas.index.SampleRun;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The runs that a reader of one version uses, and the chunks that none of them covers. Immutable and thread-safe. */
final class IndexView {

    private final ChunkTable table;
    /** The largest one first: it probably has the key. */
    private final SampleRun[] runs;

    private final int[] uncovered;
    /** The split whose samples are found; null for all. */
    private final @Nullable String split;

    IndexView(ChunkTable table, @Nullable String split, List<SampleRun> runs) {
        this.table = table;
        this.split = split;
        this.runs = runs.stream()
                .sorted(Comparator.comparingLong(SampleRun::rows).reversed())
                .toArray(SampleRun[]::new);
        this.uncovered = IntStream.range(0, table.size())
                .filter(i -> table.isLive(i)
                        && isWanted(i)
                        && runs.stream()
                                .noneMatch(run -> run.identity().first() <= table.addedIn(i)
                                        && table.addedIn(i) <= run.identity().last()))
                .toArray();
    }

    List<SampleRun> runs() {
        return List.of(runs);
    }

    /** Returns the indices of live chunks that no run covers. */
    int[] uncovered() {
        return uncovered;
    }

    /** The place of a sample, and the run that names it; null if the place was checked before. */
    record Found(@Nullable SampleRun run, IndexedRow place) {}

    /** Returns whether a row is a sample of the version, and of the split if there is one. */
    boolean isLive(IndexedRow place) {
        int index = table.indexOf(place.ordinal());
        return index >= 0 && table.isLive(index, place.row()) && isWanted(index);
    }

    private boolean isWanted(int index) {
        return split == null || split.equals(table.split(index));
    }

    /**
     * Finds the sample with this key in the runs.
     *
     * @throws DamagedRunException if a run is damaged
     */
    @Nullable
    Found find(byte[] key) throws IOException {
        for (SampleRun run : runs) {
            Found found = find(run, key);
            if (found != null) {
                return found;
            }
        }
        return null;
    }

    /** Finds the sample with this key in one run. */
    @Nullable
    Found find(SampleRun run, byte[] key) throws IOException {
        try {
            for (long row = run.find(key); row >= 0; row = next(run, row, key)) {
                IndexedRow place = run.row(row);
                if (isLive(place)) {
                    return new Found(run, place);
                }
            }
            return null;
        } catch (CorruptDataException | NoSuchObjectException e) {
            throw new DamagedRunException(run, e);
        }
    }

    private static long next(SampleRun run, long row, byte[] key) throws IOException {
        return row + 1 < run.rows() && run.hasKey(row + 1, key) ? row + 1 : -1;
    }
}
