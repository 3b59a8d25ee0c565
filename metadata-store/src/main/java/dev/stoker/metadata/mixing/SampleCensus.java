package dev.stoker.metadata.mixing;

import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.chunks.ParallelChunks;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.arrow.types.ScalarType;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The classes and the sizes of all samples of a version. Reads the heads of all chunks, and no payload. Keeps four
 * bytes for each sample and categorical field. Immutable once it is made.
 */
public final class SampleCensus {

    /** The number of a missing class. */
    static final int MISSING = -1;

    private static final int BITS = 64;

    private final Snapshot snapshot;
    /** By field and by the chunk's index in the table: the numbers of the classes by row. */
    private final Map<String, int[][]> labels = new LinkedHashMap<>();
    /** The number of samples whose size has this number of bits. The array is its lock while heads are read. */
    private final long[] sizes = new long[BITS];

    private SampleCensus(Snapshot snapshot) {
        this.snapshot = snapshot;
    }

    /**
     * Reads the heads.
     *
     * @param threads number of heads at a time
     * @param read is called after each head, by several threads
     */
    public static SampleCensus of(ObjectStore store, Snapshot snapshot, int threads, Runnable read) throws IOException {
        SampleCensus census = new SampleCensus(snapshot);
        ChunkTable table = snapshot.table();
        Map<String, Map<String, Integer>> numbers = new HashMap<>();
        for (Field field : snapshot.info().fields()) {
            if (field.type() == ScalarType.CATEGORICAL) {
                census.labels.put(field.name(), new int[table.size()][]);
                Map<String, Integer> ofNames = new HashMap<>();
                List<String> names = snapshot.classes().names(field.name());
                IntStream.range(0, names.size()).forEach(n -> ofNames.put(names.get(n), n));
                numbers.put(field.name(), ofNames);
            }
        }
        int[] live = IntStream.range(0, table.size()).filter(table::isLive).toArray();
        ParallelChunks.forEach(live, threads, () -> chunk -> {
            census.add(ChunkHeads.read(store, table, chunk), chunk, numbers);
            read.run();
        });
        return census;
    }

    private void add(ChunkHead head, int chunk, Map<String, Map<String, Integer>> numbers) {
        List<Field> fields = head.fields();
        long[] lengths = new long[head.rows()];
        for (int f = 0; f < fields.size(); f++) {
            ArrowColumn column = head.column(f);
            boolean isBit = fields.get(f).type().layout() == FieldType.Layout.BITS;
            for (int row = 0; row < head.rows(); row++) {
                lengths[row] += isBit ? 1 : column.valueLength(row);
            }
            Map<String, Integer> ofNames = numbers.get(fields.get(f).name());
            if (ofNames != null) {
                Objects.requireNonNull(labels.get(fields.get(f).name()), "made before")[chunk] =
                        labels(column, head.classes(f), ofNames);
            }
        }
        long[] counts = new long[BITS];
        for (int row = 0; row < head.rows(); row++) {
            if (snapshot.table().isLive(chunk, row)) {
                counts[BITS - Long.numberOfLeadingZeros(lengths[row])]++;
            }
        }
        synchronized (sizes) {
            Arrays.setAll(sizes, i -> sizes[i] + counts[i]);
        }
    }

    private static int[] labels(ArrowColumn column, List<String> classes, Map<String, Integer> numbers) {
        int[] own = classes.stream()
                .mapToInt(name -> numbers.getOrDefault(name, MISSING))
                .toArray();
        int[] labels = new int[column.rows()];
        for (int row = 0; row < labels.length; row++) {
            labels[row] = column.isNull(row) ? MISSING : own[column.intAt(row)];
        }
        return labels;
    }

    /** Returns the names of the categorical fields. */
    public List<String> fields() {
        return List.copyOf(labels.keySet());
    }

    /** Returns the number of samples of each class, in the order of the classes' numbers. */
    public long[] classCounts(String field) {
        long[] counts = new long[snapshot.classes().names(field).size()];
        ChunkTable table = snapshot.table();
        int[][] ofField = Objects.requireNonNull(labels.get(field), "a categorical field");
        for (int chunk = 0; chunk < table.size(); chunk++) {
            for (int row = 0; table.isLive(chunk) && row < ofField[chunk].length; row++) {
                if (ofField[chunk][row] != MISSING && table.isLive(chunk, row)) {
                    counts[ofField[chunk][row]]++;
                }
            }
        }
        return counts;
    }

    /**
     * Samples whose size is in a range.
     *
     * @param from least size in bytes
     * @param below size in bytes that is too large
     */
    public record SizeRange(long from, long below, long samples) {}

    /** Returns the sizes of the samples, in ranges between powers of two. The size counts all values. */
    public List<SizeRange> sizes() {
        List<SizeRange> ranges = new ArrayList<>();
        for (int bits = 0; bits < BITS - 1; bits++) {
            if (sizes[bits] > 0) {
                ranges.add(new SizeRange(bits == 0 ? 0 : 1L << (bits - 1), 1L << bits, sizes[bits]));
            }
        }
        return ranges;
    }

    /** Measures how a feed mixes the classes of a field. Empty if the split has no whole batch with classes. */
    public Optional<LabelMix> mix(String split, String field, OrderSpec spec) throws IOException {
        StreamChunks chunks = snapshot.stream(split);
        int[][] ofField = Objects.requireNonNull(labels.get(field), "a categorical field");
        int[][] ofStream = new int[chunks.size()][];
        for (int i = 0; i < chunks.size(); i++) {
            ofStream[i] = chunks.isLive(i) ? ofField[snapshot.table().indexOf(chunks.ordinal(i))] : new int[0];
        }
        return LabelMix.of(
                field,
                new StreamOrder(chunks, spec),
                ofStream,
                snapshot.classes().names(field).size());
    }
}
