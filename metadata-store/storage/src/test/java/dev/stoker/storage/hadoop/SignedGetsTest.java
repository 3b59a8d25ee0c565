package dev.stoker.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.retry.CallScope;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.s3a.S3AFileSystem;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Reads of S3 without S3A, and when they are left to it. */
@Timeout(100)
class SignedGetsTest {
    private static final int LENGTH = 300_000;

    @TempDir
    private Path directory;

    private final URI uri = URI.create("s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID());
    private final byte[] content = new byte[LENGTH];

    SignedGetsTest() {
        new Random(5).nextBytes(content);
    }

    private HadoopObjectStore open(URI endpoint, Map<String, String> settings) throws IOException {
        return S3ObjectStoreTest.open(uri, endpoint, settings);
    }

    private static byte[] read(HadoopObjectStore store, String name, int offset, int length) throws IOException {
        byte[] read = new byte[length];
        store.read(name, offset, ByteBuffer.wrap(read));
        return read;
    }

    @Test
    void aServerThatChecksSignaturesTakesThem() throws IOException {
        try (S3Server server = S3Server.start(Map.of(
                        "s3proxy.authorization",
                        "aws-v4",
                        "s3proxy.identity",
                        "local-identity",
                        "s3proxy.credential",
                        "local-credential"));
                HadoopObjectStore direct = open(server.endpoint(), Map.of());
                HadoopObjectStore store = open(server.endpoint(), Map.of());
                HadoopObjectStore wrong = open(server.endpoint(), Map.of("fs.s3a.secret.key", "another"))) {
            ((S3AFileSystem) direct.connection().fileSystem())
                    .getS3AInternals()
                    .getAmazonS3Client("a bucket")
                    .createBucket(bucket -> bucket.bucket(S3Server.BUCKET));
            for (String name : List.of("plain.arrow", "a b/ü 漢字/50%+1=2&~'(x)!*,;@$.bin")) {
                direct.createIfAbsent(name, content);
                SignedGets gets = SignedGets.of(store.connection()).orElseThrow();
                byte[] read = new byte[LENGTH - 1000];
                try (gets;
                        CallScope scope = CallScope.open(Duration.ofSeconds(60))) {
                    boolean answered = gets.read(
                            name,
                            1000,
                            read.length,
                            (offset, part) -> part.get(read, (int) offset - 1000, part.remaining()),
                            StoreConfiguration.slowReads(store.connection().configuration()));
                    assertThat(answered).as(name).isTrue();
                    assertThat(scope.requests()).isOne();
                }
                assertThat(read).isEqualTo(Arrays.copyOfRange(content, 1000, LENGTH));
            }
            assertThatThrownBy(() -> read(wrong, "plain.arrow", 0, LENGTH)).hasMessageContaining("Not allowed to read");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "fs.s3a.requester.pays.enabled, true",
        "fs.s3a.encryption.algorithm, SSE-C",
        "fs.s3a.encryption.algorithm, CSE-KMS",
        "fs.s3a.server-side-encryption-algorithm, SSE-C",
        "fs.s3a.accesspoint.arn, arn:aws:s3:eu-west-1:123456789012:accesspoint/x",
        "fs.s3a.custom.signers, Mine:example.Signer",
        "fs.s3a.s3.signing-algorithm, Mine",
        "fs.s3a.http.signer.enabled, true",
        "fs.s3a.delegation.token.binding, example.Binding",
        "fs.s3a.s3.client.factory.impl, example.Factory",
        "fs.s3a.audit.execution.interceptors, 'dev.stoker.storage.hadoop.S3Requests,example.Other'"
    })
    void whatOnlyS3aKnowsIsLeftToIt(String key, String value) {
        Configuration conf = StoreConfiguration.load(uri, Map.of());
        assertThat(SignedGets.isPlain(conf, "bucket")).isTrue();
        conf.set(key, value);
        assertThat(SignedGets.isPlain(conf, "bucket")).isFalse();
    }

    @Test
    void encryptionThatAReaderNeedNotKnowOfIsNoReason() {
        Configuration conf = StoreConfiguration.load(uri, Map.of());
        conf.set("fs.s3a.encryption.algorithm", "SSE-KMS");
        assertThat(SignedGets.isPlain(conf, "bucket")).isTrue();
        assertThat(SignedGets.isPlain(conf, "bucket--use1-az4--x-s3")).isFalse();
    }

    /** S3A's requests have headers of its client, which are signed as well. */
    private static boolean isSignedGet(FaultProxy.Request request) {
        return request.isObjectGet() && !request.authorization().contains("amz-sdk-");
    }

    @Test
    void refusedReadsAreS3asAndAfterThreeItIsAskedAtOnce() throws IOException {
        try (FaultProxy proxy = FaultProxy.start(S3Server.shared().endpoint(), 0);
                HadoopObjectStore store = open(proxy.endpoint(), Map.of())) {
            store.createIfAbsent("a", content);
            proxy.always(SignedGetsTest::isSignedGet, new Fault.Status(403, "AccessDenied"));
            proxy.resetCounts();
            for (int i = 0; i < 5; i++) {
                assertThat(read(store, "a", 0, LENGTH)).isEqualTo(content);
            }
            assertThat(proxy.requests()).isEqualTo(3 + 5);
        }
    }

    @Test
    void whatS3aCannotReadEitherIsNoReasonToAskItAtOnce() throws IOException {
        try (FaultProxy proxy = FaultProxy.start(S3Server.shared().endpoint(), 0);
                HadoopObjectStore store = open(proxy.endpoint(), Map.of())) {
            store.createIfAbsent("a", content);
            for (int i = 0; i < 5; i++) {
                assertThatThrownBy(() -> read(store, "none", 0, LENGTH)).isInstanceOf(NoSuchObjectException.class);
            }
            for (int i = 0; i < 4; i++) {
                proxy.next(2, FaultProxy.Request::isObjectGet, new Fault.Status(400, "ExpiredToken"));
                assertThat(read(store, "a", 0, LENGTH)).isEqualTo(content);
            }
            proxy.resetCounts();
            assertThat(read(store, "a", 0, LENGTH)).isEqualTo(content);
            assertThat(proxy.log()).hasSize(1).allMatch(SignedGetsTest::isSignedGet);
        }
    }

    @Test
    void renewedCredentialsAreUsedWithTheNextRead() throws IOException {
        System.setProperty(
                "aws.sharedCredentialsFile", directory.resolve("credentials").toString());
        try (FaultProxy proxy = FaultProxy.start(S3Server.shared().endpoint(), 0)) {
            replaceCredentials("ASIAFIRST");
            Configuration conf = StoreConfiguration.load(
                    uri, Map.of("AWS_ENDPOINT_URL", proxy.endpoint().toString()));
            try (HadoopObjectStore store = HadoopObjectStore.open(uri, conf)) {
                store.createIfAbsent("a", content);
                proxy.resetCounts();
                assertThat(read(store, "a", 0, LENGTH)).isEqualTo(content);
                replaceCredentials("ASIASECOND");
                assertThat(read(store, "a", 0, LENGTH)).isEqualTo(content);
                assertThat(proxy.log()).hasSize(2);
                assertThat(proxy.log().get(0).authorization()).contains("Credential=ASIAFIRST/");
                assertThat(proxy.log().get(1).authorization()).contains("Credential=ASIASECOND/");
            }
        } finally {
            System.clearProperty("aws.sharedCredentialsFile");
        }
    }

    private void replaceCredentials(String key) throws IOException {
        Path next = directory.resolve("next");
        Files.writeString(
                next, "[default]\naws_access_key_id = " + key + "\naws_secret_access_key = s\naws_session_token = t\n");
        Files.move(next, directory.resolve("credentials"), StandardCopyOption.REPLACE_EXISTING);
    }
}
