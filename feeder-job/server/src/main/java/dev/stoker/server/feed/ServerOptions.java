package dev.stoker.server.feed;

import dev.stoker.server.security.FeedToken;
import dev.stoker.server.security.ServerSecurity;
import dev.stoker.server.tiers.TierOptions;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * How a node listens and what it may use.
 *
 * @param bind host name or address to listen on
 * @param ports ports to try
 * @param advertised host that trainers are told, when it differs from {@code bind}
 * @param access who may come in
 * @param maxSessions sessions at a time; more are refused
 * @param workingMemoryBytes limit of the open windows of all streams and groups together, and as much again for chunks
 *     of them that are not mapped; {@link #AUTO_MEMORY} for what they need
 * @param maxMappings chunk files mapped at a time
 * @param maxPendingReceipts receipts kept until they are durable
 * @param tiers what is kept of origins that are far
 * @param linger how long a node stays up after its last lease was closed, so that a restarted task finds it warm
 */
public record ServerOptions(
        String bind,
        PortRange ports,
        Optional<String> advertised,
        ServerSecurity access,
        int maxSessions,
        long workingMemoryBytes,
        int maxMappings,
        int maxPendingReceipts,
        TierOptions tiers,
        Duration linger) {
    /** As much working memory as the windows need. */
    public static final long AUTO_MEMORY = 0;

    /** The open windows' limit where no other is given; heads are small. */
    private static final long DEFAULT_WINDOWS = 1L << 30;

    public ServerOptions {
        Objects.requireNonNull(bind, "bind");
        Objects.requireNonNull(ports, "ports");
        Objects.requireNonNull(advertised, "advertised");
        Objects.requireNonNull(access, "access");
        Objects.requireNonNull(tiers, "tiers");
        Objects.requireNonNull(linger, "linger");
        if (maxSessions < 1 || maxMappings < 1 || maxPendingReceipts < 1 || workingMemoryBytes < 0) {
            throw new IllegalArgumentException("limits must be positive: sessions " + maxSessions + ", mappings "
                    + maxMappings + ", pending receipts " + maxPendingReceipts + ", working memory "
                    + workingMemoryBytes + " bytes");
        }
        access.check(bind);
    }

    /** Loopback, port 7420, no token. */
    public static ServerOptions defaults() {
        return new ServerOptions(
                "127.0.0.1",
                PortRange.DEFAULT,
                Optional.empty(),
                ServerSecurity.open(),
                1024,
                AUTO_MEMORY,
                8192,
                1 << 20,
                TierOptions.defaults(),
                Duration.ofSeconds(30));
    }

    /** The same, telling trainers this host unless another is configured. */
    public ServerOptions withHost(String host) {
        return new ServerOptions(
                bind,
                ports,
                advertised.or(() -> Optional.of(host)),
                access,
                maxSessions,
                workingMemoryBytes,
                maxMappings,
                maxPendingReceipts,
                tiers,
                linger);
    }

    /** Limit of the open windows. */
    public long windowBytes() {
        return workingMemoryBytes == AUTO_MEMORY ? DEFAULT_WINDOWS : workingMemoryBytes;
    }

    public ServerOptions withPorts(PortRange other) {
        return new ServerOptions(
                bind,
                other,
                advertised,
                access,
                maxSessions,
                workingMemoryBytes,
                maxMappings,
                maxPendingReceipts,
                tiers,
                linger);
    }

    public ServerOptions withToken(String secret) {
        return withAccess(new ServerSecurity(Optional.of(FeedToken.of(secret)), access.tls(), access.insecure()));
    }

    public ServerOptions withAccess(ServerSecurity other) {
        return new ServerOptions(
                bind,
                ports,
                advertised,
                other,
                maxSessions,
                workingMemoryBytes,
                maxMappings,
                maxPendingReceipts,
                tiers,
                linger);
    }

    public ServerOptions withLinger(Duration other) {
        return new ServerOptions(
                bind,
                ports,
                advertised,
                access,
                maxSessions,
                workingMemoryBytes,
                maxMappings,
                maxPendingReceipts,
                tiers,
                other);
    }

    public ServerOptions withLimits(int sessions, long workingBytes, int mappings, int pendingReceipts) {
        return new ServerOptions(
                bind, ports, advertised, access, sessions, workingBytes, mappings, pendingReceipts, tiers, linger);
    }

    public ServerOptions withTiers(TierOptions other) {
        return new ServerOptions(
                bind,
                ports,
                advertised,
                access,
                maxSessions,
                workingMemoryBytes,
                maxMappings,
                maxPendingReceipts,
                other,
                linger);
    }

    @Override
    public String toString() {
        return "ServerOptions[" + bind + ":" + ports + (access.token().isPresent() ? ", token" : "")
                + (access.tls().isPresent() ? ", TLS" : "") + "]";
    }
}
