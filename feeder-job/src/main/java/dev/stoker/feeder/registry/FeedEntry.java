package dev.stoker.feeder.registry;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.protocol.parts.UnixAddress;
import dev.stoker.server.feed.StreamSpec;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;

/**
 * The entry of a running feed. Normative: {@code docs/formats/feeds.md}.
 *
 * @param name of the feed
 * @param id of the feed
 * @param pid the process that belongs to the feed alone; empty on a cluster
 * @param startedMs when this start of the feed began
 * @param streams what it serves
 * @param order its default order spec as JSON
 * @param output where batches go
 */
public record FeedEntry(
        String name, UUID id, OptionalLong pid, long startedMs, List<StreamSpec> streams, String order, Output output) {

    public FeedEntry {
        streams = List.copyOf(streams);
    }

    /** Where batches go. */
    public sealed interface Output {}

    /**
     * To trainers that connect.
     *
     * @param unix the Unix-domain sockets of addresses
     * @param status URLs of status pages
     * @param ledger directory or URI
     * @param tokenFile the file with the token; empty for none
     * @param tlsCert the file with the certificate; empty for none
     */
    public record Trainers(
            List<String> addresses,
            Map<String, UnixAddress> unix,
            List<String> status,
            String ledger,
            Optional<String> tokenFile,
            Optional<String> tlsCert)
            implements Output {
        public Trainers {
            addresses = List.copyOf(addresses);
            status = List.copyOf(status);
        }
    }

    /**
     * To a topic.
     *
     * @param bootstrap brokers as {@code host:port,…}
     * @param delivery {@code at-least-once} or {@code exactly-once}
     */
    public record Topic(String bootstrap, String name, int partitions, int worldSize, String delivery)
            implements Output {}

    /** Returns the entry of the running feed. */
    public ObjectNode running() throws IOException {
        ObjectNode json = Json.object();
        json.put("name", name).put("id", id.toString());
        pid.ifPresent(process -> json.put("pid", process));
        json.put("started_ms", startedMs);
        ArrayNode addresses = json.putArray("addresses");
        if (output instanceof Trainers trainers) {
            trainers.addresses().forEach(addresses::add);
            ObjectNode sockets = json.putObject("unix");
            trainers.unix()
                    .forEach((address, place) ->
                            sockets.putObject(address).put("host", place.host()).put("path", place.path()));
            trainers.status().forEach(json.putArray("status")::add);
            json.put("ledger", trainers.ledger());
            json.put("token_file", trainers.tokenFile().orElse(null));
            json.put("tls_cert", trainers.tlsCert().orElse(null));
        } else if (output instanceof Topic topic) {
            json.putObject("topic")
                    .put("bootstrap", topic.bootstrap())
                    .put("name", topic.name())
                    .put("partitions", topic.partitions())
                    .put("world_size", topic.worldSize())
                    .put("delivery", topic.delivery());
        }
        ArrayNode list = json.putArray("streams");
        for (StreamSpec stream : streams) {
            list.addObject()
                    .put("name", stream.name())
                    .put("path", stream.path())
                    .put("dataset", stream.dataset().toString())
                    .put("version", stream.version())
                    .put("split", stream.split())
                    .put("follow", stream.follow());
        }
        json.set("order", Json.PLAIN.readTree(order));
        return json;
    }

    /** Returns the entry of a feed that has ended. */
    public ObjectNode ended(long nowMs) throws IOException {
        return running().put("ended_ms", nowMs);
    }
}
