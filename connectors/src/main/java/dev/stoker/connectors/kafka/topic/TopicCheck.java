package dev.stoker.connectors.kafka.topic;

import dev.stoker.connectors.kafka.BrokerErrors;
import dev.stoker.connectors.kafka.BrokersAwayException;
import dev.stoker.connectors.kafka.KafkaTarget;
import dev.stoker.connectors.kafka.TopicException;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.Config;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.config.TopicConfig;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates a feed's topic, or refuses a topic that would lose, merge or reject records. */
public final class TopicCheck implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TopicCheck.class);
    private static final long WAIT_SECONDS = 30;
    private static final long WEEK_MS = Duration.ofDays(7).toMillis();
    /** Checks for a missing topic, 50 ms apart. */
    private static final int GONE_LOOKS = 60;

    private static final String MAX_TRANSACTION = "transaction.max.timeout.ms";

    private final KafkaTarget target;
    private final Admin admin;

    /** @throws IOException if the clients' settings cannot be read */
    public TopicCheck(KafkaTarget target) throws IOException {
        this(target, Duration.ofSeconds(20));
    }

    /** @param patience how long brokers may take to answer */
    TopicCheck(KafkaTarget target, Duration patience) throws IOException {
        Properties settings = target.clients();
        String patienceMs = Long.toString(patience.toMillis());
        settings.setProperty(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, patienceMs);
        settings.setProperty(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, patienceMs);
        this.target = target;
        try {
            this.admin = Admin.create(settings);
        } catch (KafkaException e) {
            throw BrokerErrors.notMade(target.toString(), e);
        }
    }

    /**
     * Creates the topic if it does not exist, and checks it and the brokers.
     *
     * @return the topic's id; a topic that is later created under the same name has another
     * @throws TopicException naming everything that must be changed
     */
    public String ensure(TopicNeeds needs) throws IOException {
        TopicDescription topic = describe();
        if (topic == null) {
            create(needs);
            topic = describe();
            for (int i = 0; topic == null && i < 100; i++) {
                pause();
                topic = describe();
            }
            if (topic == null) {
                throw new TopicException(target + " was created but does not appear; check the brokers' logs");
            }
        }
        List<String> problems = new ArrayList<>();
        if (topic.partitions().size() != needs.partitions()) {
            problems.add("it has " + Units.plural(topic.partitions().size(), "partition") + ", but the feed has "
                    + Units.plural(needs.partitions(), "lane")
                    + " and needs one for each: give --lanes "
                    + topic.partitions().size() + " or another --topic");
        }
        checkTopic(config(new ConfigResource(ConfigResource.Type.TOPIC, target.topic())), needs, problems);
        if (target.exactlyOnce()) {
            checkTransactions(problems);
        }
        if (!problems.isEmpty()) {
            throw new TopicException(target + " cannot take the feed: " + String.join("; ", problems));
        }
        return topic.topicId().toString();
    }

    /**
     * The id of the topic.
     *
     * @throws StokerException if the topic does not exist and does not appear within a few seconds: a broker that
     *     has just started may not know it yet
     */
    public String id() throws IOException {
        TopicDescription topic = describe();
        for (int i = 0; topic == null && i < GONE_LOOKS; i++) {
            pause();
            topic = describe();
        }
        if (topic == null) {
            throw new StokerException(target + " no longer exists: it was deleted, and its contents are"
                    + " lost; start a new feed, not from a checkpoint or savepoint");
        }
        return topic.topicId().toString();
    }

    /**
     * Refuses a topic with another id.
     *
     * @throws StokerException if the topic no longer exists or has another id
     */
    public void require(String id) throws IOException {
        String found = id();
        if (!found.equals(id)) {
            throw new StokerException(target + " is not the topic that the feed wrote to (id " + found + ", expected "
                    + id + "): it was deleted and recreated, and its contents are lost;"
                    + " start a new feed, not from a checkpoint or savepoint");
        }
    }

    /** Aborts the open transactions of some ids, by fencing their producers. */
    public void abort(Collection<String> transactionalIds) throws IOException {
        try {
            await(admin.fenceProducers(transactionalIds).all());
        } catch (ExecutionException e) {
            throw failed(e, ": the transactions " + transactionalIds + " cannot be aborted: ");
        }
    }

    private void checkTopic(Config config, TopicNeeds needs, List<String> problems) {
        String policy = value(config, TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE);
        if (policy.contains(TopicConfig.CLEANUP_POLICY_COMPACT)) {
            problems.add(TopicConfig.CLEANUP_POLICY_CONFIG + " is " + policy + ", but compaction drops records: set "
                    + TopicConfig.CLEANUP_POLICY_CONFIG + "=delete");
        }
        long needed = (long) target.maxRecordBytes() + KafkaTarget.OVERHEAD_BYTES;
        long most = number(config, TopicConfig.MAX_MESSAGE_BYTES_CONFIG, needed);
        if (most < needed) {
            problems.add(TopicConfig.MAX_MESSAGE_BYTES_CONFIG + " is " + most + ", but records may have " + needed
                    + " bytes: set " + TopicConfig.MAX_MESSAGE_BYTES_CONFIG + "=" + needed
                    + " or start with --max-record-bytes " + Math.max(1024, most - KafkaTarget.OVERHEAD_BYTES));
        }
        long retention = number(config, TopicConfig.RETENTION_MS_CONFIG, -1);
        if (retention >= 0 && retention < needs.epochTime().toMillis()) {
            problems.add(TopicConfig.RETENTION_MS_CONFIG + " is " + retention + ", shorter than an epoch may take ("
                    + needs.epochTime().toMillis() + "): set " + TopicConfig.RETENTION_MS_CONFIG + "="
                    + needs.epochTime().toMillis() + " or more, or set --epoch-time to a shorter time");
        }
        long bytes = number(config, TopicConfig.RETENTION_BYTES_CONFIG, -1);
        if (bytes >= 0 && bytes < needs.epochBytes()) {
            problems.add(TopicConfig.RETENTION_BYTES_CONFIG + " is " + bytes + ", but an epoch has about "
                    + needs.epochBytes() + " bytes in a partition: set " + TopicConfig.RETENTION_BYTES_CONFIG + "="
                    + needs.epochBytes() + " or more, or -1");
        }
        String compression = value(config, TopicConfig.COMPRESSION_TYPE_CONFIG, "producer");
        if (!List.of("producer", "uncompressed", "gzip").contains(compression)) {
            problems.add(TopicConfig.COMPRESSION_TYPE_CONFIG + " is " + compression
                    + ", so brokers would recompress every record: set " + TopicConfig.COMPRESSION_TYPE_CONFIG
                    + "=producer");
        }
    }

    private void checkTransactions(List<String> problems) throws IOException {
        Node broker =
                get(admin.describeCluster().nodes(), "the brokers").iterator().next();
        Config config = config(new ConfigResource(ConfigResource.Type.BROKER, broker.idString()));
        long most = number(config, MAX_TRANSACTION, Long.MAX_VALUE);
        if (target.transactionTimeoutMs() > most) {
            problems.add("transactions may last " + target.transactionTimeoutMs() + " ms, but the brokers' "
                    + MAX_TRANSACTION + " is " + most + ": start with --transaction-timeout " + most / 1000
                    + "s or less, or set " + MAX_TRANSACTION + "=" + target.transactionTimeoutMs() + " on the brokers");
        }
    }

    private void create(TopicNeeds needs) throws IOException {
        Map<String, String> settings = new HashMap<>();
        settings.put(TopicConfig.CLEANUP_POLICY_CONFIG, TopicConfig.CLEANUP_POLICY_DELETE);
        settings.put(
                TopicConfig.MAX_MESSAGE_BYTES_CONFIG,
                Integer.toString(Math.max(1_048_588, target.maxRecordBytes() + KafkaTarget.OVERHEAD_BYTES)));
        settings.put(
                TopicConfig.RETENTION_MS_CONFIG,
                Long.toString(Math.max(WEEK_MS, 2 * needs.epochTime().toMillis())));
        settings.put(TopicConfig.RETENTION_BYTES_CONFIG, "-1");
        settings.put(TopicConfig.COMPRESSION_TYPE_CONFIG, "producer");
        NewTopic topic = new NewTopic(target.topic(), needs.partitions(), (short) needs.replication());
        try {
            await(admin.createTopics(List.of(topic.configs(settings))).all());
        } catch (ExecutionException e) {
            if (!(e.getCause() instanceof TopicExistsException)) {
                throw failed(e, " cannot be created: ");
            }
        }
    }

    private @Nullable TopicDescription describe() throws IOException {
        try {
            return await(Objects.requireNonNull(
                    admin.describeTopics(List.of(target.topic()))
                            .topicNameValues()
                            .get(target.topic()),
                    "each request has an answer"));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof UnknownTopicOrPartitionException) {
                return null;
            }
            throw failed(e, " cannot be read: ", "; check --bootstrap, and that the brokers are running");
        }
    }

    /** Returns the settings that this user may read. Hidden settings count as unknown. */
    private Config config(ConfigResource resource) throws IOException {
        try {
            return await(Objects.requireNonNull(
                    admin.describeConfigs(List.of(resource)).values().get(resource), "each request has an answer"));
        } catch (ExecutionException e) {
            if (e.getCause() instanceof AuthorizationException) {
                LOG.info("{}: the settings of {} are hidden from this user and were not checked", target, resource);
                return new Config(List.of());
            }
            throw failed(e, ": " + resource + " cannot be read: ");
        }
    }

    private <T> T get(KafkaFuture<T> future, String what) throws IOException {
        try {
            return await(future);
        } catch (ExecutionException e) {
            throw failed(e, ": " + what + " cannot be read: ");
        }
    }

    private <T> T await(KafkaFuture<T> future) throws ExecutionException, IOException {
        try {
            return future.get(WAIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BrokersAwayException(target + ": interrupted while waiting for the brokers", e);
        } catch (TimeoutException e) {
            throw failed(e, "");
        }
    }

    private TopicException failed(ExecutionException e, String what) {
        return failed(e, what, "");
    }

    private TopicException failed(ExecutionException e, String what, String advice) {
        Throwable cause = cause(e);
        return failed(cause, what + ErrorText.of(cause) + advice);
    }

    private static Throwable cause(ExecutionException e) {
        return Objects.requireNonNull(e.getCause(), "a failed future has a cause");
    }

    private TopicException failed(Throwable failure, String otherwise) {
        return BrokerErrors.of(target.topic(), target.bootstrap(), failure, target + otherwise);
    }

    private static void pause() {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
    }

    private static String value(Config config, String name, String missing) {
        ConfigEntry entry = config.get(name);
        return entry == null || entry.value() == null ? missing : entry.value();
    }

    private static long number(Config config, String name, long missing) {
        return Long.parseLong(value(config, name, Long.toString(missing)));
    }

    /** Closes the connection to the brokers. */
    @Override
    public void close() {
        admin.close(Duration.ofSeconds(5));
    }
}
