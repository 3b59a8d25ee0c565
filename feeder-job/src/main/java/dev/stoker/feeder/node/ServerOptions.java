package dev.stoker.feeder.node;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * How a node listens and what it may use.
 *
 * @param bind host name or address to listen on
 * @param ports ports to try
 * @param advertised host that trainers are told, when it differs from {@code bind}
 * @param token secret that trainers must present
 * @param insecure whether a bind beyond loopback without a token is wanted
 * @param maxSessions sessions at a time; more are refused
 * @param workingMemoryBytes limit of the open windows of all streams and groups together
 * @param maxMappings chunk files mapped at a time
 * @param maxPendingReceipts receipts kept until they are durable
 * @param linger how long a node stays up after its last lease was closed, so that a restarted task finds it warm
 */
public record ServerOptions(
        String bind,
        PortRange ports,
        Optional<String> advertised,
        Optional<String> token,
        boolean insecure,
        int maxSessions,
        long workingMemoryBytes,
        int maxMappings,
        int maxPendingReceipts,
        Duration linger) {
    public ServerOptions {
        Objects.requireNonNull(bind, "bind");
        Objects.requireNonNull(ports, "ports");
        Objects.requireNonNull(advertised, "advertised");
        Objects.requireNonNull(token, "token");
        Objects.requireNonNull(linger, "linger");
        if (maxSessions < 1 || maxMappings < 1 || maxPendingReceipts < 1 || workingMemoryBytes < 1) {
            throw new IllegalArgumentException("limits must be positive: sessions " + maxSessions + ", mappings "
                    + maxMappings + ", pending receipts " + maxPendingReceipts + ", working memory "
                    + workingMemoryBytes + " bytes");
        }
        if (token.isEmpty() && !insecure && !isLoopback(bind)) {
            throw new IllegalArgumentException("bind address " + bind
                    + " is reachable from other machines: give --token-file, or" + " --insecure to serve everyone");
        }
    }

    /** Loopback, port 7420, no token. */
    public static ServerOptions defaults() {
        return new ServerOptions(
                "127.0.0.1",
                PortRange.DEFAULT,
                Optional.empty(),
                Optional.empty(),
                false,
                1024,
                1L << 30,
                8192,
                1 << 20,
                Duration.ofSeconds(30));
    }

    public ServerOptions withPorts(PortRange other) {
        return new ServerOptions(
                bind,
                other,
                advertised,
                token,
                insecure,
                maxSessions,
                workingMemoryBytes,
                maxMappings,
                maxPendingReceipts,
                linger);
    }

    public ServerOptions withToken(String secret) {
        return new ServerOptions(
                bind,
                ports,
                advertised,
                Optional.of(secret),
                insecure,
                maxSessions,
                workingMemoryBytes,
                maxMappings,
                maxPendingReceipts,
                linger);
    }

    public ServerOptions withLinger(Duration other) {
        return new ServerOptions(
                bind,
                ports,
                advertised,
                token,
                insecure,
                maxSessions,
                workingMemoryBytes,
                maxMappings,
                maxPendingReceipts,
                other);
    }

    public ServerOptions withLimits(int sessions, long workingBytes, int mappings, int pendingReceipts) {
        return new ServerOptions(
                bind, ports, advertised, token, insecure, sessions, workingBytes, mappings, pendingReceipts, linger);
    }

    private static boolean isLoopback(String host) {
        try {
            return InetAddress.getByName(host).isLoopbackAddress();
        } catch (UnknownHostException e) {
            throw new IllegalArgumentException("bind address " + host + " is not known on this machine");
        }
    }

    @Override
    public String toString() {
        return "ServerOptions[" + bind + ":" + ports + (token.isPresent() ? ", token" : "") + "]";
    }
}
