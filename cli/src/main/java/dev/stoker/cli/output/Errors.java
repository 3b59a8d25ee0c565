package dev.stoker.cli.output;

import dev.stoker.export.spec.InvalidExportException;
import dev.stoker.feeder.plan.InvalidFeedException;
import dev.stoker.feeder.registry.FeedRunningException;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.InvalidKeysException;
import dev.stoker.schemas.errors.ErrorText;
import java.io.PrintWriter;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** Turns a failure into one line for the user; the stack trace goes to the log. */
public final class Errors {

    public static final int FAILED = 1;
    public static final int USAGE = 2;

    private Errors() {}

    public static int wrongUsage(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("stoker: " + usage(e, command));
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

    public static int failed(Exception e, CommandLine command, ParseResult result) {
        if (!(e instanceof CommandException
                || e instanceof FeedRunningException
                || e instanceof InvalidKeysException
                || e instanceof IllegalArgumentException
                || e instanceof LostOutputException)) {
            LoggerFactory.getLogger(Errors.class)
                    .error("{} failed", command.getCommandSpec().qualifiedName(), e);
        }
        PrintWriter err = command.getErr();
        if (e instanceof InvalidFeedException invalid) {
            return wrong(invalid.problems(), command);
        }
        if (e instanceof InvalidIngestException invalid) {
            return wrong(invalid.problems(), command);
        }
        if (e instanceof InvalidExportException invalid) {
            return wrong(invalid.problems(), command);
        }
        if (e instanceof LostOutputException lost) {
            return StandardOutput.report(lost, err);
        }
        err.println("stoker: " + message(e));
        if (e instanceof CommandException own) {
            return own.code();
        }
        return e instanceof IllegalArgumentException ? USAGE : FAILED;
    }

    private static int wrong(List<String> problems, CommandLine command) {
        PrintWriter err = command.getErr();
        problems.forEach(problem -> err.println("stoker: " + problem));
        err.println("stoker: see " + command.getCommandSpec().qualifiedName() + " --help");
        return USAGE;
    }

    /** Rephrases the parser's message in terms of this command. */
    private static String usage(ParameterException e, CommandLine command) {
        String message = ErrorText.of(e);
        if (e instanceof UnmatchedArgumentException unmatched) {
            List<String> words = unmatched.getUnmatched();
            String first = words.get(0);
            return first.startsWith("-")
                    ? (words.size() == 1 ? "unknown option " : "unknown options ") + String.join(", ", words)
                    : (command.getParent() == null ? "there is no verb " : "unexpected argument ") + first;
        }
        if (e instanceof MissingParameterException) {
            return message.replaceFirst("^Missing required parameters?: ", "missing: ")
                    .replace("'", "");
        }
        return message.replaceFirst("^Error: ", "")
                .replaceFirst("^Invalid value for option '(.*?)'", "option $1")
                .replaceFirst("is not an? (int|long)$", "is not a whole number")
                .replaceFirst("is not a (float|double)$", "is not a number");
    }

    /**
     * Returns the most specific message: the innermost of Stoker's own, or one that says the same and more, or else the
     * refusal of an argument by Stoker, or else the innermost one.
     */
    public static String message(Throwable e) {
        List<Throwable> chain = new ArrayList<>();
        for (Throwable t = e; t != null && !chain.contains(t); t = t.getCause()) {
            chain.add(0, t);
        }
        for (Throwable t : chain) {
            if (t instanceof UnsatisfiedLinkError) {
                return "a native library cannot be loaded (" + firstLine(t) + "); the directory of temporary files, "
                        + System.getProperty("java.io.tmpdir") + ", may be mounted noexec: choose another one with"
                        + " STOKER_JAVA_OPTS=-Djava.io.tmpdir=DIRECTORY";
            }
        }
        Throwable best = chain.get(0);
        String known = "";
        for (Throwable t : chain) {
            String message = t.getMessage();
            if (t.getClass().getName().startsWith("dev.stoker.") && message != null && message.contains(known)) {
                best = t;
                known = message;
            }
        }
        if (known.isEmpty() && isOwnRefusal(e)) {
            // Its cause is of a library, which does not know the option.
            best = e;
        }
        if (best instanceof NoSuchFileException) {
            return "there is no file " + best.getMessage();
        }
        if (best instanceof AccessDeniedException) {
            String path = String.valueOf(best.getMessage());
            String ledger = path.contains("/_stoker/feeds")
                    ? "; a feed writes its ledger into the dataset: give another directory with --ledger"
                    : "";
            return "access to " + path + " is denied" + ledger;
        }
        String text = best.getMessage() == null ? best.getClass().getSimpleName() : best.getMessage();
        String logged = Logs.file().map(file -> " (details: " + file + ")").orElse("");
        boolean plain = best.getClass().getName().startsWith("dev.stoker.") || best instanceof IllegalArgumentException;
        return plain ? text : text + logged;
    }

    private static boolean isOwnRefusal(Throwable e) {
        StackTraceElement[] trace = e.getStackTrace();
        return e instanceof IllegalArgumentException
                && e.getMessage() != null
                && trace.length > 0
                && trace[0].getClassName().startsWith("dev.stoker.");
    }

    private static String firstLine(Throwable e) {
        return ErrorText.of(e).lines().findFirst().orElse("");
    }
}
