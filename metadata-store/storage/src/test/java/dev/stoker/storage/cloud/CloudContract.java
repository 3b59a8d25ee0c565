package dev.stoker.storage.cloud;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.ObjectWriter;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.Stores;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.StoreUnavailableException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import dev.stoker.storage.errors.UnsupportedStoreException;
import dev.stoker.storage.hadoop.Fault;
import dev.stoker.storage.hadoop.FaultProxy;
import dev.stoker.storage.hadoop.FaultProxy.Request;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Faults between a store and the emulator of a cloud, and its trees of files. Each cloud's test extends this. */
abstract class CloudContract {

    FaultProxy proxy;
    CloudObjectStore store;
    /** The same objects, with nothing between. */
    CloudObjectStore direct;

    private String location;

    abstract Emulator emulator() throws IOException;

    /** Returns the URI of a path in a bucket. */
    abstract String uri(String bucket, String path);

    /** Returns variables that make the client use a server. */
    abstract Map<String, String> environment(URI endpoint) throws IOException;

    /** Returns whether a request creates an object with one request. */
    abstract boolean isCreate(Request request);

    abstract boolean isRead(Request request);

    abstract boolean isPiece(Request request);

    /** Returns a fault after which the emulator accepts a piece again. */
    abstract Fault pieceFault();

    /** Returns whether a request sends the last piece of an object, or completes it. */
    abstract boolean isCompletion(Request request);

    @BeforeEach
    final void open() throws IOException {
        proxy = FaultProxy.start(emulator().endpoint(), 1);
        location = uri(Emulator.BUCKET, UUID.randomUUID().toString());
        store = Emulator.open(location, environment(proxy.endpoint()));
        direct = Emulator.open(location, environment(emulator().endpoint()));
    }

    @AfterEach
    final void close() throws IOException {
        store.close();
        direct.close();
        proxy.close();
    }

    static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(1).nextBytes(bytes);
        return bytes;
    }

    @Test
    void aServerThatIgnoresConditionsIsRefused() throws IOException {
        Stores.requireAtomicCreate(store);

        proxy.always(request -> true, new Fault.IgnoredCondition());

        assertThatThrownBy(() -> Stores.requireAtomicCreate(store))
                .isInstanceOf(UnsupportedStoreException.class)
                .hasMessageContaining("twice")
                .hasMessageContaining(location)
                .hasMessageContaining("does not support conditional creation");
        assertThat(direct.list("").toList()).isEmpty();
    }

    @Test
    void aCreationWhoseReplyWasLostIsRecognized() throws IOException {
        proxy.next(1, this::isCreate, new Fault.LostReply());
        assertThat(store.createIfAbsent("a", random(10))).isTrue();

        proxy.next(1, this::isCreate, new Fault.LostReply());
        assertThat(store.createIfAbsent("a", random(20))).isFalse();

        assertThat(direct.readAll("a", 100)).isEqualTo(random(10));
    }

    @Test
    void aCommitWhoseReplyWasLostSucceeds() throws IOException {
        proxy.next(1, this::isCreate, new Fault.LostReply());
        try (ObjectWriter writer = store.write("a")) {
            writer.write(ByteBuffer.wrap(random(10)));
            writer.commit();
        }
        assertThat(direct.readAll("a", 100)).isEqualTo(random(10));
    }

    @Test
    void anUnknownOutcomeIsSaid() throws IOException {
        proxy.always(this::isCreate, new Fault.LostReply());
        proxy.always(request -> !isCreate(request), Fault.slowDown());

        assertThatThrownBy(() -> store.createIfAbsent("a", random(10)))
                .isInstanceOf(UnknownOutcomeException.class)
                .hasMessageContaining(location + "/a");
        assertThat(direct.length("a")).isEqualTo(10);
    }

    @Test
    void aReplacementWhoseReplyWasLostIsRepeated() throws IOException {
        direct.createIfAbsent("a", random(10));
        proxy.next(1, this::isCreate, new Fault.LostReply());

        store.replace("a", random(20));

        assertThat(direct.readAll("a", 100)).isEqualTo(random(20));
    }

    @Test
    void aLargeObjectIsSentInPiecesWhichAreSentAgain() throws IOException {
        byte[] content = random(CloudWriter.PIECE_BYTES * 2 + 1000);
        proxy.next(1, this::isPiece, pieceFault());
        proxy.next(1, this::isCompletion, new Fault.Status(503, "SlowDown"));
        try (ObjectWriter writer = store.write("chunks/a")) {
            writer.write(ByteBuffer.wrap(content));
            assertThatThrownBy(() -> direct.length("chunks/a")).isInstanceOf(NoSuchObjectException.class);
            writer.commit();
        }
        byte[] read = new byte[content.length];
        ByteBuffer target = ByteBuffer.wrap(read);
        direct.read("chunks/a", 0, target);
        assertThat(read).isEqualTo(content);
    }

    @Test
    void anAbandonedLargeObjectDoesNotAppear() throws IOException {
        try (ObjectWriter abandoned = store.write("b")) {
            abandoned.write(ByteBuffer.wrap(new byte[CloudWriter.PIECE_BYTES + 1]));
        }
        assertThat(direct.list("").toList()).isEmpty();
        assertThat(direct.listUnfinished("").toList()).isEmpty();
    }

    @Test
    void aReplyThatEndsTooEarlyIsRequestedAgain() throws IOException {
        byte[] content = random(500_000);
        direct.createIfAbsent("a", content);
        for (Fault fault : new Fault[] {
            new Fault.Truncated(0.5), new Fault.Cut(100_000), new Fault.Status(503, "SlowDown"), new Fault.WrongRange(5)
        }) {
            proxy.next(1, this::isRead, fault);
            ByteBuffer target = ByteBuffer.allocate(300_000);
            store.read("a", 100_000, target);
            byte[] expected = new byte[300_000];
            System.arraycopy(content, 100_000, expected, 0, expected.length);
            assertThat(target.array()).as("%s", fault).isEqualTo(expected);
        }
        proxy.next(1, this::isRead, new Fault.Truncated(0.5));
        assertThat(store.readAll("a", content.length)).isEqualTo(content);
    }

    @Test
    void readsWithOneRequest() throws IOException {
        direct.createIfAbsent("a", random(100));
        proxy.resetCounts();

        store.read("a", 10, ByteBuffer.allocate(50));
        assertThat(proxy.requests()).isEqualTo(1);
        store.readAll("a", 100);
        assertThat(proxy.requests()).isEqualTo(2);
    }

    @Test
    void aFailureNamesObjectAttemptsAndTheNextStep() throws IOException {
        proxy.always(request -> true, Fault.slowDown());

        assertThatThrownBy(() -> store.length("a"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageStartingWith("Cannot find " + location + "/a: ")
                .hasMessageContaining(" attempts in ")
                .hasMessageContaining("HTTP 503")
                .hasMessageContaining("run the same command again");
    }

    @Test
    void anAbsentServerIsReportedSoon() throws IOException {
        proxy.close();

        assertThatThrownBy(() -> store.length("a"))
                .isInstanceOf(StoreUnavailableException.class)
                .hasMessageContaining("Connection refused");
    }

    @Test
    void anAbsentBucketIsNamed() throws IOException {
        try (CloudObjectStore absent =
                Emulator.open(uri("no-such-bucket", "x"), environment(emulator().endpoint()))) {
            assertThatThrownBy(() -> absent.createIfAbsent("a", new byte[1]))
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining(uri("no-such-bucket", "x/a"))
                    .hasMessageContaining("no-such-bucket; check its name, or create it");
            assertThatThrownBy(() -> absent.list("").hasNext())
                    .isInstanceOf(StoreUnavailableException.class)
                    .hasMessageContaining("no-such-bucket; check its name, or create it");
        }
    }

    private static Map<String, String> list(SourceTree tree, String directory) throws IOException {
        Map<String, String> found = new TreeMap<>();
        tree.list(directory, entry -> found.put(entry.name(), entry.kind() + " " + entry.length()));
        return found;
    }

    private static String read(SourceTree tree, String path, long offset, int room) throws IOException {
        ByteBuffer target = ByteBuffer.allocateDirect(room);
        byte[] bytes = new byte[tree.read(path, offset, target)];
        target.flip().get(bytes);
        return new String(bytes, UTF_8);
    }

    private void put(String name, String content) throws IOException {
        direct.createIfAbsent(name, content.getBytes(UTF_8));
    }

    @Test
    void listsAndReadsATreeOfFiles() throws IOException {
        put("a/b/1.txt", "one");
        put("a/odd ä:name%20 +.txt", "odd");
        put("a.txt", "");
        // Closed with the store.
        CloudSourceTree tree = new CloudSourceTree(store);
        assertThat(tree.location()).isEqualTo(location);
        assertThat(list(tree, "")).isEqualTo(Map.of("a", "DIRECTORY 0", "a.txt", "FILE 0"));
        assertThat(list(tree, "a")).isEqualTo(Map.of("b", "DIRECTORY 0", "odd ä:name%20 +.txt", "FILE 3"));
        assertThat(read(tree, "a/odd ä:name%20 +.txt", 0, 4)).isEqualTo("odd");
        assertThat(read(tree, "a/b/1.txt", 0, 2)).isEqualTo("on");
        assertThat(read(tree, "a/b/1.txt", 2, 9)).isEqualTo("e");
        assertThat(read(tree, "a/b/1.txt", 3, 9)).isEmpty();
        assertThat(read(tree, "a.txt", 0, 1)).isEmpty();
        assertThat(tree.find("a/b").orElseThrow().kind()).isEqualTo(SourceTree.Kind.DIRECTORY);
        assertThat(tree.find("a/b/1.txt").orElseThrow().length()).isEqualTo(3);
        assertThat(tree.find("")).isPresent();
        assertThat(tree.find("nothing")).isEmpty();
    }

    @Test
    void saysThatAFileOfATreeIsGone() throws IOException {
        put("a/1.txt", "one");
        CloudSourceTree tree = new CloudSourceTree(store);
        assertThatThrownBy(() -> list(tree, "gone"))
                .isInstanceOf(NoSuchFileException.class)
                .hasMessageContaining(location + "/gone");
        assertThatThrownBy(() -> read(tree, "a/gone", 0, 3)).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> list(tree, "a/1.txt")).isInstanceOf(NotDirectoryException.class);
    }
}
