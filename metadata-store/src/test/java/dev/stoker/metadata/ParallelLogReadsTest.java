package dev.stoker.metadata;

import static dev.stoker.metadata.SampleDatasets.append;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.place;
import static dev.stoker.metadata.SampleDatasets.summary;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads of many log entries from a remote store. */
class ParallelLogReadsTest {
    private static final int ENTRIES = 60;
    private static final int AT_ONCE = 16;

    private final InMemoryObjectStore memory = new InMemoryObjectStore();

    private interface Before {
        void read(long version) throws IOException, InterruptedException;
    }

    @BeforeEach
    void create() throws IOException {
        VersionCommitter committer = committer(Dataset.create(memory, info()));
        place(memory, 1, ENTRIES);
        for (int v = 1; v <= ENTRIES; v++) {
            committer.commit(append("i" + v, summary(v, "train", 1)));
        }
    }

    /** Returns the store, with an action before each read of a log entry. */
    private ObjectStore with(Before before) {
        return (ObjectStore) Proxy.newProxyInstance(
                getClass().getClassLoader(), new Class<?>[] {ObjectStore.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("readAll")) {
                        DatasetLayout.versionOfLogEntry((String) arguments[0])
                                .ifPresent(version -> run(before, version));
                    }
                    try {
                        return method.invoke(memory, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static void run(Before before, long version) {
        try {
            before.read(version);
        } catch (IOException | InterruptedException e) {
            throw sneaky(e);
        }
    }

    @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
    private static <E extends Exception> RuntimeException sneaky(Exception e) throws E {
        throw (E) e;
    }

    private static void await(CountDownLatch latch) throws IOException, InterruptedException {
        if (!latch.await(60, TimeUnit.SECONDS)) {
            throw new IOException("no other read began");
        }
    }

    @Test
    void readsSixteenAtATime() throws IOException {
        CountDownLatch begun = new CountDownLatch(AT_ONCE);
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        ObjectStore store = with(version -> {
            most.accumulateAndGet(running.incrementAndGet(), Math::max);
            begun.countDown();
            await(begun);
            running.decrementAndGet();
        });

        assertThat(Dataset.open(store).latest().table().size()).isEqualTo(ENTRIES);
        assertThat(most.get()).isEqualTo(AT_ONCE);
    }

    @Test
    void reportsTheFailureOfTheLowestVersion() throws IOException {
        CountDownLatch laterFailed = new CountDownLatch(1);
        ObjectStore store = with(version -> {
            if (version == 9) {
                laterFailed.countDown();
                throw new IOException("of 9");
            }
            if (version == 5) {
                await(laterFailed);
                throw new IOException("of 5");
            }
        });

        assertThatThrownBy(() -> Dataset.open(store).latest())
                .isInstanceOf(IOException.class)
                .hasMessage("of 5");
    }

    @Test
    void passesErrorsOn() throws IOException {
        ObjectStore store = with(version -> {
            throw new StackOverflowError("of " + version);
        });

        assertThatThrownBy(() -> Dataset.open(store).latest())
                .isInstanceOf(StackOverflowError.class)
                .hasMessage("of 1");
    }

    @Test
    void endsIfInterrupted() throws Exception {
        CountDownLatch begun = new CountDownLatch(AT_ONCE);
        CountDownLatch ended = new CountDownLatch(AT_ONCE);
        Dataset dataset = Dataset.open(with(version -> {
            begun.countDown();
            try {
                new CountDownLatch(1).await();
            } finally {
                ended.countDown();
            }
        }));
        AtomicReference<Throwable> failure = new AtomicReference<>();
        AtomicReference<Boolean> isInterrupted = new AtomicReference<>();
        Thread reader = new Thread(() -> {
            try {
                dataset.latest();
            } catch (IOException | RuntimeException e) {
                failure.set(e);
            }
            isInterrupted.set(Thread.currentThread().isInterrupted());
        });
        reader.start();
        await(begun);
        reader.interrupt();
        reader.join(60_000);

        assertThat(failure.get())
                .isInstanceOf(InterruptedIOException.class)
                .hasMessage("Interrupted while the log was read");
        assertThat(isInterrupted.get()).isTrue();
        await(ended);
    }
}
