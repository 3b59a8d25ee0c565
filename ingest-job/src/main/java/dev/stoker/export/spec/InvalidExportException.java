package dev.stoker.export.spec;

import java.util.List;

/** An export cannot be started with its options. Contains all problems, each in one line with the next step. */
public final class InvalidExportException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    @SuppressWarnings("serial")
    private final List<String> problems;

    public InvalidExportException(List<String> problems) {
        super(String.join("\n", problems));
        this.problems = List.copyOf(problems);
    }

    public InvalidExportException(String problem) {
        this(List.of(problem));
    }

    public List<String> problems() {
        return problems;
    }
}
