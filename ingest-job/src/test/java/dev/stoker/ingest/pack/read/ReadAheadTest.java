package dev.stoker.ingest.pack.read;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.SourceTree;
import dev.stoker.storage.errors.StoreUnavailableException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ReadAheadTest {

    private final ExecutorService pool = Executors.newFixedThreadPool(8);
    private final FakeTree tree = new FakeTree();
    private final ReadAhead reads = new ReadAhead(tree, pool, 4);

    @AfterEach
    void shutDown() {
        pool.shutdownNow();
    }

    private String read(String key, long listed) throws IOException {
        StringBuilder text = new StringBuilder();
        try (SeekableByteChannel channel = reads.open(key, listed)) {
            ByteBuffer buffer = ByteBuffer.allocate(7);
            while (channel.read(buffer) >= 0) {
                buffer.flip();
                text.append(UTF_8.decode(buffer));
                buffer.clear();
            }
        }
        return text.toString();
    }

    private void begin(String... keys) {
        List<SourceReads.Wanted> wanted = new ArrayList<>();
        for (String key : keys) {
            wanted.add(new SourceReads.Wanted(key, tree.files.get(key).length()));
        }
        reads.begin(wanted);
    }

    @Test
    void readsManyFilesAtATime() throws Exception {
        tree.together = new CountDownLatch(4);
        for (int i = 0; i < 12; i++) {
            tree.files.put("f" + i, "content of " + i);
        }
        begin(tree.files.keySet().toArray(new String[0]));
        // Each read waits until four have begun.
        for (String key : tree.files.keySet()) {
            assertThat(read(key, -1)).isEqualTo(tree.files.get(key));
        }
        assertThat(tree.most.get()).isBetween(4, 5);
        assertThat(tree.calls).hasSize(12).allMatch(call -> call.startsWith("read "));
    }

    @Test
    void readsNoFurtherThanItsWindow() {
        for (int i = 0; i < 12; i++) {
            tree.files.put("f" + i, "content of " + i);
        }
        begin(tree.files.keySet().toArray(new String[0]));
        pool.shutdown();
        assertThat(awaitEnd()).isTrue();
        assertThat(tree.calls).hasSize(4);
    }

    private boolean awaitEnd() {
        try {
            return pool.awaitTermination(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void takesAFileThatHasGrownOrShrunkAsItIs() throws Exception {
        tree.files.put("grown", "abc");
        tree.files.put("shrunk", "abcdef");
        List<SourceReads.Wanted> wanted =
                List.of(new SourceReads.Wanted("grown", 3), new SourceReads.Wanted("shrunk", 6));
        tree.files.put("grown", "abc and more");
        tree.files.put("shrunk", "a");
        reads.begin(wanted);

        assertThat(read("grown", 3)).isEqualTo("abc and more");
        assertThat(read("shrunk", 6)).isEqualTo("a");
        try (SeekableByteChannel channel = reads.open("grown", -1)) {
            assertThat(channel.size()).isEqualTo(12);
        }
    }

    @Test
    void passesOverFilesThatAreNotAskedFor() throws Exception {
        for (String key : List.of("a", "b", "c", "d", "e", "f", "g")) {
            tree.files.put(key, key + key);
        }
        begin("a", "b", "c", "d", "e", "f", "g");
        assertThat(read("a", 2)).isEqualTo("aa");
        assertThat(read("d", 2)).isEqualTo("dd");
        assertThat(read("g", 2)).isEqualTo("gg");
        // Not announced, or passed over already: read then and there.
        assertThat(read("b", 2)).isEqualTo("bb");
    }

    @Test
    void tellsWhyAFileCannotBeRead() {
        tree.files.put("a", "aa");
        begin("a");
        tree.files.remove("a");
        reads.begin(List.of(new SourceReads.Wanted("a", 2), new SourceReads.Wanted("down", 2)));

        assertThatThrownBy(() -> read("a", 2)).isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> read("down", 2)).isInstanceOf(StoreUnavailableException.class);
    }

    @Test
    void doesNotHoldWhatIsTooBig() throws Exception {
        tree.files.put("a", "aa");
        reads.begin(
                List.of(new SourceReads.Wanted("big", ReadAhead.MAX_FILE_BYTES + 1), new SourceReads.Wanted("a", 2)));
        assertThat(read("a", 2)).isEqualTo("aa");
        assertThat(tree.calls).containsExactly("read a");
    }

    /** Files in memory. */
    private static final class FakeTree implements SourceTree {

        private final Map<String, String> files = new ConcurrentSkipListMap<>();
        private final Set<String> calls = ConcurrentHashMap.newKeySet();
        private final AtomicInteger running = new AtomicInteger();
        private final AtomicInteger most = new AtomicInteger();
        private volatile CountDownLatch together = new CountDownLatch(0);

        @Override
        public String location() {
            return "fake://tree";
        }

        @Override
        public void list(String directory, Visitor visitor) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<Entry> find(String path) {
            return Optional.ofNullable(files.get(path)).map(text -> new Entry(path, Kind.FILE, text.length(), 0));
        }

        @Override
        public int read(String path, long offset, ByteBuffer target) throws IOException {
            calls.add("read " + path);
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            try {
                together.countDown();
                if (!together.await(60, TimeUnit.SECONDS)) {
                    throw new AssertionError("the reads do not run at the same time");
                }
            } catch (InterruptedException e) {
                throw new IOException(e);
            } finally {
                running.decrementAndGet();
            }
            if (path.equals("down")) {
                throw new StoreUnavailableException("down", null);
            }
            String text = files.get(path);
            if (text == null) {
                throw new NoSuchFileException(path);
            }
            byte[] bytes = text.getBytes(UTF_8);
            int count = (int) Math.min(target.remaining(), bytes.length - offset);
            target.put(bytes, (int) offset, count);
            return count;
        }

        @Override
        public void close() {}
    }
}
