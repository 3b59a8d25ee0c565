package dev.stoker.feeder.plan;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.VersionUses;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.util.Set;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Ends the uses of versions of a feed that has ended, so that the versions can be expired. Stateless. */
public final class UsedVersions {

    private static final Logger LOG = LoggerFactory.getLogger(UsedVersions.class);

    private UsedVersions() {}

    /** Deletes the uses. If this fails, {@code stoker expire --end-feed} deletes them. */
    public static void release(FeedPlan plan) {
        Set<String> paths = new TreeSet<>();
        plan.streams().forEach(stream -> paths.add(stream.path()));
        for (String path : paths) {
            try (ObjectStore store = Stores.open(path)) {
                new VersionUses(Dataset.open(store)).release(plan.id());
            } catch (IOException e) {
                LOG.warn(
                        "The uses of versions of {} by this feed were not deleted; stoker expire {} --end-feed {} --yes"
                                + " deletes them: {}",
                        path,
                        path,
                        plan.id(),
                        e.toString());
            }
        }
    }
}
