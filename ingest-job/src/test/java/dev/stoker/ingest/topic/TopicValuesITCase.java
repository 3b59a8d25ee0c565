package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.sun.net.httpserver.HttpServer;
import dev.stoker.connectors.shared.SharedKafka;
import dev.stoker.ingest.Packed;
import dev.stoker.ingest.spec.IngestFailedException;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.topic.value.DeadLetters;
import dev.stoker.schemas.arrow.types.Field;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.assertj.core.groups.Tuple;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Values of every format become fields, and invalid values become dead letters, with a real broker. */
@Timeout(240)
class TopicValuesITCase {

    private static final String WRITTEN = """
            {"type":"record","name":"Doc","fields":[
             {"name":"text","type":"string"},
             {"name":"tokens","type":{"type":"array","items":"int"}},
             {"name":"score","type":["null","double"],"default":null},
             {"name":"kind","type":{"type":"enum","name":"Kind","symbols":["web","book"]}},
             {"name":"image","type":"bytes"}]}""";
    private static final String OTHER =
            "{\"type\":\"record\",\"name\":\"Doc\",\"fields\":[{\"name\":\"n\",\"type\":\"long\"}]}";

    @RegisterExtension
    static final SharedKafka KAFKA = SharedKafka.withTopics("values-");

    @TempDir
    private static Path directory;

    @Test
    void findsOutTheFieldsOfJson() throws Exception {
        Topic topic = Topic.create("values-json", 1);
        Path target = directory.resolve("values-json-data");
        topic.sendValues(
                0,
                "{\"n\":1,\"x\":2,\"caption\":\"a cat\",\"ok\":true,\"tokens\":[1,2,3],\"nothing\":null,"
                        + "\"tags\":[\"a\",\"b\"]}",
                "{\"n\":-7,\"x\":2.5,\"caption\":\"\\u00e4\",\"ok\":false,\"tokens\":[],\"note\":\"only here\","
                        + "\"tags\":[]}");
        Streams.ingest(topic, target, "--value=json");
        Packed packed = Packed.read(target);
        assertThat(packed.snapshot().info().fields())
                .extracting(Field::name, field -> field.type().canonical(), Field::nullable)
                .containsExactly(
                        Tuple.tuple("n", "int64", false),
                        Tuple.tuple("x", "float64", false),
                        Tuple.tuple("caption", "utf8", false),
                        Tuple.tuple("ok", "bool", false),
                        Tuple.tuple("tokens", "int64[]", false),
                        Tuple.tuple("tags", "utf8[]", false),
                        Tuple.tuple("note", "utf8", true));
        Packed.Sample second = packed.samples().get(1);
        assertThat(second.fields())
                .containsEntry("n", -7L)
                .containsEntry("x", 2.5)
                .containsEntry("caption", "ä")
                .containsEntry("ok", 0L)
                .containsEntry("note", "only here");
        assertThat(packed.values("tags").values()).containsExactly(List.of("a", "b"), List.of());
        assertThat(packed.samples().get(0).bytes("tokens"))
                .isEqualTo(ByteBuffer.allocate(24)
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .putLong(1)
                        .putLong(2)
                        .putLong(3)
                        .array());
        Streams.verify(target);
    }

    @Test
    void buriesWhatDoesNotFitAndGoesOn() throws Exception {
        Topic topic = Topic.create("values-poison", 1);
        Path target = directory.resolve("values-poison-data");
        Path letters = directory.resolve("letters");
        topic.sendValues(
                0,
                "{\"n\":1,\"label\":\"cat\"}",
                "no json",
                "{\"n\":2}",
                "{\"n\":\"three\",\"label\":\"cat\"}",
                "{\"n\":70000,\"label\":\"cat\"}",
                "[1]",
                null,
                "{\"n\":8,\"label\":\"ant\",\"more\":{\"deep\":[1]}}",
                "{\"n\":9,\"label\":\"ant\"} {}");
        String[] options = {
            "--value=json",
            "--schema=n:int16,label:categorical",
            "--tombstones=dead-letter",
            "--dead-letters=" + letters,
            "--max-dead-letters=7"
        };
        TopicIngestResult result = Streams.ingest(topic, target, options);
        assertThat(result.samples()).isEqualTo(2);
        assertThat(result.deadLetters().count()).isEqualTo(7);
        assertThat(result.lines()).anyMatch(line -> line.contains("7 records") && line.contains(letters.toString()));
        assertThat(Packed.read(target).values("label"))
                .isEqualTo(Map.of("values-poison-0-0", "cat", "values-poison-0-7", "ant"));
        Map<String, String> found = Streams.letters(letters);
        assertThat(found).hasSize(7);
        assertThat(found.get(DeadLetters.name("values-poison", 0, 1)))
                .contains("\"reason\":\"value\"", "\"partition\":0", "\"offset\":1", "\"value\":\"bm8ganNvbg==\"")
                .endsWith("}\n");
        assertThat(found.get(DeadLetters.name("values-poison", 0, 2)))
                .contains("\"reason\":\"missing_field\"", "label");
        assertThat(found.get(DeadLetters.name("values-poison", 0, 4))).contains("\"reason\":\"field\"", "70000");
        assertThat(found.get(DeadLetters.name("values-poison", 0, 6))).contains("it has no value", "\"value\":null");

        // Read again from the beginning, into another dataset: the same files.
        Streams.ingest(topic, directory.resolve("values-poison-data-2"), options);
        assertThat(Streams.letters(letters)).isEqualTo(found);
    }

    @Test
    void failsIfTooManyDoNotFit() throws Exception {
        Topic topic = Topic.create("values-rotten", 1);
        Path target = directory.resolve("values-rotten-data");
        topic.sendValues(0, "{\"n\":1}", "no json", "no json", "no json");
        assertThatThrownBy(
                        () -> Streams.ingest(topic, target, "--value=json", "--schema=n:int64", "--max-dead-letters=2"))
                .isInstanceOf(IngestFailedException.class)
                .hasMessageContaining("3 records could not be used")
                .hasMessageContaining("partition 0, offset 3");
        assertThat(Packed.latestVersion(target)).isZero();
    }

    @Test
    void saysWhatItCannotFindOut() throws Exception {
        Topic empty = Topic.create("values-empty", 1);
        assertThatThrownBy(() -> Streams.ingest(empty, directory.resolve("values-empty-data"), "--value=json"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("--schema");
        Topic mixed = Topic.create("values-mixed", 1);
        mixed.sendValues(0, "{\"a\":1}", "{\"a\":\"text\"}");
        assertThatThrownBy(() -> Streams.ingest(mixed, directory.resolve("values-mixed-data"), "--value=json"))
                .isInstanceOf(InvalidIngestException.class)
                .hasMessageContaining("the key a");
    }

    private static byte[] avro(String schema, Map<String, Object> fields) throws IOException {
        Schema parsed = new Schema.Parser().parse(schema);
        GenericRecord record = new GenericData.Record(parsed);
        fields.forEach(record::put);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
        new GenericDatumWriter<GenericRecord>(parsed).write(record, encoder);
        encoder.flush();
        return out.toByteArray();
    }

    private static byte[] document(String text, Double score) throws IOException {
        Schema kind = new Schema.Parser().parse(WRITTEN).getField("kind").schema();
        Map<String, Object> fields = new HashMap<>(Map.of(
                "text",
                text,
                "tokens",
                List.of(5, 6),
                "kind",
                new GenericData.EnumSymbol(kind, "book"),
                "image",
                ByteBuffer.wrap(new byte[2000])));
        fields.put("score", score);
        return avro(WRITTEN, fields);
    }

    private static byte[] framed(int id, byte[] value) {
        return ByteBuffer.allocate(5 + value.length)
                .put((byte) 0)
                .putInt(id)
                .put(value)
                .array();
    }

    private static void requireDocuments(Path target, String topic) throws Exception {
        Packed packed = Packed.read(target);
        assertThat(packed.snapshot().info().payloadFields())
                .extracting(Field::name)
                .containsExactly("image");
        assertThat(packed.samples()).hasSize(2);
        assertThat(packed.samples().get(0).fields())
                .containsEntry("text", "one")
                .containsEntry("score", 0.5)
                .containsEntry("kind", "book");
        assertThat(packed.samples().get(1).fields()).doesNotContainKey("score");
        assertThat(packed.keys()).containsExactly(topic + "-0-0", topic + "-0-1");
        Streams.verify(target);
    }

    @Test
    void readsAvroWithASchemaFromAFile() throws Exception {
        Topic topic = Topic.create("values-avro", 1);
        Path schema = Files.writeString(directory.resolve("doc.avsc"), WRITTEN);
        topic.send(List.of(
                topic.record(0, 1, null, document("one", 0.5)),
                topic.record(0, 2, null, document("two", null)),
                topic.record(0, 3, null, "garbage that is no document".getBytes(StandardCharsets.UTF_8)),
                topic.record(0, 4, null, framed(1, document("framed", null)))));
        Path target = directory.resolve("values-avro-data");
        TopicIngestResult result = Streams.ingest(topic, target, "--value=avro", "--avro-schema=" + schema);
        assertThat(result.deadLetters().count()).isEqualTo(2);
        requireDocuments(target, "values-avro");
    }

    @Test
    void readsAvroWithTheSchemasOfARegistry() throws Exception {
        Topic topic = Topic.create("values-registered", 1);
        HttpServer registry = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        String written = "{\"schema\":" + new ObjectMapper().writeValueAsString(WRITTEN) + "}";
        String other = "{\"schema\":" + new ObjectMapper().writeValueAsString(OTHER) + "}";
        registry.createContext("/", exchange -> {
            String path = exchange.getRequestURI().getPath();
            String body = switch (path) {
                case "/schemas/ids/7", "/subjects/values-registered-value/versions/latest" -> written;
                case "/schemas/ids/8" -> other;
                default -> "{}";
            };
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(body.equals("{}") ? 404 : 200, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        });
        registry.start();
        try {
            topic.send(List.of(
                    topic.record(0, 1, null, framed(7, document("one", 0.5))),
                    topic.record(0, 2, null, framed(7, document("two", null))),
                    topic.record(0, 3, null, framed(8, avro(OTHER, Map.of("n", 4L)))),
                    topic.record(0, 4, null, framed(9, document("unknown", null))),
                    topic.record(0, 5, null, document("not framed", null))));
            Path target = directory.resolve("values-registered-data");
            TopicIngestResult result = Streams.ingest(
                    topic,
                    target,
                    "--value=avro",
                    "--schema-registry=http://127.0.0.1:"
                            + registry.getAddress().getPort());
            assertThat(result.deadLetters().count()).isEqualTo(3);
            requireDocuments(target, "values-registered");
        } finally {
            registry.stop(0);
        }
    }
}
