package dev.stoker.feeder.topic;

import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.feeder.plan.FeedFlags;
import dev.stoker.feeder.plan.FeedKind;
import dev.stoker.feeder.plan.FeedOptions;
import dev.stoker.feeder.plan.InvalidFeedException;
import dev.stoker.flink.arguments.GivenOptions;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.schemas.kafka.ValueFormat;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.MemorySize;

/**
 * The valid options of a feed to a topic. {@link #parse} creates them from arguments; {@link TopicFeedPlan#of} resolves
 * them.
 *
 * @param feed the options that every feed has
 * @param target the topic
 * @param worldSize number of ranks that read the topic
 * @param lanes how the number of lanes and their order were chosen
 * @param throttle how far the feed may be ahead of which consumer groups
 * @param epochTime maximum time that trainers take for an epoch
 * @param replication replication factor of a topic that the feed creates; -1 for the default of the brokers
 * @param values the format of the records
 */
public record TopicFeedOptions(
        FeedOptions feed,
        KafkaTarget target,
        int worldSize,
        Lanes lanes,
        TopicFeedPlan.Throttle throttle,
        Duration epochTime,
        int replication,
        TopicFeedPlan.Values values) {

    /**
     * How the number of lanes and their order were chosen.
     *
     * @param isFree whether the user gave no number, so that the feed can reduce it
     * @param mayAmplify whether ranks may read each other's partitions
     */
    record Lanes(boolean isFree, boolean mayAmplify) {}

    /** Returns whether the arguments describe a feed to a topic: they have another target than the default. */
    public static boolean wanted(String[] args) {
        String usual = TopicFeedFlags.TO.defaultValue();
        for (int i = 0; i < args.length && !args[i].equals("--"); i++) {
            if (args[i].equals("--to")) {
                return i + 1 == args.length || !args[i + 1].equals(usual);
            }
            if (args[i].startsWith("--to=")) {
                return !args[i].equals("--to=" + usual);
            }
        }
        return false;
    }

    /**
     * Parses the arguments of a feed to trainers. Opens no dataset.
     *
     * @throws InvalidFeedException if arguments are invalid, or are those of a feed to a topic; the message names all
     *     errors
     */
    public static FeedOptions parseServed(String... args) {
        return FeedOptions.parse(arguments(FeedKind.TRAINERS, args));
    }

    /** Parses arguments, and refuses the options that only feeds to the other target have. */
    private static JobArguments arguments(FeedKind kind, String... args) {
        String advice = kind == FeedKind.TRAINERS
                ? "add --to kafka, or leave it out"
                : "a feed to Kafka has no server and no trainers, so leave it out";
        List<JobOption<?>> known = new ArrayList<>(FeedFlags.all());
        known.addAll(TopicFeedFlags.all());
        Map<JobOption<?>, String> refused = new LinkedHashMap<>();
        for (JobOption<?> option : known) {
            if (!option.isFor(kind)) {
                refused.put(
                        option,
                        "option " + option.flag() + " is for "
                                + option.kinds().iterator().next().plural() + "; " + advice);
            }
        }
        known.removeAll(refused.keySet());
        return JobArguments.parse(args, known, refused);
    }

    /**
     * Parses arguments. Opens no dataset.
     *
     * @throws InvalidFeedException if arguments are invalid; the message names all errors
     */
    public static TopicFeedOptions parse(String... args) {
        JobArguments arguments = arguments(FeedKind.KAFKA, args);
        GivenOptions options = arguments.options();
        List<String> problems = new ArrayList<>(arguments.problems());
        check(options, arguments.positional(), problems);
        if (!problems.isEmpty()) {
            throw new InvalidFeedException(problems);
        }
        int worldSize = options.get(TopicFeedFlags.WORLD_SIZE);
        boolean isFree = options.getOptional(FeedFlags.LANES).isEmpty();
        if (options.getOptional(FeedFlags.LANE_ORDER).isEmpty()) {
            options.set(FeedFlags.LANE_ORDER, LaneOrder.FIXED.text());
        }
        if (isFree) {
            int lanes = OrderSpec.defaults().lanes();
            options.set(FeedFlags.LANES, (lanes + worldSize - 1) / worldSize * worldSize);
        }
        return new TopicFeedOptions(
                FeedOptions.parse(arguments),
                target(options),
                worldSize,
                new Lanes(isFree, options.get(TopicFeedFlags.ALLOW_READ_AMPLIFICATION)),
                new TopicFeedPlan.Throttle(
                        options.get(TopicFeedFlags.THROTTLE_GROUPS),
                        options.get(TopicFeedFlags.EPOCHS_AHEAD),
                        options.getOptional(TopicFeedFlags.BYTES_AHEAD)
                                .map(MemorySize::getBytes)
                                .orElse(0L)),
                options.get(TopicFeedFlags.EPOCH_TIME),
                options.get(TopicFeedFlags.REPLICATION),
                new TopicFeedPlan.Values(
                        ValueFormat.named(options.get(TopicFeedFlags.VALUE_FORMAT))
                                .orElseThrow(),
                        options.getOptional(TopicFeedFlags.SCHEMA_REGISTRY).orElse(null),
                        -1));
    }

    private static void check(GivenOptions options, List<String> positional, List<String> problems) {
        if (!options.get(TopicFeedFlags.TO).equals("kafka")) {
            problems.add("option --to: '" + options.get(TopicFeedFlags.TO) + "' is not one of trainers, kafka");
        }
        for (JobOption<?> option : List.of(TopicFeedFlags.BOOTSTRAP, TopicFeedFlags.TOPIC, TopicFeedFlags.WORLD_SIZE)) {
            if (!options.contains(option)) {
                problems.add("option " + option.flag() + " is missing; a feed to Kafka requires it");
            }
        }
        options.check(TopicFeedFlags.WORLD_SIZE, problems::add);
        if (options.getOptional(TopicFeedFlags.WORLD_SIZE).orElse(1) > OrderSpec.MAX_LANES
                && options.getOptional(FeedFlags.LANES).isEmpty()) {
            problems.add("option --world-size: " + options.get(TopicFeedFlags.WORLD_SIZE)
                    + " ranks need as many lanes, but the maximum is " + OrderSpec.MAX_LANES + " lanes");
        }
        if (positional.size() > 1) {
            problems.add(positional.size() + " datasets are given; a topic holds one stream: start a feed for each");
        }
        checkChoice(options, TopicFeedFlags.DELIVERY, problems);
        options.check(TopicFeedFlags.MAX_RECORD_BYTES, problems::add);
        String format = options.get(TopicFeedFlags.VALUE_FORMAT);
        checkChoice(options, TopicFeedFlags.VALUE_FORMAT, problems);
        String registry = options.getOptional(TopicFeedFlags.SCHEMA_REGISTRY).orElse(null);
        if (registry != null && !format.equals("avro")) {
            problems.add(
                    "option --schema-registry: only records of Avro have a schema; give --value-format avro, or leave"
                            + " it out");
        }
        if (registry != null && !registry.matches("https?://.+")) {
            problems.add("option --schema-registry: '" + registry + "' is not an http:// or https:// address");
        }
        options.check(TopicFeedFlags.EPOCHS_AHEAD, problems::add);
        if (options.get(TopicFeedFlags.THROTTLE_GROUPS).isEmpty()
                && options.getOptional(FeedFlags.EPOCHS).isEmpty()) {
            problems.add("the topic would grow without limit: give --epochs N, or --throttle-groups GROUP with a"
                    + " consumer group to wait for");
        }
        int replication = options.get(TopicFeedFlags.REPLICATION);
        if (replication != -1 && (replication < 1 || replication > Short.MAX_VALUE)) {
            problems.add("option --replication-factor: " + replication + " is neither positive nor -1");
        }
        if (options.get(TopicFeedFlags.EPOCH_TIME).isNegative()
                || options.get(TopicFeedFlags.TRANSACTION_TIMEOUT).toMillis() < 1000) {
            problems.add(
                    "options --epoch-time and --transaction-timeout: expected a time, the latter of a second or more");
        }
    }

    private static void checkChoice(GivenOptions options, JobOption<String> option, List<String> problems) {
        if (!option.values().contains(options.get(option))) {
            problems.add("option " + option.flag() + ": '" + options.get(option) + "' is not one of "
                    + String.join(", ", option.values()));
        }
    }

    private static KafkaTarget target(GivenOptions options) {
        return new KafkaTarget(
                options.get(TopicFeedFlags.BOOTSTRAP),
                options.get(TopicFeedFlags.TOPIC),
                options.getOptional(TopicFeedFlags.KAFKA_CONFIG)
                        .map(file -> Path.of(file).toAbsolutePath().toString())
                        .orElse(null),
                options.get(TopicFeedFlags.DELIVERY).equals("exactly-once"),
                options.get(TopicFeedFlags.TRANSACTION_TIMEOUT).toMillis(),
                options.get(TopicFeedFlags.MAX_RECORD_BYTES));
    }
}
