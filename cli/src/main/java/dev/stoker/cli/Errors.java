package dev.stoker.cli;

import dev.stoker.feeder.InvalidFeedException;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns what went wrong into one line for a person; the stack trace goes to the log. */
final class Errors {

    static final int FAILED = 1;
    static final int USAGE = 2;

    private Errors() {}

    static int wrongUsage(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("stoker: " + e.getMessage());
        if (e instanceof UnmatchedArgumentException unmatched) {
            Optional<String> verb =
                    command.getParent() == null && args.length > 0 ? Suggestions.verb(args[0]) : Optional.empty();
            List<String> suggestions = unmatched.getSuggestions();
            if (verb.isPresent()) {
                err.println("stoker: did you mean " + verb.get() + "?");
            } else if (!suggestions.isEmpty()) {
                err.println("stoker: did you mean " + String.join(" or ", suggestions) + "?");
            }
        }
        err.println("stoker: see " + command.getCommandSpec().qualifiedName() + " --help");
        return USAGE;
    }

    static int failed(Exception e, CommandLine command, ParseResult result) {
        LoggerFactory.getLogger(Errors.class)
                .error("{} failed", command.getCommandSpec().qualifiedName(), e);
        PrintWriter err = command.getErr();
        if (e instanceof InvalidFeedException invalid) {
            invalid.problems().forEach(problem -> err.println("stoker: " + problem));
            err.println("stoker: see " + command.getCommandSpec().qualifiedName() + " --help");
            return USAGE;
        }
        err.println("stoker: " + message(e));
        return e instanceof IllegalArgumentException ? USAGE : FAILED;
    }

    /** The message that says most: the innermost one that is Stoker's own, else the innermost one. */
    static String message(Throwable e) {
        List<Throwable> chain = new ArrayList<>();
        for (Throwable t = e; t != null && !chain.contains(t); t = t.getCause()) {
            chain.add(t);
        }
        Throwable best = chain.get(chain.size() - 1);
        for (Throwable t : chain) {
            if (t.getClass().getName().startsWith("dev.stoker.") && t.getMessage() != null) {
                best = t;
            }
        }
        if (best instanceof NoSuchFileException) {
            return "there is no file " + best.getMessage();
        }
        if (best instanceof AccessDeniedException) {
            return "access to " + best.getMessage() + " is denied";
        }
        String text = best.getMessage() == null ? best.getClass().getSimpleName() : best.getMessage();
        String logged = Logs.file().map(file -> " (details: " + file + ")").orElse("");
        return best.getClass().getName().startsWith("dev.stoker.") ? text : text + logged;
    }
}
