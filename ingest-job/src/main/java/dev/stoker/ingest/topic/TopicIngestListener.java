package dev.stoker.ingest.topic;

import java.util.List;

/** Receives the progress of a topic ingest, on the thread that called {@link TopicIngestJob#run}. */
public interface TopicIngestListener {

    /** Ignores all events. */
    TopicIngestListener SILENT = new TopicIngestListener() {};

    /**
     * Called before the ingest begins.
     *
     * @param plan as text
     */
    default void started(List<String> plan) {}

    /** Reports progress, about twice a second. Called only if the job runs in this process. */
    default void progressed(TopicIngestProgress progress) {}
}
