package dev.stoker.cli.sql;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Logs;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What Flink's SQL client prints while it runs a script: the results, between prompts, echoes and notes. */
final class SqlClientOutput {
    private static final Logger LOG = LoggerFactory.getLogger(SqlClientOutput.class);
    private static final Pattern COLOR = Pattern.compile("\033\\[[0-9;]*m");
    private static final Pattern NOTE = Pattern.compile(
            "(Command history file path: |Successfully initialized from sql script: |Shutting down the session|done\\.$"
                    + "|\\[INFO] Executing SQL from file\\.).*");
    private static final String PROMPT = "Flink SQL> ";
    private static final String ERROR = "[ERROR] Could not execute SQL statement. Reason:";
    /** Of a failure of the client itself. */
    private static final String TRACE = "Exception in thread ";

    private static final String NO_CATALOG = "Failed to initialize from sql script: ";

    private static final Pattern CAUSE =
            Pattern.compile("(?:Caused by: )?(?<type>[a-zA-Z0-9_.$]+(?:Exception|Error)): (?<text>.*)");
    /** What Flink says of a job that has failed and whose cluster has therefore ended. */
    private static final String NO_CLUSTER = "MiniCluster is not yet running";

    private static final String OWN = "dev.stoker.";

    private final List<String> statements;
    private final PrintWriter out;
    private final List<String> reason = new ArrayList<>();
    private int prompts;
    private boolean isFailed;

    SqlClientOutput(List<String> statements, PrintWriter out) {
        this.statements = statements;
        this.out = out;
    }

    /** Prints the line if it belongs to a result. */
    void add(String line) {
        String text = COLOR.matcher(line).replaceAll("");
        if (text.startsWith(PROMPT)) {
            text = withoutEcho(text.substring(PROMPT.length()));
        }
        if (isFailed) {
            reason.add(text);
        } else if (text.contains(ERROR)) {
            isFailed = true;
        } else if (text.startsWith(TRACE)) {
            isFailed = true;
            reason.add(text.substring(TRACE.length()));
        } else if (text.startsWith(NO_CATALOG)) {
            isFailed = true;
            reason.add("the catalog of datasets cannot be created");
        } else if (!text.isEmpty() && !NOTE.matcher(text).matches()) {
            out.println(text);
        }
    }

    /** Removes the beginning of the statement, as much of it as the client has echoed. */
    private String withoutEcho(String text) {
        String statement = prompts < statements.size() ? statements.get(prompts) : "";
        prompts++;
        int echoed = 0;
        while (echoed < Math.min(statement.length(), text.length())
                && text.charAt(echoed) == statement.charAt(echoed)) {
            echoed++;
        }
        return text.substring(echoed);
    }

    /**
     * Checks that no statement has failed.
     *
     * @param causes why the job failed, outermost first, as class, tab and message; empty if unknown
     * @throws CommandException if a statement or the client has failed
     */
    void requireSuccess(List<String> causes) throws CommandException {
        if (!isFailed) {
            return;
        }
        LOG.error("The SQL client failed: {}", String.join("\n", reason));
        if (!causes.isEmpty()) {
            LOG.error("The causes of the job's failure: {}", String.join("\n", causes));
        }
        String cause = cause(causes);
        throw new CommandException(
                prompts == 0
                        ? "Flink's SQL client failed: " + cause
                                + Logs.file()
                                        .map(file -> " (details: " + file + ")")
                                        .orElse("")
                        : "statement " + prompts + " of " + statements.size() + " failed: " + cause);
    }

    /** Returns the most specific message: the innermost of Stoker's own, or else the innermost one. */
    private String cause(List<String> causes) {
        String first = "";
        String innermost = "";
        String own = "";
        for (String line : reason) {
            Matcher matcher = CAUSE.matcher(line);
            if (matcher.matches()) {
                innermost = described(matcher.group("type"), matcher.group("text"));
                own = matcher.group("type").startsWith(OWN) ? innermost : own;
            } else if (first.isEmpty()) {
                first = line;
            }
        }
        String inJob = "";
        for (String line : causes) {
            int tab = line.indexOf('\t');
            inJob = line.substring(tab + 1);
            own = line.startsWith(OWN) ? inJob : own;
        }
        if (!own.isEmpty()) {
            return own;
        }
        if (innermost.isEmpty() || (innermost.contains(NO_CLUSTER) && !inJob.isEmpty())) {
            return inJob.isEmpty() ? first : inJob;
        }
        return innermost;
    }

    /** The message of a missing class is the bare name of the class. */
    private static String described(String type, String text) {
        if (!type.endsWith(".ClassNotFoundException") && !type.endsWith(".NoClassDefFoundError")) {
            return text;
        }
        return "Flink has no class " + text.replace('/', '.')
                + "; copy the jars of the directory sql of Stoker's distribution into the directory lib of the cluster,"
                + " and start the cluster again";
    }
}
