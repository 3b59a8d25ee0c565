package dev.stoker.ingest.stream;

import java.util.List;

/** Is told how an ingest of a topic goes on, by the thread that called {@link StreamIngest#run}. */
public interface StreamListener {

    /** Hears nothing. */
    StreamListener SILENT = new StreamListener() {};

    /**
     * The ingest is about to begin.
     *
     * @param plan in words, for people
     */
    default void started(List<String> plan) {}

    /** How far the ingest has come; about twice a second, only while the job runs in this process. */
    default void progressed(StreamProgress progress) {}
}
