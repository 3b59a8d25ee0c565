package dev.stoker.ingest;

import java.util.List;

/** Receives the progress of an ingest, on the thread that called {@link IngestJob#run}. */
public interface IngestListener {

    /** Ignores all events. */
    IngestListener SILENT = new IngestListener() {};

    /**
     * Called before the ingest begins.
     *
     * @param ingestId the id with which the ingest can be resumed after an interruption
     * @param plan the plan as text
     */
    default void started(String ingestId, List<String> plan) {}

    /** Reports progress, about twice a second. Called only if the job runs in this process. */
    default void progressed(IngestProgress progress) {}
}
