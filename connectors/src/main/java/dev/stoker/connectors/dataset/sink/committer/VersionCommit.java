package dev.stoker.connectors.dataset.sink.committer;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.dataset.SampleKeys;
import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.schemas.log.Operation;
import java.io.IOException;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiFunction;

/**
 * Commits chunks to a dataset.
 *
 * @param run the ingest and its effect
 * @param keys the origin of the keys
 */
record VersionCommit(IngestRun run, SampleKeys keys) {

    /**
     * Commits, unless an earlier call has committed under the same id.
     *
     * @param ingest id of the commit
     * @param lease id under whose lease the chunks were written
     */
    Commit commit(Dataset dataset, IngestCommittable committable, String ingest, String lease) throws IOException {
        Map<String, List<String>> classes = new TreeMap<>();
        committable.classes().forEach((field, names) -> classes.put(field, new ArrayList<>(names)));
        Map<String, String> properties = new TreeMap<>(run.properties());
        committable.notes().forEach((name, count) -> properties.put(name, Long.toString(count)));
        properties.putAll(committable.examples());
        Removal removal = removal(committable, dataset);
        return new VersionCommitter(dataset, Clock.systemUTC(), WriterProcess.user())
                .commit(new VersionRequest(
                        ingest,
                        operation(committable),
                        committable.chunks(),
                        removal,
                        classes,
                        base -> withCount(properties, removal),
                        List.of(lease)));
    }

    private Operation operation(IngestCommittable committable) {
        if (run.effect() == IngestRun.Effect.REPLACE) {
            return Operation.REPLACE;
        }
        return committable.chunks().isEmpty() ? Operation.REMOVE : Operation.INGEST;
    }

    /** Counts the samples of other writers that were replaced, too. */
    private static Map<String, String> withCount(Map<String, String> properties, Removal removal) {
        if (!(removal instanceof ReplacedRows replaced) || replaced.count() == 0) {
            return properties;
        }
        Map<String, String> counted = new TreeMap<>(properties);
        // The source of a sync lacks some of them. Another writer may have deleted these.
        long removed = Long.parseLong(properties.getOrDefault(IngestRun.REMOVED, "0"));
        counted.put(IngestRun.REPLACED, Long.toString(Math.max(0, replaced.count() - removed)));
        return counted;
    }

    /** Called for each version that the commit is tried on. Refuses versions that already have one of the keys. */
    private Removal removal(IngestCommittable committable, Dataset dataset) {
        if (run.effect() == IngestRun.Effect.REPLACE) {
            return Removal.EVERYTHING;
        }
        if (keys == SampleKeys.GENERATED) {
            return Removal.NOTHING;
        }
        if (run.onDuplicate().stored() == OnDuplicate.Stored.IS_REPLACED) {
            return new ReplacedRows(dataset.store(), committable.chunks(), committable.removed(), run.baseVersion());
        }
        // The first ingest of a dataset began on an empty dataset. Samples that others appended meanwhile stay, as with
        // an append.
        LateKeys late = new LateKeys(dataset.store(), committable.chunks(), run.baseVersion(), refusal());
        return base -> {
            late.check(base);
            return List.of();
        };
    }

    private BiFunction<String, String, TakenKeyException> refusal() {
        return run.onDuplicate().stored() == OnDuplicate.Stored.STAYS
                ? TakenKeyException::meanwhile
                : TakenKeyException::inDataset;
    }
}
