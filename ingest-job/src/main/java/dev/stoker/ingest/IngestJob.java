package dev.stoker.ingest;

/** Entry point of the ingest job jar. */
public final class IngestJob {
    private IngestJob() {}

    public static void main(String[] args) {
        throw new UnsupportedOperationException("the ingest job is a placeholder that does nothing yet");
    }
}
