package dev.stoker.feeder;

import dev.stoker.feeder.plan.FeedPlan;
import dev.stoker.metadata.DamagedErasures;
import dev.stoker.metadata.Dataset;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds damaged records of erasures, because feeders cannot remove the chunks of such an erasure from their tiers. Runs
 * on the machine that starts the feed.
 */
public final class DamagedCertificates {
    private static final Logger LOG = LoggerFactory.getLogger(DamagedCertificates.class);

    private DamagedCertificates() {}

    /** Returns a warning for each damaged record in a dataset of the feed. */
    public static List<String> warnings(FeedPlan plan) {
        Set<String> warnings = new LinkedHashSet<>();
        for (FeedPlan.Stream stream : plan.streams()) {
            try (ObjectStore store = Stores.open(stream.path())) {
                DamagedErasures.find(Dataset.open(store))
                        .forEach(problem -> warnings.add(
                                problem.message() + "; until then, tiers may keep copies of the erased chunks"));
            } catch (IOException e) {
                // The feeder reports the error when it opens the dataset.
                LOG.debug("The erasures of stream {} were not looked at", stream.name(), e);
            }
        }
        return List.copyOf(warnings);
    }
}
