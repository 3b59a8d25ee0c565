package dev.stoker.feeder;

import dev.stoker.feeder.node.FeedSpec;
import dev.stoker.feeder.node.GroupSpec;
import dev.stoker.feeder.node.OnCorrupt;
import dev.stoker.feeder.node.PortRange;
import dev.stoker.feeder.node.ServerOptions;
import dev.stoker.feeder.node.StreamSpec;
import java.io.IOException;
import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * A feed with everything resolved: pinned versions, lanes, addresses. It travels in the job graph, so it holds plain
 * values and the name of the token file, never the token.
 *
 * @param name name of the feed
 * @param id id of the feed
 * @param streams its streams
 * @param order default order spec as JSON
 * @param groups groups that must finish, as pairs of stream and group
 * @param epochs epochs to serve; 0 = without end
 * @param onCorrupt what happens on damage that reading again does not heal
 * @param ledger directory of the ledger, as a URI
 * @param idleTimeoutMs milliseconds without trainers after which the feed ends; 0 = never
 * @param server how servers listen
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
        Server server)
        implements Serializable {

    /** One stream, pinned to a version; {@code lanes} is its number of lanes under the default order spec. */
    public record Stream(String name, String path, UUID dataset, long version, String split, int lanes)
            implements Serializable {}

    /** A group that must finish before the feed ends. */
    public record Group(String stream, String name) implements Serializable {}

    /** How servers listen; null where an option is not given. */
    public record Server(
            String bind,
            String ports,
            String advertised,
            String tokenFile,
            boolean insecure,
            int maxSessions,
            long workingMemoryBytes)
            implements Serializable {}

    public FeedPlan {
        streams = List.copyOf(streams);
        groups = List.copyOf(groups);
    }

    /** What a node serves. */
    public FeedSpec spec() {
        return new FeedSpec(
                id,
                name,
                streams.stream()
                        .map(s -> new StreamSpec(s.name(), s.path(), s.dataset(), s.version(), s.split()))
                        .toList(),
                order,
                groups.stream().map(g -> new GroupSpec(g.stream(), g.name())).toList(),
                epochs == 0 ? OptionalLong.empty() : OptionalLong.of(epochs),
                onCorrupt);
    }

    /**
     * How a node listens.
     *
     * @throws IOException if the token file cannot be read on this machine
     */
    public ServerOptions serverOptions() throws IOException {
        ServerOptions defaults = ServerOptions.defaults();
        return new ServerOptions(
                server.bind(),
                PortRange.parse(server.ports()),
                Optional.ofNullable(server.advertised()),
                token(),
                server.insecure(),
                server.maxSessions(),
                server.workingMemoryBytes(),
                defaults.maxMappings(),
                defaults.maxPendingReceipts(),
                // A restarted task comes back within Flink's restart delay; the job's own end closes the node at once.
                Duration.ofSeconds(30));
    }

    private Optional<String> token() throws IOException {
        if (server.tokenFile() == null) {
            return Optional.empty();
        }
        String token;
        try {
            token = Files.readString(Path.of(server.tokenFile()), StandardCharsets.UTF_8)
                    .strip();
        } catch (IOException e) {
            throw new IOException(
                    "token file " + server.tokenFile()
                            + " cannot be read on this machine; put it on every feeder machine",
                    e);
        }
        if (token.isEmpty()) {
            throw new IOException("token file " + server.tokenFile() + " is empty");
        }
        return Optional.of(token);
    }
}
