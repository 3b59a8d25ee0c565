package dev.stoker.feeder.plan;

import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.GroupSpec;
import dev.stoker.server.feed.OnCorrupt;
import dev.stoker.server.feed.PortRange;
import dev.stoker.server.feed.ServerOptions;
import dev.stoker.server.feed.StreamSpec;
import dev.stoker.server.security.FeedToken;
import dev.stoker.server.security.ServerSecurity;
import dev.stoker.server.security.TlsFiles;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.tiers.TierSpec;
import dev.stoker.server.tiers.files.CacheAccess;
import dev.stoker.server.tiers.files.CacheLifetime;
import java.io.IOException;
import java.io.Serializable;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A feed with everything resolved: versions, lanes, addresses. It travels in the job graph, so it holds plain
 * values and the names of the files with token and key, never what is in them.
 *
 * @param name name of the feed
 * @param id id of the feed
 * @param streams its streams
 * @param order default order spec as JSON
 * @param groups groups that must finish, as pairs of stream and group
 * @param epochs epochs to serve; 0 = without end
 * @param onCorrupt what happens on damage that reading again does not heal
 * @param ledger directory or URI of the ledger
 * @param idleTimeoutMs milliseconds without trainers after which the feed ends; 0 = never
 * @param server how servers listen
 * @param ui where servers show how they stand, as {@link dev.stoker.server.ui.StatusAddress} reads it
 * @param work parallelism and checkpoints
 */
public record FeedPlan(
        String name,
        UUID id,
        List<Stream> streams,
        String order,
        List<Group> groups,
        long epochs,
        OnCorrupt onCorrupt,
        String ledger,
        long idleTimeoutMs,
        Server server,
        String ui,
        Work work)
        implements Serializable {

    /**
     * One stream; {@code path} is a directory or a URI, {@code lanes} is its number of lanes under the default order
     * spec. It is pinned to its version, or {@code follow}s its dataset from there on.
     */
    public record Stream(String name, String path, UUID dataset, long version, String split, int lanes, boolean follow)
            implements Serializable {}

    /**
     * Parallelism and checkpoints.
     *
     * @param checkpointIntervalMs time between checkpoints
     * @param parallelism feeder subtasks; 0 for Flink's configured parallelism
     */
    public record Work(long checkpointIntervalMs, int parallelism) implements Serializable {}

    /** A group that must finish before the feed ends. */
    public record Group(String stream, String name) implements Serializable {}

    /** How servers listen; null where an option is not given, 0 for as much working memory as is needed. */
    public record Server(
            String bind,
            String ports,
            @Nullable String advertised,
            Security security,
            int maxSessions,
            long workingMemoryBytes,
            Tiers tiers)
            implements Serializable {}

    /**
     * What servers keep of origins: tiers as they were written, empty for what suits; 0 for no limit of bytes a second.
     */
    public record Tiers(
            List<String> tiers,
            CacheLifetime lifetime,
            CacheAccess access,
            boolean warm,
            long originBytesPerSecond,
            int originConcurrency)
            implements Serializable {
        public Tiers {
            tiers = List.copyOf(tiers);
        }

        /**
         * The same, understood.
         *
         * @throws IllegalArgumentException saying what is wrong
         */
        public TierOptions options() {
            return new TierOptions(
                    tiers.isEmpty() ? Optional.empty() : Optional.of(TierSpec.parse(tiers)),
                    lifetime,
                    access,
                    warm,
                    originBytesPerSecond,
                    originConcurrency);
        }
    }

    /** Who may come in: names of files on every feeder machine, null where an option is not given. */
    public record Security(
            @Nullable String tokenFile,
            @Nullable String tlsCert,
            @Nullable String tlsKey,
            @Nullable String tlsClientCa,
            boolean insecure)
            implements Serializable {

        /**
         * Reads what is in the files.
         *
         * @throws IOException if one cannot be used on this machine
         */
        public ServerSecurity access() throws IOException {
            Optional<FeedToken> token =
                    tokenFile == null ? Optional.empty() : Optional.of(FeedToken.file(Path.of(tokenFile)));
            Optional<TlsFiles> tls = tlsCert == null
                    ? Optional.empty()
                    : Optional.of(new TlsFiles(
                            Path.of(tlsCert),
                            Path.of(tlsKey),
                            Optional.ofNullable(tlsClientCa).map(Path::of)));
            return new ServerSecurity(token, tls, insecure);
        }
    }

    public FeedPlan {
        streams = List.copyOf(streams);
        groups = List.copyOf(groups);
    }

    /**
     * Resolves the options of a feed: versions, lanes, the ledger.
     *
     * @throws IOException if a dataset cannot be opened, or the ledger cannot be written
     */
    public static FeedPlan of(FeedOptions options) throws IOException {
        return FeedResolution.plan(options);
    }

    /** Returns the streams as the register of running feeds lists them. */
    public List<StreamSpec> entries() {
        return spec().streams();
    }

    /** The time between checkpoints. */
    public Duration checkpointInterval() {
        return Duration.ofMillis(work.checkpointIntervalMs());
    }

    /**
     * Returns the number of subtasks: the requested number, else Flink's configured parallelism, but at most one for
     * each lane.
     */
    public int parallelism(int configured) {
        int lanes = streams.stream().mapToInt(Stream::lanes).sum();
        return Math.max(1, Math.min(lanes, work.parallelism() == 0 ? configured : work.parallelism()));
    }

    /** The same feed under an order of fewer lanes. */
    public FeedPlan withLanes(int lanes) {
        OrderSpec spec = OrderSpec.fromJson(order).withLanes(lanes);
        List<Stream> fewer = streams.stream()
                .map(s -> new Stream(
                        s.name(),
                        s.path(),
                        s.dataset(),
                        s.version(),
                        s.split(),
                        Math.min(lanes, s.lanes()),
                        s.follow()))
                .toList();
        return new FeedPlan(
                name, id, fewer, spec.toJson(), groups, epochs, onCorrupt, ledger, idleTimeoutMs, server, ui, work);
    }

    /** What a node serves. */
    public FeedSpec spec() {
        return new FeedSpec(
                id,
                name,
                streams.stream()
                        .map(s -> new StreamSpec(s.name(), s.path(), s.dataset(), s.version(), s.split(), s.follow()))
                        .toList(),
                order,
                groups.stream().map(g -> new GroupSpec(g.stream(), g.name())).toList(),
                epochs == 0 ? OptionalLong.empty() : OptionalLong.of(epochs),
                onCorrupt);
    }

    /**
     * How a node listens.
     *
     * @throws IOException if the token file cannot be used on this machine
     */
    public ServerOptions serverOptions() throws IOException {
        ServerOptions defaults = ServerOptions.defaults();
        return new ServerOptions(
                server.bind(),
                PortRange.parse(server.ports()),
                Optional.ofNullable(server.advertised()),
                server.security().access(),
                server.maxSessions(),
                server.workingMemoryBytes(),
                defaults.maxMappings(),
                defaults.maxPendingReceipts(),
                server.tiers().options(),
                // A restarted task comes back within Flink's restart delay; the job's own end closes the node at once.
                Duration.ofSeconds(30));
    }
}
