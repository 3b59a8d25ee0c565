package dev.stoker.connectors.dataset.sink.writer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.connectors.dataset.TopicReport;
import dev.stoker.connectors.dataset.TopicReportSerializer;
import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.dataset.sink.committer.TopicCommittable;
import dev.stoker.schemas.chunk.ChunkSummary;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;

class TopicWriterTest {

    private static final TopicPosition NOTHING = new TopicPosition("photos", "id", "cluster", new TreeMap<>());

    private static TopicRun run(Map<Integer, Long> committed, Map<Integer, Long> start, long maxDeadLetters) {
        return run(TopicRun.Keys.OFFSETS, committed, start, maxDeadLetters);
    }

    private static TopicRun run(
            TopicRun.Keys keys, Map<Integer, Long> committed, Map<Integer, Long> start, long maxDeadLetters) {
        return new TopicRun(
                target -> {
                    throw new IOException("not here");
                },
                "/data",
                "dataset",
                "run",
                NOTHING.at(new TreeMap<>(committed)),
                new TreeMap<>(start),
                new TopicRun.Limits(() -> {}, keys, 0, maxDeadLetters));
    }

    private static ChunkSummary chunk(int number) {
        return new ChunkSummary(new UUID(0x7000, number), "train", 3, 5000 + number, -1, 400, 7, 2000);
    }

    private static TopicReport report(long checkpoint, int chunk, SortedMap<Integer, Long> next, long deadLetters) {
        return new TopicReport(
                checkpoint,
                chunk < 0 ? List.of() : List.of(chunk(chunk)),
                Map.of("label", new TreeSet<>(List.of("c" + chunk))),
                next,
                deadLetters);
    }

    private static TreeMap<Integer, Long> offsets(long... byPartition) {
        TreeMap<Integer, Long> offsets = new TreeMap<>();
        for (int partition = 0; partition < byPartition.length; partition++) {
            offsets.put(partition, byPartition[partition]);
        }
        return offsets;
    }

    @Test
    void makesOneVersionOfAllReportsOfACheckpoint() {
        TopicWriter writer = TopicWriter.begin(run(offsets(), offsets(5, 0, 9), 10));
        writer.write(report(3, 1, new TreeMap<>(Map.of(0, 8L)), 0), null);
        writer.write(report(3, 2, new TreeMap<>(Map.of(1, 4L)), 1), null);
        assertThat(writer.prepareCommit())
                .containsExactly(new TopicCommittable(
                        "run-3",
                        List.of(chunk(1), chunk(2)),
                        Map.of("label", new TreeSet<>(List.of("c1", "c2"))),
                        offsets(),
                        // Partition 2 had no record: a later run must still know where it began.
                        offsets(8, 4, 9),
                        1));
        assertThat(writer.prepareCommit()).isEmpty();
    }

    @Test
    void eachReportOfAChangedTopicIsAVersion() {
        TopicWriter writer = TopicWriter.begin(run(TopicRun.Keys.CHANGES, offsets(), offsets(0), 10));
        writer.write(report(3, 1, offsets(4), 0), null);
        writer.write(new TopicReport(3, List.of(), List.of("a", "b"), Map.of(), offsets(6), 0), null);
        writer.write(report(4, -1, offsets(8), 0), null);
        assertThat(writer.prepareCommit())
                .extracting(
                        TopicCommittable::ingest,
                        TopicCommittable::chunks,
                        TopicCommittable::removed,
                        TopicCommittable::before,
                        TopicCommittable::after)
                .containsExactly(
                        Tuple.tuple("run-3", List.of(chunk(1)), List.of(), offsets(), offsets(4)),
                        Tuple.tuple("run-4", List.of(), List.of("a", "b"), offsets(4), offsets(6)));
        assertThat(writer.prepareCommit()).isEmpty();
        assertThat(writer.snapshotState(4).get(0).after()).isEqualTo(offsets(8));
    }

    @Test
    void keepsPositionAndDeadLettersForTheNextVersionWhenThereIsNoSample() throws IOException {
        TopicWriter writer = TopicWriter.begin(run(offsets(2), offsets(2), 10));
        writer.write(report(1, -1, offsets(6), 4), null);
        assertThat(writer.prepareCommit()).isEmpty();
        TopicSinkState.Serializer serializer = new TopicSinkState.Serializer();
        List<TopicSinkState> state = writer.snapshotState(1);
        assertThat(state).hasSize(1);

        TopicWriter restored = new TopicWriter(
                run(offsets(), offsets(), 10), serializer.deserialize(1, serializer.serialize(state.get(0))));
        restored.write(report(2, 7, offsets(9), 0), null);
        assertThat(restored.prepareCommit()).singleElement().satisfies(committable -> {
            assertThat(committable.before()).isEqualTo(offsets(2));
            assertThat(committable.after()).isEqualTo(offsets(9));
            assertThat(committable.deadLetters()).isEqualTo(4);
        });
    }

    @Test
    void neverUsesANumberTwice() {
        TopicWriter writer = TopicWriter.begin(run(offsets(), offsets(0), 10));
        writer.write(report(4, 1, offsets(1), 0), null);
        assertThat(writer.prepareCommit()).extracting(TopicCommittable::ingest).containsExactly("run-4");
        TopicWriter restored = new TopicWriter(
                run(offsets(), offsets(0), 10), writer.snapshotState(4).get(0));
        restored.write(report(4, 2, offsets(2), 0), null);
        assertThat(restored.prepareCommit())
                .extracting(TopicCommittable::ingest)
                .containsExactly("run-5");
    }

    @Test
    void failsAtTooManyDeadLettersOfAllTasksTogether() {
        TopicWriter writer = TopicWriter.begin(run(offsets(), offsets(0, 0), 3));
        writer.write(report(1, -1, offsets(2), 2), null);
        assertThatThrownBy(() -> writer.write(report(1, -1, offsets(2), 2), null))
                .hasRootCauseMessage(
                        "4 records could not be used, but the limit is 3; look at the dead letters, then correct the"
                                + " options or raise the limit, such as with --max-dead-letters 40, and start again");
    }

    @Test
    void reportsAndCommittablesSurvive() throws IOException {
        TopicReport report =
                new TopicReport(3, List.of(chunk(1)), List.of("a", "ö/b"), Map.of(), offsets(8, 1L << 40), 2);
        DataOutputSerializer out = new DataOutputSerializer(16);
        TopicReportSerializer.INSTANCE.serialize(report, out);
        DataOutputSerializer copy = new DataOutputSerializer(16);
        TopicReportSerializer.INSTANCE.copy(new DataInputDeserializer(out.getCopyOfBuffer()), copy);
        assertThat(TopicReportSerializer.INSTANCE.deserialize(new DataInputDeserializer(copy.getCopyOfBuffer())))
                .isEqualTo(report);

        TopicCommittable committable = new TopicCommittable(
                "run-3",
                List.of(chunk(1)),
                List.of("a", "ö/b"),
                Map.of("label", new TreeSet<>(List.of("a"))),
                offsets(1),
                offsets(2),
                3);
        TopicCommittable.Serializer serializer = new TopicCommittable.Serializer();
        assertThat(serializer.deserialize(1, serializer.serialize(committable))).isEqualTo(committable);
        assertThatThrownBy(() -> serializer.deserialize(2, new byte[0])).hasMessageContaining("version 2");
    }
}
