package dev.stoker.metadata.removal;

import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.OverlayReader;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a chunk that a rule selects, whether or not a version has already removed them.
 *
 * @param rows the selected rows, ascending
 * @param keyRows the rows whose keys the rule names, ascending; the condition may exclude them
 * @param keys the number of the key of each of these rows
 */
record ChunkMatches(int[] rows, int[] keyRows, int[] keys) {

    /** Searches chunks one after the other. For one thread. */
    static final class Search {
        private final ObjectStore store;
        private final SampleRule rule;
        private final Map<String, Integer> numbers;
        private final @Nullable SampleCondition condition;

        /** @param numbers the number of each key of the rule */
        Search(ObjectStore store, SampleRule rule, Map<String, Integer> numbers) {
            this.store = store;
            this.rule = rule;
            this.numbers = numbers;
            this.condition = rule.condition().map(made -> made.get()).orElse(null);
        }

        /** What a search reads of a chunk. */
        private record Opened(
                ArrowColumn keys,
                @Nullable ChunkHead head,
                @Nullable ByteBuffer file) {}

        ChunkMatches of(ChunkSummary chunk) throws IOException {
            Opened opened = open(chunk);
            return of(opened.keys, opened.head, opened.file);
        }

        /**
         * Selected rows with their keys.
         *
         * @param rows the rows, ascending
         * @param keys the key of each of them
         */
        record Keyed(int[] rows, List<String> keys) {}

        /** Returns the selected rows with their keys. */
        Keyed keyed(ChunkSummary chunk) throws IOException {
            Opened opened = open(chunk);
            int[] rows = of(opened.keys, opened.head, opened.file).rows;
            return new Keyed(
                    rows, IntStream.of(rows).mapToObj(opened.keys::stringAt).toList());
        }

        private Opened open(ChunkSummary chunk) throws IOException {
            if (condition == null) {
                return new Opened(keys(chunk), null, null);
            }
            if (!condition.readsPayload()) {
                ChunkHead head = ChunkHeads.read(store, chunk);
                return new Opened(head.keys(), head, null);
            }
            ByteBuffer file = ByteBuffer.allocate(Math.toIntExact(chunk.length()));
            store.read(ChunkNames.path(chunk.id()), 0, file);
            file.flip();
            ChunkHead head = OverlayReader.headIn(
                    file, chunk, store.describe(ChunkNames.path(chunk.id())), ChunkHeads.overlays(store));
            return new Opened(head.keys(), head, file);
        }

        private ArrowColumn keys(ChunkSummary chunk) throws IOException {
            return ChunkReader.readKeys(new ObjectRangeReader(store, ChunkNames.path(chunk.id())), chunk);
        }

        private ChunkMatches of(ArrowColumn column, @Nullable ChunkHead head, @Nullable ByteBuffer file)
                throws IOException {
            IntStream.Builder rows = IntStream.builder();
            IntStream.Builder keyRows = IntStream.builder();
            IntStream.Builder keys = IntStream.builder();
            boolean hasKeys = rule.hasKeys();
            for (int row = 0; row < column.rows(); row++) {
                if (hasKeys) {
                    String key = column.stringAt(row);
                    Integer number = numbers.get(key);
                    if (number != null) {
                        keyRows.add(row);
                        keys.add(number);
                    } else if (!rule.hasPrefixOf(key)) {
                        continue;
                    }
                }
                if (condition == null || head == null || condition.matches(head, file, row)) {
                    rows.add(row);
                }
            }
            return new ChunkMatches(
                    rows.build().toArray(),
                    keyRows.build().toArray(),
                    keys.build().toArray());
        }
    }
}
