package dev.stoker.schemas.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestPlan;

/**
 * Counts the processes that the tests of this JVM start, if {@code STOKER_COUNT_PROCESSES=1}, and writes their number
 * below {@code target/started-processes} for {@code .ci/totals.py}. The JUnit platform loads it as a service.
 */
public final class StartedProcesses implements TestExecutionListener {

    private static final Path DIRECTORY = Path.of("target", "started-processes");

    private Recording recording;

    @Override
    public void testPlanExecutionStarted(TestPlan plan) {
        if ("1".equals(System.getenv("STOKER_COUNT_PROCESSES")) && recording == null) {
            recording = new Recording();
            recording.enable("jdk.ProcessStart").withoutStackTrace();
            recording.start();
        }
    }

    @Override
    public void testPlanExecutionFinished(TestPlan plan) {
        if (recording == null) {
            return;
        }
        try {
            Files.createDirectories(DIRECTORY);
            Path events = Files.createTempFile(DIRECTORY, "events", ".jfr");
            recording.dump(events);
            String name = System.getProperty("test.kind", "unit") + "-"
                    + ProcessHandle.current().pid() + ".txt";
            Files.writeString(
                    DIRECTORY.resolve(name),
                    Integer.toString(RecordingFile.readAllEvents(events).size()));
            Files.delete(events);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
