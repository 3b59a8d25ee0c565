package dev.stoker.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A trainer whose virtual machine has too little memory for a batch. */
@Timeout(100)
class StarvedClientTest {
    @TempDir
    private Path directory;

    @Test
    void aBatchThatFindsNoMemoryEndsTheWait() throws Exception {
        Path said = directory.resolve("said");
        try (FakeFeeder feeder = new FakeFeeder(FakeStream.of(6000, 12_000))) {
            Process trainer = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-XX:TieredStopAtLevel=1",
                            "-XX:MaxDirectMemorySize=300k",
                            "-Xmx64m",
                            "-cp",
                            System.getProperty("java.class.path"),
                            JavaTrainer.class.getName(),
                            directory.resolve("lines").toString(),
                            feeder.address(),
                            "1",
                            "{}")
                    .redirectErrorStream(true)
                    .redirectOutput(said.toFile())
                    .start();
            try {
                assertThat(trainer.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
            } finally {
                trainer.destroyForcibly();
            }
            assertThat(Files.readString(said))
                    .contains("FeedException", "input thread failed", "OutOfMemoryError", "MaxDirectMemorySize");
        }
    }
}
