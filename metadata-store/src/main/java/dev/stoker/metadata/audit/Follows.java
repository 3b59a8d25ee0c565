package dev.stoker.metadata.audit;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.audit.report.Finding;
import dev.stoker.metadata.audit.report.Findings;
import dev.stoker.metadata.follow.EpochVersions;
import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.ledger.Consumer;
import java.io.IOException;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Finds the passes that follow their dataset, and the version of each of their epochs. Uses the choices that feeds
 * write in the datasets, not the ledger. Such a pass covers all its versions, so its consumers have no fingerprint
 * here. Not thread-safe.
 */
final class Follows {

    private record Way(String feed, String stream, String group) {}

    private final List<Dataset> datasets;
    private final Findings findings;
    private final Map<Way, NavigableMap<Long, Long>> known = new HashMap<>();

    Follows(List<Dataset> datasets, Findings findings) {
        this.datasets = datasets;
        this.findings = findings;
    }

    /** Returns the consumer as part of its pass. */
    Consumer part(Consumer consumer) throws IOException {
        if (versions(consumer).isEmpty()) {
            return consumer;
        }
        return new Consumer(
                consumer.feed(),
                consumer.stream(),
                consumer.group(),
                "",
                consumer.run(),
                consumer.rank(),
                consumer.worldSize(),
                consumer.worker(),
                consumer.workers(),
                consumer.replica());
    }

    /** Returns whether a consumer that is part of its pass belongs to a pass that follows its dataset. */
    static boolean follows(Consumer part) {
        return part.fingerprint().isEmpty();
    }

    /** Returns the version that was chosen for an epoch of a consumer's pass. */
    OptionalLong version(Consumer consumer, long epoch) throws IOException {
        Long version = versions(consumer).get(epoch);
        return version == null ? OptionalLong.empty() : OptionalLong.of(version);
    }

    private NavigableMap<Long, Long> versions(Consumer consumer) throws IOException {
        Way way = new Way(consumer.feed(), consumer.stream(), consumer.group());
        NavigableMap<Long, Long> versions = known.get(way);
        if (versions == null) {
            versions = read(way);
            known.put(way, versions);
        }
        return versions;
    }

    private NavigableMap<Long, Long> read(Way way) throws IOException {
        NavigableMap<Long, Long> versions = new TreeMap<>();
        UUID feed;
        try {
            feed = UUID.fromString(way.feed);
        } catch (IllegalArgumentException e) {
            return versions;
        }
        EpochChoice.Pass pass = new EpochChoice.Pass(feed, way.stream, way.group);
        for (Dataset dataset : datasets) {
            EpochVersions choices = new EpochVersions(dataset, pass, InstantSource.system());
            versions.putAll(choices.all(e -> findings.add(Finding.Kind.DAMAGED_DATASET, 0, ErrorText.of(e))));
        }
        return versions;
    }
}
