package dev.stoker.connectors.shared;

import dev.stoker.connectors.kafka.KafkaBroker;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.util.FileUtils;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.acl.AclBindingFilter;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * The Kafka broker of a test JVM. The first class that uses it starts it, and it ends with the JVM. Each test has its
 * own topics, whose names begin with the prefix of its class. They go with the class, and so do all access rights. Test
 * classes that kill the broker have their own.
 */
public final class SharedKafka implements BeforeAllCallback, AfterAllCallback {

    /** Users of {@link KafkaBroker#guarded}, whose rights one test class grants. Their password is their name. */
    private static final int USERS = 20;

    /** The prefixes of all classes that have run, because a repeated one would mix up their topics. */
    private static final Map<String, String> PREFIXES = new TreeMap<>();

    private static KafkaBroker broker;
    private static Admin admin;

    private final String prefix;

    private SharedKafka(String prefix) {
        this.prefix = prefix;
    }

    /**
     * An extension for one test class.
     *
     * @param prefix how the names of its topics begin
     */
    public static SharedKafka withTopics(String prefix) {
        return new SharedKafka(prefix);
    }

    /** Returns the name of a user, by a number up to 19. */
    public static String user(int number) {
        if (number >= USERS) {
            throw new IllegalArgumentException("no more than " + USERS + " users");
        }
        return "user" + number;
    }

    /** Returns the broker, which starts with the first call. It aborts transactions within 200 ms of their timeout. */
    public static synchronized KafkaBroker broker() {
        if (broker == null) {
            try {
                Path directory = Files.createTempDirectory(Path.of(System.getProperty("java.io.tmpdir")), "kafka");
                List<String> users = new ArrayList<>();
                for (int i = 0; i < USERS; i++) {
                    users.add(user(i));
                }
                KafkaBroker starting = KafkaBroker.startShared(directory, users);
                AtExit.run(() -> {
                    starting.close();
                    FileUtils.deleteDirectory(directory.toFile());
                });
                admin = Admin.create(Map.of("bootstrap.servers", starting.bootstrap(), "client.id", "shared"));
                broker = starting;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return broker;
    }

    /** Returns a client of {@link #broker}, which is not to be closed. */
    public static synchronized Admin admin() {
        broker();
        return admin;
    }

    /** Deletes all topics with a prefix, and returns their names. Starts no broker. */
    static synchronized Set<String> deleteTopics(String prefix) throws Exception {
        Set<String> found = new TreeSet<>();
        if (broker != null) {
            found.addAll(topics(prefix));
            for (String topic : found) {
                try {
                    admin.deleteTopics(Set.of(topic)).all().get();
                } catch (ExecutionException e) {
                    if (!(e.getCause() instanceof UnknownTopicOrPartitionException)) {
                        throw e;
                    }
                }
            }
            // The broker learns of it a moment after its controller.
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            while (!topics(prefix).isEmpty()) {
                if (System.nanoTime() > deadline) {
                    throw new AssertionError("The broker still has topics " + topics(prefix));
                }
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
            }
        }
        return found;
    }

    private static Set<String> topics(String prefix) throws Exception {
        Set<String> names = new TreeSet<>(admin.listTopics().names().get());
        names.removeIf(name -> !name.startsWith(prefix));
        return names;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        String name = context.getRequiredTestClass().getName();
        PREFIXES.forEach((other, owner) -> {
            if (!owner.equals(name) && (other.startsWith(prefix) || prefix.startsWith(other))) {
                throw new IllegalStateException("Topics of " + name + " and " + owner + " begin with " + prefix);
            }
        });
        PREFIXES.put(prefix, name);
        broker();
    }

    @Override
    public void afterAll(ExtensionContext context) throws Exception {
        deleteTopics(prefix);
        admin.deleteAcls(Set.of(AclBindingFilter.ANY)).all().get();
    }
}
