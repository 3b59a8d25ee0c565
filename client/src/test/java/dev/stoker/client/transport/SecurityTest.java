package dev.stoker.client.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.FeedClient;
import dev.stoker.client.errors.FeedException;
import dev.stoker.client.errors.TlsException;
import dev.stoker.client.errors.UnauthorizedException;
import dev.stoker.transport.TestCertificate;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SecurityTest {
    private static final Security.Trust UNSAID = new Security.Trust.Unsaid();

    @TempDir
    private Path directory;

    private Target target() {
        return Target.of(Optional.of("photos"), Map.of("STOKER_HOME", directory.toString()));
    }

    private static Security of(Security.Trust trust, Map<String, String> environment) {
        return new Security(
                Optional.empty(),
                Optional.empty(),
                trust,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                environment);
    }

    private static Security withToken(Optional<String> token, Optional<Path> file, Map<String, String> environment) {
        return new Security(token, file, UNSAID, Optional.empty(), Optional.empty(), Optional.empty(), environment);
    }

    private Path file(String name, String text) throws IOException {
        Path file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        return Files.writeString(file, text);
    }

    @Test
    void theTokenIsThatWhichIsNamedClosest() throws IOException {
        Path fed = file("fed", "of-the-feed's-file\n");
        file("feeds/photos.json", "{\"addresses\":[\"a:1\"],\"token_file\":\"" + fed + "\"}");
        Path own = file("own", " of-a-file \n");
        assertThat(withToken(Optional.of("said"), Optional.empty(), Map.of("STOKER_TOKEN", "x"))
                        .tokenFor(target()))
                .contains("said");
        Security renewed = withToken(Optional.empty(), Optional.of(own), Map.of("STOKER_TOKEN", "x"));
        assertThat(renewed.tokenFor(target())).contains("of-a-file");
        file("own", "renewed");
        assertThat(renewed.tokenFor(target())).contains("renewed");
        Map<String, String> both = Map.of("STOKER_TOKEN", "of a variable", "STOKER_TOKEN_FILE", own.toString());
        assertThat(withToken(Optional.empty(), Optional.empty(), both).tokenFor(target()))
                .contains("of a variable");
        Map<String, String> inHome = Map.of("STOKER_TOKEN_FILE", "~/own", "HOME", directory.toString());
        assertThat(withToken(Optional.empty(), Optional.empty(), inHome).tokenFor(target()))
                .contains("renewed");
        assertThat(withToken(Optional.empty(), Optional.empty(), Map.of()).tokenFor(target()))
                .contains("of-the-feed's-file");
    }

    @Test
    void aTokenFileThatCannotBeReadIsAnError() throws IOException {
        Path absent = directory.resolve("absent");
        assertThatThrownBy(() -> withToken(Optional.empty(), Optional.of(absent), Map.of())
                        .tokenFor(target()))
                .isInstanceOf(UnauthorizedException.class)
                .hasMessage("tokenFile " + absent + " cannot be read: it does not exist");
        Path empty = file("empty", "\n");
        Map<String, String> environment = Map.of("STOKER_TOKEN_FILE", empty.toString());
        assertThatThrownBy(() -> withToken(Optional.empty(), Optional.empty(), environment)
                        .tokenFor(target()))
                .isInstanceOf(UnauthorizedException.class)
                .hasMessage("STOKER_TOKEN_FILE " + empty + " is empty");
    }

    @Test
    void tlsIsWhatWasSaidElseTheEnvironmentElseTheFeedsFile() throws IOException {
        Path ca = directory.resolve("ca.pem");
        Map<String, String> environment = Map.of("STOKER_TLS_CA", ca.toString(), "STOKER_TLS_NAME", "feeder-1");
        assertThat(of(UNSAID, Map.of()).tlsFor(target(), "a:1")).isEmpty();
        assertThat(of(UNSAID, environment).tlsFor(target(), "a:1"))
                .contains(new Tls(
                        Optional.of(ca),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.empty(),
                        Optional.of("feeder-1")));
        assertThat(of(new Security.Trust.Plain(), environment).tlsFor(target(), "a:1"))
                .isEmpty();
        Tls ofSystem =
                new Tls(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());
        assertThat(of(UNSAID, Map.of("STOKER_TLS_CA", "system")).tlsFor(target(), "a:1"))
                .contains(ofSystem);
        assertThat(of(new Security.Trust.System(), Map.of()).tlsFor(target(), "a:1"))
                .contains(ofSystem);
        file("feeds/photos.json", "{\"addresses\":[\"a:1\"],\"tls_cert\":\"/etc/feeder.pem\"}");
        assertThat(of(UNSAID, Map.of()).tlsFor(target(), "a:1").orElseThrow().pin())
                .contains(Path.of("/etc/feeder.pem"));
        assertThat(of(UNSAID, environment).tlsFor(target(), "a:1").orElseThrow().pin())
                .isEmpty();
    }

    @Test
    void whatWasSecuredStaysSoWhenTheFeedEnds() throws IOException {
        Security unsaid = of(UNSAID, Map.of());
        for (String then : new String[] {"{\"addresses\":[\"a:1\"],\"ended_ms\":1}", null}) {
            Target target = target();
            file("feeds/photos.json", "{\"addresses\":[\"a:1\"],\"tls_cert\":\"/etc/feeder.pem\"}");
            assertThat(target.addresses()).containsExactly("a:1");
            if (then == null) {
                Files.delete(directory.resolve("feeds/photos.json"));
            } else {
                file("feeds/photos.json", then);
            }
            assertThat(unsaid.tlsFor(target, "a:1").orElseThrow().pin()).contains(Path.of("/etc/feeder.pem"));
        }
    }

    @Test
    void whatWasSecuredIsNotReadInPlainText() throws IOException {
        Target target = target();
        file("feeds/photos.json", "{\"addresses\":[\"a:1\"],\"tls_cert\":\"/etc/feeder.pem\"}");
        target.addresses();
        file("feeds/photos.json", "{\"addresses\":[\"a:1\"]}");
        assertThatThrownBy(() -> of(UNSAID, Map.of()).tlsFor(target, "a:1"))
                .isInstanceOf(TlsException.class)
                .hasMessageContainingAll("feed 'photos' was served over TLS", "/etc/feeder.pem", "now names none");
        assertThat(of(new Security.Trust.Plain(), Map.of()).tlsFor(target, "a:1"))
                .isEmpty();
        file("feeds/photos.json", "{\"addresses\":[\"a:1\"],\"tls_cert\":\"/etc/renewed.pem\"}");
        assertThat(of(UNSAID, Map.of()).tlsFor(target, "a:1").orElseThrow().pin())
                .contains(Path.of("/etc/renewed.pem"));
    }

    @Test
    void aLaneMapDoesNotLeadOutOfTls() {
        Security system = of(new Security.Trust.System(), Map.of());
        assertThatThrownBy(() -> system.tlsFor(target(), "unix:/tmp/elsewhere"))
                .isInstanceOf(TlsException.class)
                .hasMessageContaining("uses only TLS");
        Target named = Target.of(Optional.of("unix:/tmp/feed"), Map.of());
        assertThat(system.tlsFor(named, "unix:/tmp/feed")).isEmpty();
        assertThat(of(UNSAID, Map.of()).tlsFor(target(), "unix:/tmp/elsewhere")).isEmpty();
    }

    @SuppressWarnings("JdkObsolete") // Two threads use the StringBuffer.
    @Test
    void noTokenGoesOutInPlainText() throws Exception {
        try (ServerSocket thief = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Path certificate = TestCertificate.makeFor(directory, "feeder", "dns:localhost")
                    .pem();
            String address = "127.0.0.1:" + thief.getLocalPort();
            file("feeds/photos.json", "{\"addresses\":[\"" + address + "\"],\"tls_cert\":\"" + certificate + "\"}");
            StringBuffer heard = new StringBuffer();
            AtomicBoolean isReplaced = new AtomicBoolean();
            Thread listener = new Thread(() -> {
                try {
                    while (true) {
                        try (Socket socket = thief.accept()) {
                            // The feed has ended, and this process has taken its port.
                            file("feeds/photos.json", "{\"addresses\":[\"" + address + "\"],\"ended_ms\":1}");
                            socket.setSoTimeout(500);
                            byte[] bytes = socket.getInputStream().readNBytes(400);
                            heard.append(new String(bytes, StandardCharsets.ISO_8859_1));
                            isReplaced.set(true);
                        } catch (SocketTimeoutException e) {
                            isReplaced.set(true);
                        }
                    }
                } catch (IOException e) {
                    // The end of the test.
                }
            });
            listener.setDaemon(true);
            listener.start();
            assertThatThrownBy(() -> FeedClient.of("photos")
                            .environment(Map.of("STOKER_HOME", directory.toString(), "STOKER_TOKEN", "very-secret"))
                            .timeouts(t -> t.connectTimeout(Duration.ofSeconds(3)))
                            .open())
                    .isInstanceOf(FeedException.class);
            assertThat(isReplaced).isTrue();
            assertThat(heard.toString()).doesNotContain("secret");
        }
    }

    @Test
    void whoDemandsTlsStaysWithTheAddress() {
        assertThat(of(UNSAID, Map.of()).allowsUnix()).isTrue();
        assertThat(of(UNSAID, Map.of("STOKER_TLS_CA", "system")).allowsUnix()).isFalse();
        assertThat(of(UNSAID, Map.of("STOKER_TLS_NAME", "a")).allowsUnix()).isFalse();
        assertThat(of(UNSAID, Map.of("STOKER_TLS_CERT", "a")).allowsUnix()).isFalse();
        assertThat(of(new Security.Trust.System(), Map.of()).allowsUnix()).isFalse();
    }

    @Test
    void secretsAreNotSeen() {
        assertThat(withToken(Optional.of("s3cret"), Optional.empty(), Map.of("STOKER_TOKEN", "hidd3n"))
                        .toString())
                .doesNotContain("s3cret")
                .doesNotContain("hidd3n");
    }

    @Test
    void whatCannotBeIsReportedTogether() {
        assertThatThrownBy(() -> FeedClient.of("a:1")
                        .environment(Map.of())
                        .security(s -> s.token("s3cret")
                                .tokenFile(directory)
                                .plainText()
                                .tlsName("x"))
                        .bufferBytes(0)
                        .steps(s -> s.concat(0))
                        .batchSize(0)
                        .ranks(r -> r.replicas(2))
                        .open())
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("token and tokenFile are both set")
                .hasMessageContaining("cannot be combined with plainText")
                .hasMessageContaining("bufferBytes is 0")
                .hasMessageContaining("at least 1")
                .hasMessageContaining("batch_size is 0")
                .hasMessageContaining("1 rank cannot be divided into groups of 2 replicas")
                .hasMessageNotContaining("s3cret");
    }
}
