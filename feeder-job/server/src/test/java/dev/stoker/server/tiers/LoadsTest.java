package dev.stoker.server.tiers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.server.Waiting;
import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ListedChunk;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** In which order chunks are brought, and within which memory. */
class LoadsTest {
    private static final int LENGTH = 100;

    private final List<String> begun = new ArrayList<>();
    private final Semaphore permits = new Semaphore(0);
    private ChunkMemory memory;
    private Loads loads;

    private volatile boolean isOutOfThreads;

    /** @param chunks that there is room for */
    private void start(int threads, int chunks) {
        memory = new ChunkMemory((long) chunks * LENGTH, () -> loads.roomMade());
        loads = new Loads(
                memory,
                new Loads.Bringer() {
                    @Override
                    public Optional<ChunkBytes> bring(Origin origin, ListedChunk chunk, Load.Need need)
                            throws IOException {
                        synchronized (begun) {
                            begun.add(chunk.name());
                        }
                        try {
                            permits.acquire();
                        } catch (InterruptedException e) {
                            throw new IOException(e);
                        }
                        if (chunk.name().equals("bad")) {
                            memory.unreserve(LENGTH);
                            throw new IOException("the origin is gone");
                        }
                        return Optional.of(memory.add(chunk, ByteBuffer.allocateDirect(LENGTH), true));
                    }

                    @Override
                    public void brought(ListedChunk chunk, ChunkBytes bytes) {}
                },
                new Bandwidth(0, System::nanoTime),
                threads,
                task -> {
                    if (isOutOfThreads) {
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    return new Thread(task);
                });
    }

    @AfterEach
    void close() {
        loads.close();
        memory.close();
    }

    private static ListedChunk chunk(String name) {
        return new ListedChunk(UUID.nameUUIDFromBytes(name.getBytes(StandardCharsets.UTF_8)), name, LENGTH, 0);
    }

    private void ahead(String name) {
        memory.want(chunk(name).id());
        loads.enqueue(null, chunk(name));
    }

    private CompletableFuture<ChunkBytes> now(String name) {
        CompletableFuture<ChunkBytes> result = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                result.complete(loads.await(null, chunk(name)).orElseThrow());
            } catch (IOException | RuntimeException e) {
                result.completeExceptionally(e);
            }
        });
        thread.setDaemon(true);
        thread.start();
        return result;
    }

    private List<String> begun() {
        synchronized (begun) {
            return List.copyOf(begun);
        }
    }

    private void awaitBegun(int count) {
        Waiting.until(() -> begun().size() == count);
    }

    @Test
    void withoutAThreadThoseWhoWaitAreTold() throws Exception {
        start(2, 100);
        permits.release(10);
        isOutOfThreads = true;
        assertThatThrownBy(() -> now("first").get(10, TimeUnit.SECONDS))
                .hasMessageContaining("the process may have no more threads");
        isOutOfThreads = false;
        now("first").get(10, TimeUnit.SECONDS).close();
        isOutOfThreads = true;
        now("second").get(10, TimeUnit.SECONDS).close();
    }

    @Test
    void whatSomebodyWaitsForGoesFirstThenWhatComesNextThenWhatIsToBePlaced() throws Exception {
        start(1, 100);
        ahead("first");
        awaitBegun(1);
        loads.warm(null, chunk("warm-2"), 2);
        loads.warm(null, chunk("warm-1"), 1);
        ahead("next");
        ahead("after");
        CompletableFuture<ChunkBytes> waited = now("after");
        Waiting.until(() -> loads.waiting(chunk("after").id()) == 1);
        permits.release(10);
        waited.get(60, TimeUnit.SECONDS).close();
        awaitBegun(5);
        assertThat(begun()).containsExactly("first", "after", "next", "warm-1", "warm-2");
    }

    @SuppressWarnings("SynchronizeOnNonFinalField") // Each test sets it once.
    @Test
    void whatIsWantedAtOnceIsReadByAllThreadsAlthoughOneWasIdle() {
        start(4, 100);
        ahead("first");
        permits.release(1);
        Waiting.until(() -> loads.idle() == 1);
        synchronized (loads) {
            for (int i = 0; i < 4; i++) {
                ahead("next-" + i);
            }
        }
        awaitBegun(5);
        permits.release(4);
    }

    @Test
    void manyThatWaitCauseOneReadAndEachHasAHold() throws Exception {
        start(4, 100);
        List<CompletableFuture<ChunkBytes>> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waiting.add(now("one"));
        }
        Waiting.until(() -> loads.waiting(chunk("one").id()) == 5);
        permits.release(10);
        for (CompletableFuture<ChunkBytes> one : waiting) {
            one.get(60, TimeUnit.SECONDS).close();
        }
        assertThat(begun()).containsExactly("one");
        // All memory is free only after the last user has released the chunk.
        Waiting.until(() -> memory.reserve(100 * LENGTH));
        assertThat(memory.has(chunk("one").id())).isFalse();
    }

    @Test
    void whatIsBroughtAheadStaysWithinTheMemoryAndWhatIsWaitedForNeedNot() throws Exception {
        start(4, 2);
        permits.release(100);
        for (String name : List.of("a", "b", "c", "d")) {
            ahead(name);
        }
        Waiting.until(() -> memory.has(chunk("b").id()) && memory.has(chunk("a").id()));
        assertThat(begun()).containsExactlyInAnyOrder("a", "b");
        // A chunk that a trainer waits for takes the room of a chunk that was read ahead.
        ChunkBytes waited = now("x").get(60, TimeUnit.SECONDS);
        assertThat(memory.workingBytes()).isLessThanOrEqualTo(2 * LENGTH);
        waited.close();
        // A chunk that is not wanted any more makes room.
        memory.unwant(chunk("a").id());
        Waiting.until(() -> begun().contains("c"));
        assertThat(memory.workingBytes()).isLessThanOrEqualTo(2 * LENGTH);
    }

    @Test
    void whatNobodyWantsAnyMoreIsNotBrought() throws Exception {
        start(1, 100);
        ahead("first");
        awaitBegun(1);
        ahead("second");
        ahead("third");
        loads.cancel(chunk("second").id());
        permits.release(10);
        awaitBegun(2);
        assertThat(begun()).containsExactly("first", "third");
    }

    @Test
    void aFailureIsToldToThoseWhoWaitAndTheNextTryIsANewOne() throws Exception {
        start(1, 1);
        permits.release(10);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> now("bad").get(60, TimeUnit.SECONDS)).hasMessageContaining("the origin is gone");
        }
        now("good").get(60, TimeUnit.SECONDS).close();
        assertThat(begun()).containsExactly("bad", "bad", "bad", "good");
    }

    @Test
    void closingTellsThoseWhoWait() throws Exception {
        start(1, 100);
        CompletableFuture<ChunkBytes> first = now("first");
        awaitBegun(1);
        CompletableFuture<ChunkBytes> second = now("second");
        Waiting.until(() -> loads.waiting(chunk("second").id()) == 1);
        loads.close();
        assertThatThrownBy(() -> second.get(60, TimeUnit.SECONDS)).hasMessageContaining("shutting down");
        assertThatThrownBy(() -> first.get(60, TimeUnit.SECONDS)).hasRootCauseInstanceOf(InterruptedException.class);
    }

    @Test
    void bandwidthIsKeptOnTheAverage() {
        AtomicLong nanos = new AtomicLong(7);
        Bandwidth limit = new Bandwidth(1000, nanos::get);
        start(1, 1);
        assertThat(limit.waitNanos()).isZero();
        limit.spend(500);
        assertThat(limit.waitNanos()).isEqualTo(TimeUnit.MILLISECONDS.toNanos(500));
        nanos.addAndGet(TimeUnit.SECONDS.toNanos(3));
        assertThat(limit.waitNanos()).isZero();
        limit.spend(2000);
        limit.spend(1000);
        assertThat(limit.waitNanos()).as("idle time is not saved up").isEqualTo(TimeUnit.SECONDS.toNanos(3));
        assertThat(new Bandwidth(0, nanos::get).waitNanos()).isZero();
    }
}
