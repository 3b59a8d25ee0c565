package dev.stoker.ingest.spec;

/** The source exists, but has no sample. For a first ingest it is an error; an append then has nothing to add. */
public final class NothingToIngestException extends InvalidIngestException {

    private static final long serialVersionUID = 1;

    /** @param problem one sentence */
    public NothingToIngestException(String problem) {
        super(problem);
    }
}
