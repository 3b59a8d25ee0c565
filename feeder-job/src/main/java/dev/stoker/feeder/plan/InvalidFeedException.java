package dev.stoker.feeder.plan;

import java.util.List;

/** The arguments of a feed are wrong; says everything that is. */
public final class InvalidFeedException extends IllegalArgumentException {

    private static final long serialVersionUID = 1;

    private final List<String> problems;

    public InvalidFeedException(List<String> problems) {
        super(String.join("; ", problems));
        this.problems = List.copyOf(problems);
    }

    /** One sentence for each thing that is wrong. */
    public List<String> problems() {
        return problems;
    }
}
