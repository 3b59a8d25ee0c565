package dev.stoker.feeder.plan;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.mixing.Mixing;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Optional;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds streams that the order of the feed hardly shuffles: the shuffle window is smaller than a chunk, or the chunks
 * are sorted by class, so that batches contain few classes. Runs on the machine that starts the feed.
 */
public final class OrderWarnings {
    private static final Logger LOG = LoggerFactory.getLogger(OrderWarnings.class);

    private OrderWarnings() {}

    /**
     * Returns a warning for each stream whose chunks are larger than the shuffle window, and for each categorical field
     * of a stream that the window does not mix. Reads the heads of some chunks.
     */
    public static List<String> warnings(FeedPlan plan) {
        OrderSpec spec = OrderSpec.fromJson(plan.order());
        List<String> warnings = new ArrayList<>();
        for (FeedPlan.Stream stream : plan.streams()) {
            try (ObjectStore store = Stores.open(stream.path())) {
                Snapshot snapshot = Dataset.open(store).snapshot(stream.version());
                String name = stream.path() + "@" + stream.version() + ", split " + stream.split() + ": ";
                smallWindow(snapshot.table(), stream.split(), spec).ifPresent(text -> warnings.add(name + text));
                for (Mixing mixing : Mixing.of(store, snapshot, stream.split(), spec)) {
                    if (mixing.isPoor()) {
                        warnings.add(name + mixing.warning());
                    }
                }
            } catch (IOException e) {
                // The feeder reports the error when it reads the chunk.
                LOG.debug("The classes of stream {} were not looked at", stream.name(), e);
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
        return Optional.of("the shuffle window (" + Units.bytes(window) + ") is smaller than a chunk ("
                + Units.bytes((long) lengths.getAverage()) + "), so samples of different chunks are hardly mixed;"
                + " give a larger --shuffle-window, with its unit, such as 64 MiB");
    }
}
