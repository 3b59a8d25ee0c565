package dev.stoker.connectors.dataset;

import java.io.Serializable;
import java.util.Map;
import java.util.TreeMap;

/**
 * Identifies an ingest and the effect of its commit.
 *
 * @param store opens the dataset's store
 * @param target the dataset's location: an absolute path or a URI
 * @param dataset id of the dataset, as text
 * @param ingest id under which at most one version is committed
 * @param effect of the commit on the samples of the dataset
 * @param onDuplicate what happens to samples whose keys the dataset already has
 * @param baseVersion newest version when the ingest began; keys were checked against it
 * @param properties free text for the log entry
 */
public record IngestRun(
        DatasetStore store,
        String target,
        String dataset,
        String ingest,
        Effect effect,
        OnDuplicate onDuplicate,
        long baseVersion,
        TreeMap<String, String> properties)
        implements Serializable {

    /** The property of a version with the name of the list of what its ingest has left out. */
    public static final String SKIP_LIST = "skip_list";

    /** The property with the location of the samples. */
    public static final String SOURCE = "source";

    /** The property with the number of samples that were removed because the source does not have them. */
    public static final String REMOVED = "removed";

    /** The property with the number of samples that new ones have replaced. */
    public static final String REPLACED = "replaced";

    private static final long serialVersionUID = 1;

    /** The effect on the samples that the dataset already has. */
    public enum Effect {
        /** There were none when the ingest began. Samples that others have added since stay. */
        CREATE,
        /** The samples stay. */
        APPEND,
        /** The samples are removed. */
        REPLACE,
        /** The samples are made to agree with a source. There may be nothing to commit. */
        SYNC
    }

    /** Creates an ingest for which a key that the dataset already has is an error. */
    public IngestRun(
            DatasetStore store,
            String target,
            String dataset,
            String ingest,
            Effect effect,
            long baseVersion,
            Map<String, String> properties) {
        this(store, target, dataset, ingest, effect, OnDuplicate.FAIL, baseVersion, new TreeMap<>(properties));
    }
}
