package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.flink.failure.Outages;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CommandServerTest {

    private static final int MOST = 3;

    @TempDir
    private Path directory;

    private Path temporary;

    @BeforeEach
    void create() throws IOException {
        temporary = Files.createDirectory(directory.resolve("temporary"));
    }

    private CommandServer server(CommandServer.Command command) {
        return new CommandServer(directory.resolve("home"), temporary, command, MOST);
    }

    private static String text(JsonNode answer, String name) throws IOException {
        return new String(answer.get(name).binaryValue(), StandardCharsets.UTF_8);
    }

    @Test
    void answersWithCodeAndBothOutputs() throws Exception {
        JsonNode answer = server((args, home, temporary, out, err) -> {
                    out.print("found " + args);
                    err.print("in " + home.getFileName());
                    return 7;
                })
                .answer(List.of("ls", "größe"));

        assertThat(answer.get("code").asInt()).isEqualTo(7);
        assertThat(text(answer, "out")).isEqualTo("found [ls, größe]");
        assertThat(text(answer, "err")).isEqualTo("in home");
        assertThat(answer.get("retire").isNull()).isTrue();
    }

    @Test
    void keepsNothingForTheNextCommand() throws Exception {
        CommandServer server = server((args, home, temporary, out, err) -> {
            out.print(System.getProperty("stoker.test.left", "nothing")
                    + Thread.interrupted()
                    + temporary.toFile().list().length);
            System.setProperty("stoker.test.left", "something");
            Files.createDirectories(temporary.resolve("a/b"));
            Thread.currentThread().interrupt();
            return 0;
        });

        for (int i = 1; i < MOST; i++) {
            JsonNode answer = server.answer(List.of());

            assertThat(text(answer, "out")).isEqualTo("nothingfalse0");
            assertThat(answer.get("retire").isNull()).isTrue();
        }
        assertThat(System.getProperty("stoker.test.left")).isNull();
        assertThat(server.answer(List.of()).get("retire").asText()).isEqualTo(MOST + " requests");
    }

    @Test
    void endsAfterAnUncaughtException() throws Exception {
        JsonNode answer = server((args, home, temporary, out, err) -> {
                    throw new NoClassDefFoundError("dev/stoker/Gone");
                })
                .answer(List.of());

        assertThat(answer.get("code").asInt()).isEqualTo(1);
        assertThat(text(answer, "err"))
                .startsWith("Exception in thread \"main\" java.lang.NoClassDefFoundError: dev/stoker/Gone\n\tat ");
        assertThat(answer.get("retire").asText()).isEqualTo("an uncaught exception");
    }

    @Test
    void endsWhenMemoryWasShort() {
        JsonNode answer = server((args, home, temporary, out, err) -> {
                    err.println("stoker: Java is out of memory (Java heap space); give it more");
                    return 1;
                })
                .answer(List.of());

        assertThat(answer.get("retire").asText()).isEqualTo("out of memory");
    }

    @Test
    void endsWhenACommandStillWaits() {
        JsonNode answer = server((args, home, temporary, out, err) -> {
                    Outages.note(this, "the store is away");
                    return 1;
                })
                .answer(List.of());
        Outages.clear(this);

        assertThat(answer.get("retire").asText()).isEqualTo("still waiting: [the store is away]");
    }

    @Test
    void noticesThreads() throws Exception {
        Footprint before = Footprint.now();
        CountDownLatch end = new CountDownLatch(1);
        Thread left = new Thread(
                () -> {
                    try {
                        end.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                "left-behind");
        left.start();

        assertThat(before.growth(Duration.ofMillis(50))).contains("threads are left: [left-behind]");
        end.countDown();
        assertThat(before.growth(Duration.ofMinutes(1))).isEmpty();
    }

    @Test
    void noticesOpenFiles() throws Exception {
        Footprint before = Footprint.now();
        Path file = Files.createFile(directory.resolve("file"));
        List<InputStream> left = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            left.add(Files.newInputStream(file));
        }

        assertThat(before.growth(Duration.ofMinutes(1))).contains("100 files are left open");
        for (InputStream stream : left) {
            stream.close();
        }
        assertThat(before.growth(Duration.ofMinutes(1))).isEmpty();
    }

    @Test
    void noticesObjectsButNotGarbage() throws Exception {
        System.gc();
        Footprint before = Footprint.now();
        byte[][] left = new byte[400][1 << 20];

        assertThat(before.growth(Duration.ofMinutes(1)))
                .hasValueSatisfying(reason -> assertThat(reason).startsWith("objects have grown by "));
        Arrays.fill(left, null);
        assertThat(before.growth(Duration.ofMinutes(1))).isEmpty();
    }
}
