package dev.stoker.connectors;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.PackReportSerializer;
import dev.stoker.connectors.dataset.TopicReport;
import dev.stoker.connectors.dataset.TopicReportSerializer;
import dev.stoker.connectors.files.ListedKeySerializer;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.PathBundleSerializer;
import dev.stoker.connectors.kafka.PartitionFetch;
import dev.stoker.connectors.kafka.PartitionFetchSerializer;
import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.connectors.kafka.TopicRecord;
import dev.stoker.connectors.kafka.TopicRecordSerializer;
import dev.stoker.flink.types.OpaqueType;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.flink.api.common.serialization.SerializerConfigImpl;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class ValueSerializerTest {

    private static final ChunkSummary CHUNK = new ChunkSummary(new UUID(1, 2), "val", 3, 400, 5, 60, 7, 80);
    private static final String PACKAGE = "dev.stoker.connectors.";

    private static <T> TypeSerializer<T> serializer(OpaqueType<T> type) {
        return type.createSerializer(new SerializerConfigImpl());
    }

    static Stream<Arguments> names() {
        return Stream.of(
                Arguments.of("dataset.PackReportSerializer", PackReportSerializer.TYPE),
                Arguments.of("dataset.TopicReportSerializer", TopicReportSerializer.TYPE),
                Arguments.of("files.ListedKeySerializer", ListedKeySerializer.TYPE),
                Arguments.of("files.PathBundleSerializer", PathBundleSerializer.TYPE),
                Arguments.of("kafka.PartitionFetchSerializer", PartitionFetchSerializer.TYPE),
                Arguments.of("kafka.TopicRecordSerializer", TopicRecordSerializer.TYPE));
    }

    /** A savepoint contains these names, so no snapshot class may be renamed. */
    @ParameterizedTest
    @MethodSource("names")
    void aSavepointNamesTheSnapshot(String name, OpaqueType<?> type) throws IOException {
        DataOutputSerializer expected = new DataOutputSerializer(64);
        expected.writeUTF(PACKAGE + name + "$Snapshot");
        expected.writeInt(3);
        DataOutputSerializer written = new DataOutputSerializer(64);
        TypeSerializerSnapshot.writeVersionedSnapshot(written, serializer(type).snapshotConfiguration());
        assertThat(written.getCopyOfBuffer()).isEqualTo(expected.getCopyOfBuffer());

        TypeSerializerSnapshot<?> read = TypeSerializerSnapshot.readVersionedSnapshot(
                new DataInputDeserializer(expected.getCopyOfBuffer()),
                getClass().getClassLoader());
        assertThat(read.restoreSerializer()).isEqualTo(serializer(type));
    }

    static Stream<Arguments> values() {
        Map<String, SortedSet<String>> classes = Map.of("label", new TreeSet<>(List.of("ant", "bee")));
        byte[] bytes = {1, 2, 3};
        return Stream.of(
                Arguments.of(PackReportSerializer.TYPE, new PackReport.Chunk(1, 2, CHUNK)),
                Arguments.of(
                        PackReportSerializer.TYPE,
                        new PackReport.Done(1, 2, 3, classes, Map.of("hidden", 4L), Map.of("hidden", "a/.b"))),
                Arguments.of(PackReportSerializer.TYPE, new PackReport.Removed(1, RemovedRows.of(2, 3, 5))),
                Arguments.of(
                        TopicReportSerializer.TYPE,
                        new TopicReport(7, List.of(CHUNK), classes, new TreeMap<>(Map.of(0, 5L, 1, 6L)), 8)),
                Arguments.of(
                        PathBundleSerializer.TYPE,
                        new PathBundle(PathBundle.Kind.FILES, 4, bytes, 5, 6, new byte[] {7})),
                Arguments.of(
                        PartitionFetchSerializer.TYPE,
                        new PartitionFetch(
                                1,
                                List.of(
                                        new SourceRecord(1, 2, 3, null, ByteBuffer.wrap(bytes), List.of()),
                                        new SourceRecord(
                                                1,
                                                4,
                                                -1,
                                                ByteBuffer.wrap(bytes),
                                                null,
                                                List.of(new SourceRecord.Header("h", null)))),
                                6)),
                Arguments.of(TopicRecordSerializer.TYPE, new TopicRecord(1, Map.of("h", bytes), new byte[] {4})));
    }

    @ParameterizedTest
    @MethodSource("values")
    <T> void whatIsWrittenIsReadAndHandedOn(OpaqueType<T> type, T value) throws IOException {
        TypeSerializer<T> serializer = serializer(type);
        DataOutputSerializer written = new DataOutputSerializer(64);
        serializer.serialize(value, written);
        DataOutputSerializer handedOn = new DataOutputSerializer(64);
        serializer.copy(new DataInputDeserializer(written.getCopyOfBuffer()), handedOn);
        assertThat(handedOn.getCopyOfBuffer()).isEqualTo(written.getCopyOfBuffer());

        DataInputDeserializer in = new DataInputDeserializer(handedOn.getCopyOfBuffer());
        T read = serializer.deserialize(serializer.createInstance(), in);
        assertThat(in.available()).isZero();
        assertThat(read).usingRecursiveComparison().isEqualTo(value);
        assertThat(serializer.copy(value, read)).isSameAs(value);
        assertThat(serializer.copy(value)).isSameAs(value);
    }
}
