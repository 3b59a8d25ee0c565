package dev.stoker.cli;

import dev.stoker.flink.embedded.ListeningSockets;
import dev.stoker.schemas.testing.FreePort;
import dev.stoker.storage.hadoop.HadoopSettings;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A Flink cluster of several processes on separate addresses, configured by {@code flink-conf/one-machine}. It uses
 * only the distribution's Flink jars, so a job must bring its other dependencies, except Hadoop.
 */
final class FlinkCluster implements AutoCloseable {

    private static final Path DIST =
            Path.of("..", "target", "dist").toAbsolutePath().normalize();
    /**
     * The memory options of the JVM, and the settings that Flink derives from its configuration, by request. All
     * clusters have the same configuration.
     */
    private static final Map<String, List<String>> DERIVED = new ConcurrentHashMap<>();

    private static final String PREFIX = "BASH_JAVA_UTILS_EXEC_RESULT:";
    private static final List<String> OPENED =
            List.of("lang", "net", "io", "nio", "lang.reflect", "text", "time", "util", "util.concurrent");

    private final Path directory;
    private final Path conf;
    private final String classPath;
    /** Further JVM options of the TaskManagers. */
    private final List<String> jvm;

    private final int rpcPort = FreePort.find("127.0.0.2");
    private final int restPort = FreePort.find("127.0.0.2");
    private final Map<String, Process> processes = new LinkedHashMap<>();

    /**
     * A cluster whose TaskManagers have the full compiler, as with users.
     *
     * @param hadoop its configuration of Hadoop
     */
    FlinkCluster(Path directory, Map<String, String> hadoop) throws IOException {
        this(directory, hadoop, List.of(), List.of());
    }

    private FlinkCluster(Path directory, Map<String, String> hadoop, List<String> jars, List<String> jvm)
            throws IOException {
        this.directory = directory;
        this.jvm = jvm;
        conf = Files.createDirectories(directory.resolve("conf"));
        for (String file : List.of("config.yaml", "log4j2.properties")) {
            Files.copy(Path.of("..", "..", "flink-conf", "one-machine", file), conf.resolve(file));
        }
        HadoopSettings.write(conf, hadoop);
        List<String> path = new ArrayList<>(jars);
        try (Stream<Path> lib = Files.list(DIST.resolve("lib"))) {
            lib.map(Path::toString)
                    .filter(jar -> !Path.of(jar)
                            .getFileName()
                            .toString()
                            .matches("(stoker|avro|arrow|flatbuffers|jackson|flink-connector-kafka|kafka-clients"
                                    + "|zstd-jni).*"))
                    .forEach(path::add);
        }
        for (String more : List.of("lib/web", "lib/hadoop", "lib/cloud")) {
            path.add(DIST.resolve(more) + "/*");
        }
        classPath = String.join(File.pathSeparator, path);
    }

    /** A cluster whose TaskManagers start in half the processor time, but run slower than in production. */
    static FlinkCluster quick(Path directory) throws IOException {
        return new FlinkCluster(directory, Map.of(), List.of(), StokerProcess.QUICK);
    }

    /** As {@link #quick}, with Flink's SQL and the connector in its lib directory. */
    static FlinkCluster withSql(Path directory) throws IOException {
        // Flink's own distribution has zstd-jni.
        try (Stream<Path> zstd =
                Files.list(DIST.resolve("lib")).filter(jar -> jar.toString().contains("/zstd-jni"))) {
            List<String> jars = new ArrayList<>(zstd.map(Path::toString).toList());
            jars.add(DIST.resolve("sql") + "/*");
            return new FlinkCluster(directory, Map.of(), jars, StokerProcess.QUICK);
        }
    }

    /** Writes the configuration of a client of this cluster, and returns its directory. */
    Path client(String... settings) throws IOException {
        List<String> lines = new ArrayList<>(
                List.of("execution.target: remote", "rest.address: 127.0.0.2", "rest.port: " + restPort));
        lines.addAll(List.of(settings));
        Path client = Files.createDirectories(directory.resolve("client"));
        Files.write(client.resolve("config.yaml"), lines);
        return client;
    }

    void startJobManager() throws Exception {
        // It runs little for long.
        start(
                StokerProcess.QUICK,
                "jobmanager",
                "GET_JM_RESOURCE_PARAMS",
                "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
                "127.0.0.2");
    }

    void startTaskManager(String name, String address) throws Exception {
        start(jvm, name, "GET_TM_RESOURCE_PARAMS", "org.apache.flink.runtime.taskexecutor.TaskManagerRunner", address);
    }

    private void start(List<String> options, String name, String memory, String main, String address) throws Exception {
        if (!DERIVED.containsKey(memory)) {
            DERIVED.put(memory, derive(memory));
        }
        List<String> derived = DERIVED.get(memory);
        List<String> args = new ArrayList<>(options);
        args.addAll(Arrays.asList(derived.get(0).trim().split(" +")));
        args.add("-Dlog4j2.configurationFile=" + conf.resolve("log4j2.properties"));
        args.addAll(List.of("-cp", classPath, main, "--configDir", conf.toString()));
        args.addAll(dynamic(
                "jobmanager.rpc.address=127.0.0.2",
                "jobmanager.rpc.port=" + rpcPort,
                "jobmanager.bind-host=127.0.0.2",
                "rest.address=127.0.0.2",
                "rest.bind-address=127.0.0.2",
                "rest.port=" + restPort,
                "web.upload.dir=" + directory,
                "io.tmp.dirs=" + directory,
                "taskmanager.host=" + address,
                "taskmanager.bind-host=" + address,
                "taskmanager.resource-id=" + name));
        args.addAll(Arrays.asList(derived.get(1).trim().split(" +")));
        processes.put(name, process(args, directory.resolve(name + ".log")));
    }

    private List<String> derive(String memory) throws Exception {
        Path said = finish(List.of(
                "-cp",
                classPath,
                "org.apache.flink.runtime.util.bash.BashJavaUtils",
                memory,
                "--configDir",
                conf.toString()));
        return Files.readAllLines(said).stream()
                .filter(line -> line.startsWith(PREFIX))
                .map(line -> line.substring(PREFIX.length()))
                .toList();
    }

    private static List<String> dynamic(String... settings) {
        return Stream.of(settings).flatMap(setting -> Stream.of("-D", setting)).toList();
    }

    private static Process process(List<String> args, Path output) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");
        OPENED.forEach(name -> command.add("--add-opens=java.base/java." + name + "=ALL-UNNAMED"));
        command.add("-Djava.io.tmpdir=" + output.getParent());
        command.addAll(args);
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output.toFile());
        for (String variable : List.of("FLINK_CONF_DIR", "HADOOP_CONF_DIR")) {
            builder.environment().put(variable, output.resolveSibling("conf").toString());
        }
        return builder.start();
    }

    private Path finish(List<String> args) throws Exception {
        Path output = Files.createTempFile(directory, "command", ".log");
        List<String> quick = new ArrayList<>(StokerProcess.QUICK);
        quick.addAll(args);
        Process process = process(quick, output);
        if (!process.waitFor(120, TimeUnit.SECONDS) || process.exitValue() != 0) {
            process.destroyForcibly();
            throw new AssertionError(args + ": " + Files.readString(output));
        }
        return output;
    }

    /** {@code flink run}. */
    String run(String... args) throws Exception {
        return flink("run", args);
    }

    /** {@code flink}. */
    String flink(String verb, String... args) throws Exception {
        List<String> command =
                new ArrayList<>(List.of("-Xmx1g", "-cp", classPath, "org.apache.flink.client.cli.CliFrontend", verb));
        command.addAll(List.of("-Drest.address=127.0.0.2", "-Drest.port=" + restPort));
        command.addAll(Arrays.asList(args));
        return Files.readString(finish(command));
    }

    static String job(String name) {
        return DIST.resolve("jobs").resolve(name + "-job.jar").toString();
    }

    /** Host and port of the REST interface. */
    String restAddress() {
        return "127.0.0.2:" + restPort;
    }

    /** GET on the REST interface; empty while it does not answer. */
    String rest(String path) {
        try {
            return HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.2:" + restPort + path))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
        } catch (IOException e) {
            return "";
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    void awaitTaskManagers(int count) {
        await(() -> rest("/overview").contains("\"taskmanagers\":" + count), "TaskManagers");
    }

    /** Waits for a condition of the cluster. */
    void await(BooleanSupplier condition, String what) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(300);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() > end) {
                throw new AssertionError("no " + what + " within 300 s" + state());
            }
            LockSupport.parkNanos(50_000_000);
        }
    }

    /** The processes, jobs, checkpoints and failures, for the message of a failed test. */
    String state() {
        StringBuilder state = new StringBuilder();
        processes.forEach(
                (name, process) -> state.append('\n').append(name).append(process.isAlive() ? " runs" : " has ended"));
        String jobs = rest("/jobs/overview");
        state.append("\n").append(jobs);
        Matcher running = Pattern.compile("\"jid\":\"([0-9a-f]{32})\"[^}]*\"state\":\"(?!FINISHED)")
                .matcher(jobs);
        while (running.find()) {
            for (String page : List.of("", "/checkpoints", "/exceptions")) {
                state.append('\n').append(rest("/jobs/" + running.group(1) + page));
            }
        }
        for (String name : processes.keySet()) {
            state.append("\n").append(name).append(": last warnings").append(warnings(name));
        }
        return state.toString();
    }

    private String warnings(String name) {
        try (Stream<String> lines = Files.lines(directory.resolve(name + ".log"))) {
            List<String> found = lines.filter(line -> line.matches(".*( WARN | ERROR |Error|Exception).*"))
                    .toList();
            return found.stream().skip(Math.max(0, found.size() - 20)).collect(Collectors.joining("\n  ", "\n  ", ""));
        } catch (IOException | UncheckedIOException e) {
            return " cannot be read: " + e.getMessage();
        }
    }

    /** Whether the process listens on a TCP port, according to Linux. */
    boolean listens(String name, int port) throws IOException {
        String hex = String.format(":%04X", port);
        List<String> inodes = new ArrayList<>();
        for (String table : List.of("tcp", "tcp6")) {
            for (String line : Files.readAllLines(Path.of("/proc/net", table))) {
                String[] row = line.trim().split(" +");
                if (row.length > 9 && row[1].endsWith(hex) && row[3].equals("0A")) {
                    inodes.add("socket:[" + row[9] + "]");
                }
            }
        }
        Path open = Path.of("/proc", Long.toString(processes.get(name).pid()), "fd");
        try (Stream<Path> files = Files.list(open)) {
            for (Path file : files.toList()) {
                if (Files.isSymbolicLink(file)
                        && inodes.contains(Files.readSymbolicLink(file).toString())) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The threads of a process, as {@code jcmd} shows them. */
    String threads(String name) {
        try {
            Path output = Files.createTempFile(directory, "threads", ".log");
            Process jcmd = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "jcmd")
                                    .toString(),
                            Long.toString(processes.get(name).pid()),
                            "Thread.print")
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            if (jcmd.waitFor() != 0) {
                throw new AssertionError(Files.readString(output));
            }
            return Files.readString(output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The listening sockets of the processes, by name. */
    Map<String, Set<ListeningSockets.Socket>> sockets() throws IOException {
        Map<String, Set<ListeningSockets.Socket>> sockets = new LinkedHashMap<>();
        for (Map.Entry<String, Process> process : processes.entrySet()) {
            sockets.put(process.getKey(), ListeningSockets.of(process.getValue().pid()));
        }
        return sockets;
    }

    /** kill -9. */
    void kill(String name) {
        processes.remove(name).destroyForcibly().onExit().join();
    }

    @Override
    public void close() {
        processes.values().forEach(Process::destroyForcibly);
        processes.values().forEach(process -> process.onExit().join());
    }
}
