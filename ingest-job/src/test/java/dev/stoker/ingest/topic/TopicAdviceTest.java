package dev.stoker.ingest.topic;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.sun.net.httpserver.HttpServer;
import dev.stoker.connectors.dataset.TooManyDeadLettersException;
import dev.stoker.connectors.dataset.TopicPosition;
import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.kafka.SourceRecord;
import dev.stoker.flink.failure.Patience;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.topic.value.AvroReader;
import dev.stoker.ingest.topic.value.JsonFields;
import dev.stoker.ingest.topic.value.RecordFormat;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.testing.Advice;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Follows the advice of ingests of topics, without a broker. */
class TopicAdviceTest {
    private static final String SCHEMA =
            "{\"type\":\"record\",\"name\":\"Sample\",\"fields\":[{\"name\":\"n\",\"type\":\"long\"}]}";

    @TempDir
    private Path directory;

    private static TopicIngestOptions parse(List<String> options) {
        List<String> arguments = new ArrayList<>(List.of("kafka://a:9092/photos", "/data/photos"));
        arguments.addAll(options);
        return TopicIngestOptions.parse(arguments.toArray(String[]::new));
    }

    /** Returns the error messages for these options. */
    private static String said(String... options) {
        InvalidIngestException e =
                catchThrowableOfType(InvalidIngestException.class, () -> parse(Arrays.asList(options)));
        return String.join("\n", e.problems());
    }

    /** Follows an option, instead of one that was given. */
    private static TopicIngestOptions followed(
            String option, String placeholder, String value, String instead, String... given) {
        List<String> options = new ArrayList<>(Arrays.asList(given));
        options.removeIf(word -> word.startsWith(instead));
        List<String> words = new ArrayList<>(Advice.in(said(given), option));
        words.replaceAll(word -> word.replace(placeholder, value));
        options.addAll(words);
        return parse(options);
    }

    private String schema() throws IOException {
        return Files.writeString(directory.resolve("sample.avsc"), SCHEMA).toString();
    }

    @Test
    void optionsThatNeedOthers() throws IOException {
        assertThat(followed("--value", "", "", "--none").value().kind()).isEqualTo(RecordFormat.Kind.RAW);
        assertThat(followed("--schema", "NAME:TYPE", "n:int64", "--field", "--value=json", "--field=x")
                        .shape()
                        .fields())
                .hasSize(1);
        assertThat(followed("--field", "NAME", "photo", "--schema", "--value=raw", "--schema=n:int64")
                        .value()
                        .field())
                .isEqualTo("photo");
        assertThat(followed("--avro-schema", "FILE", schema(), "--none", "--value=avro")
                        .value()
                        .avroSchema())
                .isEqualTo(SCHEMA);
        assertThat(followed("--schema-registry", "URL", "http://a", "--none", "--value=avro")
                        .value()
                        .registry())
                .isEqualTo("http://a");
        assertThat(said("--value=json", "--avro-wire=plain"))
                .isEqualTo("option --avro-wire is for --value avro; leave it out");
        assertThat(followed(
                                "--avro-schema",
                                "FILE",
                                schema(),
                                "--schema-registry",
                                "--value=avro",
                                "--avro-wire=plain",
                                "--schema-registry=http://a")
                        .value()
                        .wire())
                .isEqualTo(RecordFormat.Wire.PLAIN);
    }

    @Test
    void keysOfRecords() {
        String said = said("--value=raw", "--tombstones=delete");
        List<String> options = new ArrayList<>(List.of("--value=raw", "--tombstones=delete"));
        options.addAll(Advice.in(said, "--key"));
        options.addAll(Advice.in(said, "--on-duplicate"));
        assertThat(parse(options).mapping().keys()).isEqualTo(TopicRun.Keys.CHANGES);
        assertThat(followed("--key", "", "", "--none", "--value=raw", "--on-duplicate=skip")
                        .deadLetters()
                        .leftOut())
                .contains(RecordsLeftOut.DUPLICATES);
    }

    @Test
    void aPasswordInAnAddress() throws IOException {
        String config = Files.writeString(directory.resolve("kafka.properties"), "basic.auth.user.info=user:password")
                .toString();
        assertThat(followed(
                                "--kafka-config",
                                "FILE",
                                config,
                                "--schema-registry",
                                "--value=avro",
                                "--avro-schema=" + schema(),
                                "--schema-registry=http://user:password@a")
                        .topic()
                        .clients())
                .containsEntry("basic.auth.user.info", "user:password");
    }

    private static AvroReader reader(RecordFormat.Wire wire) throws IOException {
        return new AvroReader(
                new RecordFormat(RecordFormat.Kind.AVRO, null, SCHEMA, wire, null),
                List.of(Field.small("n", FieldType.parse("int64"))),
                new Properties(),
                Patience.ofBatch());
    }

    private static RecordFormat.Wire wire(Throwable said, String schema) {
        List<String> options = new ArrayList<>(List.of("--value", "avro", "--avro-schema", schema));
        options.addAll(Advice.in(said.getMessage(), "--avro-wire"));
        return parse(options).value().wire();
    }

    @Test
    void valuesInTheOtherFrame() throws Exception {
        ByteBuffer framed = ByteBuffer.wrap(new byte[] {0, 0, 0, 0, 7, 42});
        ByteBuffer plain = ByteBuffer.wrap(new byte[] {42});

        Throwable bytes = catchThrowable(() -> reader(RecordFormat.Wire.PLAIN).read(framed));
        reader(wire(bytes, schema())).read(framed);
        Throwable start =
                catchThrowable(() -> reader(RecordFormat.Wire.CONFLUENT).read(plain));
        reader(wire(start, schema())).read(plain);
        Throwable other = catchThrowable(
                () -> reader(RecordFormat.Wire.CONFLUENT).read(ByteBuffer.wrap(new byte[] {0, 0, 0, 0, 7, 42, 1})));
        assertThat(other).hasMessageEndingWith("it is of another schema");
    }

    @Test
    void aRegistryWithoutTheSchema() throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            exchange.sendResponseHeaders(404, -1);
            exchange.close();
        });
        server.start();
        try {
            String url = "http://127.0.0.1:" + server.getAddress().getPort();
            RecordFormat asked =
                    parse(List.of("--value", "avro", "--schema-registry", url)).value();
            Throwable said = catchThrowable(() -> NewFields.withRegistrySchema(asked, "photos", new Properties()));
            List<String> options = new ArrayList<>(List.of("--value", "avro", "--schema-registry", url));
            options.addAll(Advice.in(said.getMessage().replace("FILE", schema()), "--avro-schema"));
            RecordFormat given = parse(options).value();
            assertThat(NewFields.withRegistrySchema(given, "photos", new Properties())
                            .avroSchema())
                    .isEqualTo(SCHEMA);
            RecordFormat plain = asked.withSchema(SCHEMA);
            assertThat(catchThrowable(() -> new AvroReader(plain, List.of(), new Properties(), Patience.ofBatch())
                            .read(ByteBuffer.wrap(new byte[] {42}))))
                    .hasMessageContaining("with --avro-schema FILE instead of --schema-registry");
        } finally {
            server.stop(0);
        }
    }

    private static String inferred(String... values) {
        List<SourceRecord> records = new ArrayList<>();
        for (String value : values) {
            ByteBuffer bytes = ByteBuffer.wrap(value.getBytes(StandardCharsets.UTF_8));
            records.add(new SourceRecord(0, records.size(), 0, null, bytes, List.of()));
        }
        InvalidIngestException e =
                catchThrowableOfType(InvalidIngestException.class, () -> JsonFields.infer(records, new ArrayList<>()));
        return String.join("\n", e.problems());
    }

    private static List<String> fields(String said) {
        List<String> options = new ArrayList<>(List.of("--value", "json"));
        options.addAll(Advice.in(said, "--schema"));
        return parse(options).shape().fields().stream()
                .map(field -> field.name() + " " + field.type() + (field.nullable() ? "?" : ""))
                .toList();
    }

    @Test
    void membersWithoutAType() {
        assertThat(fields(inferred("{\"my id\":1,\"big\":18446744073709551615}", "{\"my id\":2}")))
                .containsExactly("my id int64", "big uint64?");
        assertThat(fields(inferred("{\"id\":1,\"tags\":[\"a\",null]}"))).containsExactly("id int64", "tags utf8?[]");
        assertThat(fields(inferred("{\"tags\":[\"a\",null]}"))).containsExactly("tags utf8?[]");
        assertThat(fields(inferred("{\"id\":1,\"o\":[{\"a\":1},{\"b\":2}]}"))).containsExactly("id int64", "o utf8");
        assertThat(fields(inferred("{\"o\":{}}"))).containsExactly("o utf8");
        assertThat(fields(inferred("1").replace("NAME:TYPE", "n:int64"))).containsExactly("n int64");
    }

    @Test
    void fieldsThatNoAvroValueFits() throws Exception {
        TopicIngestOptions options =
                parse(List.of("--value", "avro", "--avro-schema", schema(), "--schema", "n:date,m:int8,o:int8?"));
        assertThat(catchThrowableOfType(
                                InvalidIngestException.class,
                                () -> new NewFields(options, options.value(), List.of(), new ArrayList<>()).decide())
                        .problems())
                .containsExactly(
                        "the field m requires a value, but the Avro schema Sample does not have it; correct --schema");
        DatasetInfo info = new DatasetInfo(
                UUID.randomUUID(),
                "d",
                Instant.EPOCH,
                List.of(
                        Field.nullable("n", FieldType.parse("binary")),
                        Field.nullable("other", FieldType.parse("int8"))),
                Map.of(),
                Map.of());
        TopicIngestOptions given = parse(List.of("--value", "avro", "--avro-schema", schema()));
        assertThat(catchThrowableOfType(
                                InvalidIngestException.class,
                                () -> TopicPreparation.requireFit(info, given, given.value(), false))
                        .problems())
                .containsExactly("the Avro field n: its values are int64, which a field of type binary does not hold;"
                        + " give a schema that fits with --avro-schema FILE");
    }

    @Test
    void anotherTopicForADataset() {
        Throwable said = catchThrowable(() -> TopicPreparation.requireAppend(parse(List.of("--value", "raw")), 3));
        assertThat(said).hasMessageEndingWith("add the topic to it with --append");
        assertThatCode(() -> TopicPreparation.requireAppend(parse(List.of("--value", "raw", "--append")), 3))
                .doesNotThrowAnyException();
    }

    @Test
    void recordsThatTheBrokersHaveDeleted() throws Exception {
        TopicPosition last = new TopicPosition("photos", "id", "cluster", new TreeMap<>(Map.of(0, 5L)));
        TreeMap<Integer, Long> beginnings = new TreeMap<>(Map.of(0, 8L));
        TreeMap<Integer, Long> end = new TreeMap<>(Map.of(0, 9L));
        List<String> notes = new ArrayList<>();
        Throwable said = catchThrowable(() -> new TopicStart(parse(List.of("--value", "raw")), Optional.of(last), notes)
                .after(last, beginnings, end));
        assertThat(said).isInstanceOf(StokerException.class).hasMessageEndingWith("with --allow-gap");
        TopicIngestOptions options = parse(List.of("--value", "raw", "--allow-gap"));
        assertThat(new TopicStart(options, Optional.of(last), notes).after(last, beginnings, end))
                .isEqualTo(beginnings);
    }

    @Test
    void tooManyDeadLetters() {
        String said = TooManyDeadLettersException.of(1001, 1000).getMessage();
        List<String> options = new ArrayList<>(List.of("--value", "raw"));
        options.addAll(Advice.in(said, "--max-dead-letters"));
        assertThat(parse(options).deadLetters().most()).isEqualTo(10_010);
    }
}
