package dev.stoker.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.errors.StoreAccessException;
import dev.stoker.storage.retry.CallScope;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Predicate;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AUtils;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.services.s3.model.S3Exception;

/** Access rights on S3, and that credentials do not leak. */
class S3CredentialsTest {

    private static final String SECRET = "wJalrXUtnFEMIsecretK7MDENG";
    private static final String TOKEN = "FwoGZXIvYXdzEtokenBYaD";

    private static final class Events extends AbstractAppender {
        final List<String> texts = new ArrayList<>();

        Events() {
            super("events", null, null, true, Property.EMPTY_ARRAY);
        }

        @Override
        public synchronized void append(LogEvent event) {
            texts.add(event.getMessage().getFormattedMessage() + text(event.getThrown()));
        }
    }

    @TempDir
    private Path directory;

    private final URI uri = URI.create("s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID());
    private final Events events = new Events();
    private FaultProxy proxy;

    @BeforeEach
    void start() throws IOException {
        proxy = FaultProxy.start(S3Server.shared().endpoint(), 0);
        events.start();
        ((Logger) LogManager.getRootLogger()).addAppender(events);
    }

    @AfterEach
    void stop() throws IOException {
        ((Logger) LogManager.getRootLogger()).removeAppender(events);
        proxy.close();
        System.clearProperty("aws.sharedCredentialsFile");
    }

    private static String text(Throwable failure) {
        StringWriter text = new StringWriter();
        if (failure != null) {
            failure.printStackTrace(new PrintWriter(text));
        }
        return text.toString();
    }

    private HadoopObjectStore open(Map<String, String> settings) throws IOException {
        Configuration conf = StoreConfiguration.load(
                uri, Map.of("AWS_ENDPOINT_URL", proxy.endpoint().toString()));
        conf.set("fs.s3a.retry.interval", "5ms");
        conf.set(StoreConfiguration.RETRY_TIME, "2s");
        conf.set(StoreConfiguration.FIRST_CONTACT_TIME, "2s");
        settings.forEach(conf::set);
        return HadoopObjectStore.open(uri, conf);
    }

    private void replaceCredentials(String key) throws IOException {
        Path next = directory.resolve("next");
        Files.writeString(
                next,
                "[other]\naws_access_key_id = no\naws_secret_access_key = no\n[default]\naws_access_key_id = " + key
                        + "\naws_secret_access_key = " + SECRET + "\naws_session_token = " + TOKEN + "\n");
        Files.move(next, directory.resolve("credentials"), StandardCopyOption.REPLACE_EXISTING);
    }

    private static Predicate<FaultProxy.Request> signedWith(String key) {
        return request -> request.authorization().contains("Credential=" + key + "/");
    }

    @Test
    void refusedCredentialsAreTypedAndNotRetried() throws IOException {
        proxy.always(request -> true, new Fault.Status(403, "InvalidAccessKeyId"));
        try (HadoopObjectStore store = open(Map.of("fs.s3a.access.key", "AKIAEXAMPLE", "fs.s3a.secret.key", SECRET))) {
            proxy.resetCounts();

            assertThatThrownBy(() -> store.read("a", 0, ByteBuffer.allocate(10)))
                    .isInstanceOf(StoreAccessException.class)
                    .hasMessage(
                            "Not allowed to read " + uri + "/a: HTTP 403 InvalidAccessKeyId (made by the fault proxy); "
                                    + "check the credentials (see docs/stores.md) and their permissions there");
            assertThatThrownBy(() -> store.createIfAbsent("a", new byte[1])).isInstanceOf(StoreAccessException.class);
            assertThat(proxy.requests()).isEqualTo(2);
        }
    }

    @Test
    void whereThereAreNoneTheErrorSaysWhereTheyAreLookedFor() throws IOException {
        System.setProperty(
                "aws.sharedCredentialsFile", directory.resolve("none").toString());
        String providers = CredentialsFile.class.getName();
        try (HadoopObjectStore store = open(Map.of("fs.s3a.aws.credentials.provider", providers))) {
            assertThatThrownBy(() -> store.length("a"))
                    .isInstanceOf(StoreAccessException.class)
                    .hasMessageContaining("no credentials were found in the environment");
        }
    }

    @Test
    void credentialsAreInNoMessageAndNoLog() throws IOException {
        List<Throwable> failures = new ArrayList<>();
        for (Fault fault : new Fault[] {
            new Fault.Status(403, "SignatureDoesNotMatch"),
            new Fault.Status(400, "ExpiredToken"),
            new Fault.Status(503, "SlowDown"),
            new Fault.LostReply()
        }) {
            proxy.heal();
            proxy.always(request -> true, fault);
            try (HadoopObjectStore store = open(Map.of(
                    "fs.s3a.access.key",
                    "AKIAEXAMPLE",
                    "fs.s3a.secret.key",
                    SECRET,
                    "fs.s3a.session.token",
                    TOKEN,
                    "fs.s3a.retry.limit",
                    "1",
                    "fs.s3a.retry.throttle.limit",
                    "1",
                    StoreConfiguration.FIRST_CONTACT_TIME,
                    "1s"))) {
                try {
                    store.createIfAbsent("a", new byte[1]);
                } catch (IOException e) {
                    failures.add(e);
                }
                try {
                    store.readAll("a", 10);
                } catch (IOException e) {
                    failures.add(e);
                }
            }
        }
        assertThat(failures).hasSize(8);
        for (Throwable failure : failures) {
            assertThat(text(failure)).doesNotContain(SECRET).doesNotContain(TOKEN);
        }
        assertThat(String.join("\n", events.texts)).doesNotContain(SECRET).doesNotContain(TOKEN);
    }

    @Test
    void aPasswordInALocationIsRefusedAndNotRepeated() {
        assertThatThrownBy(() -> HadoopObjectStore.open("s3a://AKIAEXAMPLE:" + SECRET + "@bucket/x"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("s3a://bucket/x")
                .hasMessageContaining("must not hold a password")
                .hasMessageNotContaining(SECRET);
    }

    @Test
    void renewedCredentialsAreUsedWithTheNextRequest() throws IOException {
        System.setProperty(
                "aws.sharedCredentialsFile", directory.resolve("credentials").toString());
        replaceCredentials("ASIAFIRST");
        try (HadoopObjectStore store = open(Map.of())) {
            store.createIfAbsent("a", new byte[] {1});
            proxy.resetCounts();
            store.readAll("a", 10);
            proxy.always(signedWith("ASIAFIRST"), new Fault.Status(400, "ExpiredToken"));
            replaceCredentials("ASIASECOND");

            assertThat(store.readAll("a", 10)).containsExactly(1);

            assertThat(proxy.log()).hasSize(2);
            assertThat(proxy.log().get(0)).matches(signedWith("ASIAFIRST"));
            assertThat(proxy.log().get(1)).matches(signedWith("ASIASECOND"));
        }
    }

    /** The reply to a HEAD has no body, and so no code. */
    @Test
    void expiredCredentialsOfARequestWithoutABodyAreWaitedForAndThenTyped() throws IOException {
        try (HadoopObjectStore store = open(Map.of(
                "fs.s3a.access.key",
                "AKIAEXAMPLE",
                "fs.s3a.secret.key",
                SECRET,
                StoreConfiguration.RETRY_TIME,
                "60s",
                StoreConfiguration.FIRST_CONTACT_TIME,
                "60s"))) {
            store.createIfAbsent("a", new byte[] {1});
            proxy.next(2, request -> request.method().equals("HEAD"), new Fault.Status(400, "ExpiredToken"));
            assertThat(store.length("a")).isOne();
        }
        IOException refused = S3AUtils.translateException(
                "find", "a", S3Exception.builder().statusCode(400).build());
        try (CallScope scope = CallScope.open(Duration.ofSeconds(1))) {
            assertThat(HadoopErrors.INSTANCE.explain("find", "a", refused, 1, scope))
                    .isInstanceOf(StoreAccessException.class)
                    .hasMessageContaining("HTTP 400 without a reason, as for expired credentials or a wrong region");
        }
    }

    @Test
    void aCallWhoseTimeEndsBetweenTwoRequestsNamesExpiredCredentials() throws IOException {
        try (CallScope scope = CallScope.open(Duration.ofSeconds(1))) {
            scope.failed(S3Exception.builder()
                    .statusCode(400)
                    .awsErrorDetails(
                            AwsErrorDetails.builder().errorCode("ExpiredToken").build())
                    .build());
            assertThat(HadoopErrors.INSTANCE.explain("read", "a", new SocketTimeoutException("too long"), 5, scope))
                    .isInstanceOf(StoreAccessException.class)
                    .hasMessageContaining("ExpiredToken");
        }
    }

    @Test
    void expiredCredentialsAreWaitedForAndThenTyped() throws Exception {
        System.setProperty(
                "aws.sharedCredentialsFile", directory.resolve("credentials").toString());
        replaceCredentials("ASIAFIRST");
        proxy.always(signedWith("ASIAFIRST"), new Fault.Status(400, "ExpiredToken"));
        proxy.resetCounts();
        try (HadoopObjectStore store = open(Map.of(StoreConfiguration.FIRST_CONTACT_TIME, "60s"))) {
            Thread renewal = new Thread(() -> {
                while (proxy.requests() < 2) {
                    Thread.onSpinWait();
                }
                try {
                    replaceCredentials("ASIASECOND");
                } catch (IOException e) {
                    throw new IllegalStateException(e);
                }
            });
            renewal.start();

            assertThat(store.createIfAbsent("a", new byte[] {1})).isTrue();
            renewal.join();
            proxy.always(signedWith("ASIASECOND"), new Fault.Status(400, "ExpiredToken"));
            assertThatThrownBy(() -> store.readAll("a", 10))
                    .isInstanceOf(StoreAccessException.class)
                    .hasMessageContaining("ExpiredToken");
        }
    }
}
