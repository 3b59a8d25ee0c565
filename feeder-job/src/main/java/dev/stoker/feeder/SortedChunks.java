package dev.stoker.feeder;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.mixing.Mixing;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds streams whose chunks are sorted by class, so that batches contain few classes. Runs on the machine that starts
 * the feed.
 */
public final class SortedChunks {
    private static final Logger LOG = LoggerFactory.getLogger(SortedChunks.class);

    private SortedChunks() {}

    /**
     * Returns a warning for each categorical field of a stream that the default shuffle window does not mix. Reads the
     * heads of some chunks.
     */
    public static List<String> warnings(FeedPlan plan) {
        OrderSpec spec = OrderSpec.fromJson(plan.order());
        List<String> warnings = new ArrayList<>();
        for (FeedPlan.Stream stream : plan.streams()) {
            try (ObjectStore store = Stores.open(stream.path())) {
                for (Mixing mixing :
                        Mixing.of(store, Dataset.open(store).snapshot(stream.version()), stream.split(), spec)) {
                    if (mixing.isPoor()) {
                        warnings.add(stream.path() + "@" + stream.version() + ", split " + stream.split() + ": "
                                + mixing.warning());
                    }
                }
            } catch (IOException e) {
                // The feeder reports the error when it reads the chunk.
                LOG.debug("The classes of stream {} were not looked at", stream.name(), e);
            }
        }
        return warnings;
    }
}
