package dev.stoker.connectors.dataset.sink.writer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.PackReportSerializer;
import dev.stoker.connectors.dataset.sink.committer.IngestCommittable;
import dev.stoker.connectors.dataset.sink.committer.IngestCommittableSerializer;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GatheringWriterTest {

    @TempDir
    private Path directory;

    private GatheringWriter writer;

    @BeforeEach
    void create() {
        writer = new GatheringWriter(new LeftOutFile(DatasetStore.BY_LOCATION, directory.toString(), "the-ingest"));
    }

    @AfterEach
    void close() throws Exception {
        writer.close();
    }

    private static ChunkSummary chunk(int number) {
        return new ChunkSummary(new UUID(0x7000, number), "val", 3, 5000 + number, -1, 400, 7, 2000);
    }

    private static SortedSet<String> names(String... names) {
        return new TreeSet<>(List.of(names));
    }

    private static PackReport.Done done(int task, int tasks, int chunks, String... classes) {
        return new PackReport.Done(
                task, tasks, chunks, Map.of("label", names(classes)), Map.of("n", 2L), Map.of("e", "x" + task));
    }

    @Test
    void gathersAllReportsIntoOneCommittableInOrder() throws Exception {
        writer.write(new PackReport.Chunk(1, 0, chunk(3)), null);
        writer.write(new PackReport.Chunk(0, 1, chunk(2)), null);
        writer.write(done(1, 2, 1, "b", "c"), null);
        writer.write(new PackReport.Chunk(0, 0, chunk(1)), null);
        writer.write(done(0, 2, 2, "a", "b"), null);

        assertThat(writer.prepareCommit())
                .containsExactly(new IngestCommittable(
                        List.of(chunk(1), chunk(2), chunk(3)),
                        Map.of("label", names("a", "b", "c")),
                        Map.of("n", 4L),
                        Map.of("e", "x0")));
        assertThat(writer.prepareCommit()).isEmpty();
    }

    @Test
    void gathersTheRowsThatTasksReplaceByChunk() throws Exception {
        writer.write(new PackReport.Removed(1, RemovedRows.of(7, 4)), null);
        writer.write(done(1, 2, 0), null);
        writer.write(new PackReport.Removed(0, RemovedRows.of(7, 1, 9)), null);
        writer.write(new PackReport.Removed(0, RemovedRows.of(2, 3)), null);
        writer.write(done(0, 2, 0), null);

        assertThat(writer.prepareCommit().iterator().next().removed())
                .containsExactly(RemovedRows.of(2, 3), RemovedRows.of(7, 1, 4, 9));
    }

    @Test
    void commitsNothingWhileATaskIsMissing() throws Exception {
        writer.write(done(0, 2, 0), null);

        assertThatThrownBy(writer::prepareCommit).hasMessageContaining("1 of 2 packing tasks");
    }

    @Test
    void commitsNothingWhileAChunkIsMissing() throws Exception {
        writer.write(new PackReport.Chunk(0, 0, chunk(1)), null);
        writer.write(done(0, 1, 2), null);

        assertThatThrownBy(writer::prepareCommit).hasMessageContaining("1 of 2 chunks");
    }

    @Test
    void refusesAChunkThatComesTwice() throws Exception {
        writer.write(new PackReport.Chunk(0, 0, chunk(1)), null);

        assertThatThrownBy(() -> writer.write(new PackReport.Chunk(0, 0, chunk(9)), null))
                .hasMessageContaining("reported twice");
    }

    @Test
    void reportsSurvive() throws IOException {
        for (PackReport report : List.of(new PackReport.Chunk(3, 9, chunk(5)), done(1, 2, 1, "\u00e4", "b"))) {
            DataOutputSerializer out = new DataOutputSerializer(16);
            PackReportSerializer.INSTANCE.serialize(report, out);
            DataOutputSerializer copy = new DataOutputSerializer(16);
            PackReportSerializer.INSTANCE.copy(new DataInputDeserializer(out.getCopyOfBuffer()), copy);

            assertThat(PackReportSerializer.INSTANCE.deserialize(new DataInputDeserializer(copy.getCopyOfBuffer())))
                    .isEqualTo(report);
        }
    }

    @Test
    void committablesSurvive() throws IOException {
        IngestCommittable committable = new IngestCommittable(
                IngestCommittable.Part.ONLY,
                List.of(chunk(1), chunk(2)),
                List.of(RemovedRows.of(3, 0, 2)),
                Map.of("label", names("a")),
                Map.of("n", 1L),
                Map.of("e", "x"));
        IngestCommittableSerializer serializer = new IngestCommittableSerializer();

        assertThat(serializer.deserialize(2, serializer.serialize(committable))).isEqualTo(committable);
        assertThatThrownBy(() -> serializer.deserialize(3, new byte[0])).hasMessageContaining("version 3");
    }

    @Test
    void listsWhatWasLeftOut() throws Exception {
        writer.write(new PackReport.Skips(0, "{\"file\":\"a\"}\n"), null);
        writer.write(done(0, 1, 0), null);
        writer.write(new PackReport.Skips(0, "{\"file\":\"ü\"}\n"), null);
        assertThat(directory.resolve("_stoker/skipped/the-ingest")).isDirectoryNotContaining("glob:**/[!.]*.jsonl");

        String name = writer.prepareCommit().iterator().next().examples().get(IngestRun.SKIP_LIST);

        assertThat(name).startsWith("_stoker/skipped/the-ingest/").endsWith(".jsonl");
        assertThat(directory.resolve(name)).hasContent("{\"file\":\"a\"}\n{\"file\":\"ü\"}\n");
    }

    @Test
    void leavesNoListOfAnAttemptThatFails() throws Exception {
        writer.write(new PackReport.Skips(0, "{}\n"), null);
        writer.close();

        try (Stream<Path> files = Files.walk(directory)) {
            assertThat(files.filter(Files::isRegularFile)).isEmpty();
        }
    }
}
