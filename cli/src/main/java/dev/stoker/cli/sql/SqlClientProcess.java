package dev.stoker.cli.sql;

import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Signals;
import dev.stoker.feeder.registry.StokerHome;
import dev.stoker.metadata.lease.WriterProcess;
import dev.stoker.storage.PrivateFiles;
import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;

/**
 * A process with Flink's SQL client, whose jars are in the directory {@code sql} of the distribution. The client starts
 * a gateway and, for each query, a Flink cluster in its process. Both listen on loopback. Only this process has the key
 * that their TLS demands, because a gateway runs any code that a statement names.
 */
final class SqlClientProcess implements AutoCloseable {
    private static final String CLIENT = "dev.stoker.sql.client.SqlSession";
    private static final String PASSWORD = "STOKER_SQL_KEYS";
    private static final List<String> SESSION =
            List.of("execution.runtime-mode=batch", "table.dml-sync=true", "sql-client.execution.result-mode=tableau");

    private final Path work;
    private final ProcessBuilder process;

    private SqlClientProcess(Path work, ProcessBuilder process) {
        this.work = work;
        this.process = process;
    }

    /**
     * Writes the files that the client reads.
     *
     * @param datasets location of the catalog
     * @param settings of Flink, as KEY=VALUE
     */
    static SqlClientProcess prepare(String datasets, List<String> settings) throws IOException, InterruptedException {
        Path distribution = Path.of(System.getProperty("stoker.dist", "cli/target/dist"));
        Path jars = distribution.resolve("sql");
        if (!Files.isDirectory(jars)) {
            throw new CommandException("the SQL client is not installed: there is no directory " + jars
                    + "; the archive of a release has it, and ./stoker of a source tree builds it");
        }
        Path work = PrivateFiles.createTempDirectory(Path.of(System.getProperty("java.io.tmpdir")), "sql-");
        Path init = work.resolve("init.sql");
        Files.writeString(
                init,
                "CREATE CATALOG datasets WITH ('type' = 'stoker', 'path' = '" + datasets.replace("'", "''")
                        + "');\nUSE CATALOG datasets;\n");
        List<String> command = new ArrayList<>();
        command.add(program("java"));
        command.add("-Djava.io.tmpdir=" + work);
        command.add("-Dstoker.dist=" + distribution);
        command.add("-Dlog4j2.configurationFile=" + logging(work));
        command.add("-Dstoker.log=" + System.getProperty("stoker.log", "/dev/null"));
        String configured = System.getenv("FLINK_CONF_DIR");
        if (configured == null) {
            command.add("-D" + WriterProcess.ALONE + "=true");
        }
        String options = System.getenv("STOKER_JAVA_OPTS");
        if (options != null && !options.isBlank()) {
            command.addAll(Arrays.asList(options.strip().split("\\s+")));
        }
        command.addAll(List.of("-cp", classPath(distribution), CLIENT, "-i", init.toString()));
        ProcessBuilder process = new ProcessBuilder(command);
        if (configured == null) {
            process.environment().put("FLINK_CONF_DIR", configuration(work).toString());
        } else {
            defaults(Path.of(configured), settings).forEach(setting -> command.add("-D" + setting));
        }
        settings.forEach(setting -> command.add("-D" + setting));
        return new SqlClientProcess(work, process);
    }

    /**
     * Returns the options that the client needs for scripts and for the results of queries, of those that neither the
     * user's configuration nor the command line sets.
     */
    static List<String> defaults(Path configuration, List<String> settings) {
        Configuration own = GlobalConfiguration.loadConfiguration(configuration.toString());
        return SESSION.stream()
                .filter(setting -> {
                    String key = setting.substring(0, setting.indexOf('='));
                    return !own.containsKey(key) && settings.stream().noneMatch(other -> other.startsWith(key + "="));
                })
                .toList();
    }

    private static String program(String name) {
        return Path.of(System.getProperty("java.home"), "bin", name).toString();
    }

    /** Flink and the libraries of the distribution; the connector's jar has Stoker's classes. */
    private static String classPath(Path distribution) throws IOException {
        List<String> jars = new ArrayList<>(List.of(distribution.resolve("sql") + "/*"));
        try (DirectoryStream<Path> files = Files.newDirectoryStream(distribution.resolve("lib"), "*.jar")) {
            for (Path jar : files) {
                if (!String.valueOf(jar.getFileName()).startsWith("stoker-")) {
                    jars.add(jar.toString());
                }
            }
        }
        return String.join(File.pathSeparator, jars);
    }

    private static Path logging(Path work) throws IOException {
        Path file = work.resolve("log4j2.properties");
        try (InputStream own = SqlClientProcess.class.getResourceAsStream("/log4j2.properties")) {
            if (own == null) {
                throw new IOException("the command's jar has no log4j2.properties");
            }
            Files.copy(own, file);
        }
        return file;
    }

    /** Writes a configuration of Flink for statements that run in the client's process, and returns its directory. */
    private static Path configuration(Path work) throws IOException, InterruptedException {
        String password = UUID.randomUUID().toString();
        Path keys = work.resolve("keys.p12");
        createKeys(keys, password);
        List<String> lines = new ArrayList<>();
        SESSION.forEach(setting -> lines.add(setting.replace("=", ": ")));
        lines.addAll(List.of(
                "execution.target: local",
                "execution.job-status-changed-listeners: dev.stoker.sql.client.FailureReasons",
                "parallelism.default: " + Runtime.getRuntime().availableProcessors(),
                "sql-gateway.endpoint.rest.bind-address: 127.0.0.1",
                "rest.address: localhost",
                "rest.bind-address: 127.0.0.1",
                "jobmanager.bind-host: 127.0.0.1",
                "taskmanager.bind-host: 127.0.0.1",
                "io.tmp.dirs: " + work,
                "security.ssl.protocol: TLSv1.3",
                "security.ssl.algorithms: TLS_AES_128_GCM_SHA256"));
        for (String part : List.of("rest", "internal")) {
            String prefix = "security.ssl." + part + ".";
            lines.add(prefix + "enabled: true");
            lines.add(prefix + "keystore: " + keys);
            lines.add(prefix + "truststore: " + keys);
            for (String key : List.of("keystore-password", "key-password", "truststore-password")) {
                lines.add(prefix + key + ": " + password);
            }
        }
        lines.add("security.ssl.rest.authentication-enabled: true");
        Files.write(work.resolve("config.yaml"), lines);
        return work;
    }

    private static void createKeys(Path file, String password) throws IOException, InterruptedException {
        Path log = file.resolveSibling("keytool.log");
        ProcessBuilder keytool = new ProcessBuilder(program("keytool"), "-genkeypair", "-alias", "stoker");
        // The tool runs for a fraction of a second.
        keytool.command().addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
        keytool.command().addAll(List.of("-keyalg", "EC", "-validity", "3650", "-dname", "CN=localhost"));
        keytool.command().addAll(List.of("-ext", "san=dns:localhost,ip:127.0.0.1", "-storetype", "PKCS12"));
        keytool.command().addAll(List.of("-storepass:env", PASSWORD, "-keystore", file.toString()));
        keytool.environment().put(PASSWORD, password);
        int code = keytool.redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start()
                .waitFor();
        if (code != 0) {
            throw new IOException("keytool of " + System.getProperty("java.home") + " failed: "
                    + Files.readString(log).strip());
        }
    }

    /** Runs the client on this terminal until the user quits, and returns the exit code. */
    int interactive() throws IOException, InterruptedException {
        StokerHome.requireDirectory();
        Path history = StokerHome.directory().resolve("sql-history");
        process.command().addAll(List.of("-hist", history.toString()));
        try (Signals signals = new Signals()) {
            Process client = process.inheritIO().start();
            // Ctrl-C reaches the client, too, and cancels a query there.
            signals.on(name -> {
                if (!name.equals("INT")) {
                    client.destroy();
                }
            });
            return client.waitFor();
        }
    }

    /**
     * Runs statements one after the other until one fails.
     *
     * @return the exit code
     */
    int run(List<String> statements, PrintWriter out) throws IOException, InterruptedException {
        Path file = work.resolve("script.sql");
        Files.writeString(file, String.join(";\n", statements) + ";\n");
        process.command().addAll(List.of("-hist", work.resolve("history").toString(), "-f", file.toString()));
        Path failure = work.resolve("failure.txt");
        process.command()
                .addAll(
                        1,
                        List.of(
                                "-Dorg.jline.terminal.dumb=true",
                                "-Dstoker.sql.script=true",
                                "-Dstoker.sql.failure=" + failure));
        Process client = process.redirectErrorStream(true).start();
        SqlClientOutput output = new SqlClientOutput(statements, out);
        try (Signals signals = new Signals();
                BufferedReader lines = client.inputReader(StandardCharsets.UTF_8)) {
            // Process.destroy would close the streams.
            signals.onStop(client.toHandle()::destroy);
            String line = lines.readLine();
            while (line != null) {
                output.add(line);
                line = lines.readLine();
            }
            int code = client.waitFor();
            if (signals.exitCode().isPresent()) {
                // A client that ends in the middle of a statement reports a failure of that statement.
                return signals.exitCode().getAsInt();
            }
            // The client itself exits with 0 if a statement fails.
            output.requireSuccess(Files.exists(failure) ? Files.readAllLines(failure) : List.of());
            return code;
        } finally {
            client.destroy();
        }
    }

    @Override
    public void close() throws IOException {
        PrivateFiles.delete(work);
    }
}
