package dev.stoker.export.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.export.place.TargetLocation;
import dev.stoker.export.read.ExportSelection;
import dev.stoker.export.read.ShardReader;
import dev.stoker.export.spec.Content;
import dev.stoker.export.spec.RowOrder;
import dev.stoker.export.spec.Shard;
import dev.stoker.formats.write.RowBatch;
import dev.stoker.ingest.IngestJob;
import dev.stoker.ingest.IngestOptions;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.path.DirectoryPaths;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ShardOutputTest {
    private static final Shard ALL = new Shard("train", 0, 1, 0, 20);

    @TempDir
    private static Path root;

    @TempDir
    private Path target;

    @BeforeAll
    static void ingest() throws Exception {
        Path source = Files.createDirectories(root.resolve("source"));
        for (int i = 0; i < 20; i++) {
            Files.write(source.resolve(i + ".bin"), ("content " + i).getBytes(StandardCharsets.UTF_8));
        }
        IngestOptions options =
                IngestOptions.parse(source.toString(), root.resolve("data").toString(), "--payload=data");
        IngestJob.run(options, IngestJob.embedded(options), IngestListener.silent());
    }

    private ExportWork work(String format) {
        int[] columns = {0, 1};
        Content content = new Content(columns, new ArrayList<>(List.of("key", "data")), format, "none", null, null);
        TargetLocation place = new TargetLocation(target.toString(), "id", TargetLocation.Existing.REFUSE);
        return new ExportWork(
                root.resolve("data").toString(),
                1,
                content,
                new RowOrder.Stored(),
                new ArrayList<>(List.of(ALL)),
                false,
                place);
    }

    /** Writes the shard as a task does. */
    private void write(String format) throws IOException {
        ExportWork work = work(format);
        try (ObjectStore store = new LocalObjectStore(root.resolve("data"));
                ObjectStore files = new LocalObjectStore(target)) {
            Snapshot snapshot = Dataset.open(store).snapshot(1);
            ExportSelection selection = ExportSelection.of(snapshot.info().fields(), work.content());
            ShardReader reader = ShardReader.of(store, snapshot, selection, work.order(), ALL, 1 << 20);
            try (ShardOutput out = ShardOutput.open(
                    work, ALL, files, Tables.of(snapshot, work.content()), new DirectoryPaths(key -> false))) {
                for (RowBatch rows = reader.next(); rows != null; rows = reader.next()) {
                    out.write(rows);
                }
                out.commit();
            }
        }
    }

    private Map<String, String> files() throws IOException {
        Map<String, String> content = new TreeMap<>();
        try (Stream<Path> all = Files.walk(target)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                content.put(file.getFileName().toString(), Files.readString(file, StandardCharsets.ISO_8859_1));
            }
        }
        return content;
    }

    @ParameterizedTest
    @ValueSource(strings = {"files", "arrow", "parquet"})
    void aShardCanBeWrittenAgainByAnyTask(String format) throws Exception {
        write(format);
        Map<String, String> once = files();
        write(format);
        assertThat(files()).isEqualTo(once).hasSize(format.equals("files") ? 20 : 1);
    }

    @Test
    void aFileWithOtherContentIsNotReplaced() throws Exception {
        write("files");
        Files.delete(target.resolve("7.bin"));
        Files.writeString(target.resolve("7.bin"), "content 8");
        assertThatThrownBy(() -> write("files"))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("7.bin")
                .hasMessageContaining("already exists");
        assertThat(files()).containsEntry("7.bin", "content 8");
    }
}
