package dev.stoker.cli.ingest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.options.OwnFlags;
import dev.stoker.cli.output.Signals;
import java.io.PrintWriter;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * The common part of {@code stoker ingest} and {@code stoker sync}: they pass their arguments to a job, except for the
 * flags here. Then they print the job's result and add its samples to the sample index.
 */
final class IngestCommand {

    private final List<String> arguments;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    /** Only for help: the job parses its own arguments. */
    @Option(names = OwnFlags.JSON, description = "Print the result as JSON, on one line.")
    private boolean json;

    @Option(
            names = OwnFlags.NO_INDEX,
            description = "Do not add the new samples to the sample index; stoker index does so later.")
    private boolean noIndex;

    /** @param arguments of the job, and the flags */
    IngestCommand(List<String> arguments) {
        this.arguments = OwnFlags.without(arguments, OwnFlags.JSON, OwnFlags.NO_INDEX);
        this.noIndex = arguments.contains(OwnFlags.NO_INDEX);
        this.json = arguments.contains(OwnFlags.JSON);
    }

    /** Returns the arguments of the job. */
    String[] arguments() {
        return arguments.toArray(new String[0]);
    }

    boolean isJson() {
        return json;
    }

    <T> void print(T result, Function<T, ObjectNode> toJson, Function<T, List<String>> lines) {
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(toJson.apply(result));
        } else {
            lines.apply(result).forEach(out::println);
        }
    }

    /**
     * Runs a job and prints its result.
     *
     * @param isIndexed whether the index is updated after this result
     * @return the exit code
     */
    <T> int run(
            InterruptibleIngest.Job<T> job,
            String target,
            Function<T, ObjectNode> toJson,
            Function<T, List<String>> lines,
            Predicate<T> isIndexed)
            throws Exception {
        PrintWriter err = spec.commandLine().getErr();
        Optional<T> result = InterruptibleIngest.run(job, spec.qualifiedName(), err);
        if (result.isEmpty()) {
            return Signals.INTERRUPTED;
        }
        print(result.get(), toJson, lines);
        if (!noIndex && isIndexed.test(result.get())) {
            IndexUpdate.afterCommit(target, err);
        }
        return 0;
    }
}
