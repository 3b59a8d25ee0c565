package dev.stoker.sql.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.core.execution.JobExecutionStatusEvent;
import org.apache.flink.core.execution.JobStatusChangedListener;
import org.apache.flink.core.execution.JobStatusChangedListenerFactory;
import org.apache.flink.util.SerializedThrowable;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the reason for which a job in the client's process failed. Flink ends the cluster of a statement with its job,
 * and then tells the client that the cluster is not running, instead of the reason. Flink creates this class by the
 * option {@code execution.job-status-changed-listeners}.
 */
public final class FailureReasons implements JobStatusChangedListenerFactory {
    /** The property with the file for the reason. Without it, the reason goes to the terminal. */
    static final String FILE = "stoker.sql.failure";

    @Override
    public JobStatusChangedListener createListener(Context context) {
        String file = System.getProperty(FILE);
        return event -> {
            if (event instanceof JobExecutionStatusEvent status
                    && (status.newStatus() == JobStatus.FAILING || status.newStatus() == JobStatus.FAILED)
                    && status.exception() != null) {
                keep(file, lines(status.exception()));
            }
        };
    }

    private static void keep(@Nullable String file, List<String> lines) {
        if (file == null) {
            System.err.println("stoker: the job failed: " + text(lines));
            return;
        }
        try {
            Files.write(Path.of(file), lines, StandardCharsets.UTF_8);
        } catch (IOException e) {
            System.err.println("stoker: the job failed: " + text(lines));
        }
    }

    /** The most specific message: the innermost of Stoker's own, or else the innermost one. */
    private static String text(List<String> lines) {
        String best = lines.get(lines.size() - 1);
        for (String line : lines) {
            best = line.startsWith("dev.stoker.") ? line : best;
        }
        return best.substring(best.indexOf('\t') + 1);
    }

    /** Returns a line for each cause, outermost first: its class, a tab, and its message. */
    static List<String> lines(Throwable failure) {
        List<String> lines = new ArrayList<>();
        for (Throwable cause = failure; cause != null && lines.size() < 64; cause = cause.getCause()) {
            String name = cause instanceof SerializedThrowable serialized
                    ? serialized.getOriginalErrorClassName()
                    : cause.getClass().getName();
            String message = cause.getMessage() == null ? name : cause.getMessage();
            // Flink puts the name of the class before the message of an exception that it has serialized.
            String prefix = name + ": ";
            lines.add(name + "\t"
                    + (message.startsWith(prefix) ? message.substring(prefix.length()) : message)
                            .replaceAll("\\s+", " "));
        }
        return lines;
    }
}
