package dev.stoker.bench.feed;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.bench.measure.Progress;
import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With a real sending process. */
class PlainStreamTest {

    @TempDir
    private Path directory;

    private PlainStream start(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:MaxDirectMemorySize=320m",
                "-cp",
                System.getProperty("java.class.path"),
                PlainSender.class.getName()));
        command.addAll(List.of(arguments));
        return new PlainStream(new ProcessBuilder(command), directory);
    }

    @Test
    void oneSenderServesSeveralMeasurementsOverBothTransports() throws IOException {
        Path file = Files.write(directory.resolve("data"), new byte[3 << 20]);
        Path list = Files.writeString(directory.resolve("files"), file + "\n");
        try (PlainStream stream = start(list.toString())) {
            for (PlainStream.Transport transport : PlainStream.Transport.values()) {
                for (PlainStream.Check check : PlainStream.Check.values()) {
                    Slice slice = stream.receive(transport, check, Duration.ofMillis(20), stopped(false));
                    assertThat(slice.bytes()).isPositive();
                    assertThat(slice.bytesPerSecond()).isPositive();
                    assertThat(slice.samples()).isZero();
                }
            }
        }
        assertThat(directory.toFile().list()).containsExactlyInAnyOrder("data", "files");
    }

    @Test
    void aStopEndsALongMeasurement() throws IOException {
        Duration day = Duration.ofDays(1);
        try (PlainStream stream = start()) {
            Slice slice = stream.receive(PlainStream.Transport.TCP, PlainStream.Check.NONE, day, stopped(true));
            assertThat(slice.bytes()).isPositive();
        }
    }

    private static Progress stopped(boolean isStopped) {
        return new Progress() {
            @Override
            public void doing(String what) {}

            @Override
            public boolean isStopped() {
                return isStopped;
            }
        };
    }

    @Test
    void aSenderThatHasEndedIsReported() throws Exception {
        try (PlainStream stream = start(directory.resolve("missing").toString())) {
            assertThatThrownBy(() -> stream.receive(
                            PlainStream.Transport.TCP, PlainStream.Check.NONE, Duration.ofMillis(1), stopped(false)))
                    .isInstanceOf(StokerException.class)
                    .hasMessageContaining("has ended with code 1");
        }
    }

    @Test
    void ratesAndProcessorTimeFollowFromTheSlice() {
        Slice slice = new Slice(2_000_000_000L, 1000, 4, 1.5, 0.5);
        assertThat(slice.bytesPerSecond()).isEqualTo(5e8);
        assertThat(slice.samplesPerSecond()).isEqualTo(250);
        assertThat(slice.consumerCpuPerGb()).isEqualTo(0.75);
        assertThat(slice.senderCpuPerGb()).isEqualTo(0.25);
        assertThat(new Slice(0, 0, 0, 1, 1).consumerCpuPerGb()).isZero();
    }
}
