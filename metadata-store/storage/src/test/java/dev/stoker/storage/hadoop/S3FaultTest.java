package dev.stoker.storage.hadoop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.testing.Rounds;
import dev.stoker.schemas.testing.TestSeed;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.Stores;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.StoreAccessException;
import dev.stoker.storage.errors.StoreUnavailableException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import dev.stoker.storage.errors.UnsupportedStoreException;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.Predicate;
import org.apache.hadoop.fs.s3a.impl.AWSClientConfig;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Faults between a store and a real S3 server. */
class S3FaultTest {

    /** Retries as they are, with shorter pauses. */
    private static final Map<String, String> QUICK = Map.of(
            "fs.s3a.retry.interval",
            "5ms",
            "fs.s3a.retry.throttle.interval",
            "5ms",
            "fs.s3a.connection.timeout",
            "3s",
            "fs.s3a.multipart.size",
            "5M",
            StoreConfiguration.FIRST_CONTACT_TIME,
            "60s",
            StoreConfiguration.SLOW_READ_TIME,
            "1s");

    /** The same with short limits for retries. */
    private static final Map<String, String> IMPATIENT = Map.of(
            "fs.s3a.retry.interval",
            "5ms",
            "fs.s3a.retry.throttle.interval",
            "5ms",
            "fs.s3a.retry.limit",
            "2",
            "fs.s3a.retry.throttle.limit",
            "2",
            StoreConfiguration.RETRY_TIME,
            "2s",
            StoreConfiguration.FIRST_CONTACT_TIME,
            "2s");

    private final URI uri = URI.create("s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID());
    private FaultProxy proxy;
    private HadoopObjectStore store;
    /** The same objects, with nothing between. */
    private HadoopObjectStore direct;

    @BeforeAll
    static void allowShortTimeouts() {
        AWSClientConfig.setMinimumOperationDuration(Duration.ZERO);
    }

    @AfterAll
    static void reset() {
        AWSClientConfig.resetMinimumOperationDuration();
    }

    @BeforeEach
    void open() throws IOException {
        proxy = FaultProxy.start(S3Server.shared().endpoint(), TestSeed.value());
        store = S3ObjectStoreTest.open(uri, proxy.endpoint(), QUICK);
        direct = S3ObjectStoreTest.open(uri, S3Server.shared().endpoint(), QUICK);
    }

    @AfterEach
    void close() throws IOException {
        store.close();
        direct.close();
        proxy.close();
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(TestSeed.value()).nextBytes(bytes);
        return bytes;
    }

    private byte[] read(HadoopObjectStore from, String name, int offset, int length) throws IOException {
        ByteBuffer target = ByteBuffer.allocateDirect(length);
        from.read(name, offset, target);
        byte[] bytes = new byte[length];
        target.flip().get(bytes);
        return bytes;
    }

    private void write(HadoopObjectStore to, String name, byte[] content) throws IOException {
        try (ObjectWriter writer = to.write(name)) {
            writer.write(ByteBuffer.wrap(content));
            writer.commit();
        }
    }

    @Test
    void aListingBeginsBehindTheNameThatIsGiven() throws IOException {
        try (HadoopObjectStore paged =
                S3ObjectStoreTest.open(uri, proxy.endpoint(), Map.of("fs.s3a.paging.maximum", "10"))) {
            for (int i = 10; i < 60; i++) {
                direct.createIfAbsent("log/" + i, new byte[1]);
            }
            proxy.resetCounts();

            assertThat(paged.list("log/", "log/57").toList()).hasSize(2);
            assertThat(proxy.counts()).isEqualTo(Map.of("LIST", 1L));
            assertThat(paged.list("log/", "log/31").toList()).hasSize(28);
            assertThat(proxy.counts()).isEqualTo(Map.of("LIST", 4L));
        }
    }

    @Test
    @Tag("full-stores")
    void anyPageOfAListingIsRequestedAgain() throws IOException {
        for (int i = 10; i < 35; i++) {
            direct.createIfAbsent("o/" + i, new byte[1]);
        }
        try (HadoopObjectStore paged =
                        S3ObjectStoreTest.open(uri, proxy.endpoint(), Map.of("fs.s3a.paging.maximum", "10"));
                ObjectIterator listing = paged.list("o/")) {
            for (Fault fault : new Fault[] {Fault.slowDown(), new Fault.Status(400, "ExpiredToken")}) {
                proxy.next(1, request -> request.target().contains("continuation-token"), fault);
                for (int i = 0; i < 10; i++) {
                    listing.next();
                }
            }
            assertThat(listing.toList())
                    .extracting(ObjectInfo::name)
                    .containsExactly("o/30", "o/31", "o/32", "o/33", "o/34");
        }
    }

    @Test
    void aReadIsOneRequestAndAsksForNothingElse() throws IOException {
        byte[] content = random(3 << 20);
        direct.createIfAbsent("a", content);
        proxy.resetCounts();

        assertThat(read(store, "a", 0, content.length)).isEqualTo(content);
        assertThat(read(store, "a", 1000, 70_000)).isEqualTo(Arrays.copyOfRange(content, 1000, 71_000));
        assertThat(proxy.counts()).isEqualTo(Map.of("GET", 2L));
        assertThat(proxy.bytesToClients()).isEqualTo(content.length + 70_000);

        assertThat(store.readAll("a", 4 << 20)).isEqualTo(content);
        assertThat(proxy.counts()).isEqualTo(Map.of("GET", 3L));
    }

    @Test
    void aNewObjectIsOneRequest() throws IOException {
        proxy.resetCounts();

        store.createIfAbsent("a", random(100));
        write(store, "b", random(1 << 20));

        assertThat(proxy.counts()).isEqualTo(Map.of("PUT", 2L));
    }

    @Test
    void aConditionalCreateWhoseReplyIsLostHasCreated() throws IOException {
        proxy.next(1, FaultProxy.Request::isCreate, new Fault.LostReply());

        assertThat(store.createIfAbsent("a", random(100))).isTrue();
        assertThat(store.createIfAbsent("a", random(100))).isFalse();
        assertThat(direct.readAll("a", 1000)).isEqualTo(random(100));
    }

    @Test
    void aLostRaceWhoseReplyIsLostIsLost() throws IOException {
        direct.createIfAbsent("a", new byte[] {1});
        proxy.next(1, FaultProxy.Request::isCreate, new Fault.LostReply());

        assertThat(store.createIfAbsent("a", new byte[] {1})).isFalse();
    }

    @Test
    @Tag("full-stores")
    void aWriterWhoseLastReplyIsLostHasCommitted() throws IOException {
        byte[] small = random(1000);
        byte[] parts = random(12 << 20);
        proxy.next(1, FaultProxy.Request::isCreate, new Fault.LostReply());
        write(store, "small", small);
        proxy.next(
                1,
                request -> request.method().equals("POST") && request.target().contains("uploadId="),
                new Fault.LostReply());
        write(store, "parts", parts);

        assertThat(direct.readAll("small", 1 << 20)).isEqualTo(small);
        assertThat(direct.readAll("parts", 1 << 24)).isEqualTo(parts);
        assertThat(direct.listUnfinished("").toList()).isEmpty();
    }

    @ParameterizedTest
    @CsvSource({"409,ConditionalRequestConflict", "412,PreconditionFailed"})
    @Tag("full-stores")
    void aConflictWithoutAnObjectIsTriedAgain(int status, String code) throws IOException {
        proxy.next(2, FaultProxy.Request::isCreate, new Fault.Status(status, code));

        assertThat(store.createIfAbsent("a", new byte[] {1})).isTrue();
        assertThat(direct.readAll("a", 10)).containsExactly(1);
    }

    @Test
    @Tag("full-stores")
    void aConflictWithAnotherWriterIsALostRace() throws IOException {
        direct.createIfAbsent("a", new byte[] {1});
        proxy.next(1, FaultProxy.Request::isCreate, new Fault.Status(409, "ConditionalRequestConflict"));

        assertThat(store.createIfAbsent("a", new byte[] {1})).isFalse();
    }

    @Test
    @Tag("full-stores")
    void whereNobodyCanTellTheOutcomeIsUnknown() throws IOException {
        try (HadoopObjectStore impatient = S3ObjectStoreTest.open(uri, proxy.endpoint(), IMPATIENT)) {
            proxy.always(FaultProxy.Request::isCreate, new Fault.LostReply());
            proxy.always(request -> request.method().equals("HEAD"), new Fault.Status(503, "SlowDown"));

            assertThatThrownBy(() -> impatient.createIfAbsent("a", new byte[] {1}))
                    .isInstanceOf(UnknownOutcomeException.class)
                    .hasMessageContaining(impatient.describe("a"));
            assertThatThrownBy(() -> write(impatient, "b", new byte[] {1}))
                    .isInstanceOf(UnknownOutcomeException.class)
                    .hasMessageContaining(impatient.describe("b"));
        }
        assertThat(direct.readAll("a", 10)).containsExactly(1);
    }

    @ParameterizedTest
    @CsvSource({"403,AccessDenied", "400,BadRequest", "503,SlowDown"})
    @Tag("full-stores")
    void aLostReplyIsUnknownWhateverFailsAfterIt(int status, String code) throws IOException {
        Predicate<FaultProxy.Request> lookups = request -> request.method().equals("HEAD");
        try (HadoopObjectStore impatient = S3ObjectStoreTest.open(uri, proxy.endpoint(), IMPATIENT)) {
            proxy.next(1, FaultProxy.Request::isCreate, new Fault.LostReply());
            proxy.always(lookups, new Fault.Status(status, code));
            proxy.always(FaultProxy.Request::isCreate, new Fault.Status(status, code));

            assertThatThrownBy(() -> impatient.createIfAbsent("a", new byte[] {1}))
                    .isInstanceOf(UnknownOutcomeException.class)
                    .hasMessageContaining(impatient.describe("a"));
        }
        assertThat(direct.readAll("a", 10)).containsExactly(1);
    }

    @Test
    @Tag("full-stores")
    void aRefusedCreationIsNoUnknownOutcome() throws IOException {
        proxy.resetCounts();
        proxy.next(1, FaultProxy.Request::isCreate, new Fault.Status(403, "AccessDenied"));

        assertThatThrownBy(() -> store.createIfAbsent("a", new byte[] {1})).isInstanceOf(StoreAccessException.class);
        assertThat(proxy.counts()).isEqualTo(Map.of("PUT", 1L));
    }

    @ParameterizedTest
    @CsvSource({"403,AccessDenied", "404,NoSuchUpload"})
    @Tag("full-stores")
    void aLastRequestThatIsRefusedAfterALostReplyHasCommitted(int status, String code) throws IOException {
        byte[] parts = random(12 << 20);
        Predicate<FaultProxy.Request> last =
                request -> request.method().equals("POST") && request.target().contains("uploadId=");
        proxy.next(1, last, new Fault.LostReply());
        proxy.always(last, new Fault.Status(status, code));

        write(store, "parts", parts);

        assertThat(direct.readAll("parts", 1 << 24)).isEqualTo(parts);
    }

    @ParameterizedTest
    @ValueSource(strings = {"RequestTimeout", "IncompleteBody"})
    @Tag("full-stores")
    void anInterruptedUploadIsSentAgain(String code) throws IOException {
        Fault interrupted = new Fault.Status(400, code);
        byte[] parts = random(12 << 20);
        proxy.next(1, FaultProxy.Request::isCreate, interrupted);
        assertThat(store.createIfAbsent("a", new byte[] {1})).isTrue();
        proxy.next(1, FaultProxy.Request::isCreate, interrupted);
        write(store, "b", new byte[] {2});
        proxy.next(
                1, request -> request.method().equals("PUT") && request.target().contains("partNumber="), interrupted);
        write(store, "parts", parts);

        assertThat(direct.readAll("a", 10)).containsExactly(1);
        assertThat(direct.readAll("b", 10)).containsExactly(2);
        assertThat(direct.readAll("parts", 1 << 24)).isEqualTo(parts);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.05, 0.2, 0.5})
    @Tag("full-stores")
    void throttlingAndServerErrorsAreSatOut(double rate, TestInfo test) throws IOException {
        proxy.atRate(rate / 3, request -> true, Fault.slowDown())
                .atRate(rate / 3, request -> true, new Fault.Status(429, "TooManyRequests"))
                .atRate(rate / 3, request -> true, new Fault.Status(500, "InternalError"));
        proxy.resetCounts();
        byte[] content = random(100_000);

        int each = rate == 0.2 ? 15 : 4;
        long objects = each
                * Rounds.of(test).atLeast(4).run((random, round) -> {
                    for (int i = 0; i < each; i++) {
                        String name = "o/" + round + "-" + i;
                        assertThat(store.createIfAbsent(name, content)).isTrue();
                        assertThat(read(store, name, 10, 50_000)).isEqualTo(Arrays.copyOfRange(content, 10, 50_010));
                        assertThat(store.readAll(name, 1 << 20)).isEqualTo(content);
                    }
                });
        assertThat(store.list("o/").toList()).hasSize((int) objects);
        assertThat(store.list("o/", "o/").toList()).hasSize((int) objects);

        double amplification = proxy.requests() / (3.0 * objects + 2);
        System.out.println("requests per call at " + rate + " errors: " + amplification);
        if (rate <= 0.2) {
            assertThat(amplification).isLessThan(1.5);
        }
    }

    @Test
    void repliesWithTooFewOrOtherBytesAreNotTaken() throws IOException {
        byte[] content = random(200_000);
        direct.createIfAbsent("a", content);
        for (Fault fault : new Fault[] {
            new Fault.Truncated(0.5),
            new Fault.EndedEarly(0.5),
            new Fault.WrongRange(100),
            new Fault.IgnoredRange(),
            new Fault.Cut(30_000)
        }) {
            proxy.next(1, FaultProxy.Request::isObjectGet, fault);
            assertThat(read(store, "a", 50_000, 100_000))
                    .as(fault.toString())
                    .isEqualTo(Arrays.copyOfRange(content, 50_000, 150_000));

            proxy.next(1, FaultProxy.Request::isObjectGet, fault);
            assertThat(store.readAll("a", 1 << 20)).as(fault.toString()).isEqualTo(content);
        }
    }

    @Test
    void aReadingThatBreaksHandsOnItsBytesFromTheBeginningAgain() throws IOException {
        byte[] content = random(900_000);
        direct.createIfAbsent("a", content);
        proxy.next(1, FaultProxy.Request::isObjectGet, new Fault.EndedEarly(0.5));
        byte[] read = new byte[800_000];
        List<Long> offsets = new ArrayList<>();

        store.read("a", 100_000, read.length, (offset, part) -> {
            offsets.add(offset);
            part.get(read, (int) offset - 100_000, part.remaining());
        });

        assertThat(read).isEqualTo(Arrays.copyOfRange(content, 100_000, 900_000));
        assertThat(offsets).filteredOn(offset -> offset == 100_000).hasSize(2);
    }

    @Test
    @Tag("full-stores")
    void repliesThatAreAlwaysTooShortAreNoShortObject() throws IOException {
        direct.createIfAbsent("a", random(200_000));
        try (HadoopObjectStore impatient = S3ObjectStoreTest.open(uri, proxy.endpoint(), IMPATIENT)) {
            proxy.always(FaultProxy.Request::isObjectGet, new Fault.EndedEarly(0.5));

            assertThatThrownBy(() -> read(impatient, "a", 0, 200_000)).isInstanceOf(StoreUnavailableException.class);
            assertThatThrownBy(() -> impatient.readAll("a", 1 << 20)).isInstanceOf(StoreUnavailableException.class);
        }
    }

    @Test
    void anObjectThatIsShorterThanItWasIsCorrupt() throws IOException {
        direct.createIfAbsent("a", random(1000));

        assertThatThrownBy(() -> read(store, "a", 0, 1001)).isInstanceOf(CorruptDataException.class);
    }

    @Test
    @Tag("full-stores")
    void aTrickleIsLeftForAnotherConnection() throws IOException {
        byte[] content = random(100_000);
        direct.createIfAbsent("a", content);
        proxy.next(1, FaultProxy.Request::isObjectGet, new Fault.Trickle(1000));
        proxy.resetCounts();

        assertThat(read(store, "a", 0, content.length)).isEqualTo(content);
        assertThat(proxy.counts().get("GET")).isBetween(2L, 3L);
    }

    @Test
    @Tag("full-stores")
    void aServerThatHangsIsAskedAgain() throws IOException {
        byte[] content = random(1000);
        direct.createIfAbsent("a", content);
        proxy.next(1, FaultProxy.Request::isObjectGet, new Fault.Hang());

        assertThat(read(store, "a", 0, content.length)).isEqualTo(content);
    }

    @Test
    @Tag("full-stores")
    void whatFailsForGoodNamesObjectAttemptsAndTheWayOut() throws IOException {
        direct.createIfAbsent("a", random(1000));
        try (HadoopObjectStore impatient = S3ObjectStoreTest.open(uri, proxy.endpoint(), IMPATIENT)) {
            proxy.always(request -> true, Fault.slowDown());
            proxy.resetCounts();

            assertThatThrownBy(() -> read(impatient, "a", 0, 100))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageStartingWith("Cannot read " + uri + "/a: " + proxy.requests())
                    .hasMessageContaining(proxy.requests() + " attempts")
                    .hasMessageContaining("HTTP 503 SlowDown")
                    .hasMessageContaining("run the same command again");
            assertThat(proxy.requests()).isGreaterThan(2);
        }
    }

    @Test
    @Tag("full-stores")
    void aServerThatIsNotThereIsAnErrorSoon() throws IOException {
        URI nobody = proxy.endpoint();
        proxy.close();
        try (HadoopObjectStore absent = S3ObjectStoreTest.open(uri, nobody, IMPATIENT)) {
            assertThatThrownBy(() -> absent.length("a"))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("Connection refused");
        }
    }

    @Test
    @Tag("full-stores")
    void aBucketThatIsNotThereIsNamed() throws IOException {
        URI nowhere = URI.create("s3a://no-such-bucket/x");
        try (HadoopObjectStore absent = S3ObjectStoreTest.open(nowhere, proxy.endpoint(), QUICK)) {
            assertThatThrownBy(() -> absent.createIfAbsent("a", new byte[1]))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("s3a://no-such-bucket/x/a")
                    .hasMessageContaining("NoSuchBucket");
        }
    }

    @Test
    @Tag("full-stores")
    void abandonedUploadsAreListedAndDeleted() throws IOException {
        ObjectWriter dead = store.write("chunks/ab/x");
        dead.write(ByteBuffer.wrap(random(6 << 20)));
        // The upload is begun by another thread.
        ObjectInfo upload = null;
        for (long end = System.nanoTime() + 60_000_000_000L; upload == null && System.nanoTime() < end; ) {
            upload = direct.listUnfinished("chunks/").toList().stream()
                    .findFirst()
                    .orElse(null);
        }
        assertThat(upload).isNotNull();
        assertThat(upload.name()).startsWith("chunks/ab/x/.tmp-");
        assertThat(upload.modifiedMs()).isPositive();
        assertThat(direct.listUnfinished("other").toList()).isEmpty();

        assertThat(direct.delete(upload.name())).isTrue();
        assertThat(direct.delete(upload.name())).isFalse();
        assertThat(direct.listUnfinished("").toList()).isEmpty();
        dead.close();
        assertThatThrownBy(() -> direct.length("chunks/ab/x")).isInstanceOf(NoSuchObjectException.class);
    }

    @Test
    void aServerThatIgnoresConditionsIsRefused() throws IOException {
        Stores.requireAtomicCreate(store);

        proxy.always(request -> true, new Fault.IgnoredCondition());

        assertThatThrownBy(() -> Stores.requireAtomicCreate(store))
                .isInstanceOf(UnsupportedStoreException.class)
                .hasMessageContaining("twice")
                .hasMessageContaining("If-None-Match");
        assertThat(direct.list("").toList()).isEmpty();
    }
}
