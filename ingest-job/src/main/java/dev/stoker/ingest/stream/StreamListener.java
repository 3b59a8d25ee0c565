package dev.stoker.ingest.stream;

import java.util.List;

/** Receives the progress of a topic ingest, on the thread that called {@link StreamIngest#run}. */
public interface StreamListener {

    /** Ignores all events. */
    StreamListener SILENT = new StreamListener() {};

    /**
     * Called before the ingest begins.
     *
     * @param plan as text
     */
    default void started(List<String> plan) {}

    /** Reports progress, about twice a second. Called only if the job runs in this process. */
    default void progressed(StreamProgress progress) {}
}
