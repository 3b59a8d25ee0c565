package dev.stoker.feeder.plan;

import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at the datasets of a feed that starts, and warns its user. Opens each dataset once. Runs on the machine that
 * starts the feed. If a dataset cannot be read, the feeder reports the error when it opens it.
 */
public final class StartWarnings {
    private static final Logger LOG = LoggerFactory.getLogger(StartWarnings.class);

    /** How a store is opened. */
    public interface Opener {
        ObjectStore open(String location) throws IOException;
    }

    /** Looks at an open dataset for warnings. */
    private interface Look {
        List<String> at(ObjectStore store, Dataset dataset) throws IOException;
    }

    private StartWarnings() {}

    /** Returns warnings of streams that are hardly shuffled, and of erasures that a feeder cannot follow. */
    public static List<String> ofTrainers(FeedPlan plan) {
        return ofTrainers(plan, Stores::open);
    }

    static List<String> ofTrainers(FeedPlan plan, Opener opener) {
        // Several streams can read one dataset, also from several locations.
        Set<String> ofErasures = new LinkedHashSet<>();
        List<String> warnings = new ArrayList<>();
        streams(plan).forEach((path, streams) -> {
            try (ObjectStore store = opener.open(path)) {
                Dataset dataset = Dataset.open(store);
                warnings.addAll(ofOrder(plan, streams, store, dataset));
                ofErasures.addAll(look(path, store, dataset, (s, d) -> DamagedCertificates.warnings(d)));
            } catch (IOException e) {
                LOG.debug("Dataset {} was not looked at", path, e);
            }
        });
        warnings.addAll(ofErasures);
        return warnings;
    }

    /** Returns warnings of streams that are hardly shuffled. */
    public static List<String> ofTopic(FeedPlan plan) {
        List<String> warnings = new ArrayList<>();
        streams(plan).forEach((path, streams) -> {
            try (ObjectStore store = Stores.open(path)) {
                warnings.addAll(ofOrder(plan, streams, store, Dataset.open(store)));
            } catch (IOException e) {
                LOG.debug("Dataset {} was not looked at", path, e);
            }
        });
        return warnings;
    }

    private static Map<String, List<FeedPlan.Stream>> streams(FeedPlan plan) {
        Map<String, List<FeedPlan.Stream>> streams = new LinkedHashMap<>();
        plan.streams()
                .forEach(stream -> streams.computeIfAbsent(stream.path(), path -> new ArrayList<>())
                        .add(stream));
        return streams;
    }

    private static List<String> ofOrder(
            FeedPlan plan, List<FeedPlan.Stream> streams, ObjectStore store, Dataset dataset) {
        OrderSpec spec = OrderSpec.fromJson(plan.order());
        List<String> warnings = new ArrayList<>();
        for (FeedPlan.Stream stream : streams) {
            warnings.addAll(look(stream.path(), store, dataset, (s, d) -> OrderWarnings.warnings(stream, spec, s, d)));
        }
        return warnings;
    }

    /** Returns the warnings of one look. If it fails, returns none, and the other looks still run. */
    private static List<String> look(String path, ObjectStore store, Dataset dataset, Look look) {
        try {
            return look.at(store, dataset);
        } catch (IOException e) {
            LOG.debug("Dataset {} was not looked at", path, e);
            return List.of();
        }
    }
}
