package dev.stoker.connectors.chunks;

import java.io.Serializable;
import java.util.Map;
import java.util.TreeMap;

/**
 * Which ingest it is, and what its commit does.
 *
 * @param store opens the dataset's store
 * @param target where the dataset lies: an absolute path or a URI
 * @param dataset id of the dataset, as text
 * @param ingest id under which one version is committed at most
 * @param effect of the commit on what there is
 * @param baseVersion newest version when the ingest began; keys were checked against it
 * @param properties free text for the log entry
 */
public record IngestRun(
        DatasetStore store,
        String target,
        String dataset,
        String ingest,
        Effect effect,
        long baseVersion,
        TreeMap<String, String> properties)
        implements Serializable {

    private static final long serialVersionUID = 1;

    /** What becomes of the samples that the dataset has. */
    public enum Effect {
        /** There were none when the ingest began; those that others have added since stay. */
        CREATE,
        /** They stay. */
        APPEND,
        /** They go. */
        REPLACE
    }

    public IngestRun(
            DatasetStore store,
            String target,
            String dataset,
            String ingest,
            Effect effect,
            long baseVersion,
            Map<String, String> properties) {
        this(store, target, dataset, ingest, effect, baseVersion, new TreeMap<>(properties));
    }
}
