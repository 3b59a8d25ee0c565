package dev.stoker.connectors.dataset;

/** An ingest that should have samples has none, so there is nothing to commit and nothing to resume. */
public final class NoSamplesException extends CommitRefusedException {

    private static final long serialVersionUID = 1;

    public NoSamplesException(String message) {
        super(message);
    }
}
