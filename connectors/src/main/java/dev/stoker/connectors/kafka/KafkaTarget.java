package dev.stoker.connectors.kafka;

import java.io.IOException;
import java.io.Serializable;
import java.time.Duration;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * A topic and how it is written. It is part of the job graph, so it contains the name of the file with the clients'
 * settings, never its contents.
 *
 * @param bootstrap brokers as {@code host:port,…}
 * @param topic the topic
 * @param clientConfig file with settings of the Kafka clients (security, say) on every machine; null for none
 * @param exactlyOnce whether records are written in transactions
 * @param transactionTimeoutMs how long a transaction may stay open until the brokers abort it
 * @param maxRecordBytes the most bytes of a record's value
 */
public record KafkaTarget(
        String bootstrap,
        String topic,
        @Nullable String clientConfig,
        boolean exactlyOnce,
        long transactionTimeoutMs,
        int maxRecordBytes)
        implements Serializable {
    /** The bytes of a record besides its value: headers, and the batch around it. */
    public static final int OVERHEAD_BYTES = 16 << 10;

    public KafkaTarget {
        if (bootstrap.isEmpty() || topic.isEmpty()) {
            throw new IllegalArgumentException("a topic needs brokers and a name");
        }
        if (maxRecordBytes < 1024 || maxRecordBytes > Integer.MAX_VALUE - OVERHEAD_BYTES) {
            throw new IllegalArgumentException(
                    "option --max-record-bytes: " + maxRecordBytes + " is not between 1024 and 2^31");
        }
    }

    /**
     * Settings of every client of the brokers.
     *
     * @throws IOException if the file with the clients' settings cannot be read on this machine
     */
    public Properties clients() throws IOException {
        return new TopicLocation(bootstrap, topic, clientConfig).clients();
    }

    /** The time-out of transactions. */
    public Duration transactionTimeout() {
        return Duration.ofMillis(transactionTimeoutMs);
    }

    @Override
    public String toString() {
        return "topic " + topic + " at " + bootstrap;
    }
}
