package dev.stoker.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.flink.embedded.ListeningSockets;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** {@code stoker sql} with the jars of the distribution. */
@Timeout(200)
class SqlITCase {
    private static final String SLOW =
            "CREATE TEMPORARY TABLE slow (n INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1',"
                    + " 'number-of-rows' = '600'); SELECT COUNT(*) FROM slow";

    @TempDir
    private static Path directory;

    @BeforeAll
    static void ingest() throws IOException {
        for (String file : List.of("cat/1", "cat/2", "dog/3")) {
            Path path = directory.resolve("source").resolve(file);
            Files.createDirectories(path.getParent());
            Files.writeString(path, file);
        }
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said, true);
        String source = directory.resolve("source").toString();
        String target = directory.resolve("data it's/photos").toString();
        assertThat(Stoker.run(List.of("ingest", source, target, "--label-from=parent-dir", "--payload=data"), out, out))
                .as(said::toString)
                .isZero();
    }

    private static StokerProcess sql(String... options) throws IOException {
        String[] args = new String[options.length + 2];
        args[0] = "sql";
        args[1] = directory.resolve("data it's").toString();
        System.arraycopy(options, 0, args, 2, options.length);
        return StokerProcess.start(directory, args);
    }

    @Test
    void printsTheResultsAndEndsAtTheFirstFailure() throws Exception {
        Path script = Files.writeString(directory.resolve("script.sql"), """
                -- All datasets; there is one.
                SHOW TABLES;
                SELECT label, COUNT(*) AS samples
                FROM photos
                GROUP BY label;
                SELECT weight FROM photos; SELECT 'not reached'
                """);
        try (StokerProcess process = sql("-f", script.toString())) {
            assertThat(process.code()).isEqualTo(1);
            assertThat(process.output().lines())
                    .contains("|     photos |", "|   cat |       2 |", "|   dog |       1 |")
                    .endsWith("stoker: statement 3 of 4 failed: Column 'weight' not found in any table")
                    .noneMatch(line -> line.contains("Flink SQL>") || line.contains("reached"));
        }
    }

    @Test
    @Tag("full-programs")
    void aStatementWritesADataset() throws Exception {
        String table = "CREATE TEMPORARY TABLE copy (label STRING, data BYTES) WITH ('connector' = 'stoker', 'path' = '"
                + directory.resolve("data it's/copy").toString().replace("'", "''") + "')";
        try (StokerProcess process = sql(
                "-e",
                table + "; INSERT INTO copy SELECT label, data FROM photos; SELECT COUNT(*) AS n FROM datasets."
                        + "`default`.`copy`")) {
            assertThat(process.code()).as(process.output()).isZero();
            assertThat(process.output()).contains("| 3 |");
        }
    }

    @Test
    @Tag("full-programs")
    void anInsertOfAKeyThatIsThereSaysSo() throws Exception {
        String table = "CREATE TEMPORARY TABLE twice (key STRING, label STRING, PRIMARY KEY (key) NOT ENFORCED) WITH"
                + " ('connector' = 'stoker', 'path' = '"
                + directory.resolve("data it's/twice").toString().replace("'", "''") + "')";
        String insert = table + "; INSERT INTO twice VALUES ('cat/1', 'cat')";
        try (StokerProcess process = sql("-e", insert)) {
            assertThat(process.code()).as(process.output()).isZero();
        }
        try (StokerProcess process = sql("-e", insert)) {
            assertThat(process.code()).as(process.output()).isEqualTo(1);
            assertThat(process.output().lines().toList())
                    .last()
                    .asString()
                    .startsWith("stoker: statement 2 of 2 failed: The dataset already has a sample with the key cat/1");
        }
        StringWriter said = new StringWriter();
        PrintWriter out = new PrintWriter(said, true);
        Stoker.run(List.of("gc", directory.resolve("data it's/twice").toString()), out, out);
        assertThat(said.toString()).contains("kept: lease of ").contains("whose process has ended");
    }

    @Test
    @Tag("full-programs")
    void theClientEndsWithItsCommand() throws Exception {
        try (StokerProcess process = sql("-e", SLOW)) {
            Waiting.until(() -> process.children().size() == 1);
            ProcessHandle client = process.children().get(0);
            process.signal("KILL");
            client.onExit().get(30, TimeUnit.SECONDS);
        }
    }

    /** A gateway runs any code that a statement names. */
    @Test
    @Tag("full-programs")
    void otherUsersOfTheMachineCannotConnect() throws Exception {
        try (StokerProcess process = sql("-e", SLOW)) {
            Waiting.until(() -> sockets(process).size() >= 3);
            for (ListeningSockets.Socket socket : sockets(process)) {
                assertThat(socket.isLocal()).as(socket.toString()).isTrue();
                int port = Integer.parseInt(socket.address().replaceFirst(".*:", ""));
                assertThat(answer(new Socket(InetAddress.getLoopbackAddress(), port)))
                        .doesNotContain(" 200");
                assertThatThrownBy(() -> answer(
                                trusting().getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port)))
                        .isInstanceOf(IOException.class);
            }
            List<ProcessHandle> children = process.children();
            process.signal("TERM");
            assertThat(process.code()).as(process.output()).isEqualTo(128 + 15);
            assertThat(children).hasSize(1).noneMatch(ProcessHandle::isAlive);
        }
    }

    private static Set<ListeningSockets.Socket> sockets(StokerProcess process) throws IOException {
        List<ProcessHandle> children = process.children();
        return children.size() == 1 ? ListeningSockets.of(children.get(0).pid()) : Set.of();
    }

    private static String answer(Socket connection) throws IOException {
        try (connection) {
            connection.setSoTimeout(5000);
            connection
                    .getOutputStream()
                    .write("GET /v1/info HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.UTF_8));
            return new String(connection.getInputStream().readNBytes(12), StandardCharsets.ISO_8859_1);
        }
    }

    /** A client that accepts any certificate and has none. */
    private static SSLContext trusting() throws Exception {
        X509TrustManager all = new X509TrustManager() {
            @Override
            public void checkClientTrusted(X509Certificate[] chain, String type) {}

            @Override
            public void checkServerTrusted(X509Certificate[] chain, String type) {}

            @Override
            public X509Certificate[] getAcceptedIssuers() {
                return new X509Certificate[0];
            }
        };
        SSLContext context = SSLContext.getInstance("TLSv1.3");
        context.init(null, new TrustManager[] {all}, null);
        return context;
    }
}
