package dev.stoker.ingest;

/** Receives the progress of an ingest, on the thread that called {@link IngestJob#run}. */
public interface IngestListener {

    /** Ignores all events. */
    IngestListener SILENT = new IngestListener() {};

    /**
     * Called before the ingest begins.
     *
     * @param ingestId the id with which the ingest can be resumed after an interruption
     * @param plan of the ingest
     */
    default void started(String ingestId, IngestPlan plan) {}

    /** Reports progress, about twice a second. Called only if the job runs in this process. */
    default void progressed(IngestProgress progress) {}
}
