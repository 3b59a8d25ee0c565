package dev.stoker.mount.tree;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.mount.TestMount;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class NextSamplesTest {

    private static final int FILES = 20;

    private final List<String> read = new ArrayList<>();
    private NextSamples next;

    /** Two chunks have every other file of a directory. Another directory and a subdirectory follow. */
    @BeforeEach
    void create() throws IOException {
        TestMount made = new TestMount(new InMemoryObjectStore());
        Map<String, byte[]> even = new TreeMap<>(TestMount.images("d/07-below/x", "e/00"));
        Map<String, byte[]> odd = new TreeMap<>();
        for (int i = 0; i < FILES; i++) {
            (i % 2 == 0 ? even : odd).putAll(TestMount.images(key(i)));
        }
        made.append(even, odd);
        SampleIndex index = SampleIndex.open(made.dataset(), made.dataset().snapshot());
        next = new NextSamples(
                index,
                entry -> {
                    read.add(entry.name());
                    if (entry.name().equals(key(6))) {
                        throw new IOException("unreadable");
                    }
                    return Optional.of(ByteBuffer.wrap(entry.name().getBytes(StandardCharsets.UTF_8)));
                },
                Runnable::run);
    }

    private static String key(int file) {
        return String.format("d/%02d", file);
    }

    private static List<String> keys(int first, int end) {
        List<String> keys = new ArrayList<>();
        for (int i = first; i < end; i++) {
            keys.add(key(i));
        }
        return keys;
    }

    private Optional<String> take(int file) throws IOException {
        return next.take(key(file))
                .map(content -> StandardCharsets.UTF_8.decode(content).toString());
    }

    @Test
    void readsTheNextFilesOfTheDirectoryAheadOfAReaderInOrder() throws IOException {
        assertThat(take(0)).isEmpty();
        assertThat(read).isEmpty();
        assertThat(take(1)).isEmpty();
        assertThat(read).isEqualTo(keys(2, 2 + NextSamples.AHEAD));
        assertThat(take(2)).contains(key(2));
        assertThat(read).isEqualTo(keys(2, 3 + NextSamples.AHEAD));
        for (int i = 7; i < FILES; i++) {
            assertThat(take(i)).contains(key(i));
        }
        assertThat(read).isEqualTo(keys(2, FILES));
        assertThat(next.take("e/00")).isEmpty();
    }

    @Test
    void readsNothingForAReaderInNoOrder() throws IOException {
        for (int file : new int[] {3, 1, 0, 2, 4, 9, 8, 19, 5, 7, 12, 10}) {
            assertThat(take(file)).isEmpty();
        }
        assertThat(read).isEmpty();
    }

    @Test
    void leavesAFileThatCannotBeReadToItsReader() throws IOException {
        take(4);
        take(5);
        assertThat(take(6)).isEmpty();
        assertThat(take(7)).contains(key(7));
    }

    @Test
    void readsAheadAgainAfterAJump() throws IOException {
        take(0);
        take(1);
        take(15);
        take(16);
        read.clear();
        assertThat(take(17)).contains(key(17));
        assertThat(take(18)).contains(key(18));
        assertThat(take(2)).isEmpty();
    }
}
