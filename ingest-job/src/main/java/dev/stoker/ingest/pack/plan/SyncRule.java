package dev.stoker.ingest.pack.plan;

import java.io.Serializable;

/**
 * What a sync compares and changes. Serialized with the job graph.
 *
 * @param comparison how a file is compared with its sample
 * @param missing what happens to samples without a file
 * @param updated what happens to samples with updated values whose files differ
 * @param run whether anything is written
 */
public record SyncRule(Comparison comparison, Missing missing, Updated updated, Run run) implements Serializable {

    private static final long serialVersionUID = 1;

    /** How a file is compared with its sample. */
    public enum Comparison {
        /** Files that have not changed since their sample was packed are not read. */
        TIME,
        /** All files of the same size are read. */
        CONTENT
    }

    /** Samples without a file. */
    public enum Missing {
        STAY,
        REMOVE
    }

    /** Samples with values that an update has set, whose files differ from what was packed. */
    public enum Updated {
        STAY,
        REPLACE
    }

    /** Whether anything is written. */
    public enum Run {
        REAL,
        /** Only compare. */
        DRY
    }
}
