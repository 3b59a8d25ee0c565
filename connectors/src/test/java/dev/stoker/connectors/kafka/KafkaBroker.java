package dev.stoker.connectors.kafka;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.common.acl.AclBinding;

/** A KRaft broker in a separate process, started from the jars on the test class path. */
public final class KafkaBroker implements AutoCloseable {
    private static final long START_SECONDS = 90;

    private final Path directory;
    private final int port;
    private final int guardedPort = freePort();
    private Process process;

    private KafkaBroker(Path directory, int port) {
        this.directory = directory;
        this.port = port;
    }

    /**
     * Starts a broker for many test classes, none of which kills it. It has an authorizer. Clients of
     * {@link #bootstrap} may do everything. Clients of {@link #guarded} log in by name, with their name as the
     * password, and have no rights until a test grants them.
     */
    public static KafkaBroker startShared(Path directory, List<String> users) throws IOException {
        StringBuilder login = new StringBuilder("org.apache.kafka.common.security.plain.PlainLoginModule required");
        users.forEach(user ->
                login.append(" user_").append(user).append("=\"").append(user).append('"'));
        Map<String, String> settings = new TreeMap<>();
        // The controller would take the leadership of all partitions from a broker that gets no processor time for the
        // 3 s of the other brokers, and producers would wait.
        settings.put("broker.session.timeout.ms", "120000");
        settings.put("authorizer.class.name", "org.apache.kafka.metadata.authorizer.StandardAuthorizer");
        settings.put("super.users", "User:ANONYMOUS");
        settings.put("listener.name.guarded.sasl.enabled.mechanisms", "PLAIN");
        settings.put(
                "listener.name.guarded.plain.sasl.jaas.config",
                login.append(';').toString());
        // Soon after the timeout of a transaction, and not up to 10 s later.
        settings.put("transaction.abort.timed.out.transaction.cleanup.interval.ms", "200");
        return start(directory, settings);
    }

    /** Grants rights, and waits until the broker applies them. The controller answers before the broker does so. */
    public void grant(List<AclBinding> rights) throws Exception {
        try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap()))) {
            admin.createAcls(rights).all().get();
            for (AclBinding right : rights) {
                long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
                while (admin.describeAcls(right.toFilter()).values().get().isEmpty()) {
                    if (System.nanoTime() > end) {
                        throw new AssertionError("not granted within " + START_SECONDS + " s: " + right);
                    }
                    TimeUnit.MILLISECONDS.sleep(10);
                }
            }
        }
    }

    /** Writes the settings of clients that log in as a user. */
    public static Path settings(Path file, String user, String password) throws IOException {
        return Files.writeString(
                file,
                "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config="
                        + "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"" + user
                        + "\" password=\"" + password + "\";\n");
    }

    /** Starts a broker with its files in a directory. */
    public static KafkaBroker start(Path directory) throws IOException {
        return start(directory, Map.of());
    }

    /** As {@link #start(Path)}, with further settings. */
    public static KafkaBroker start(Path directory, Map<String, String> settings) throws IOException {
        int port = freePort();
        int controller = freePort();
        KafkaBroker broker = new KafkaBroker(Files.createDirectories(directory), port);
        boolean isGuarded = settings.containsKey("authorizer.class.name");
        String guarded = isGuarded ? ",GUARDED://127.0.0.1:" + broker.guardedPort : "";
        List<String> lines = new ArrayList<>(List.of(
                "process.roles=broker,controller",
                "node.id=1",
                "controller.quorum.bootstrap.servers=127.0.0.1:" + controller,
                "listeners=PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controller + guarded,
                "advertised.listeners=PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controller
                        + guarded,
                "controller.listener.names=CONTROLLER",
                "inter.broker.listener.name=PLAINTEXT",
                "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,GUARDED:SASL_PLAINTEXT",
                "log.dirs=" + directory.resolve("log"),
                "num.partitions=1",
                "auto.create.topics.enable=false",
                "offsets.topic.replication.factor=1",
                "offsets.topic.num.partitions=1",
                "transaction.state.log.replication.factor=1",
                "transaction.state.log.min.isr=1",
                "transaction.state.log.num.partitions=1",
                "group.initial.rebalance.delay.ms=0",
                // By default 7 days: 30 s after its start the broker would delete records that tests date back.
                "log.retention.ms=-1",
                // By default half of the heap.
                "log.cleaner.dedupe.buffer.size=4194304",
                // A broker that is started again after a kill waits for the end of its session.
                "broker.session.timeout.ms=3000",
                "broker.heartbeat.interval.ms=500"));
        settings.forEach((name, value) -> lines.add(name + "=" + value));
        Files.write(broker.config(), lines);
        Process format = broker.java(
                "format.log",
                "kafka.tools.StorageTool",
                "format",
                "--standalone",
                "-t",
                "4L6g3nShT-eMCtK--X86sw",
                "-c",
                broker.config().toString());
        try {
            if (!format.waitFor(START_SECONDS, TimeUnit.SECONDS) || format.exitValue() != 0) {
                throw new IOException("the broker's files cannot be made:\n" + broker.log("format.log"));
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        } finally {
            format.destroyForcibly();
        }
        broker.start();
        return broker;
    }

    /** Starts the broker again after {@link #kill}, with its files and ports. */
    public void start() throws IOException {
        process = java("broker.log", "kafka.Kafka", config().toString());
        Properties settings = new Properties();
        settings.setProperty(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap());
        settings.setProperty(AdminClientConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, "200");
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(START_SECONDS);
        try (Admin admin = Admin.create(settings)) {
            while (true) {
                try {
                    if (!admin.describeCluster()
                            .nodes()
                            .get(5, TimeUnit.SECONDS)
                            .isEmpty()) {
                        if (!process.isAlive()) {
                            throw new IOException("another process has the broker's port:\n" + log("broker.log"));
                        }
                        return;
                    }
                } catch (ExecutionException | TimeoutException e) {
                    if (System.nanoTime() > deadline || !process.isAlive()) {
                        throw new IOException("the broker does not start:\n" + log("broker.log"), e);
                    }
                }
            }
        } catch (InterruptedException e) {
            throw new IOException(e);
        }
    }

    /** Kills the process at once. */
    public void kill() {
        process.destroyForcibly().onExit().join();
    }

    /** {@code host:port}. */
    public String bootstrap() {
        return "127.0.0.1:" + port;
    }

    /** {@code host:port} for users with names. */
    public String guarded() {
        return "127.0.0.1:" + guardedPort;
    }

    private Path config() {
        return directory.resolve("server.properties");
    }

    private Process java(String log, String... command) throws IOException {
        // Kafka 4 logs through log4j2 if it is told where; the tests' own configuration would print.
        List<String> line = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Djava.io.tmpdir=" + directory,
                "-cp",
                classPath()));
        line.addAll(List.of(command));
        return new ProcessBuilder(line)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(log).toFile())
                .start();
    }

    private static String classPath() {
        return System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    }

    private String log(String name) throws IOException {
        return Files.exists(directory.resolve(name)) ? Files.readString(directory.resolve(name)) : "";
    }

    private static int freePort() {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        kill();
    }
}
