package dev.stoker.ingest.spec;

import java.util.List;

/** An ingest cannot be started with its options. Holds all problems, each in one line with the next step. */
public class InvalidIngestException extends IllegalArgumentException {

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
