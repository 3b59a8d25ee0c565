package dev.stoker.metadata.update;

import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.diff.SampleDigest;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.BitSet;
import java.util.stream.IntStream;

/**
 * The rows of a chunk for which there are new values, whether or not a version has removed them.
 *
 * @param rows the rows, ascending
 * @param keys the number of the key of each of these rows
 * @param changed the rows of which a value differs from the chunk's
 */
record ChunkUpdates(int[] rows, int[] keys, BitSet changed) {

    /** Finds the rows of chunks, one chunk after the other. For one thread. */
    static final class Search {
        private final ObjectStore store;
        private final NewValues values;
        private final SampleDigest digest = new SampleDigest();

        Search(ObjectStore store, NewValues values) {
            this.store = store;
            this.values = values;
        }

        /** Returns the rows of a chunk with the overlay that it has in a version. It has all fields with new values. */
        ChunkUpdates of(ChunkSummary chunk) throws IOException {
            ArrowColumn keys = ChunkReader.readKeys(new ObjectRangeReader(store, ChunkNames.path(chunk.id())), chunk);
            IntStream.Builder rows = IntStream.builder();
            IntStream.Builder numbers = IntStream.builder();
            BitSet changed = new BitSet();
            ChunkHead head = null;
            for (int row = 0; row < keys.rows(); row++) {
                NewValues.Place place = values.of(keys.stringAt(row));
                if (place == null) {
                    continue;
                }
                head = head == null ? ChunkHeads.read(store, chunk) : head;
                rows.add(row);
                numbers.add(place.number());
                changed.set(row, isChanged(head, row, place));
            }
            return new ChunkUpdates(rows.build().toArray(), numbers.build().toArray(), changed);
        }

        private boolean isChanged(ChunkHead head, int row, NewValues.Place place) {
            for (int f = 0; f < values.fields().size(); f++) {
                int own = indexOf(head, values.fields().get(f));
                if (!digest.of(head, row, own).equals(digest.of(place.values(), place.row(), f))) {
                    return true;
                }
            }
            return false;
        }
    }

    static int indexOf(ChunkHead head, Field field) {
        int index = head.fields().indexOf(field);
        if (index < 0) {
            throw new IllegalArgumentException(head.file() + " has no field " + field);
        }
        return index;
    }
}
