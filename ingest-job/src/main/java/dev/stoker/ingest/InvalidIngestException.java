package dev.stoker.ingest;

import java.util.List;

/** The ingest cannot be started as it was asked for. Holds all that is wrong, each in one line that says what to do. */
public final class InvalidIngestException extends IllegalArgumentException {

    private static final long serialVersionUID = 1;

    @SuppressWarnings("serial")
    private final List<String> problems;

    public InvalidIngestException(List<String> problems) {
        super(String.join("\n", problems));
        this.problems = List.copyOf(problems);
    }

    public InvalidIngestException(String problem) {
        this(List.of(problem));
    }

    public List<String> problems() {
        return problems;
    }
}
