package dev.stoker.client.transport;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.client.Batch;
import dev.stoker.client.FakeFeeder;
import dev.stoker.client.FakeStream;
import dev.stoker.client.FeedClient;
import dev.stoker.client.FeedClientBuilder;
import dev.stoker.client.Waiting;
import dev.stoker.client.errors.TlsException;
import dev.stoker.schemas.order.delivery.Participant;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.transport.TestCertificate;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Feeders with TLS: authorized trainers get the same batches, and others an error with the next step. */
@Timeout(120)
class TlsTest {
    private static final FakeStream STREAM = FakeStream.of(4, 40, 37, 29, 44);
    private static final List<String> EXPECTED = STREAM.expected(0, TailPolicy.PAD, Participant.rank(0, 1), 0);

    @TempDir
    private static Path directory;

    private static TestCertificate own;
    private static TestCertificate trainer;
    private static TestCertificate expired;

    private final List<FakeFeeder> feeders = new ArrayList<>();

    @BeforeAll
    static void certificates() throws Exception {
        own = TestCertificate.makeFor(directory, "feeder", "dns:localhost");
        trainer = TestCertificate.makeFor(directory, "trainer", "dns:trainer");
        expired = TestCertificate.makeFor(directory, "expired", "ip:127.0.0.1", "-startdate", "-10d", "-validity", "5");
    }

    @AfterEach
    void stop() {
        feeders.forEach(FakeFeeder::close);
    }

    private FakeFeeder feeder(TestCertificate certificate, boolean wantsCertificates) throws Exception {
        feeders.add(new FakeFeeder(STREAM, Optional.of(certificate.showing(trainer)), wantsCertificates));
        return feeders.get(feeders.size() - 1);
    }

    private static FeedClientBuilder client(String target, String... environment) {
        Map<String, String> variables = new HashMap<>();
        for (int i = 0; i < environment.length; i += 2) {
            variables.put(environment[i], environment[i + 1]);
        }
        return FeedClient.of(target).environment(variables).bufferBytes(5 * 4096);
    }

    private static String byName(FakeFeeder feeder) {
        return feeder.address().replace("127.0.0.1", "localhost");
    }

    private static List<String> read(FeedClientBuilder builder) {
        try (FeedClient feed = builder.open()) {
            List<String> batches = FakeStream.read(feed);
            assertThat(feed.stats().corruptPieces() + feed.stats().reconnects()).isZero();
            return batches;
        }
    }

    private static void refused(String message, FeedClientBuilder builder) {
        assertThatThrownBy(() -> builder.timeouts(t -> t.connectTimeout(Duration.ofSeconds(30)))
                        .open())
                .isInstanceOf(TlsException.class)
                .hasMessageContaining(message)
                .hasMessageNotContaining("\n");
    }

    @Test
    void theBatchesAreTheSame() throws Exception {
        FakeFeeder feeder = feeder(own, false);
        assertThat(read(client(byName(feeder)).security(s -> s.tls(own.pem())))).isEqualTo(EXPECTED);
        assertThat(read(client(feeder.address()).security(s -> s.tls(own.pem()).tlsName("localhost"))))
                .isEqualTo(EXPECTED);
        assertThat(read(client(
                        feeder.address(), "STOKER_TLS_CA", own.pem().toString(), "STOKER_TLS_NAME", "localhost")))
                .isEqualTo(EXPECTED);
    }

    @Test
    void aNamedFeedNeedsNothing() throws Exception {
        FakeFeeder feeder = feeder(own, false);
        Path feeds = Files.createDirectories(directory.resolve("home/feeds"));
        String file = "{\"addresses\":[\"%s\"],\"tls_cert\":\"%s\"}";
        Files.writeString(feeds.resolve("fake.json"), file.formatted(feeder.address(), own.pem()));
        String home = feeds.getParent().toString();
        assertThat(read(client("fake", "STOKER_HOME", home))).isEqualTo(EXPECTED);
        Files.writeString(feeds.resolve("fake.json"), file.formatted(feeder.address(), trainer.pem()));
        refused(
                "the certificate of " + feeder.address() + " is not the one in " + trainer.pem(),
                client("fake", "STOKER_HOME", home));
    }

    @Test
    void aTrainerShowsItsCertificate() throws Exception {
        FakeFeeder feeder = feeder(own, true);
        assertThat(read(client(byName(feeder))
                        .security(s -> s.tls(own.pem()).tlsCertificate(trainer.pem(), trainer.key()))))
                .isEqualTo(EXPECTED);
        refused(
                byName(feeder) + " requires a certificate of the trainer",
                client(byName(feeder)).security(s -> s.tls(own.pem())));
        refused(
                byName(feeder) + " refuses the certificate " + own.pem(),
                client(byName(feeder)).security(s -> s.tls(own.pem()).tlsCertificate(own.pem(), own.key())));
        refused(
                "the key " + own.key() + " does not belong to the certificate " + trainer.pem(),
                client(byName(feeder)).security(s -> s.tls(own.pem()).tlsCertificate(trainer.pem(), own.key())));
    }

    @Test
    void aCertificateThatIsNotRightIsNamed() throws Exception {
        FakeFeeder feeder = feeder(own, false);
        refused(
                "the certificate of " + byName(feeder) + " is not signed by one that " + trainer.pem() + " trusts",
                client(byName(feeder)).security(s -> s.tls(trainer.pem())));
        refused(
                "is not signed by one that this system trusts",
                client(byName(feeder)).security(s -> s.tlsOfSystem()));
        refused(
                "the certificate of " + feeder.address() + " is for localhost, not 127.0.0.1: set tlsName",
                client(feeder.address()).security(s -> s.tls(own.pem())));
        refused(
                "is for localhost, not feeder-2",
                client(byName(feeder)).security(s -> s.tls(own.pem()).tlsName("feeder-2")));
        FakeFeeder old = feeder(expired, false);
        refused(
                "the certificate of " + old.address() + " has expired: renew",
                client(old.address()).security(s -> s.tls(expired.pem())));
        refused(
                "cannot be read: it does not exist",
                client(byName(feeder)).security(s -> s.tls(directory.resolve("absent.pem"))));
        refused("contains no PEM certificate", client(byName(feeder)).security(s -> s.tls(own.key())));
    }

    @Test
    void plainTextIsNoTls() {
        feeders.add(new FakeFeeder(STREAM));
        refused(
                feeders.get(0).address() + " does not speak TLS: start the feed with --tls-cert",
                client(feeders.get(0).address()).security(s -> s.tls(own.pem())));
    }

    @Test
    void aConnectionThatBreaksIsMadeAgain() throws Exception {
        FakeFeeder feeder = feeder(own, false);
        feeder.faults.add(new FakeFeeder.Planned(FakeFeeder.Fault.CUT, 7));
        feeder.faults.add(new FakeFeeder.Planned(FakeFeeder.Fault.FLIP, 15));
        List<String> batches = new ArrayList<>();
        try (FeedClient feed =
                client(byName(feeder)).security(s -> s.tls(own.pem())).open()) {
            for (Batch batch : feed.epoch()) {
                batches.add(FakeStream.text(batch));
            }
            assertThat(feed.stats().reconnects()).isEqualTo(1);
        }
        assertThat(batches).isEqualTo(EXPECTED);
        Waiting.until(() -> feeder.receipts.size() >= EXPECTED.size());
    }
}
