package dev.stoker.ingest.topic;

import dev.stoker.connectors.kafka.TopicLocation;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.ingest.spec.OptionKinds;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.ingest.spec.TopicIngestFlags;
import dev.stoker.ingest.topic.value.RecordFormat;
import dev.stoker.ingest.topic.value.RecordMapping;
import dev.stoker.schemas.arrow.types.Field;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The valid options of a topic ingest. {@link #parse} creates them from arguments.
 *
 * @param topic to read
 * @param reach the part of the topic to read
 * @param target the dataset's location: an absolute path or a URI
 * @param shape of a new dataset
 * @param value the format of the records' values
 * @param mapping maps key, time and headers of a record to fields
 * @param deadLetters the rule for records that cannot become samples
 * @param work parallelism and sizes
 * @param mode whether the dataset may have other samples, and whether anything is written
 */
public record TopicIngestOptions(
        TopicLocation topic,
        Reach reach,
        String target,
        Shape shape,
        RecordFormat value,
        RecordMapping mapping,
        DeadLetterRule deadLetters,
        Work work,
        Mode mode) {

    /**
     * The part of a topic to read.
     *
     * @param from where the first run begins
     * @param since the time at which it begins, for {@link From#TIME}
     * @param until where it ends
     * @param gaps what to do if brokers have deleted records before they were ingested
     */
    record Reach(From from, Instant since, Until until, Gaps gaps) {}

    /** Where the first run begins. */
    enum From {
        EARLIEST,
        LATEST,
        TIME
    }

    /** Where an ingest ends. */
    enum Until {
        /** It runs until it is stopped. */
        STOPPED,
        /** It ends at the offsets at which the topic ends when it starts. */
        LATEST
    }

    /** What to do if brokers have deleted records before they were ingested. */
    enum Gaps {
        REFUSED,
        ALLOWED
    }

    /**
     * The shape of a new dataset.
     *
     * @param name of the dataset
     * @param fields of json and avro values; empty to infer them from the first records
     * @param payload names of the payload fields; by default the large ones
     * @param splitRule assigns samples to splits; empty for the dataset's own rule, or all into {@code train}
     */
    record Shape(String name, List<Field> fields, Optional<List<String>> payload, Optional<SplitRule> splitRule) {}

    /**
     * The rule for records that cannot become samples.
     *
     * @param location directory or URI for them
     * @param most the ingest fails if there are more
     * @param leftOut records that are left out instead
     */
    record DeadLetterRule(String location, long most, EnumSet<RecordsLeftOut> leftOut) {}

    /**
     * Parallelism and sizes.
     *
     * @param commitInterval between versions
     * @param chunkSizeBytes length of a chunk; by default the dataset's, or 8 MiB
     * @param parallelism subtasks; by default Flink's configured parallelism, at most the number of partitions
     */
    record Work(Duration commitInterval, OptionalInt chunkSizeBytes, OptionalInt parallelism) {}

    /** Whether the dataset may have other samples, and whether anything is written. */
    enum Mode {
        /** The dataset is new, or already has samples of this topic. */
        CREATE,
        /** The topic is added to a dataset. */
        APPEND,
        /** The plan is shown and nothing is written. */
        DRY
    }

    /** Whether arguments of an ingest name a topic, valid or not. */
    public static boolean isTopic(String... args) {
        List<String> positional = arguments(args).positional();
        return !positional.isEmpty() && TopicLocation.isTopic(positional.get(0));
    }

    static JobArguments arguments(String... args) {
        return JobArguments.parse(
                args, OptionKinds.of(OptionKinds.Kind.TOPIC), OptionKinds.others(OptionKinds.Kind.TOPIC));
    }

    /**
     * Parses a command line: the topic, the target, and {@link TopicIngestFlags}. Reads the file of the Avro schema and
     * changes nothing.
     *
     * @throws dev.stoker.ingest.spec.InvalidIngestException with all problems
     */
    public static TopicIngestOptions parse(String... args) {
        return new TopicIngestOptionsParser(args).parse();
    }

    /** The number of subtasks, if it was given. */
    public OptionalInt parallelism() {
        return work.parallelism();
    }

    /** Whether only the plan is wanted. */
    public boolean isDryRun() {
        return mode == Mode.DRY;
    }
}
