package dev.stoker.cli;

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

    private static final Pattern CAUSE = Pattern.compile("(?:Caused by: )?[a-zA-Z0-9_.$]+(?:Exception|Error): (.*)");

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

    /** @throws CommandException if a statement or the client has failed */
    void requireSuccess() throws CommandException {
        if (!isFailed) {
            return;
        }
        LOG.error("The SQL client failed: {}", String.join("\n", reason));
        String cause = "";
        for (String line : reason) {
            Matcher matcher = CAUSE.matcher(line);
            if (matcher.matches()) {
                cause = matcher.group(1);
            } else if (cause.isEmpty()) {
                cause = line;
            }
        }
        throw new CommandException(
                prompts == 0
                        ? "Flink's SQL client failed: " + cause
                                + Logs.file()
                                        .map(file -> " (details: " + file + ")")
                                        .orElse("")
                        : "statement " + prompts + " of " + statements.size() + " failed: " + cause);
    }
}
