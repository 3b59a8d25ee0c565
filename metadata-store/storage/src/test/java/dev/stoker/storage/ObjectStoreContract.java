package dev.stoker.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.testing.Rounds;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;

/** What every object store does. A store's own test extends this. */
public abstract class ObjectStoreContract {

    private ObjectStore store;

    /** A store without objects. */
    protected abstract ObjectStore createStore() throws IOException;

    /** How often a race is run; fewer where each step is a request. */
    protected int rounds() {
        return 20;
    }

    /** How many objects make a long listing. */
    protected int manyObjects() {
        return 300;
    }

    @BeforeEach
    final void open() throws IOException {
        store = createStore();
    }

    @AfterEach
    final void close() throws IOException {
        store.close();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private List<String> names(ObjectIterator objects) throws IOException {
        return objects.toList().stream().map(ObjectInfo::name).sorted().toList();
    }

    @Test
    void readsBackWhatWasCreated() throws IOException {
        assertThat(store.createIfAbsent("a/b/c.txt", bytes("hello"))).isTrue();

        assertThat(store.readAll("a/b/c.txt", 5)).isEqualTo(bytes("hello"));
        assertThat(store.length("a/b/c.txt")).isEqualTo(5);
    }

    @Test
    void createsAnEmptyObject() throws IOException {
        assertThat(store.createIfAbsent("empty", new byte[0])).isTrue();

        assertThat(store.readAll("empty", 0)).isEmpty();
        assertThat(store.createIfAbsent("empty", bytes("x"))).isFalse();
    }

    @Test
    void namesMayBeAsLongAsFileSystemsAllow() throws IOException {
        String name = "long/" + "ü".repeat(127) + "x";
        assertThat(store.createIfAbsent(name, bytes("first"))).isTrue();
        store.replace(name, bytes("second"));
        try (ObjectWriter writer = store.write("long/" + "y".repeat(255))) {
            writer.write(ByteBuffer.wrap(bytes("third")));
            writer.commit();
        }

        assertThat(store.readAll(name, 6)).isEqualTo(bytes("second"));
        assertThat(names(store.list("long/"))).containsExactly("long/" + "y".repeat(255), name);
    }

    @Test
    void createIfAbsentLeavesAnExistingObjectAlone() throws IOException {
        store.createIfAbsent("a", bytes("first"));

        assertThat(store.createIfAbsent("a", bytes("second"))).isFalse();
        assertThat(store.readAll("a", 100)).isEqualTo(bytes("first"));
        assertThat(names(store.listUnfinished(""))).isEmpty();
    }

    @Test
    void oneOfManyContendersCreates(TestInfo test) throws Exception {
        int contenders = 8;
        ExecutorService threads = Executors.newFixedThreadPool(contenders);
        try {
            Rounds.of(test).atLeast(rounds()).run((random, round) -> {
                String name = "race/" + random.nextLong();
                CountDownLatch start = new CountDownLatch(1);
                List<Future<Boolean>> outcomes = new ArrayList<>();
                for (int i = 0; i < contenders; i++) {
                    byte[] content = bytes("contender " + i);
                    outcomes.add(threads.submit(() -> {
                        start.await();
                        return store.createIfAbsent(name, content);
                    }));
                }
                start.countDown();
                int winner = -1;
                for (int i = 0; i < contenders; i++) {
                    if (outcomes.get(i).get()) {
                        assertThat(winner).isEqualTo(-1);
                        winner = i;
                    }
                }
                assertThat(store.readAll(name, 100)).isEqualTo(bytes("contender " + winner));
            });
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void aReaderNeverSeesPartOfAnObject(TestInfo test) throws Exception {
        byte[] content = new byte[1 << 20];
        Arrays.fill(content, (byte) 7);
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try {
            Rounds.of(test).atLeast(rounds()).run((random, round) -> {
                String name = "whole/" + random.nextLong();
                Future<?> writer = threads.submit(() -> store.createIfAbsent(name, content));
                while (true) {
                    try {
                        assertThat(store.readAll(name, content.length)).isEqualTo(content);
                        break;
                    } catch (NoSuchObjectException e) {
                        Thread.onSpinWait();
                    }
                }
                writer.get();
            });
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void replacesTheContentOfAnExistingObjectOnly() throws IOException {
        store.createIfAbsent("a/b", bytes("old"));
        assertThat(store.readAll("a/b", 100)).isEqualTo(bytes("old"));

        store.replace("a/b", bytes("another one"));

        assertThat(store.readAll("a/b", 100)).isEqualTo(bytes("another one"));
        assertThat(store.length("a/b")).isEqualTo(11);
        assertThat(names(store.list(""))).containsExactly("a/b");
        assertThat(names(store.listUnfinished(""))).isEmpty();
        assertThatThrownBy(() -> store.replace("a/c", bytes("x"))).isInstanceOf(NoSuchObjectException.class);
        assertThat(names(store.list(""))).containsExactly("a/b");
    }

    @Test
    void aReaderSeesTheOldOrTheNewContent(TestInfo test) throws Exception {
        byte[] old = new byte[1 << 18];
        byte[] replacing = new byte[1 << 18];
        Arrays.fill(replacing, (byte) 1);
        ExecutorService threads = Executors.newSingleThreadExecutor();
        try {
            store.createIfAbsent("a", old);
            Rounds.of(test).atLeast(rounds()).run((random, round) -> {
                byte[] next = round % 2 == 0 ? replacing : old;
                byte[] before = round % 2 == 0 ? old : replacing;
                Future<?> writer = threads.submit(() -> {
                    store.replace("a", next);
                    return true;
                });
                boolean isNew = false;
                while (!isNew) {
                    byte[] read = store.readAll("a", next.length);
                    isNew = Arrays.equals(read, next);
                    assertThat(isNew || Arrays.equals(read, before)).isTrue();
                }
                writer.get();
            });
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void readsARange() throws IOException {
        store.createIfAbsent("a", bytes("0123456789"));
        ByteBuffer target = ByteBuffer.allocateDirect(8);
        target.position(2).limit(6);

        store.read("a", 3, target);

        assertThat(target.position()).isEqualTo(6);
        assertThat(target.limit()).isEqualTo(6);
        byte[] read = new byte[4];
        target.get(2, read);
        assertThat(read).isEqualTo(bytes("3456"));
    }

    @Test
    void readingBeyondTheEndIsCorruption() throws IOException {
        store.createIfAbsent("a", bytes("0123456789"));

        assertThatThrownBy(() -> store.read("a", 8, ByteBuffer.allocate(3)))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining(store.describe("a"))
                .hasMessageContaining("byte 10")
                .hasMessageContaining("11");
        assertThatThrownBy(() -> store.read("a", 100, ByteBuffer.allocate(1))).isInstanceOf(CorruptDataException.class);
        store.read("a", 10, ByteBuffer.allocate(0));
    }

    @Test
    void readsInPartsThatComeInOrder() throws IOException {
        byte[] content = new byte[700_000];
        new Random(1).nextBytes(content);
        store.createIfAbsent("a", content);
        byte[] read = new byte[600_000];
        long[] next = {1000};

        store.read("a", 1000, read.length, (offset, part) -> {
            assertThat(offset).isEqualTo(next[0]);
            next[0] += part.remaining();
            part.get(read, (int) offset - 1000, part.remaining());
        });

        assertThat(next[0]).isEqualTo(601_000);
        assertThat(read).isEqualTo(Arrays.copyOfRange(content, 1000, 601_000));
        store.read("a", 10, 0, (offset, part) -> assertThat(part.remaining()).isZero());
        assertThatThrownBy(() -> store.read("a", 600_000, 100_001, (offset, part) -> {}))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("700000");
        assertThatThrownBy(() -> store.read("none", 0, 1, (offset, part) -> {}))
                .isInstanceOf(NoSuchObjectException.class);
    }

    @Test
    void aSinkThatFailsEndsTheReading() throws IOException {
        store.createIfAbsent("a", new byte[300_000]);
        UncheckedIOException full = new UncheckedIOException(new IOException("No space left on device"));
        int[] puts = {0};

        assertThatThrownBy(() -> store.read("a", 0, 300_000, (offset, part) -> {
                    puts[0]++;
                    throw full;
                }))
                .isSameAs(full);
        assertThat(puts[0]).isOne();
    }

    @Test
    void readAllRefusesMoreThanItsLimit() throws IOException {
        store.createIfAbsent("a", bytes("0123456789"));

        assertThatThrownBy(() -> store.readAll("a", 9))
                .isInstanceOf(CorruptDataException.class)
                .hasMessageContaining("10 bytes")
                .hasMessageContaining("at most 9");
    }

    @Test
    void anAbsentObjectIsTyped() throws IOException {
        assertThatThrownBy(() -> store.length("x/y"))
                .isInstanceOf(NoSuchObjectException.class)
                .hasMessage("There is no " + store.describe("x/y"));
        assertThatThrownBy(() -> store.readAll("x/y", 10)).isInstanceOf(NoSuchObjectException.class);
        assertThatThrownBy(() -> store.read("x/y", 0, ByteBuffer.allocate(1)))
                .isInstanceOf(NoSuchObjectException.class);
        assertThat(store.delete("x/y")).isFalse();
    }

    @Test
    void writesAnObjectInParts() throws IOException {
        try (ObjectWriter writer = store.write("chunks/ab/x.arrow")) {
            writer.write(ByteBuffer.wrap(bytes("one ")));
            writer.write(new ByteBuffer[] {
                ByteBuffer.wrap(bytes("two ")), ByteBuffer.allocate(0), ByteBuffer.wrap(bytes("three"))
            });
            assertThat(writer.position()).isEqualTo(13);
            writer.commit();
        }

        assertThat(store.readAll("chunks/ab/x.arrow", 100)).isEqualTo(bytes("one two three"));
        assertThat(names(store.listUnfinished(""))).isEmpty();
    }

    @Test
    void anObjectAppearsWithItsCommit() throws IOException {
        try (ObjectWriter writer = store.write("chunks/ab/x.arrow")) {
            writer.write(ByteBuffer.wrap(bytes("data")));

            assertThatThrownBy(() -> store.length("chunks/ab/x.arrow")).isInstanceOf(NoSuchObjectException.class);
            assertThat(names(store.list("chunks/"))).isEmpty();
            // Where it is kept in memory up to some size, nothing is left behind, either.
            assertThat(names(store.listUnfinished("chunks/"))).hasSizeLessThan(2);
        }

        assertThat(names(store.list(""))).isEmpty();
        assertThat(names(store.listUnfinished(""))).isEmpty();
    }

    @Test
    void aWriterDoesNotReplaceAnObject() throws IOException {
        store.createIfAbsent("a", bytes("first"));
        try (ObjectWriter writer = store.write("a")) {
            writer.write(ByteBuffer.wrap(bytes("second")));
            assertThatThrownBy(writer::commit).hasMessageContaining("it already exists");
        }

        assertThat(store.readAll("a", 100)).isEqualTo(bytes("first"));
    }

    @Test
    void aWriterCommitsOnce() throws IOException {
        try (ObjectWriter writer = store.write("a")) {
            writer.commit();
            assertThatThrownBy(writer::commit).isInstanceOf(IllegalStateException.class);
        }
        assertThat(store.length("a")).isZero();
    }

    @Test
    void unfinishedWritesCanBeDeleted() throws IOException {
        ObjectWriter abandoned = store.write("chunks/ab/x.arrow");
        abandoned.write(ByteBuffer.wrap(bytes("data")));

        for (ObjectInfo unfinished : store.listUnfinished("").toList()) {
            assertThat(store.delete(unfinished.name())).isTrue();
        }

        assertThat(names(store.listUnfinished(""))).isEmpty();
        abandoned.close();
    }

    @Test
    void listsByPrefix() throws IOException {
        for (String name : List.of("log/01", "log/02", "log/10", "logs/1", "log", "other/deep/er/1")) {
            if (!name.equals("log")) {
                store.createIfAbsent(name, bytes(name));
            }
        }

        assertThat(names(store.list("log/"))).containsExactly("log/01", "log/02", "log/10");
        assertThat(names(store.list("log/0"))).containsExactly("log/01", "log/02");
        assertThat(names(store.list("log"))).containsExactly("log/01", "log/02", "log/10", "logs/1");
        assertThat(names(store.list("o"))).containsExactly("other/deep/er/1");
        assertThat(names(store.list("other/deep/"))).containsExactly("other/deep/er/1");
        assertThat(names(store.list(""))).hasSize(5);
        assertThat(names(store.list("none/"))).isEmpty();
        assertThat(names(store.list("log/01/"))).isEmpty();
    }

    @Test
    void listsAfterAName() throws IOException {
        for (String name : List.of("log/01", "log/02", "log/10", "logs/1", "a")) {
            store.createIfAbsent(name, bytes(name));
        }

        assertThat(names(store.list("log/", "log/01"))).containsExactly("log/02", "log/10");
        assertThat(names(store.list("", "log/02"))).containsExactly("log/10", "logs/1");
        assertThat(names(store.list("log/", "log/10"))).isEmpty();
        assertThat(names(store.list("log/", "log/00"))).containsExactly("log/01", "log/02", "log/10");
        assertThat(names(store.list("none/", "none/1"))).isEmpty();
        assertThat(names(store.list("log/", "k"))).containsExactly("log/01", "log/02", "log/10");
        assertThat(names(store.list("log/", "z"))).isEmpty();
    }

    @Test
    void listsAfterANameThatADirectoryHas() throws IOException {
        for (String name : List.of("log/1/a", "log/2/a", "log/2é/a", "log/3")) {
            store.createIfAbsent(name, bytes(name));
        }

        assertThat(names(store.list("log/", "log/2"))).containsExactly("log/2/a", "log/2é/a", "log/3");
        assertThat(names(store.list("log/", "log/2/a"))).containsExactly("log/2é/a", "log/3");
        assertThat(names(store.list("log/", "log/2é"))).containsExactly("log/2é/a", "log/3");
    }

    @Test
    void listsTheEndOfManyObjects() throws IOException {
        TreeSet<String> expected = new TreeSet<>();
        for (int i = 0; i < manyObjects(); i++) {
            String name = String.format("log/%04d.avro", i);
            store.createIfAbsent(name, new byte[0]);
            expected.add(name);
        }

        String after = String.format("log/%04d.avro", manyObjects() / 4);
        assertThat(names(store.list("log/", after))).containsExactlyElementsOf(expected.tailSet(after, false));
    }

    @Test
    void aListingTellsLengthAndTime() throws IOException {
        store.createIfAbsent("a/b", bytes("12345"));

        ObjectInfo info = store.list("a/").toList().get(0);

        assertThat(info.length()).isEqualTo(5);
        assertThat(info.modifiedMs()).isPositive();
    }

    @Test
    void listsManyObjects() throws IOException {
        TreeSet<String> expected = new TreeSet<>();
        for (int i = 0; i < manyObjects(); i++) {
            String name = String.format("chunks/%02x/%d", i % 16, i);
            store.createIfAbsent(name, new byte[0]);
            expected.add(name);
        }

        assertThat(names(store.list("chunks/"))).containsExactlyElementsOf(expected);
    }

    @Test
    void deletes() throws IOException {
        store.createIfAbsent("a/b", bytes("1"));

        assertThat(store.delete("a/b")).isTrue();

        assertThat(store.delete("a/b")).isFalse();
        assertThat(names(store.list(""))).isEmpty();
        assertThat(store.createIfAbsent("a/b", bytes("2"))).isTrue();
    }

    @Test
    void refusesWhatIsNoName() {
        for (String name : List.of("", "/a", "a/", "a//b", "../a", "a/./b", "a/..", "a\\b", "a\nb")) {
            assertThatThrownBy(() -> store.createIfAbsent(name, new byte[0]))
                    .as(name)
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> store.length(name)).as(name).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void namesMayHaveSpacesAndAnyLetters() throws IOException {
        store.createIfAbsent("a b/ü 漢字.txt", bytes("1"));

        assertThat(names(store.list("a b/"))).containsExactly("a b/ü 漢字.txt");
        assertThat(store.describe("a b/ü 漢字.txt")).contains("a b/ü 漢字.txt");
    }
}
