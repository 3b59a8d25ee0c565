package dev.stoker.ingest.stream;

import dev.stoker.connectors.kafka.TopicLocation;
import dev.stoker.connectors.options.JobArguments;
import dev.stoker.ingest.IngestFlags;
import dev.stoker.ingest.SplitRule;
import dev.stoker.schemas.arrow.Field;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.apache.flink.configuration.ConfigOption;

/**
 * What an ingest of a topic is asked to do; valid in itself. {@link #parse} makes it from arguments.
 *
 * @param topic that is read
 * @param reach which part of it
 * @param target where the dataset lies: an absolute path or a URI
 * @param shape what a new dataset is like
 * @param value what the records' values are
 * @param mapping what becomes of a record beside its value
 * @param deadLetters what becomes of records that cannot become samples
 * @param work how much at a time
 * @param mode whether the dataset may have samples from elsewhere, and whether anything is written
 */
public record StreamOptions(
        TopicLocation topic,
        Reach reach,
        String target,
        Shape shape,
        ValueFormat value,
        RecordMapping mapping,
        DeadLetterRule deadLetters,
        Work work,
        Mode mode) {

    /**
     * Which part of a topic.
     *
     * @param from where the first start begins
     * @param since the time where it begins, for {@link From#TIME}
     * @param until where it ends
     * @param gaps what happens when brokers have deleted what was not ingested
     */
    record Reach(From from, Instant since, Until until, Gaps gaps) {}

    /** Where the first start begins. */
    enum From {
        EARLIEST,
        LATEST,
        TIME
    }

    /** Where an ingest ends. */
    enum Until {
        /** It goes on until it is stopped. */
        STOPPED,
        /** It ends where the topic ends when it starts. */
        LATEST
    }

    /** What happens when brokers have deleted what was not ingested. */
    enum Gaps {
        REFUSED,
        ALLOWED
    }

    /**
     * What a new dataset is like.
     *
     * @param name of the dataset
     * @param fields of json and avro values; empty to look at the first records
     * @param payload names of the payload fields; by default those that are big
     * @param splitRule which split a sample goes to; empty for the dataset's own rule, or all into {@code train}
     */
    record Shape(String name, List<Field> fields, Optional<List<String>> payload, Optional<SplitRule> splitRule) {}

    /**
     * What becomes of records that cannot become samples.
     *
     * @param location directory or URI that takes them
     * @param most the ingest fails when there are more
     */
    record DeadLetterRule(String location, long most) {}

    /**
     * How much at a time.
     *
     * @param commitInterval between versions
     * @param chunkSizeBytes length of a chunk; by default the dataset's, or 8 MiB
     * @param parallelism subtasks; by default what Flink is configured to, at most the partitions
     */
    record Work(Duration commitInterval, OptionalInt chunkSizeBytes, OptionalInt parallelism) {}

    /** Whether the dataset may have samples from elsewhere, and whether anything is written. */
    enum Mode {
        /** The dataset is new, or has this topic already. */
        CREATE,
        /** The topic is added to a dataset. */
        APPEND,
        /** The plan is shown, nothing is written. */
        DRY
    }

    /** Whether arguments of an ingest are about a topic, right or wrong. */
    public static boolean isTopic(String... args) {
        List<String> positional =
                JobArguments.parse(args, IngestFlags.PREFIX, flags()).positional();
        return !positional.isEmpty() && TopicLocation.isTopic(positional.get(0));
    }

    static List<ConfigOption<?>> flags() {
        List<ConfigOption<?>> flags = new ArrayList<>(IngestFlags.all());
        flags.addAll(StreamFlags.all());
        return flags;
    }

    /**
     * The options of a command line: the topic, the target, and {@link StreamFlags}. Reads the file of the Avro schema, changes
     * nothing.
     *
     * @throws dev.stoker.ingest.InvalidIngestException with everything that is wrong
     */
    public static StreamOptions parse(String... args) {
        return new StreamOptionsParser(args).parse();
    }

    /** Subtasks, if that was said. */
    public OptionalInt parallelism() {
        return work.parallelism();
    }

    /** Whether only the plan is wanted. */
    public boolean isDryRun() {
        return mode == Mode.DRY;
    }
}
