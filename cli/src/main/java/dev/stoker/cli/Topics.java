package dev.stoker.cli;

import dev.stoker.feeder.kafka.KafkaOptions;
import dev.stoker.feeder.plan.FeederOptions;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.topic.TopicFlags;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The topics under which help, man pages and the reference list the options of a verb. */
final class Topics {

    /**
     * Some options of a verb.
     *
     * @param title without a colon
     */
    record Topic(String title, List<OptionSpec> options) {}

    /** Options of a job. */
    record JobTopic(String title, List<ConfigOption<?>> options) {}

    /** Names of options. */
    private record Named(String title, List<String> names) {}

    static final List<JobTopic> FEED = List.of(
            new JobTopic(
                    "Name and content",
                    List.of(FeederOptions.NAME, FeederOptions.FOLLOW, FeederOptions.EPOCHS, FeederOptions.GROUPS)),
            new JobTopic(
                    "Order of the samples",
                    List.of(
                            FeederOptions.BATCH_SIZE,
                            FeederOptions.SEED,
                            FeederOptions.SHUFFLE,
                            FeederOptions.SHUFFLE_WINDOW,
                            FeederOptions.LANES,
                            FeederOptions.LANE_ORDER)),
            new JobTopic(
                    "Addresses",
                    List.of(
                            FeederOptions.PORT,
                            FeederOptions.BIND,
                            FeederOptions.ADVERTISE,
                            FeederOptions.UI,
                            FeederOptions.MAX_SESSIONS)),
            new JobTopic(
                    "Security",
                    List.of(
                            FeederOptions.TOKEN_FILE,
                            FeederOptions.TLS_CERT,
                            FeederOptions.TLS_KEY,
                            FeederOptions.TLS_CLIENT_CA,
                            FeederOptions.INSECURE)),
            new JobTopic(
                    "Cache and memory",
                    List.of(
                            FeederOptions.TIER,
                            FeederOptions.CACHE_LIFETIME,
                            FeederOptions.CACHE_ACCESS,
                            FeederOptions.WARM,
                            FeederOptions.WORKING_MEMORY,
                            FeederOptions.ORIGIN_BANDWIDTH,
                            FeederOptions.ORIGIN_CONCURRENCY)),
            new JobTopic(
                    "Receipts, failures and the end",
                    List.of(
                            FeederOptions.LEDGER,
                            FeederOptions.CHECKPOINT_INTERVAL,
                            FeederOptions.ON_CORRUPT,
                            FeederOptions.IDLE_TIMEOUT,
                            FeederOptions.PARALLELISM)));

    static final List<JobTopic> FEED_TO_KAFKA = List.of(
            new JobTopic(
                    "Batches to a Kafka topic (--to kafka)",
                    List.of(
                            KafkaOptions.TO,
                            KafkaOptions.BOOTSTRAP,
                            KafkaOptions.TOPIC,
                            KafkaOptions.KAFKA_CONFIG,
                            KafkaOptions.WORLD_SIZE,
                            KafkaOptions.ALLOW_READ_AMPLIFICATION,
                            KafkaOptions.DELIVERY,
                            KafkaOptions.TRANSACTION_TIMEOUT)),
            new JobTopic(
                    "Records of the topic",
                    List.of(
                            KafkaOptions.VALUE_FORMAT,
                            KafkaOptions.SCHEMA_REGISTRY,
                            KafkaOptions.MAX_RECORD_BYTES,
                            KafkaOptions.REPLICATION)),
            new JobTopic(
                    "Consumers that throttle the feed",
                    List.of(
                            KafkaOptions.PACE_GROUPS,
                            KafkaOptions.EPOCHS_AHEAD,
                            KafkaOptions.BYTES_AHEAD,
                            KafkaOptions.EPOCH_TIME)));

    static final List<JobTopic> INGEST = List.of(
            new JobTopic(
                    "Fields and labels",
                    List.of(
                            IngestFlags.LABEL_FROM,
                            IngestFlags.LABEL_FIELD,
                            IngestFlags.FIELD,
                            IngestFlags.SIDECAR,
                            IngestFlags.PAYLOAD)),
            new JobTopic(
                    "Splits, order and chunks",
                    List.of(
                            IngestFlags.SPLIT,
                            IngestFlags.SPLIT_FROM,
                            IngestFlags.ORDER,
                            IngestFlags.SEED,
                            IngestFlags.CHUNK_SIZE)),
            new JobTopic("Dataset and version", List.of(IngestFlags.NAME, IngestFlags.APPEND, IngestFlags.REPLACE)),
            new JobTopic(
                    "Files to ingest",
                    List.of(
                            IngestFlags.LIMIT,
                            IngestFlags.ON_ERROR,
                            IngestFlags.LINKS,
                            IngestFlags.HIDDEN,
                            IngestFlags.EMPTY)),
            new JobTopic(
                    "Run",
                    List.of(
                            IngestFlags.DRY_RUN,
                            IngestFlags.INGEST_ID,
                            IngestFlags.PARALLELISM,
                            IngestFlags.READ_THREADS,
                            IngestFlags.READ_AHEAD)));

    static final List<JobTopic> INGEST_FROM_KAFKA = List.of(
            new JobTopic(
                    "Records of a Kafka topic (kafka://…)",
                    List.of(
                            TopicFlags.VALUE,
                            TopicFlags.KEY,
                            TopicFlags.KEY_FIELD,
                            TopicFlags.HEADER,
                            TopicFlags.TIMESTAMP,
                            TopicFlags.SCHEMA,
                            TopicFlags.AVRO_SCHEMA,
                            TopicFlags.AVRO_WIRE,
                            TopicFlags.SCHEMA_REGISTRY)),
            new JobTopic(
                    "Reading a Kafka topic",
                    List.of(
                            TopicFlags.COMMIT_INTERVAL,
                            TopicFlags.FROM,
                            TopicFlags.UNTIL,
                            TopicFlags.ALLOW_GAP,
                            TopicFlags.DEAD_LETTERS,
                            TopicFlags.MAX_DEAD_LETTERS,
                            TopicFlags.KAFKA_CONFIG)));

    private static final List<Named> OF_VERBS = List.of(
            new Named(
                    "Selection",
                    List.of(
                            "--version",
                            "--split",
                            "--n",
                            "--all",
                            "--ledger",
                            "--dataset",
                            "--epochs",
                            "--older-than")),
            new Named("New chunks", List.of("--below", "--chunk-size", "--order", "--seed")),
            new Named("Changes", List.of("--dry-run", "--yes", "--break", "--ingest-id")),
            new Named("Time and threads", List.of("--timeout", "--threads")),
            new Named("Output", List.of("--chunks", "--once", JsonFlag.NAME)),
            new Named("Help", List.of("--help")));

    /** The title of options that have no topic. */
    static final String OTHER = "Other options";

    private Topics() {}

    /** The topics of a verb, in the order in which help lists them; each option of the verb is in one of them. */
    static List<Topic> of(CommandSpec verb) {
        Set<OptionSpec> left = new LinkedHashSet<>(verb.options());
        List<Topic> topics = new ArrayList<>();
        for (Named named : names(verb.name())) {
            List<OptionSpec> options = named.names().stream()
                    .map(verb::findOption)
                    .filter(left::remove)
                    .toList();
            if (!options.isEmpty()) {
                topics.add(new Topic(named.title(), options));
            }
        }
        if (!left.isEmpty()) {
            topics.add(new Topic(OTHER, List.copyOf(left)));
        }
        return topics;
    }

    private static List<Named> names(String verb) {
        List<Named> names = new ArrayList<>();
        switch (verb) {
            case "ingest" -> {
                add(names, IngestFlags.PREFIX, INGEST);
                add(names, IngestFlags.PREFIX, INGEST_FROM_KAFKA);
            }
            case "feed", "run" -> {
                add(names, FeederOptions.PREFIX, FEED);
                add(names, FeederOptions.PREFIX, FEED_TO_KAFKA);
            }
            case "stoker" -> names.add(new Named("Options", List.of("--help", "--version")));
            default -> {
                // The options of the other verbs have one meaning each.
            }
        }
        names.addAll(OF_VERBS);
        return names;
    }

    private static void add(List<Named> names, String prefix, List<JobTopic> topics) {
        topics.forEach(topic -> names.add(new Named(
                topic.title(),
                topic.options().stream()
                        .map(option -> JobArguments.flag(option, prefix))
                        .toList())));
    }
}
