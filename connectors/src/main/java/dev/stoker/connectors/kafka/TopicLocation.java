package dev.stoker.connectors.kafka;

import java.io.IOException;
import java.io.InputStream;
import java.io.Serializable;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.Properties;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.MetadataRecoveryStrategy;
import org.jspecify.annotations.Nullable;

/**
 * A topic to read. It is part of the job graph, so it contains the name of the file with the clients' settings, never
 * its contents.
 *
 * @param bootstrap brokers as {@code host:port,…}
 * @param topic the topic
 * @param clientConfig file with settings of the Kafka clients (security, say) on every machine; null for none
 */
public record TopicLocation(
        String bootstrap, String topic, @Nullable String clientConfig) implements Serializable {
    private static final long serialVersionUID = 1;

    private static final String SCHEME = "kafka://";
    private static final Pattern URI = Pattern.compile("kafka://([^/?#@\\s]+:[0-9]+)/([A-Za-z0-9._-]{1,249})/?");

    public TopicLocation {
        if (bootstrap.isEmpty() || topic.isEmpty()) {
            throw new IllegalArgumentException("a topic needs brokers and a name");
        }
    }

    /** Whether a location is meant to be a topic, even if it is malformed. */
    public static boolean isTopic(String location) {
        return location.toLowerCase(Locale.ROOT).startsWith(SCHEME);
    }

    /**
     * The topic of a location such as {@code kafka://host:9092,other:9092/photos}.
     *
     * @param clientConfig file with settings of the Kafka clients
     * @throws IllegalArgumentException if the location is not a topic
     */
    public static TopicLocation parse(String location, Optional<String> clientConfig) {
        Matcher matcher = URI.matcher(location);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    location + " is not kafka://host:port,…/topic, such as kafka://broker:9092/photos;"
                            + " settings of the clients go into the file of --kafka-config");
        }
        return new TopicLocation(matcher.group(1), matcher.group(2), clientConfig.orElse(null));
    }

    /**
     * Settings of every client of the brokers.
     *
     * @throws IOException if the file with the clients' settings cannot be read on this machine
     */
    public Properties clients() throws IOException {
        Properties settings = new Properties();
        if (clientConfig != null) {
            try (InputStream in = Files.newInputStream(Path.of(clientConfig))) {
                settings.load(in);
            } catch (IOException e) {
                throw new IOException(
                        "the Kafka clients' settings cannot be read from " + clientConfig
                                + "; --kafka-config must name a file that exists on every machine of the job",
                        e);
            }
        }
        settings.setProperty(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        // With Kafka's default, an admin client spins while no broker answers: it writes 2,500 log lines a second and
        // uses a whole core.
        settings.putIfAbsent(CommonClientConfigs.METADATA_RECOVERY_STRATEGY_CONFIG, MetadataRecoveryStrategy.NONE.name);
        return settings;
    }

    @Override
    public String toString() {
        return "topic " + topic + " at " + bootstrap;
    }
}
