package dev.stoker.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.client.errors.Difference;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.stats.FeedStats;
import dev.stoker.schemas.order.delivery.TailPolicy;
import java.io.Writer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.HexFormat;

/**
 * A trainer for the system tests of the Python package (test_java_client.py), twin of their trainer_program.py: it
 * reads epochs of a feed and appends one JSON line for each batch that it has finished with; a failure is one more
 * line. Says at the end how it went. Arguments: file of the lines, target, number of epochs, options as JSON.
 */
public final class JavaTrainer {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] args) throws Exception {
        JsonNode options = JSON.readTree(args[3]);
        boolean isStepwise = options.path("stepwise").asBoolean();
        try (Writer out = Files.newBufferedWriter(
                        Path.of(args[0]),
                        StandardCharsets.UTF_8,
                        StandardOpenOption.CREATE,
                        StandardOpenOption.APPEND);
                FeedClient feed = builder(args[1], options).open()) {
            if (options.has("state")) {
                Difference[] permitted = options.has("allow") ? Difference.values() : new Difference[0];
                feed.load(options.get("state").toString(), permitted);
            }
            for (int epoch = 0; epoch < Integer.parseInt(args[2]); epoch++) {
                for (Batch batch : feed.epoch()) {
                    if (isStepwise) {
                        System.in.read();
                    }
                    out.write(line(batch) + "\n");
                    out.flush();
                    batch.close();
                }
            }
            System.out.println(how(feed));
        } catch (FeedException e) {
            System.out.println(JSON.createObjectNode()
                    .put("error", e.getClass().getSimpleName())
                    .put("message", e.getMessage()));
        }
    }

    private static FeedClientBuilder builder(String target, JsonNode options) {
        FeedClientBuilder builder = FeedClient.of(target)
                .group(options.path("group").asText("default"))
                .rank(options.path("rank").asInt(0), options.path("world_size").asInt(1))
                .steps(s -> s.tail(TailPolicy.byText(options.path("tail").asText("pad")))
                        .concat(options.path("concat").asInt(1)))
                .ranks(r -> r.replicas(options.path("replicas").asInt(1)))
                .bufferBytes(options.path("buffer_bytes").asLong(256L << 20))
                .timeouts(t -> t.connectTimeout(Duration.ofSeconds(60)));
        if (options.has("stream")) {
            builder.stream(options.get("stream").asText());
        }
        if (options.has("order")) {
            builder.order(o -> o.json(options.get("order").toString()));
        }
        for (JsonNode range : options.path("skip")) {
            builder.steps(s -> s.skip(
                    range.get(0).asLong(), range.get(1).asLong(), range.get(2).asLong()));
        }
        if (options.has("epoch_batches")) {
            builder.steps(s -> s.epochBatches(options.get("epoch_batches").asInt()));
        }
        if (options.has("token_file")) {
            builder.security(s -> s.tokenFile(Path.of(options.get("token_file").asText())));
        }
        if (options.has("token")) {
            builder.security(s -> s.token(options.get("token").asText()));
        }
        if (options.has("tls")) {
            builder.security(s -> s.tls(Path.of(options.get("tls").asText())));
        }
        if (options.has("tls_name")) {
            builder.security(s -> s.tlsName(options.get("tls_name").asText()));
        }
        if (options.has("tls_cert")) {
            builder.security(s -> s.tlsCertificate(
                    Path.of(options.get("tls_cert").asText()),
                    Path.of(options.get("tls_key").asText())));
        }
        return builder;
    }

    private static ObjectNode how(FeedClient feed) {
        FeedStats stats = feed.stats();
        ObjectNode how = JSON.createObjectNode();
        how.put("bytes", stats.bytes()).put("local_read_bytes", stats.localReadBytes());
        how.put("connections", stats.connections()).put("unix_connections", stats.unixConnections());
        how.put("reconnects", stats.reconnects()).put("corrupt_pieces", stats.corruptPieces());
        how.put("repeats", feed.repeats()).put("report", feed.report()).put("prometheus", feed.prometheus());
        return how;
    }

    private static String line(Batch batch) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        for (ByteBuffer message : batch.messages()) {
            byte[] length = new byte[8];
            ByteBuffer.wrap(length).order(ByteOrder.LITTLE_ENDIAN).putLong(message.remaining());
            digest.update(length);
            digest.update(message);
        }
        ObjectNode line = JSON.createObjectNode();
        ArrayNode view = line.putArray("view");
        view.add(batch.epoch()).add(batch.number()).add(batch.repeated()).add(batch.skipped());
        ArrayNode keys = view.addArray();
        batch.keys().forEach(keys::add);
        view.add(HexFormat.of().formatHex(digest.digest()));
        line.set("state", JSON.readTree(batch.state()));
        return line.toString();
    }

    private JavaTrainer() {}
}
