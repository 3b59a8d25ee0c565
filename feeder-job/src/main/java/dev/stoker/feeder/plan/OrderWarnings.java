package dev.stoker.feeder.plan;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.mixing.Mixing;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * Finds streams that the order of the feed hardly shuffles: the shuffle window is smaller than a chunk, or the chunks
 * are sorted by class, so that batches contain few classes. Runs on the machine that starts the feed.
 */
final class OrderWarnings {
    private OrderWarnings() {}

    /**
     * Returns a warning if the chunks of a stream are larger than the shuffle window, and for each categorical field
     * that the window does not mix. Reads the heads of some chunks.
     *
     * @param store of the dataset
     * @param dataset of the stream
     */
    static List<String> warnings(FeedPlan.Stream stream, OrderSpec spec, ObjectStore store, Dataset dataset)
            throws IOException {
        List<String> warnings = new ArrayList<>();
        Snapshot snapshot = dataset.snapshot(stream.version());
        String name = stream.path() + "@" + stream.version() + ", split " + stream.split() + ": ";
        smallWindow(snapshot.table(), stream.split(), spec).ifPresent(text -> warnings.add(name + text));
        for (Mixing mixing : Mixing.of(store, snapshot, stream.split(), spec)) {
            if (mixing.isPoor()) {
                warnings.add(name + mixing.warning());
            }
        }
        return warnings;
    }

    /** A window of 0 bytes is a choice: samples are shuffled within their chunks only. */
    private static Optional<String> smallWindow(ChunkTable table, String split, OrderSpec spec) {
        LongSummaryStatistics lengths = IntStream.range(0, table.size())
                .filter(i -> table.isLive(i) && table.split(i).equals(split))
                .mapToLong(table::length)
                .summaryStatistics();
        long window = spec.shuffleWindowBytes();
        if (spec.shuffle() != ShufflePolicy.WINDOW
                || lengths.getCount() < 2
                || window == 0
                || window >= lengths.getAverage()) {
            return Optional.empty();
        }
        long mean = (long) lengths.getAverage();
        long enough = Math.max(64, 8 * mean / (1 << 20) + 1);
        return Optional.of("the shuffle window (" + Units.bytes(window) + ") is smaller than a chunk ("
                + Units.bytes((long) lengths.getAverage()) + "), so samples of different chunks are hardly mixed;"
                + " give a larger one, such as --shuffle-window " + enough + "mb");
    }
}
