package dev.stoker.ingest.spec;

import java.util.List;

/**
 * Receives the progress of an ingest, on the thread that runs it.
 *
 * @param <P> what is reported
 */
public interface IngestListener<P> {

    /** Returns a listener that ignores all events. */
    static <P> IngestListener<P> silent() {
        return new IngestListener<>() {};
    }

    /**
     * Called before the ingest begins.
     *
     * @param ingestId the id of the run; an ingest of files or rows can be resumed with it after an interruption
     * @param plan the plan as text
     */
    default void started(String ingestId, List<String> plan) {}

    /** Reports progress, about twice a second. Called only if the job runs in this process. */
    default void progressed(P progress) {}
}
