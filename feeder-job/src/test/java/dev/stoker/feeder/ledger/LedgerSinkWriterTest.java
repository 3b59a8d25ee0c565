package dev.stoker.feeder.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.batch.View;
import dev.stoker.schemas.ledger.Consumer;
import dev.stoker.schemas.ledger.LedgerReader;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.LedgerWriter;
import dev.stoker.schemas.ledger.Receipt;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.ledger.Source;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.server.Waiting;
import dev.stoker.server.threads.Threads;
import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class LedgerSinkWriterTest {

    private static final UUID FEED = UUID.fromString("00000000-0000-5000-8000-000000000001");

    private final InMemoryObjectStore memory = new InMemoryObjectStore();
    private final FaultyObjectStore store = new FaultyObjectStore(memory);
    private static final LedgerPublisher.Pauses PAUSES =
            new LedgerPublisher.Pauses(Duration.ofMillis(1), Duration.ofMillis(5));

    private final List<String> signs = new CopyOnWriteArrayList<>();
    private final AtomicBoolean isDown = new AtomicBoolean();
    private final List<LedgerSinkWriter> writers = new ArrayList<>();

    @AfterEach
    void close() {
        for (LedgerSinkWriter writer : writers) {
            writer.close();
        }
    }

    private LedgerSinkWriter writer(List<LedgerFile> unpublished) throws IOException {
        LedgerProgress progress = LedgerProgress.begin(FEED, 0);
        LedgerPublisher publisher =
                new LedgerPublisher("test", this::open, this::sign, progress, PAUSES, Threads.system());
        for (LedgerFile file : unpublished) {
            publisher.restore(file, 0);
        }
        LedgerSinkWriter writer = new LedgerSinkWriter(publisher, progress);
        writers.add(writer);
        return writer;
    }

    private void sign(String file, long epoch) {
        signs.add(epoch + " " + file);
    }

    private ObjectStore open() throws IOException {
        if (isDown.get()) {
            throw new IOException("the store is down");
        }
        return store;
    }

    private static byte[] receipt(long number) {
        Consumer consumer = new Consumer(FEED.toString(), "train", "default", "f".repeat(32), 1, 0, 1, 0, 1, 0);
        return LedgerWriter.encode(new Receipts(
                5, consumer, 0, View.WHOLE_TAG, List.of(new Receipt(number, 0, false, 6, 0, 0x2BCDEF01, 6, 0))));
    }

    private static byte[] receipt(String stream, long epoch) {
        Consumer consumer = new Consumer(FEED.toString(), stream, "default", "f".repeat(32), 1, 0, 1, 0, 1, 0);
        return LedgerWriter.encode(
                new Receipts(5, consumer, epoch, View.WHOLE_TAG, List.of(new Receipt(0, 0, false, 6, 0, 1, 6, 0))));
    }

    private List<String> parts() {
        try {
            return memory.list("part-").toList().stream().map(ObjectInfo::name).toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static byte[] subscription() {
        Consumer consumer = new Consumer(FEED.toString(), "train", "default", "f".repeat(32), 1, 0, 1, 0, 1, 0);
        return LedgerWriter.encode(
                new Subscription(5, consumer, 0, 0, 1, 9, "pad", new Source("dataset", 1, "train", "{}"), "{}"));
    }

    /** The numbers of all receipts in the ledger's files, which must be whole. */
    private List<Long> published() throws IOException {
        List<Long> numbers = new ArrayList<>();
        for (ObjectInfo file : memory.list("part-").toList()) {
            LedgerReader reader =
                    new LedgerReader(new ByteArrayInputStream(memory.readAll(file.name(), 1 << 20)), file.name());
            for (Optional<LedgerRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
                ((Receipts) next.get()).entries().forEach(receipt -> numbers.add(receipt.number()));
            }
        }
        numbers.sort(null);
        return numbers;
    }

    private static void awaitPublished(long checkpoint) {
        Waiting.until(() -> LedgerProgress.published(FEED, 0) >= checkpoint);
    }

    @Test
    void publishesOneFileACheckpoint() throws Exception {
        LedgerSinkWriter writer = writer(List.of());
        writer.write(receipt(1), null);
        writer.write(receipt(2), null);
        writer.snapshotState(1);
        awaitPublished(1);
        assertThat(memory.list("").toList()).hasSize(1);
        writer.write(receipt(3), null);
        writer.snapshotState(2);
        awaitPublished(2);

        assertThat(memory.list("").toList())
                .hasSize(2)
                .allMatch(file -> file.name().matches("part-.*\\.avro"));
        assertThat(published()).containsExactly(1L, 2L, 3L);
    }

    @Test
    void writesNothingWhereNothingWasAcknowledged() throws Exception {
        LedgerSinkWriter writer = writer(List.of());
        assertThat(writer.snapshotState(1)).isEmpty();
        awaitPublished(1);
        writer.flush(true);
        assertThat(memory.list("").toList()).isEmpty();
    }

    @Test
    void keepsInTheCheckpointWhatAStoreThatIsDownHasNotTaken() throws Exception {
        isDown.set(true);
        LedgerSinkWriter writer = writer(List.of());
        writer.write(receipt(1), null);
        List<LedgerFile> state = writer.snapshotState(1);
        writer.write(receipt(2), null);
        assertThat(state).hasSize(1);
        assertThat(writer.snapshotState(2)).hasSize(2).startsWith(state.get(0));
        assertThat(LedgerProgress.published(FEED, 0)).isZero();

        isDown.set(false);
        awaitPublished(2);
        assertThat(published()).containsExactly(1L, 2L);
        assertThat(writer.snapshotState(3)).isEmpty();
    }

    @Test
    void publishesOnceWhatIsRestored() throws Exception {
        LedgerFile file = LedgerFile.of(List.of(receipt(7)));
        memory.createIfAbsent(file.name(), file.bytes());
        LedgerFile other = LedgerFile.of(List.of(receipt(8)));
        LedgerSinkWriter writer = writer(List.of(file, other));
        writer.flush(true);

        assertThat(published()).containsExactly(7L, 8L);
        writer.snapshotState(4);
        awaitPublished(4);
    }

    @Test
    void publishesOnceWhenTheAnswerIsLost() throws Exception {
        store.once(call -> call.operation().changes(), FaultyObjectStore.Fault.UNKNOWN_AFTER_EFFECT);
        LedgerSinkWriter writer = writer(List.of());
        writer.write(receipt(1), null);
        writer.flush(true);

        assertThat(published()).containsExactly(1L);
    }

    @Test
    void publishesTheLastReceiptsBeforeItEnds() throws Exception {
        store.once(call -> call.operation().changes(), FaultyObjectStore.Fault.FAIL_BEFORE);
        LedgerSinkWriter writer = writer(List.of());
        writer.write(receipt(1), null);
        writer.flush(true);
        assertThat(published()).containsExactly(1L);
    }

    @Test
    void writesOnAfterAnErrorOfTheVirtualMachine() throws Exception {
        AtomicBoolean isFirst = new AtomicBoolean(true);
        LedgerPublisher publisher = new LedgerPublisher(
                "s3a://bucket/ledger",
                () -> {
                    if (isFirst.getAndSet(false)) {
                        throw new OutOfMemoryError("Java heap space");
                    }
                    return open();
                },
                this::sign,
                LedgerProgress.begin(FEED, 1),
                PAUSES,
                Threads.system());
        publisher.submit(LedgerFile.of(List.of(receipt(3))), 1);
        publisher.await();
        assertThat(published()).containsExactly(3L);
        publisher.close();
    }

    @Test
    void leavesASignBeforeTheFirstReceiptsAreDurable() throws Exception {
        LedgerProgress progress = LedgerProgress.begin(FEED, 0);
        AtomicBoolean mayBeLeft = new AtomicBoolean();
        LedgerPublisher publisher = new LedgerPublisher(
                "test",
                this::open,
                (file, epoch) -> {
                    if (!mayBeLeft.get()) {
                        throw new IOException("the sign cannot be written");
                    }
                    sign(file, epoch);
                },
                progress,
                PAUSES,
                Threads.system());
        LedgerSinkWriter writer = new LedgerSinkWriter(publisher, progress);
        writers.add(writer);
        writer.write(subscription(), null);
        writer.snapshotState(1);
        awaitPublished(1);
        assertThat(signs).as("nothing was delivered").isEmpty();
        writer.write(receipt(1), null);
        writer.snapshotState(2);
        Waiting.until(() -> parts().size() == 2);
        assertThat(LedgerProgress.published(FEED, 0)).isEqualTo(1);
        mayBeLeft.set(true);
        awaitPublished(2);
        writer.write(receipt(2), null);
        writer.snapshotState(3);
        awaitPublished(3);
        assertThat(signs).hasSize(1);
        assertThat(parts()).contains(signs.get(0).substring(2));
    }

    @Test
    void leavesASignOfEachEpochThatAStreamDelivers() throws Exception {
        LedgerSinkWriter writer = writer(List.of());
        long checkpoint = 0;
        for (byte[] next : List.of(receipt("train", 0), receipt("train", 0), receipt("train", 1), receipt("val", 1))) {
            writer.write(next, null);
            writer.snapshotState(++checkpoint);
            awaitPublished(checkpoint);
        }
        assertThat(signs).extracting(sign -> sign.substring(0, 2)).containsExactly("0 ", "1 ", "1 ");
        assertThat(signs.stream().map(sign -> sign.substring(2)).distinct()).hasSize(3);
    }

    @Test
    void waitsWhileTooMuchWaits() throws Exception {
        isDown.set(true);
        LedgerPublisher publisher = new LedgerPublisher(
                "s3a://bucket/ledger", this::open, this::sign, LedgerProgress.begin(FEED, 1), PAUSES, Threads.system());
        publisher.submit(new LedgerFile("part-1.avro", new byte[65 << 20]), 1);
        CompletableFuture<Void> submitted = new CompletableFuture<>();
        Thread task = new Thread(() -> {
            try {
                publisher.submit(new LedgerFile("part-2.avro", new byte[1]), 2);
                submitted.complete(null);
            } catch (InterruptedException e) {
                submitted.completeExceptionally(e);
            }
        });
        task.start();
        while (task.getState() != Thread.State.WAITING && !submitted.isDone()) {
            Thread.onSpinWait();
        }
        assertThat(submitted).isNotDone();
        isDown.set(false);
        submitted.get(60, TimeUnit.SECONDS);
        publisher.await();
        publisher.close();
    }

    @Test
    void carriesFilesThroughACheckpoint() throws Exception {
        LedgerFileSerializer serializer = new LedgerFileSerializer();
        LedgerFile file = LedgerFile.of(List.of(receipt(1)));
        LedgerFile read = serializer.deserialize(1, serializer.serialize(file));
        assertThat(read.name()).isEqualTo(file.name());
        assertThat(read.bytes()).isEqualTo(file.bytes());
        byte[] cut = Arrays.copyOf(serializer.serialize(file), 60);
        assertThatThrownBy(() -> serializer.deserialize(1, cut)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> serializer.deserialize(2, cut)).hasMessageContaining("version 2");
    }
}
