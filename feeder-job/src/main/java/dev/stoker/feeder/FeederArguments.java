package dev.stoker.feeder;

import dev.stoker.connectors.options.JobArguments;
import dev.stoker.feeder.node.GroupSpec;
import dev.stoker.feeder.node.OnCorrupt;
import dev.stoker.feeder.node.PortRange;
import dev.stoker.feeder.node.ServerOptions;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.storage.LocalObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.UUID;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;

/**
 * The arguments of a feed, checked and resolved: datasets are opened, versions pinned, lanes counted.
 *
 * @param plan the feed
 * @param checkpointInterval time between checkpoints
 * @param wantedParallelism feeder subtasks, if given
 */
public record FeederArguments(FeedPlan plan, Duration checkpointInterval, OptionalInt wantedParallelism) {

    /**
     * Parses and resolves arguments.
     *
     * @throws InvalidFeedException naming everything that is wrong
     * @throws IOException if a dataset cannot be opened
     */
    public static FeederArguments parse(String[] args) throws IOException {
        JobArguments arguments = JobArguments.parse(args, FeederOptions.PREFIX, FeederOptions.all());
        return new Resolution(arguments).resolve();
    }

    /** Subtasks to run: as wanted, else as Flink is configured to, at most one a lane. */
    public int parallelism(int configured) {
        int lanes = plan.streams().stream().mapToInt(FeedPlan.Stream::lanes).sum();
        return Math.max(1, Math.min(lanes, wantedParallelism.orElse(configured)));
    }

    /** One pass over the arguments that collects what is wrong. */
    private static final class Resolution {
        private final Configuration options;
        private final List<String> positional;
        private final List<String> problems;

        Resolution(JobArguments arguments) {
            options = arguments.options();
            positional = arguments.positional();
            problems = new ArrayList<>(arguments.problems());
        }

        FeederArguments resolve() throws IOException {
            if (positional.isEmpty()) {
                problems.add("no dataset is given: name at least one, as [name=]path[@version][:split]");
            }
            List<StreamArgument> streams = positional.stream()
                    .map(text -> check(() -> StreamArgument.parse(text)))
                    .flatMap(Optional::stream)
                    .toList();
            streams.stream()
                    .collect(Collectors.groupingBy(StreamArgument::name, Collectors.counting()))
                    .forEach((name, count) -> {
                        if (count > 1) {
                            problems.add(count + " streams are called " + name + ": name them, as in other=path:split");
                        }
                    });
            Optional<OrderSpec> order = check(this::order);
            check(() -> PortRange.parse(options.get(FeederOptions.PORT)));
            Optional<OnCorrupt> onCorrupt =
                    choice(FeederOptions.ON_CORRUPT.key(), options.get(FeederOptions.ON_CORRUPT), OnCorrupt.values());
            List<FeedPlan.Group> groups = groups(streams);
            long epochs = options.getOptional(FeederOptions.EPOCHS).orElse(0L);
            if (options.getOptional(FeederOptions.EPOCHS).isPresent() && epochs < 1) {
                problems.add("option --epochs: " + epochs + " is not positive");
            }
            int parallelism = options.getOptional(FeederOptions.PARALLELISM).orElse(1);
            if (parallelism < 1) {
                problems.add("option --parallelism: " + parallelism + " is not positive");
            }
            check(this::reachable);
            String name = streams.isEmpty() ? "feed" : name(streams.get(0));
            check(() -> StokerHome.feedFile(name));
            if (!problems.isEmpty()) {
                throw new InvalidFeedException(problems);
            }
            List<FeedPlan.Stream> resolved = new ArrayList<>();
            for (StreamArgument stream : streams) {
                resolved.add(open(stream, order.orElseThrow()));
            }
            UUID id = id(name, resolved);
            FeedPlan plan = new FeedPlan(
                    name,
                    id,
                    resolved,
                    order.orElseThrow().toJson(),
                    groups,
                    epochs,
                    onCorrupt.orElseThrow(),
                    ledger(resolved.get(0), id),
                    options.get(FeederOptions.IDLE_TIMEOUT).toMillis(),
                    server());
            return new FeederArguments(
                    plan,
                    options.get(FeederOptions.CHECKPOINT_INTERVAL),
                    options.getOptional(FeederOptions.PARALLELISM)
                            .map(OptionalInt::of)
                            .orElse(OptionalInt.empty()));
        }

        private OrderSpec order() {
            ShufflePolicy shuffle = choice("shuffle", options.get(FeederOptions.SHUFFLE), ShufflePolicy.values())
                    .orElse(ShufflePolicy.WINDOW);
            LaneOrder laneOrder = choice("lane-order", options.get(FeederOptions.LANE_ORDER), LaneOrder.values())
                    .orElse(LaneOrder.MIXED);
            return new OrderSpec(
                    options.get(FeederOptions.SEED),
                    options.get(FeederOptions.BATCH_SIZE),
                    options.get(FeederOptions.LANES),
                    options.get(FeederOptions.SHUFFLE_WINDOW).getBytes(),
                    shuffle,
                    laneOrder);
        }

        private List<FeedPlan.Group> groups(List<StreamArgument> streams) {
            List<FeedPlan.Group> groups = new ArrayList<>();
            for (String text : options.get(FeederOptions.GROUPS)) {
                int slash = text.indexOf('/');
                String stream = slash < 0 ? text : text.substring(0, slash);
                String group = slash < 0 ? GroupSpec.DEFAULT_GROUP : text.substring(slash + 1);
                if (streams.stream().noneMatch(s -> s.name().equals(stream))) {
                    problems.add("option --groups: there is no stream " + stream);
                }
                groups.add(new FeedPlan.Group(stream, group));
            }
            return groups;
        }

        /** Whether the bind address and its protection go together. */
        private Object reachable() {
            ServerOptions defaults = ServerOptions.defaults();
            boolean token = options.getOptional(FeederOptions.TOKEN_FILE).isPresent();
            return new ServerOptions(
                    options.get(FeederOptions.BIND),
                    defaults.ports(),
                    Optional.empty(),
                    token ? Optional.of("from the file") : Optional.empty(),
                    options.get(FeederOptions.INSECURE),
                    options.get(FeederOptions.MAX_SESSIONS),
                    options.get(FeederOptions.WORKING_MEMORY).getBytes(),
                    defaults.maxMappings(),
                    defaults.maxPendingReceipts(),
                    defaults.linger());
        }

        private FeedPlan.Server server() {
            return new FeedPlan.Server(
                    options.get(FeederOptions.BIND),
                    options.get(FeederOptions.PORT),
                    options.getOptional(FeederOptions.ADVERTISE).orElse(null),
                    options.getOptional(FeederOptions.TOKEN_FILE)
                            .map(file -> Path.of(file).toAbsolutePath().toString())
                            .orElse(null),
                    options.get(FeederOptions.INSECURE),
                    options.get(FeederOptions.MAX_SESSIONS),
                    options.get(FeederOptions.WORKING_MEMORY).getBytes());
        }

        private String name(StreamArgument first) {
            Path last = Path.of(first.path()).toAbsolutePath().normalize().getFileName();
            return options.getOptional(FeederOptions.NAME)
                    .orElseGet(() -> last == null ? "feed" : last.toString().replaceAll("[^A-Za-z0-9_.-]", "_"));
        }

        private static FeedPlan.Stream open(StreamArgument stream, OrderSpec order) throws IOException {
            Path path = Path.of(stream.path()).toAbsolutePath().normalize();
            try (ObjectStore store = new LocalObjectStore(path)) {
                Dataset dataset = Dataset.open(store);
                Snapshot snapshot = stream.version().isPresent()
                        ? dataset.snapshot(stream.version().getAsLong())
                        : dataset.snapshot();
                StreamChunks chunks = snapshot.stream(stream.split());
                return new FeedPlan.Stream(
                        stream.name(),
                        path.toString(),
                        dataset.info().id(),
                        snapshot.version(),
                        stream.split(),
                        new StreamOrder(chunks, order).lanes());
            }
        }

        private String ledger(FeedPlan.Stream first, UUID id) throws IOException {
            Optional<String> given = options.getOptional(FeederOptions.LEDGER);
            Path path = given.map(Path::of)
                    .orElseGet(() -> Path.of(first.path(), "_stoker", "feeds", id.toString(), "ledger"))
                    .toAbsolutePath();
            try {
                Files.createDirectories(path);
            } catch (IOException e) {
                throw new IOException(
                        "the ledger cannot be written to " + path + "; give --ledger <directory> for another place", e);
            }
            if (!Files.isWritable(path)) {
                throw new IOException("the ledger's directory " + path
                        + " is not writable; give --ledger <directory> for another place");
            }
            return path.toUri().toString();
        }

        private <T> Optional<T> check(Supplier<T> value) {
            try {
                return Optional.of(value.get());
            } catch (IllegalArgumentException e) {
                problems.add(e.getMessage());
                return Optional.empty();
            }
        }

        private <E extends Enum<E>> Optional<E> choice(String what, String text, E[] values) {
            for (E value : values) {
                if (value.name().equalsIgnoreCase(text)) {
                    return Optional.of(value);
                }
            }
            List<String> names = new ArrayList<>();
            for (E value : values) {
                names.add(value.name().toLowerCase(Locale.ROOT));
            }
            problems.add("option --" + what.replace(FeederOptions.PREFIX, "") + ": '" + text + "' is not one of "
                    + String.join(", ", names));
            return Optional.empty();
        }
    }

    /**
     * The id of a feed: a UUID of version 5 over its name and its datasets, so that a feed that is started again under the
     * same name over the same datasets goes on with its ledger.
     */
    static UUID id(String name, List<FeedPlan.Stream> streams) {
        String text = "stoker-feed\n" + name + "\n"
                + streams.stream()
                        .map(stream -> stream.dataset().toString())
                        .sorted()
                        .collect(Collectors.joining(","));
        byte[] digest;
        try {
            digest = MessageDigest.getInstance("SHA-1").digest(text.getBytes(StandardCharsets.UTF_8));
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-1", e);
        }
        ByteBuffer bytes = ByteBuffer.wrap(digest);
        long high = (bytes.getLong() & ~0xF000L) | 0x5000L;
        long low = (bytes.getLong() & 0x3FFFFFFFFFFFFFFFL) | 0x8000000000000000L;
        return new UUID(high, low);
    }
}
