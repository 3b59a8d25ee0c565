package dev.stoker.feeder.plan;

import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.flink.arguments.GivenOptions;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.metadata.version.VersionName;
import dev.stoker.metadata.version.VersionTimes;
import dev.stoker.schemas.condition.InvalidExpressionException;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.order.LaneOrder;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.ShufflePolicy;
import dev.stoker.server.feed.GroupSpec;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.feed.PortRange;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.security.FeedToken;
import dev.stoker.server.security.ServerSecurity;
import dev.stoker.server.security.TlsFiles;
import dev.stoker.server.tiers.files.CacheAccess;
import dev.stoker.server.tiers.files.CacheLifetime;
import dev.stoker.server.ui.StatusAddress;
import dev.stoker.storage.Stores;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.flink.configuration.MemorySize;
import org.jspecify.annotations.Nullable;

/** Parses arguments into the options of a feed and collects all problems. For one use. */
final class FeedOptionsParser {

    private final GivenOptions options;
    private final List<String> positional;
    private final List<String> problems;

    FeedOptionsParser(JobArguments arguments) {
        options = arguments.options();
        positional = arguments.positional();
        problems = new ArrayList<>(arguments.problems());
    }

    private static VersionName version(String text) {
        try {
            return new VersionName(text);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("option --version: " + e.getMessage(), e);
        }
    }

    FeedOptions parse() {
        if (positional.isEmpty()) {
            problems.add("no dataset is given: name at least one, as [name=]path[@version][:split]");
        }
        Optional<Instant> asOf =
                options.getOptional(FeedFlags.AS_OF).flatMap(text -> check(() -> VersionTimes.parse(text)));
        Optional<VersionName> named =
                options.getOptional(FeedFlags.VERSION).flatMap(text -> check(() -> version(text)));
        List<StreamArgument> typed = positional.stream()
                .map(text -> check(() -> StreamArgument.parse(text)))
                .flatMap(Optional::stream)
                .toList();
        if (named.isPresent() && asOf.isPresent()) {
            problems.add("--version and --as-of give two versions; leave one out");
        } else if (named.isPresent()
                && typed.stream().allMatch(stream -> stream.dataset().version().isPresent())) {
            problems.add("option --version: each stream has a version already; leave out --version or @version");
        }
        List<StreamArgument> streams = typed.stream()
                .map(stream -> named.map(stream::in).orElse(stream))
                .map(stream -> asOf.map(stream::asOf).orElse(stream))
                .toList();
        if (asOf.isPresent()
                && named.isEmpty()
                && streams.stream().noneMatch(stream -> stream.dataset().asOf().isPresent())) {
            problems.add("option --as-of: each stream has a version already; leave out --as-of or @version");
        }
        streams.stream()
                .collect(Collectors.groupingBy(StreamArgument::name, Collectors.counting()))
                .forEach((name, count) -> {
                    if (count > 1) {
                        problems.add(count + " streams are called " + name + ": name them, as in other=path:split");
                    }
                });
        boolean follow = options.get(FeedFlags.FOLLOW);
        if (follow && asOf.isPresent()) {
            problems.add("option --follow: --as-of fixes the version; leave out one of them");
        }
        for (StreamArgument stream : streams) {
            Optional<VersionName> version = stream.dataset().version();
            if (follow && version.isPresent()) {
                problems.add("option --follow: stream " + stream.name() + " is fixed to version " + version.get()
                        + ": leave out @" + version.get() + " or --follow");
            }
        }
        Optional<OrderSpec> order = check(this::order);
        check(() -> PortRange.parse(options.get(FeedFlags.PORT)));
        Optional<OnCorrupt> onCorrupt = choice(FeedFlags.ON_CORRUPT, OnCorrupt.values());
        List<FeedPlan.Group> groups = groups(streams);
        options.check(FeedFlags.EPOCHS, problems::add);
        options.check(FeedFlags.PARALLELISM, problems::add);
        check(this::reachable);
        Optional<FeedPlan.Tiers> tiers = tiers();
        check(() -> StatusAddress.parse(options.get(FeedFlags.UI)));
        options.getOptional(FeedFlags.LEDGER).ifPresent(ledger -> check(() -> Stores.normalize(ledger)));
        streams.forEach(stream -> check(() -> Stores.normalize(stream.path())));
        String name =
                streams.isEmpty() ? "feed" : check(() -> name(streams.get(0))).orElse("feed");
        check(() -> StokerHome.feedFile(name));
        if (!problems.isEmpty()) {
            throw new InvalidFeedException(problems);
        }
        return new FeedOptions(
                name,
                streams,
                follow ? FeedOptions.Following.FOLLOWS : FeedOptions.Following.PINNED,
                order.orElseThrow(),
                new FeedOptions.End(
                        groups, options.getOptional(FeedFlags.EPOCHS).orElse(0L), options.get(FeedFlags.IDLE_TIMEOUT)),
                onCorrupt.orElseThrow(),
                options.getOptional(FeedFlags.LEDGER),
                server(tiers.orElseThrow()),
                options.get(FeedFlags.UI),
                new FeedPlan.Work(
                        options.get(FeedFlags.CHECKPOINT_INTERVAL).toMillis(),
                        options.getOptional(FeedFlags.PARALLELISM).orElse(0)));
    }

    private OrderSpec order() {
        ShufflePolicy shuffle =
                choice(FeedFlags.SHUFFLE, ShufflePolicy.values()).orElse(ShufflePolicy.WINDOW);
        LaneOrder laneOrder = choice(FeedFlags.LANE_ORDER, LaneOrder.values()).orElse(LaneOrder.MIXED);
        return new OrderSpec(
                checked(FeedFlags.SEED),
                (int) checked(FeedFlags.BATCH_SIZE),
                (int) checked(FeedFlags.LANES),
                options.get(FeedFlags.SHUFFLE_WINDOW).getBytes(),
                shuffle,
                laneOrder,
                where());
    }

    private String where() {
        String condition = options.getOptional(FeedFlags.WHERE).orElse("");
        try {
            return condition.isEmpty() ? "" : RowExpression.parse(condition).canonical();
        } catch (InvalidExpressionException e) {
            problems.add("option --where: " + e.getMessage());
            return "";
        }
    }

    private List<FeedPlan.Group> groups(List<StreamArgument> streams) {
        List<FeedPlan.Group> groups = new ArrayList<>();
        for (String text : options.get(FeedFlags.GROUPS)) {
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
                options.get(FeedFlags.BIND),
                defaults.ports(),
                Optional.empty(),
                access(),
                (int) checked(FeedFlags.MAX_SESSIONS),
                workingMemory(),
                defaults.maxMappings(),
                defaults.maxPendingReceipts(),
                defaults.tiers(),
                defaults.linger());
    }

    /** Returns which files protect the feed. Only the feeder reads the files. */
    private ServerSecurity access() {
        Optional<String> certificate = options.getOptional(FeedFlags.TLS_CERT);
        Optional<String> key = options.getOptional(FeedFlags.TLS_KEY);
        Optional<String> clientCa = options.getOptional(FeedFlags.TLS_CLIENT_CA);
        if (certificate.isPresent() != key.isPresent()) {
            throw new IllegalArgumentException("options --tls-cert and --tls-key: only one is given; give both");
        }
        if (clientCa.isPresent() && certificate.isEmpty()) {
            throw new IllegalArgumentException(
                    "option --tls-client-ca: the feeder also needs a certificate: give --tls-cert FILE and --tls-key"
                            + " FILE");
        }
        return new ServerSecurity(
                options.getOptional(FeedFlags.TOKEN_FILE).map(file -> FeedToken.of(file)),
                certificate.map(
                        file -> new TlsFiles(Path.of(file), Path.of(key.orElseThrow()), clientCa.map(Path::of))),
                options.get(FeedFlags.INSECURE));
    }

    private @Nullable String file(JobOption<String> option) {
        return options.getOptional(option)
                .map(file -> Path.of(file).toAbsolutePath().toString())
                .orElse(null);
    }

    private long workingMemory() {
        return options.getOptional(FeedFlags.WORKING_MEMORY)
                .map(MemorySize::getBytes)
                .orElse(ServerOptions.AUTO_MEMORY);
    }

    private Optional<FeedPlan.Tiers> tiers() {
        Optional<CacheLifetime> lifetime = choice(FeedFlags.CACHE_LIFETIME, CacheLifetime.values());
        Optional<CacheAccess> access = choice(FeedFlags.CACHE_ACCESS, CacheAccess.values());
        return check(() -> {
            FeedPlan.Tiers tiers = new FeedPlan.Tiers(
                    options.get(FeedFlags.TIER),
                    lifetime.orElse(CacheLifetime.FEED),
                    access.orElse(CacheAccess.USER),
                    options.get(FeedFlags.WARM),
                    options.getOptional(FeedFlags.ORIGIN_BANDWIDTH)
                            .map(MemorySize::getBytes)
                            .orElse(0L),
                    (int) checked(FeedFlags.ORIGIN_CONCURRENCY));
            tiers.options();
            return tiers;
        });
    }

    private FeedPlan.Server server(FeedPlan.Tiers tiers) {
        return new FeedPlan.Server(
                options.get(FeedFlags.BIND),
                options.get(FeedFlags.PORT),
                options.getOptional(FeedFlags.ADVERTISE).orElse(null),
                new FeedPlan.Security(
                        file(FeedFlags.TOKEN_FILE),
                        file(FeedFlags.TLS_CERT),
                        file(FeedFlags.TLS_KEY),
                        file(FeedFlags.TLS_CLIENT_CA),
                        options.get(FeedFlags.INSECURE)),
                options.get(FeedFlags.MAX_SESSIONS),
                workingMemory(),
                tiers);
    }

    private String name(StreamArgument first) {
        return options.getOptional(FeedFlags.NAME)
                .orElseGet(() -> Stores.name(first.path()).orElse("feed").replaceAll("[^A-Za-z0-9_.-]", "_"));
    }

    /** Returns the value of an option; the nearest valid one for another, so that all options are checked. */
    private <N extends Number> long checked(JobOption<N> option) {
        options.check(option, problems::add);
        return option.nearest(options.get(option));
    }

    private <T> Optional<T> check(Supplier<T> value) {
        try {
            return Optional.of(value.get());
        } catch (IllegalArgumentException e) {
            problems.add(e.getMessage());
            return Optional.empty();
        }
    }

    private <E extends Enum<E>> Optional<E> choice(JobOption<String> option, E[] values) {
        String text = options.get(option);
        for (E value : values) {
            if (value.name().equalsIgnoreCase(text)) {
                return Optional.of(value);
            }
        }
        List<String> names = new ArrayList<>();
        for (E value : values) {
            names.add(value.name().toLowerCase(Locale.ROOT));
        }
        problems.add("option " + option.flag() + ": '" + text + "' is not one of " + String.join(", ", names));
        return Optional.empty();
    }
}
