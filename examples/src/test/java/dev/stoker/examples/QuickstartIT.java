package dev.stoker.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the quickstart on fewer images, with the real command {@code stoker}. */
@Tag("full-programs")
class QuickstartIT {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent().normalize();
    private static final int IMAGES = 1600;

    @TempDir
    private Path directory;

    @Test
    void learnsShapesFromAFeedAndTheAuditAgrees() throws Exception {
        Path work = directory.resolve("with spaces");
        File output = directory.resolve("output.txt").toFile();
        ProcessBuilder builder = new ProcessBuilder(
                ROOT.resolve("python/.venv/bin/python").toString(),
                ROOT.resolve("examples/quickstart/quickstart.py").toString(),
                "--images",
                Integer.toString(IMAGES),
                "--work",
                work.toString());
        builder.environment().put("STOKER_HOME", directory.resolve("home").toString());
        builder.environment().put("PYTHONIOENCODING", "utf-8");
        Process process = builder.redirectErrorStream(true)
                .redirectInput(new File("/dev/null"))
                .redirectOutput(output)
                .start();
        try {
            assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
        } finally {
            process.descendants().forEach(ProcessHandle::destroy);
            process.destroy();
        }
        String text = Files.readString(output.toPath());
        assertThat(process.exitValue()).as(text).isZero();

        JsonNode figures =
                new ObjectMapper().readTree(work.resolve("figures.json").toFile());
        double validation = figures.path("images").asDouble();
        assertThat(figures.at("/packed/samples").asInt()).isEqualTo(IMAGES);
        assertThat(validation).isBetween(0.05 * IMAGES, 0.15 * IMAGES);
        assertThat(figures.path("right").asInt() / validation).isGreaterThan(0.7);
        // Guessing is right in a quarter of the cases; allow four standard deviations.
        double spread = 4 * Math.sqrt(0.25 * 0.75 / validation);
        assertThat(figures.path("by_colour").asInt() / validation).isBetween(0.25 - spread, 0.25 + spread);

        long batches = ((long) IMAGES - figures.path("images").asInt() + 63) / 64;
        assertThat(figures.at("/audit/clean").asBoolean()).isTrue();
        assertThat(figures.at("/training/batches").asLong()).isEqualTo(2 * batches);
        for (JsonNode pass : figures.at("/audit/passes")) {
            assertThat(pass.path("batches").asLong()).isEqualTo(batches);
            assertThat(pass.at("/epochs/0/acknowledged").asLong()).isEqualTo(batches);
            assertThat(pass.at("/epochs/1/acknowledged").asLong()).isEqualTo(batches);
        }
        assertThat(text)
                .contains("packed ", "fed ", "first batch ", "waited ", "learned ", "by colour ", "audit ")
                .contains("each delivered exactly once");
    }
}
