package dev.stoker.metadata.mixing;

import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Compares the number of classes in a batch with the number of classes in the dataset. Chunks that were packed from
 * sorted samples have few classes each. A batch takes its rows from one window of one lane, so it has few classes too,
 * unless the window has many chunks.
 *
 * <p>The measure is the <em>effective number of classes</em>: one over the probability that two samples have the same
 * class. With {@code within}, the probability for two samples of one chunk, and {@code between}, for samples of two
 * chunks, a window of w chunks has the probability {@code within / w + (1 - 1 / w) * between}. The dataset as a whole
 * is a window of all its chunks. The Python package measures the same; both pass {@code vectors/mixing.json}.
 *
 * @param field a categorical field
 * @param datasetClasses effective classes of the split
 * @param windowClasses effective classes of a window
 * @param windowChunks chunks of a window
 * @param laneChunks chunks of a lane, the most that a window can have
 */
public record Mixing(
        String field, double datasetClasses, double windowClasses, double windowChunks, double laneChunks) {

    /** Heads that are read, evenly spread over the split. */
    static final int CHUNKS = 32;

    /** Of the dataset's effective classes that a window should have. */
    private static final double SHARE = 0.5;

    /** Returns whether batches have too few classes. */
    public boolean isPoor() {
        return windowClasses < SHARE * datasetClasses;
    }

    /** Returns a warning with the cause and the remedy. */
    public String warning() {
        return "the chunks are sorted by " + field + ": a shuffle window of " + text(windowChunks)
                + " chunks mixes about " + text(windowClasses) + " of the dataset's " + text(datasetClasses)
                + " classes. Write the dataset with stoker.Writer, which shuffles, or ingest it in another order; or"
                + " read with "
                + (windowChunks < laneChunks
                        ? "a larger shuffle_window or fewer lanes"
                        : "fewer lanes: a window already holds its whole lane, so a larger shuffle_window changes"
                                + " nothing");
    }

    private static String text(double number) {
        return new BigDecimal(number).setScale(1, RoundingMode.HALF_EVEN).toPlainString();
    }

    /**
     * Measures each categorical field of a split; none where nothing is shuffled or the split has one chunk. Reads some
     * heads.
     *
     * @throws IOException if a head cannot be read
     */
    public static List<Mixing> of(ObjectStore store, Snapshot snapshot, String split, OrderSpec spec)
            throws IOException {
        List<Field> fields = snapshot.info().fields();
        int[] categorical = IntStream.range(0, fields.size())
                .filter(i -> fields.get(i).type().canonical().equals("categorical"))
                .toArray();
        ChunkTable table = snapshot.table();
        int[] live = IntStream.range(0, table.size())
                .filter(i -> table.isLive(i) && table.split(i).equals(split))
                .toArray();
        if (categorical.length == 0 || spec.shuffle() != ShufflePolicy.WINDOW || live.length < 2) {
            return List.of();
        }
        long bytes = IntStream.of(live).mapToLong(table::length).sum();
        int lanes = StreamOrder.lanes(table.stream(split), spec);
        double window = windowChunks(spec.shuffleWindowBytes(), lanes, bytes, live.length);
        List<List<Map<String, Long>>> counts = new ArrayList<>();
        for (int i = 0; i < categorical.length; i++) {
            counts.add(new ArrayList<>());
        }
        for (int place : chosen(live.length)) {
            ChunkHead head = ChunkHeads.read(store, table, live[place]);
            for (int i = 0; i < categorical.length; i++) {
                counts.get(i).add(counts(head, categorical[i]));
            }
        }
        List<Mixing> found = new ArrayList<>();
        for (int i = 0; i < categorical.length; i++) {
            String field = fields.get(categorical[i]).name();
            int classes = snapshot.classes().names(field).size();
            measure(field, counts.get(i), classes, live.length, window, laneChunks(lanes, live.length))
                    .ifPresent(found::add);
        }
        return found;
    }

    /** Chunks that a window of a lane has on average. */
    static double windowChunks(long shuffleWindowBytes, int lanes, long bytes, int chunks) {
        double average = (double) bytes / chunks;
        double wanted = Math.max(1, (double) shuffleWindowBytes / lanes / average);
        return Math.min(wanted, laneChunks(lanes, chunks));
    }

    /** Chunks that a lane has on average, at least one. */
    static double laneChunks(int lanes, int chunks) {
        return Math.max(1, (double) chunks / lanes);
    }

    /** Returns the indexes of the chunks whose heads are read. {@code chunks} is at least 2. */
    static int[] chosen(int chunks) {
        long heads = Math.min(CHUNKS, chunks);
        return IntStream.range(0, (int) heads)
                .map(i -> (int) (i * (chunks - 1L) / (heads - 1)))
                .toArray();
    }

    private static Map<String, Long> counts(ChunkHead head, int field) {
        ArrowColumn column = head.column(field);
        List<String> classes = head.classes(field);
        Map<String, Long> counts = new HashMap<>();
        for (int row = 0; row < head.rows(); row++) {
            if (!column.isNull(row)) {
                counts.merge(classes.get(column.intAt(row)), 1L, Long::sum);
            }
        }
        return counts;
    }

    /**
     * Measures a field.
     *
     * @param counts of each chunk that was looked at, rows by class
     * @param classes of the dataset
     * @param chunks of the split
     * @param window chunks of a window
     * @param lane chunks of a lane
     * @return empty if there are too few samples
     */
    static Optional<Mixing> measure(
            String field, List<Map<String, Long>> counts, int classes, int chunks, double window, double lane) {
        Map<String, Long> total = new HashMap<>();
        double pairsOfRows = 0;
        double same = 0;
        double rows = 0;
        double squaredRows = 0;
        double squares = 0;
        int used = 0;
        for (Map<String, Long> chunk : counts) {
            double ofChunk = chunk.values().stream().mapToLong(Long::longValue).sum();
            if (ofChunk < 2) {
                continue;
            }
            used++;
            pairsOfRows += ofChunk * (ofChunk - 1);
            rows += ofChunk;
            squaredRows += ofChunk * ofChunk;
            for (Map.Entry<String, Long> entry : chunk.entrySet()) {
                double count = entry.getValue();
                same += count * (count - 1);
                squares += count * count;
                total.merge(entry.getKey(), entry.getValue(), Long::sum);
            }
        }
        if (used < 2) {
            return Optional.empty();
        }
        double pairs = -squares;
        for (long count : total.values()) {
            pairs += (double) count * count;
        }
        double between = Math.max(pairs / (rows * rows - squaredRows), 1.0 / Math.max(1, classes));
        double within = Math.max(same / pairsOfRows, between);
        double whole = within / chunks + (1 - 1.0 / chunks) * between;
        double part = within / window + (1 - 1 / window) * between;
        return Optional.of(new Mixing(field, 1 / whole, 1 / part, window, lane));
    }
}
