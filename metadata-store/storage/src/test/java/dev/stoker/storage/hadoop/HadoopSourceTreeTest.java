package dev.stoker.storage.hadoop;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.SourceTree.Kind;
import dev.stoker.storage.Stores;
import dev.stoker.storage.errors.StoreUnavailableException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@Timeout(180)
class HadoopSourceTreeTest {

    @AfterEach
    void clear() {
        HadoopSettings.clear();
    }

    /** Creates an empty, separate place. */
    private static String place(String kind) throws IOException {
        if (kind.equals("hdfs")) {
            return HdfsCluster.shared().uri() + "/" + UUID.randomUUID();
        }
        HadoopSettings.use(S3Server.shared().settings());
        return "s3a://" + S3Server.BUCKET + "/" + UUID.randomUUID();
    }

    private static void put(String place, String name, String content) throws IOException {
        try (ObjectStore store = Stores.open(place)) {
            store.createIfAbsent(name, content.getBytes(UTF_8));
        }
    }

    private static Map<String, String> list(SourceTree tree, String directory) throws IOException {
        Map<String, String> found = new TreeMap<>();
        tree.list(directory, entry -> found.put(entry.name(), entry.kind() + " " + entry.length()));
        return found;
    }

    private static String read(SourceTree tree, String path, long offset, int room) throws IOException {
        ByteBuffer target = ByteBuffer.allocateDirect(room);
        int read = tree.read(path, offset, target);
        byte[] bytes = new byte[read];
        assertThat(target.flip().remaining()).isEqualTo(read);
        target.get(bytes);
        return new String(bytes, UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"hdfs", "s3"})
    @Tag("full-stores")
    void listsAndReads(String kind) throws IOException {
        String place = place(kind);
        put(place, "a/b/1.txt", "one");
        if (kind.equals("s3")) {
            // HDFS has no colons in names.
            put(place, "a/odd ä:name%20 +.txt", "odd");
        }
        put(place, "a.txt", "");
        try (SourceTree tree = Stores.openTree(place)) {
            assertThat(tree.location()).isEqualTo(place);
            assertThat(list(tree, "")).isEqualTo(Map.of("a", "DIRECTORY 0", "a.txt", "FILE 0"));
            if (kind.equals("s3")) {
                assertThat(list(tree, "a")).isEqualTo(Map.of("b", "DIRECTORY 0", "odd ä:name%20 +.txt", "FILE 3"));
                assertThat(read(tree, "a/odd ä:name%20 +.txt", 0, 4)).isEqualTo("odd");
            }
            assertThat(read(tree, "a/b/1.txt", 0, 4)).isEqualTo("one");
            assertThat(read(tree, "a/b/1.txt", 0, 2)).isEqualTo("on");
            assertThat(read(tree, "a/b/1.txt", 2, 9)).isEqualTo("e");
            assertThat(read(tree, "a/b/1.txt", 3, 9)).isEmpty();
            assertThat(read(tree, "a.txt", 0, 1)).isEmpty();
            assertThat(tree.find("a/b").orElseThrow().kind()).isEqualTo(Kind.DIRECTORY);
            assertThat(tree.find("a/b/1.txt").orElseThrow().length()).isEqualTo(3);
            assertThat(tree.find("")).isPresent();
            assertThat(tree.find("nothing")).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"hdfs", "s3"})
    @Tag("full-stores")
    void tellsWhatIsGone(String kind) throws IOException {
        String place = place(kind);
        put(place, "a/1.txt", "one");
        try (SourceTree tree = Stores.openTree(place)) {
            assertThatThrownBy(() -> list(tree, "gone"))
                    .isInstanceOf(NoSuchFileException.class)
                    .hasMessageContaining(place + "/gone");
            assertThatThrownBy(() -> read(tree, "a/gone", 0, 3)).isInstanceOf(NoSuchFileException.class);
            assertThatThrownBy(() -> list(tree, "a/1.txt")).isInstanceOf(NotDirectoryException.class);
        }
    }

    @Test
    void readsAFileWithOneRequestAndNoneBefore() throws IOException {
        S3Server server = S3Server.shared();
        String place = place("s3");
        put(place, "a/1.txt", "one");
        put(place, "a/2.txt", "grown");
        try (FaultProxy proxy = FaultProxy.start(server.endpoint(), 1)) {
            HadoopSettings.use(S3Server.settings(proxy.endpoint()));
            try (SourceTree tree = Stores.openTree(place)) {
                proxy.resetCounts();
                assertThat(read(tree, "a/1.txt", 0, 4)).isEqualTo("one");
                assertThat(proxy.requests()).isEqualTo(1);
                assertThat(read(tree, "a/2.txt", 0, 3)).isEqualTo("gro");
                assertThat(proxy.requests()).isEqualTo(2);
            }
        }
    }

    @Test
    @Tag("full-stores")
    void requestsAnyPageOfAListingAgain() throws IOException {
        String place = place("s3");
        for (int i = 10; i < 17; i++) {
            put(place, "a/" + i + (i % 2 == 0 ? "" : "/x"), "");
        }
        try (FaultProxy proxy = FaultProxy.start(S3Server.shared().endpoint(), 1)) {
            Map<String, String> settings = S3Server.settings(proxy.endpoint());
            settings.put("fs.s3a.paging.maximum", "3");
            HadoopSettings.use(settings);
            try (SourceTree tree = Stores.openTree(place)) {
                proxy.next(
                        2,
                        request -> request.target().contains("continuation-token"),
                        new Fault.Status(400, "ExpiredToken"));
                assertThat(list(tree, "a"))
                        .isEqualTo(Map.of(
                                "10",
                                "FILE 0",
                                "11",
                                "DIRECTORY 0",
                                "12",
                                "FILE 0",
                                "13",
                                "DIRECTORY 0",
                                "14",
                                "FILE 0",
                                "15",
                                "DIRECTORY 0",
                                "16",
                                "FILE 0"));
            }
        }
    }

    @Test
    @Tag("full-stores")
    void readsAgainWhatEndedTooSoon() throws IOException {
        S3Server server = S3Server.shared();
        String place = place("s3");
        String text = "0123456789".repeat(5000);
        put(place, "1.txt", text);
        try (FaultProxy proxy = FaultProxy.start(server.endpoint(), 1)) {
            HadoopSettings.use(S3Server.settings(proxy.endpoint()));
            try (SourceTree tree = Stores.openTree(place)) {
                proxy.next(1, FaultProxy.Request::isObjectGet, new Fault.Truncated(0.5));
                assertThat(read(tree, "1.txt", 0, text.length() + 1)).isEqualTo(text);
                proxy.next(1, FaultProxy.Request::isObjectGet, new Fault.EndedEarly(0.3));
                assertThat(read(tree, "1.txt", 0, text.length() + 1)).isEqualTo(text);
                proxy.next(2, FaultProxy.Request::isObjectGet, Fault.slowDown());
                assertThat(read(tree, "1.txt", 0, text.length() + 1)).isEqualTo(text);
            }
        }
    }

    @Test
    @Tag("full-stores")
    void saysThatAStoreDoesNotAnswer() throws IOException {
        try (FaultProxy proxy = FaultProxy.start(S3Server.shared().endpoint(), 1)) {
            Map<String, String> settings = S3Server.settings(proxy.endpoint());
            settings.put("fs.stoker.retry.time.first", "1s");
            settings.put("fs.s3a.retry.limit", "1");
            settings.put("fs.s3a.retry.throttle.limit", "1");
            HadoopSettings.use(settings);
            proxy.always(request -> true, new Fault.Status(503, "SlowDown"));
            try (SourceTree tree = Stores.openTree("s3a://" + S3Server.BUCKET + "/x")) {
                assertThatThrownBy(() -> list(tree, ""))
                        .isInstanceOf(StoreUnavailableException.class)
                        .hasMessageContaining("s3a://" + S3Server.BUCKET + "/x");
            }
        }
    }
}
