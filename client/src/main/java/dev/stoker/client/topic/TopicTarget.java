package dev.stoker.client.topic;

import dev.stoker.client.errors.FeedException;
import dev.stoker.transport.RegularFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/**
 * A topic as the user named it: {@code kafka://host:port,…/topic?setting=value&…}.
 *
 * @param bootstrap brokers as {@code host:port,…}
 * @param topic its name
 * @param settings of the Kafka client
 */
public record TopicTarget(String bootstrap, String topic, Map<String, String> settings) {
    private static final String SCHEME = "kafka://";

    public TopicTarget {
        settings = Map.copyOf(settings);
    }

    /**
     * Parses the topic that a target, or else {@code STOKER_FEED}, names; empty if it does not name a topic.
     *
     * @throws IllegalArgumentException if the name is a malformed topic
     */
    public static Optional<TopicTarget> of(Optional<String> text, Map<String, String> environment) {
        return text.or(() -> Optional.ofNullable(environment.get("STOKER_FEED")))
                .filter(named -> named.startsWith(SCHEME))
                .map(TopicTarget::parse);
    }

    static TopicTarget parse(String text) {
        int slash = text.indexOf('/', SCHEME.length());
        int query = text.indexOf('?', SCHEME.length());
        boolean isWhole = slash > SCHEME.length() && (query < 0 || query > slash);
        String topic = isWhole ? text.substring(slash + 1, query < 0 ? text.length() : query) : "";
        if (topic.isEmpty() || topic.contains("/")) {
            throw new IllegalArgumentException("'" + text + "' is not kafka://host:port[,host:port…]/topic");
        }
        Map<String, String> settings = new LinkedHashMap<>();
        if (query >= 0) {
            for (String pair : text.substring(query + 1).split("&", -1)) {
                int equals = pair.indexOf('=');
                if (equals < 1) {
                    // The text may hold a secret.
                    throw new IllegalArgumentException(
                            text.substring(0, query) + "?…: what follows the question mark is not name=value&…");
                }
                settings.put(decoded(pair.substring(0, equals)), decoded(pair.substring(equals + 1)));
            }
        }
        return new TopicTarget(text.substring(SCHEME.length(), slash), topic, settings);
    }

    private static String decoded(String text) {
        return URLDecoder.decode(text, StandardCharsets.UTF_8);
    }

    /**
     * Settings of every client of the brokers: from the file that STOKER_KAFKA_CONFIG names, overridden by the target's
     * own.
     */
    Properties clients(Map<String, String> environment) {
        Properties properties = new Properties();
        String file = environment.getOrDefault("STOKER_KAFKA_CONFIG", "");
        if (!file.isEmpty()) {
            try {
                properties.load(new ByteArrayInputStream(RegularFile.read(Path.of(file))));
            } catch (IOException e) {
                throw new FeedException(
                        "the Kafka client's settings cannot be read from " + file
                                + ", which STOKER_KAFKA_CONFIG names: " + RegularFile.reason(e),
                        e);
            }
        }
        settings.forEach(properties::setProperty);
        properties.setProperty("bootstrap.servers", bootstrap);
        return properties;
    }

    @Override
    public String toString() {
        return "topic " + topic + " at " + bootstrap;
    }
}
