package dev.stoker.metadata.audit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.order.delivery.TailPolicy;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class ReadsTest {

    private static final List<Integer> MANY = IntStream.range(0, 100).boxed().toList();

    private final Reads reads = new Reads();

    private static void meet(CountDownLatch together) {
        together.countDown();
        try {
            assertThat(together.await(100, TimeUnit.SECONDS))
                    .as("others read meanwhile")
                    .isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The same store, where no read ends before {@code readers} reads have begun. */
    private static ObjectStore together(ObjectStore store, int readers) {
        CountDownLatch together = new CountDownLatch(readers);
        return (ObjectStore) Proxy.newProxyInstance(
                ReadsTest.class.getClassLoader(), new Class<?>[] {ObjectStore.class}, (proxy, method, args) -> {
                    if (method.getName().equals("read")) {
                        meet(together);
                    }
                    try {
                        return method.invoke(store, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    @Test
    void readsSomeAtOnceAndGivesThemInTheirOrder() throws IOException {
        CountDownLatch together = new CountDownLatch(Reads.AT_ONCE);
        List<Integer> taken = new ArrayList<>();
        try (reads) {
            reads.inOrder(
                    MANY,
                    key -> {
                        meet(together);
                        return key;
                    },
                    (key, outcome) -> {
                        assertThat(outcome.get()).isEqualTo(key);
                        taken.add(key);
                    });
        }
        assertThat(taken).isEqualTo(MANY);
    }

    @Test
    void tellsOfEachFailureAndGoesOn() throws IOException {
        List<Integer> failed = new ArrayList<>();
        try (reads) {
            reads.inOrder(
                    MANY,
                    key -> {
                        if (key % 10 == 3) {
                            throw new CorruptDataException("number " + key);
                        }
                        return key;
                    },
                    (key, outcome) -> {
                        try {
                            assertThat(outcome.get()).isEqualTo(key);
                        } catch (CorruptDataException e) {
                            assertThat(e).hasMessage("number " + key);
                            failed.add(key);
                        }
                    });
            assertThatThrownBy(() -> reads.inOrder(
                            MANY,
                            key -> {
                                throw new IOException("gone");
                            },
                            (key, outcome) -> outcome.get()))
                    .isInstanceOf(IOException.class)
                    .hasMessage("gone");
        }
        assertThat(failed).containsExactly(3, 13, 23, 33, 43, 53, 63, 73, 83, 93);
    }

    @Test
    void anAuditReadsLedgerFilesAndHeadsAtOnce() throws IOException {
        TrainedStream stream = new TrainedStream(9, 5, 7, 11, 3, 8);
        for (int rank = 0; rank < 12; rank++) {
            stream.write(stream.part(5, 12, 1, TailPolicy.KEEP, 0, 0, 1).subList(2 * rank, 2 * rank + 2));
        }
        AuditReport report = new Audit(
                        together(stream.ledger, 12),
                        List.of(Dataset.open(together(stream.store, 2))),
                        Optional.of(TrainedStream.FEED),
                        RequiredEpochs.ofAll(1),
                        List.of(),
                        text -> {})
                .run();
        assertThat(report.findings()).isEmpty();
        assertThat(report.passes().get(0).epochs().get(0).acknowledged()).isEqualTo(11);
    }
}
