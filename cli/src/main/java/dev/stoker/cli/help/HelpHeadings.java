package dev.stoker.cli.help;

import dev.stoker.cli.options.JsonFlag;
import dev.stoker.cli.options.NoIndexFlag;
import dev.stoker.export.ExportFlags;
import dev.stoker.feeder.plan.FeedFlags;
import dev.stoker.feeder.topic.TopicFeedFlags;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.ingest.rows.options.RowIngestFlags;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.SyncFlags;
import dev.stoker.ingest.topic.TopicIngestFlags;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.apache.flink.configuration.ConfigOption;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** The topics under which help, man pages and the reference list the options of a verb. */
public final class HelpHeadings {

    /**
     * Some options of a verb.
     *
     * @param title without a colon
     */
    public record Topic(String title, List<OptionSpec> options) {}

    /** Options of a job. */
    record JobTopic(String title, List<ConfigOption<?>> options) {}

    /** Names of options. */
    private record Named(String title, List<String> names) {}

    static final List<JobTopic> FEED = List.of(
            new JobTopic(
                    "Name and content",
                    List.of(
                            FeedFlags.NAME,
                            FeedFlags.VERSION,
                            FeedFlags.AS_OF,
                            FeedFlags.FOLLOW,
                            FeedFlags.EPOCHS,
                            FeedFlags.GROUPS)),
            new JobTopic(
                    "Order of the samples",
                    List.of(
                            FeedFlags.BATCH_SIZE,
                            FeedFlags.SEED,
                            FeedFlags.SHUFFLE,
                            FeedFlags.SHUFFLE_WINDOW,
                            FeedFlags.LANES,
                            FeedFlags.LANE_ORDER)),
            new JobTopic(
                    "Addresses",
                    List.of(FeedFlags.PORT, FeedFlags.BIND, FeedFlags.ADVERTISE, FeedFlags.UI, FeedFlags.MAX_SESSIONS)),
            new JobTopic(
                    "Security",
                    List.of(
                            FeedFlags.TOKEN_FILE,
                            FeedFlags.TLS_CERT,
                            FeedFlags.TLS_KEY,
                            FeedFlags.TLS_CLIENT_CA,
                            FeedFlags.INSECURE)),
            new JobTopic(
                    "Cache and memory",
                    List.of(
                            FeedFlags.TIER,
                            FeedFlags.CACHE_LIFETIME,
                            FeedFlags.CACHE_ACCESS,
                            FeedFlags.WARM,
                            FeedFlags.WORKING_MEMORY,
                            FeedFlags.ORIGIN_BANDWIDTH,
                            FeedFlags.ORIGIN_CONCURRENCY)),
            new JobTopic(
                    "Receipts, failures and the end",
                    List.of(
                            FeedFlags.LEDGER,
                            FeedFlags.CHECKPOINT_INTERVAL,
                            FeedFlags.ON_CORRUPT,
                            FeedFlags.IDLE_TIMEOUT,
                            FeedFlags.PARALLELISM)));

    static final List<JobTopic> FEED_TO_KAFKA = List.of(
            new JobTopic(
                    "Batches to a Kafka topic (--to kafka)",
                    List.of(
                            TopicFeedFlags.TO,
                            TopicFeedFlags.BOOTSTRAP,
                            TopicFeedFlags.TOPIC,
                            TopicFeedFlags.KAFKA_CONFIG,
                            TopicFeedFlags.WORLD_SIZE,
                            TopicFeedFlags.ALLOW_READ_AMPLIFICATION,
                            TopicFeedFlags.DELIVERY,
                            TopicFeedFlags.TRANSACTION_TIMEOUT)),
            new JobTopic(
                    "Records of the topic",
                    List.of(
                            TopicFeedFlags.VALUE_FORMAT,
                            TopicFeedFlags.SCHEMA_REGISTRY,
                            TopicFeedFlags.MAX_RECORD_BYTES,
                            TopicFeedFlags.REPLICATION)),
            new JobTopic(
                    "Consumers that throttle the feed",
                    List.of(
                            TopicFeedFlags.THROTTLE_GROUPS,
                            TopicFeedFlags.EPOCHS_AHEAD,
                            TopicFeedFlags.BYTES_AHEAD,
                            TopicFeedFlags.EPOCH_TIME)));

    private static final JobTopic RUN_OF_INGEST = new JobTopic(
            "Run",
            List.of(
                    IngestFlags.DRY_RUN,
                    IngestFlags.INGEST_ID,
                    IngestFlags.PARALLELISM,
                    IngestFlags.READ_THREADS,
                    IngestFlags.READ_AHEAD));

    public static final List<JobTopic> INGEST = List.of(
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
            new JobTopic(
                    "Dataset and version",
                    List.of(IngestFlags.NAME, IngestFlags.APPEND, IngestFlags.REPLACE, IngestFlags.ON_DUPLICATE)),
            new JobTopic(
                    "Files to ingest",
                    List.of(
                            IngestFlags.LIMIT,
                            IngestFlags.ON_ERROR,
                            IngestFlags.LINKS,
                            IngestFlags.HIDDEN,
                            IngestFlags.EMPTY,
                            IngestFlags.INCLUDE,
                            IngestFlags.EXCLUDE,
                            IngestFlags.EXCLUDE_KEYS_FROM)),
            RUN_OF_INGEST);

    static final List<JobTopic> SYNC = List.of(
            new JobTopic("Comparison", SyncFlags.own()),
            new JobTopic(
                    "Fields and labels",
                    List.of(IngestFlags.LABEL_FROM, IngestFlags.LABEL_FIELD, IngestFlags.FIELD, IngestFlags.SIDECAR)),
            new JobTopic(
                    "Splits and chunks",
                    List.of(IngestFlags.SPLIT, IngestFlags.SPLIT_FROM, IngestFlags.SEED, IngestFlags.CHUNK_SIZE)),
            new JobTopic(
                    "Files to compare",
                    List.of(
                            IngestFlags.ON_ERROR,
                            IngestFlags.LINKS,
                            IngestFlags.HIDDEN,
                            IngestFlags.EMPTY,
                            IngestFlags.INCLUDE,
                            IngestFlags.EXCLUDE,
                            IngestFlags.EXCLUDE_KEYS_FROM)),
            RUN_OF_INGEST);

    static final List<JobTopic> INGEST_OF_ROWS =
            List.of(new JobTopic("Rows (Parquet, Avro, CSV, …)", RowIngestFlags.own()));

    static final List<JobTopic> INGEST_FROM_KAFKA = List.of(
            new JobTopic(
                    "Records of a Kafka topic (kafka://…)",
                    List.of(
                            TopicIngestFlags.VALUE,
                            TopicIngestFlags.KEY,
                            TopicIngestFlags.TOMBSTONES,
                            TopicIngestFlags.KEY_FIELD,
                            TopicIngestFlags.HEADER,
                            TopicIngestFlags.TIMESTAMP,
                            TopicIngestFlags.SCHEMA,
                            TopicIngestFlags.AVRO_SCHEMA,
                            TopicIngestFlags.AVRO_WIRE,
                            TopicIngestFlags.SCHEMA_REGISTRY)),
            new JobTopic(
                    "Reading a Kafka topic",
                    List.of(
                            TopicIngestFlags.COMMIT_INTERVAL,
                            TopicIngestFlags.FROM,
                            TopicIngestFlags.UNTIL,
                            TopicIngestFlags.ALLOW_GAP,
                            TopicIngestFlags.DEAD_LETTERS,
                            TopicIngestFlags.MAX_DEAD_LETTERS,
                            TopicIngestFlags.KAFKA_CONFIG)));

    static final List<JobTopic> EXPORT = List.of(
            new JobTopic("Export", ExportFlags.general()), new JobTopic("Order of an epoch", ExportFlags.ofEpochs()));

    private static final List<Named> OF_VERBS = List.of(
            new Named(
                    "Selection",
                    List.of(
                            "--feed",
                            "--stream",
                            "--version",
                            "--as-of",
                            "--field",
                            "--recursive",
                            "--delimiter",
                            "--split",
                            "--prefix",
                            "--keys-from",
                            "--null",
                            "--where",
                            "--missing",
                            "--erased",
                            "--n",
                            "--all",
                            "--ledger",
                            "--dataset",
                            "--epochs",
                            "--older-than",
                            "--keep",
                            "--keep-last")),
            new Named("Table", List.of("--key", "--column", "--add", "--format")),
            new Named("Statements", List.of("--execute", "--file", "--set")),
            new Named("New chunks", List.of("--below", "--chunk-size", "--order", "--seed")),
            new Named(
                    "Changes",
                    List.of(
                            "--rebuild",
                            "--check",
                            "--checksum",
                            "--with-ledgers",
                            NoIndexFlag.NAME,
                            "--erase",
                            "--certificate",
                            "--dry-run",
                            "--yes",
                            "--move",
                            "--delete",
                            "--end-feed",
                            "--break",
                            "--ingest-id")),
            new Named("Redis", List.of("--redis")),
            new Named(
                    "Measurement",
                    List.of(
                            "--size",
                            "--block-size",
                            "--depth",
                            "--shape",
                            "--accelerator",
                            "--accelerators",
                            "--against",
                            "--batch-size",
                            "--network",
                            "--rounds",
                            "--seconds")),
            new Named(
                    "Time, threads and clusters",
                    List.of("--timeout", "--interval", "--threads", "--flink", "--parallelism")),
            new Named(
                    "Output",
                    List.of(
                            "--to",
                            "--output",
                            "--image",
                            "--width",
                            "--graphics",
                            "--force",
                            "--chunks",
                            "--samples",
                            "--keys",
                            "--once",
                            JsonFlag.NAME)),
            new Named("Help", List.of("--help")));

    /** The title of options that have no topic. */
    public static final String OTHER = "Other options";

    private HelpHeadings() {}

    /** The topics of a verb, in the order in which help lists them; each option of the verb is in one of them. */
    public static List<Topic> of(CommandSpec verb) {
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
                add(names, IngestFlags.PREFIX, INGEST_OF_ROWS);
                add(names, IngestFlags.PREFIX, INGEST_FROM_KAFKA);
            }
            case "sync" -> add(names, IngestFlags.PREFIX, SYNC);
            case "export" -> add(names, ExportFlags.PREFIX, EXPORT);
            case "feed", "run" -> {
                add(names, FeedFlags.PREFIX, FEED);
                add(names, FeedFlags.PREFIX, FEED_TO_KAFKA);
            }
            case "why" -> {
                names.add(
                        new Named("Stream and order", List.of("--feed", "--stream", "--group", "--state", "--order")));
                names.add(new Named("Steps or samples", List.of("--epoch", "--step", "--batch", "--key", "--epochs")));
                names.add(new Named("Trainers", List.of("--world-size", "--rank", "--start", "--skip", "--tail")));
            }
            case "browse" -> names.add(new Named("Page", List.of("--port", "--open")));
            case "stoker" -> names.add(new Named("Options", List.of("--help", "--version")));
            case "mount" -> {
                names.add(new Named("Content", List.of("--version", "--as-of", "--versions", "--field", "--interval")));
                names.add(new Named("Cache and memory", List.of("--tier", "--warm", "--working-memory")));
                names.add(new Named("Mount", List.of("--allow-other", "--background")));
            }
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
