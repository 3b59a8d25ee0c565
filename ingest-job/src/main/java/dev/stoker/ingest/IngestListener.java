package dev.stoker.ingest;

/** Is told how an ingest goes on, by the thread that called {@link IngestJob#run}. */
public interface IngestListener {

    /** Hears nothing. */
    IngestListener SILENT = new IngestListener() {};

    /**
     * The ingest is about to begin.
     *
     * @param ingestId under which it can be gone on with if it is interrupted
     * @param plan what is going to be done
     */
    default void started(String ingestId, IngestPlan plan) {}

    /** How far the ingest has come; about twice a second, only while the job runs in this process. */
    default void progressed(IngestProgress progress) {}
}
