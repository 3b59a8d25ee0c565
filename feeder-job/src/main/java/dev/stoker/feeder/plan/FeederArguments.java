package dev.stoker.feeder.plan;

import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.server.feed.GroupSpec;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.feed.PortRange;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.security.FeedToken;
import dev.stoker.server.security.ServerSecurity;
import dev.stoker.server.security.TlsFiles;
import dev.stoker.server.tiers.CacheAccess;
import dev.stoker.server.tiers.CacheLifetime;
import dev.stoker.server.ui.StatusAddress;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
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
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.jspecify.annotations.Nullable;

/**
 * The arguments of a feed, checked and resolved: the datasets are open, the versions are pinned and the lanes are
 * counted.
 *
 * @param plan the feed
 * @param checkpointInterval time between checkpoints
 * @param wantedParallelism number of feeder subtasks, if given
 */
public record FeederArguments(FeedPlan plan, Duration checkpointInterval, OptionalInt wantedParallelism) {

    /**
     * Parses and resolves arguments.
     *
     * @throws InvalidFeedException if arguments are invalid; the message names all errors
     * @throws IOException if a dataset cannot be opened
     */
    public static FeederArguments parse(String[] args) throws IOException {
        JobArguments arguments = JobArguments.parse(args, FeederOptions.PREFIX, FeederOptions.all());
        return new Resolution(arguments).resolve();
    }

    /**
     * Returns the number of subtasks: the requested number, else Flink's default parallelism, but at most one per lane.
     */
    public int parallelism(int configured) {
        int lanes = plan.streams().stream().mapToInt(FeedPlan.Stream::lanes).sum();
        return Math.max(1, Math.min(lanes, wantedParallelism.orElse(configured)));
    }

    /** One pass over the arguments, which collects all errors. */
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
            boolean follow = options.get(FeederOptions.FOLLOW);
            for (StreamArgument stream : streams) {
                if (follow && stream.version().isPresent()) {
                    problems.add("option --follow: stream " + stream.name() + " is fixed to version "
                            + stream.version().getAsLong() + ": leave out @"
                            + stream.version().getAsLong() + " or --follow");
                }
            }
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
            Optional<FeedPlan.Tiers> tiers = tiers();
            check(() -> StatusAddress.parse(options.get(FeederOptions.UI)));
            options.getOptional(FeederOptions.LEDGER).ifPresent(ledger -> check(() -> Stores.normalize(ledger)));
            streams.forEach(stream -> check(() -> Stores.normalize(stream.path())));
            String name = streams.isEmpty()
                    ? "feed"
                    : check(() -> name(streams.get(0))).orElse("feed");
            check(() -> StokerHome.feedFile(name));
            if (!problems.isEmpty()) {
                throw new InvalidFeedException(problems);
            }
            List<FeedPlan.Stream> resolved = new ArrayList<>();
            for (StreamArgument stream : streams) {
                resolved.add(open(stream, order.orElseThrow(), follow));
            }
            UUID id = id(name, resolved);
            if (follow) {
                LedgerPlace.requireChoices(resolved, id);
            }
            FeedPlan plan = new FeedPlan(
                    name,
                    id,
                    resolved,
                    order.orElseThrow().toJson(),
                    groups,
                    epochs,
                    onCorrupt.orElseThrow(),
                    LedgerPlace.require(options.getOptional(FeederOptions.LEDGER), resolved.get(0), id),
                    options.get(FeederOptions.IDLE_TIMEOUT).toMillis(),
                    server(tiers.orElseThrow()),
                    options.get(FeederOptions.UI));
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

        /** Checks that the bind address is not reachable from other machines without protection. */
        private Object reachable() {
            ServerOptions defaults = ServerOptions.defaults();
            return new ServerOptions(
                    options.get(FeederOptions.BIND),
                    defaults.ports(),
                    Optional.empty(),
                    access(),
                    options.get(FeederOptions.MAX_SESSIONS),
                    workingMemory(),
                    defaults.maxMappings(),
                    defaults.maxPendingReceipts(),
                    defaults.tiers(),
                    defaults.linger());
        }

        /** Returns which files protect the feed. Only the feeder reads the files. */
        private ServerSecurity access() {
            Optional<String> certificate = options.getOptional(FeederOptions.TLS_CERT);
            Optional<String> key = options.getOptional(FeederOptions.TLS_KEY);
            Optional<String> clientCa = options.getOptional(FeederOptions.TLS_CLIENT_CA);
            if (certificate.isPresent() != key.isPresent()) {
                throw new IllegalArgumentException("options --tls-cert and --tls-key: only one is given; give both");
            }
            if (clientCa.isPresent() && certificate.isEmpty()) {
                throw new IllegalArgumentException(
                        "option --tls-client-ca: the feeder also needs a certificate: give --tls-cert and --tls-key");
            }
            return new ServerSecurity(
                    options.getOptional(FeederOptions.TOKEN_FILE).map(file -> FeedToken.of(file)),
                    certificate.map(
                            file -> new TlsFiles(Path.of(file), Path.of(key.orElseThrow()), clientCa.map(Path::of))),
                    options.get(FeederOptions.INSECURE));
        }

        private @Nullable String file(ConfigOption<String> option) {
            return options.getOptional(option)
                    .map(file -> Path.of(file).toAbsolutePath().toString())
                    .orElse(null);
        }

        private long workingMemory() {
            return options.getOptional(FeederOptions.WORKING_MEMORY)
                    .map(MemorySize::getBytes)
                    .orElse(ServerOptions.AUTO_MEMORY);
        }

        private Optional<FeedPlan.Tiers> tiers() {
            Optional<CacheLifetime> lifetime = choice(
                    FeederOptions.CACHE_LIFETIME.key(),
                    options.get(FeederOptions.CACHE_LIFETIME),
                    CacheLifetime.values());
            Optional<CacheAccess> access = choice(
                    FeederOptions.CACHE_ACCESS.key(), options.get(FeederOptions.CACHE_ACCESS), CacheAccess.values());
            return check(() -> {
                FeedPlan.Tiers tiers = new FeedPlan.Tiers(
                        options.get(FeederOptions.TIER),
                        lifetime.orElse(CacheLifetime.FEED),
                        access.orElse(CacheAccess.USER),
                        options.get(FeederOptions.WARM),
                        options.getOptional(FeederOptions.ORIGIN_BANDWIDTH)
                                .map(MemorySize::getBytes)
                                .orElse(0L),
                        options.get(FeederOptions.ORIGIN_CONCURRENCY));
                tiers.options();
                return tiers;
            });
        }

        private FeedPlan.Server server(FeedPlan.Tiers tiers) {
            return new FeedPlan.Server(
                    options.get(FeederOptions.BIND),
                    options.get(FeederOptions.PORT),
                    options.getOptional(FeederOptions.ADVERTISE).orElse(null),
                    new FeedPlan.Security(
                            file(FeederOptions.TOKEN_FILE),
                            file(FeederOptions.TLS_CERT),
                            file(FeederOptions.TLS_KEY),
                            file(FeederOptions.TLS_CLIENT_CA),
                            options.get(FeederOptions.INSECURE)),
                    options.get(FeederOptions.MAX_SESSIONS),
                    workingMemory(),
                    tiers);
        }

        private String name(StreamArgument first) {
            return options.getOptional(FeederOptions.NAME)
                    .orElseGet(() -> Stores.name(first.path()).orElse("feed").replaceAll("[^A-Za-z0-9_.-]", "_"));
        }

        private static FeedPlan.Stream open(StreamArgument stream, OrderSpec order, boolean follow) throws IOException {
            String location = Stores.normalize(stream.path());
            try (ObjectStore store = Stores.open(location)) {
                Dataset dataset = Dataset.open(store);
                Snapshot snapshot = stream.version().isPresent()
                        ? dataset.snapshot(stream.version().getAsLong())
                        : dataset.snapshot();
                StreamChunks chunks = snapshot.stream(stream.split());
                return new FeedPlan.Stream(
                        stream.name(),
                        location,
                        dataset.info().id(),
                        snapshot.version(),
                        stream.split(),
                        new StreamOrder(chunks, order).lanes(),
                        follow);
            }
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
     * Returns the id of a feed: a version 5 UUID of its name and its datasets. A feed that is started again under the
     * same name over the same datasets therefore continues its ledger.
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
