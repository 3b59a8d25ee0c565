package dev.stoker.ingest.topic;

import dev.stoker.connectors.dataset.TopicRun;
import dev.stoker.connectors.kafka.TopicLocation;
import dev.stoker.flink.arguments.GivenOptions;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.ingest.spec.GivenFlags;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.SidecarType;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.ingest.spec.SplitShares;
import dev.stoker.ingest.spec.TopicIngestFlags;
import dev.stoker.ingest.topic.value.AvroFields;
import dev.stoker.ingest.topic.value.DeadLetters;
import dev.stoker.ingest.topic.value.RecordFormat;
import dev.stoker.ingest.topic.value.RecordMapping;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Parses arguments into options and collects all problems. For one use. */
final class TopicIngestOptionsParser {

    private final JobArguments arguments;
    private final GivenOptions given;
    private final List<String> problems;
    private final GivenFlags flags;

    TopicIngestOptionsParser(String... args) {
        arguments = TopicIngestOptions.arguments(args);
        given = arguments.options();
        problems = new ArrayList<>(arguments.problems());
        flags = new GivenFlags(given, problems::add);
    }

    TopicIngestOptions parse() {
        TopicLocation topic = null;
        String target = null;
        List<String> positional = arguments.positional();
        if (positional.size() != 2) {
            problems.add("an ingest takes a topic and a target directory, not " + String.join(" ", positional));
        } else {
            topic = tried(
                    () -> TopicLocation.parse(positional.get(0), given.getOptional(TopicIngestFlags.KAFKA_CONFIG)));
            target = tried(() -> Stores.normalize(positional.get(1)));
        }
        given.getOptional(TopicIngestFlags.KAFKA_CONFIG)
                .filter(file -> !Files.isReadable(Path.of(file)))
                .ifPresent(file -> problems.add("option --kafka-config: the file " + file + " is not readable"));
        TopicIngestOptions.Reach reach = reach();
        RecordMapping mapping = mapping();
        RecordFormat value = value();
        List<Field> fields = fields(value);
        TopicIngestOptions.Work work = work();
        EnumSet<RecordsLeftOut> leftOut = leftOut(mapping);
        long most = flags.checked(TopicIngestFlags.MAX_DEAD_LETTERS);
        Optional<SplitRule> splits = given.get(IngestFlags.SPLIT).isEmpty()
                ? Optional.empty()
                : Optional.of(new SplitRule.Shares(SplitShares.parse(given.get(IngestFlags.SPLIT), problems)));
        String letters = given.getOptional(TopicIngestFlags.DEAD_LETTERS)
                .map(text -> tried(() -> Stores.normalize(text)))
                .orElse(target + "/" + DeadLetters.DIRECTORY);
        if (topic == null || target == null || !problems.isEmpty()) {
            throw new InvalidIngestException(problems);
        }
        String name =
                given.getOptional(IngestFlags.NAME).orElse(Stores.name(target).orElse("dataset"));
        boolean isAppend = given.get(IngestFlags.APPEND);
        return new TopicIngestOptions(
                topic,
                reach,
                target,
                new TopicIngestOptions.Shape(name, fields, flags.payload(), splits),
                value,
                mapping,
                new TopicIngestOptions.DeadLetterRule(letters, most, leftOut),
                work,
                given.get(IngestFlags.DRY_RUN)
                        ? TopicIngestOptions.Mode.DRY
                        : isAppend ? TopicIngestOptions.Mode.APPEND : TopicIngestOptions.Mode.CREATE);
    }

    private <T> @Nullable T tried(Supplier<T> parse) {
        try {
            return parse.get();
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
            return null;
        }
    }

    private TopicIngestOptions.Reach reach() {
        String text = given.get(TopicIngestFlags.FROM);
        TopicIngestOptions.From from = TopicIngestOptions.From.EARLIEST;
        Instant since = Instant.EPOCH;
        if (text.equals("latest")) {
            from = TopicIngestOptions.From.LATEST;
        } else if (!text.equals("earliest")) {
            from = TopicIngestOptions.From.TIME;
            try {
                since = Instant.parse(text);
            } catch (DateTimeException e) {
                problems.add("option --from: " + text
                        + " is neither earliest nor latest nor a time in UTC such as 2026-11-20T10:00:00Z");
            }
        }
        Optional<String> until = given.getOptional(TopicIngestFlags.UNTIL);
        until.filter(end -> !end.equals("latest"))
                .ifPresent(end -> problems.add("option --until: " + end + " is not latest"));
        return new TopicIngestOptions.Reach(
                from,
                since,
                until.isPresent() ? TopicIngestOptions.Until.LATEST : TopicIngestOptions.Until.STOPPED,
                given.get(TopicIngestFlags.ALLOW_GAP)
                        ? TopicIngestOptions.Gaps.ALLOWED
                        : TopicIngestOptions.Gaps.REFUSED);
    }

    private RecordMapping mapping() {
        String key = flags.choice(TopicIngestFlags.KEY, "offset", "record");
        Optional<String> keyField = given.getOptional(TopicIngestFlags.KEY_FIELD);
        keyField.ifPresent(name -> flags.addField(TopicIngestFlags.KEY_FIELD, name, "utf8"));
        Optional<String> timestamp = given.getOptional(TopicIngestFlags.TIMESTAMP);
        timestamp.ifPresent(name -> flags.addField(TopicIngestFlags.TIMESTAMP, name, RecordMapping.TIMESTAMP));
        ArrayList<RecordMapping.Header> headers = new ArrayList<>();
        for (String text : given.get(TopicIngestFlags.HEADER)) {
            int equals = text.indexOf('=');
            String name = equals < 0 ? text : text.substring(0, equals);
            String field = equals < 0 ? text : text.substring(equals + 1);
            int colon = field.indexOf(':');
            String type = colon < 0 ? "utf8" : field.substring(colon + 1);
            field = colon < 0 ? field : field.substring(0, colon);
            if (!SidecarType.isKnown(type)) {
                problems.add("option --header: the type " + type + " cannot be read from a header; use "
                        + SidecarType.names());
            } else {
                flags.addField(TopicIngestFlags.HEADER, field, type);
                headers.add(new RecordMapping.Header(name, field, type));
            }
        }
        return new RecordMapping(
                !key.equals("record")
                        ? TopicRun.Keys.OFFSETS
                        : given.get(IngestFlags.ON_DUPLICATE).equals("replace")
                                ? TopicRun.Keys.CHANGES
                                : TopicRun.Keys.RECORDS,
                keyField.orElse(null),
                timestamp.orElse(null),
                headers);
    }

    private EnumSet<RecordsLeftOut> leftOut(RecordMapping mapping) {
        EnumSet<RecordsLeftOut> leftOut = EnumSet.noneOf(RecordsLeftOut.class);
        boolean isChanged = mapping.keys() == TopicRun.Keys.CHANGES;
        switch (flags.choice(TopicIngestFlags.TOMBSTONES, "skip", "delete", "dead-letter")) {
            case "delete" -> {
                if (!isChanged) {
                    problems.add("option --tombstones: delete needs --key record and --on-duplicate replace");
                }
            }
            case "dead-letter" -> {
                if (isChanged) {
                    problems.add("option --tombstones: dead-letter does not go with --on-duplicate replace;"
                            + " give skip or delete");
                }
            }
            default -> leftOut.add(RecordsLeftOut.TOMBSTONES);
        }
        if (given.contains(IngestFlags.ON_DUPLICATE)) {
            if (!mapping.keys().areOwn()) {
                problems.add("option --on-duplicate needs --key record; other keys of a topic occur only once");
            }
            if (flags.choice(IngestFlags.ON_DUPLICATE, "fail", "skip", "replace")
                    .equals("skip")) {
                leftOut.add(RecordsLeftOut.DUPLICATES);
            }
        }
        return leftOut;
    }

    private RecordFormat value() {
        RecordFormat.Kind kind = RecordFormat.Kind.RAW;
        if (given.getOptional(TopicIngestFlags.VALUE).isEmpty()) {
            problems.add("the format of the records' values is missing; give --value raw,"
                    + " --value json or --value avro");
        } else {
            kind = switch (flags.choice(TopicIngestFlags.VALUE)) {
                case "json" -> RecordFormat.Kind.JSON;
                case "avro" -> RecordFormat.Kind.AVRO;
                default -> RecordFormat.Kind.RAW;
            };
        }
        String field = given.getOptional(IngestFlags.FIELD).orElse("data");
        if (kind == RecordFormat.Kind.RAW) {
            flags.addField(IngestFlags.FIELD, field, "binary");
        } else if (given.contains(IngestFlags.FIELD)) {
            problems.add("option --field names the field of raw values; leave it out, or give the fields"
                    + " with --schema NAME:TYPE");
        }
        Optional<String> registry = given.getOptional(TopicIngestFlags.SCHEMA_REGISTRY);
        Optional<String> schema =
                given.getOptional(TopicIngestFlags.AVRO_SCHEMA).map(this::read);
        RecordFormat.Wire wire = flags.choice(TopicIngestFlags.AVRO_WIRE).equals("confluent") || registry.isPresent()
                ? RecordFormat.Wire.CONFLUENT
                : RecordFormat.Wire.PLAIN;
        if (kind == RecordFormat.Kind.AVRO) {
            if (registry.isEmpty() && schema.isEmpty()) {
                problems.add("avro values need --avro-schema FILE or --schema-registry URL");
            }
            if (registry.isPresent()
                    && given.getOptional(TopicIngestFlags.AVRO_WIRE)
                            .filter("plain"::equals)
                            .isPresent()) {
                problems.add("--avro-wire plain and --schema-registry cannot be given together: plain values do not"
                        + " name their schema; give it with --avro-schema FILE");
            }
            registry.ifPresent(this::checkUrl);
            schema.ifPresent(text -> tried(() -> AvroFields.parse(text)));
        } else {
            for (JobOption<String> option : List.of(
                    TopicIngestFlags.AVRO_SCHEMA, TopicIngestFlags.AVRO_WIRE, TopicIngestFlags.SCHEMA_REGISTRY)) {
                if (given.contains(option)) {
                    problems.add("option " + option.flag() + " is for --value avro; leave it out");
                }
            }
        }
        return new RecordFormat(kind, field, schema.orElse(null), wire, registry.orElse(null));
    }

    private void checkUrl(String url) {
        URI parsed = tried(() -> URI.create(url));
        if (parsed != null && !List.of("http", "https").contains(String.valueOf(parsed.getScheme()))) {
            problems.add("option --schema-registry: " + url + " is not an http or https URL");
        } else if (parsed != null && parsed.getUserInfo() != null) {
            problems.add("option --schema-registry: put user and password into a file, as"
                    + " basic.auth.user.info=user:password, and name it with --kafka-config FILE");
        }
    }

    private @Nullable String read(String file) {
        try {
            return Files.readString(Path.of(file));
        } catch (IOException e) {
            problems.add("option --avro-schema: the file " + file + " is not readable");
            return null;
        }
    }

    private List<Field> fields(RecordFormat value) {
        List<Field> fields = new ArrayList<>();
        for (String text : given.get(TopicIngestFlags.SCHEMA)) {
            for (String part : text.split(",(?![^\\[]*])(?![^(]*\\))", -1)) {
                int colon = part.indexOf(':');
                boolean isNullable = part.endsWith("?");
                String type = colon < 0 ? "" : part.substring(colon + 1, part.length() - (isNullable ? 1 : 0));
                String name = colon < 0 ? part : part.substring(0, colon).strip();
                if (colon < 0) {
                    problems.add("option --schema: " + part + " is not name:type, such as label:categorical");
                } else if (flags.addField(TopicIngestFlags.SCHEMA, name, type)) {
                    if (type.startsWith("float16") || type.startsWith("bfloat16")) {
                        problems.add("option --schema: the type " + type + " is not supported for topics; use float32");
                    }
                    fields.add(new Field(name, FieldType.parse(type), isNullable, false));
                }
            }
        }
        if (!fields.isEmpty() && value.kind() == RecordFormat.Kind.RAW) {
            problems.add("option --schema is for json and avro; name the field of raw values with --field NAME");
        }
        return fields;
    }

    private TopicIngestOptions.Work work() {
        Duration interval = flags.checked(TopicIngestFlags.COMMIT_INTERVAL);
        OptionalInt chunkBytes = flags.chunkBytes();
        return new TopicIngestOptions.Work(interval, chunkBytes, flags.parallelism());
    }
}
