package dev.stoker.connectors.dataset;

/**
 * The ingest ids of a job that commits many versions: the id of the run, a dash and a number that increases. The chunks
 * of all versions are written under the lease of the run. Stateless.
 */
public final class PartIds {

    private PartIds() {}

    /** Returns the ingest id of a version. */
    public static String of(String run, long number) {
        return run + "-" + number;
    }

    /** Returns the run of an ingest id. After a restore, it can be another run than the one that commits. */
    public static String run(String ingest) {
        int dash = ingest.lastIndexOf('-');
        return dash < 1 ? ingest : ingest.substring(0, dash);
    }
}
