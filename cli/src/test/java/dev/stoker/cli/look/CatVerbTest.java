package dev.stoker.cli.look;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.cli.output.Errors;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

class CatVerbTest {

    private static final byte[] BINARY = {(byte) 0xFF, (byte) 0xD8, 0, 1, 27};

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream raw = new ByteArrayOutputStream();
    private final StringWriter err = new StringWriter();

    @BeforeEach
    void create() throws IOException {
        try (ObjectStore store = new LocalObjectStore(directory)) {
            Dataset dataset = Dataset.create(store, SampleDatasets.info());
            ChunkSummary chunk = SampleDatasets.write(
                    store,
                    SampleDatasets.id(0),
                    "ingest-0",
                    "train",
                    Map.of(
                            "de",
                            "größer\n".getBytes(StandardCharsets.UTF_8),
                            "en",
                            new byte[] {'a', '\t', '\n'},
                            "jpg",
                            BINARY));
            SampleDatasets.committer(dataset)
                    .commit(VersionRequest.append("ingest-0", List.of(chunk), Map.of(), Map.of()));
        }
    }

    private int cat(boolean isTerminal, String... args) {
        raw.reset();
        err.getBuffer().setLength(0);
        return new CommandLine(new CatVerb(raw, () -> isTerminal))
                .setErr(new PrintWriter(err, true))
                .setExecutionExceptionHandler(Errors::failed)
                .execute(args);
    }

    @Test
    void printsSamplesOneAfterTheOther() throws IOException {
        Path keys = Files.writeString(directory.resolve("keys.txt"), "en\n");

        assertThat(cat(false, directory.toString(), "de", "jpg", "de", "--keys-from", keys.toString()))
                .isZero();

        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        expected.writeBytes("größer\n".getBytes(StandardCharsets.UTF_8));
        expected.writeBytes(BINARY);
        expected.writeBytes("größer\na\t\n".getBytes(StandardCharsets.UTF_8));
        assertThat(raw.toByteArray()).isEqualTo(expected.toByteArray());
    }

    @Test
    void reportsMissingKeysAndPrintsTheOthers() {
        assertThat(cat(false, directory.toString(), "gone", "en")).isEqualTo(1);

        assertThat(raw.toString(StandardCharsets.UTF_8)).isEqualTo("a\t\n");
        assertThat(err.toString()).isEqualTo("not found: gone\n");
    }

    @Test
    void printsBinaryDataToATerminalOnlyIfForced() {
        assertThat(cat(true, directory.toString(), "de", "jpg")).isEqualTo(1);

        assertThat(raw.toString(StandardCharsets.UTF_8)).isEqualTo("größer\n");
        assertThat(err.toString())
                .isEqualTo("stoker: the sample jpg has 5 B of binary data, which can make a terminal unusable; write it"
                        + " to a file with > FILE, or use --force\n");
        assertThat(cat(true, directory.toString(), "jpg", "--force")).isZero();
        assertThat(raw.toByteArray()).isEqualTo(BINARY);
    }
}
