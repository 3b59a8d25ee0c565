package dev.stoker.server.chunks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.storage.FaultyObjectStore;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.errors.StoreUnavailableException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class OriginReadsTest {
    private static final ListedChunk CHUNK = new ListedChunk(UUID.randomUUID(), "chunks/some.arrow", 10, 0);

    private final OriginReads reads = new OriginReads();
    private final FaultyObjectStore store = new FaultyObjectStore(new InMemoryObjectStore());

    @BeforeEach
    void create() throws IOException {
        store.createIfAbsent(CHUNK.name(), new byte[10]);
    }

    private void read() throws IOException {
        reads.read(store, CHUNK, 0, ByteBuffer.allocate(10));
    }

    @Test
    void aStoreIsAFailureUntilItAnswers() throws IOException {
        store.once(call -> true, Fault.AWAY);
        assertThatThrownBy(this::read).isInstanceOf(StoreUnavailableException.class);
        assertThat(reads.failures()).singleElement().asString().contains("chunks/some.arrow");
        read();
        assertThat(reads.failures()).isEmpty();
    }

    /** A read that began during an outage can fail after other reads have succeeded. */
    @Test
    void aReadThatFailsLateDoesNotHideThatTheStoreAnswers() {
        store.once(
                call -> {
                    try {
                        reads.read(new InMemoryObjectStore(), CHUNK, 0, ByteBuffer.allocate(10));
                    } catch (IOException e) {
                        // Another store says nothing about this one.
                    }
                    return true;
                },
                Fault.AWAY);
        assertThatThrownBy(this::read).isInstanceOf(StoreUnavailableException.class);
        assertThat(reads.failures()).hasSize(1);
        boolean[] nested = {false};
        store.reset();
        store.on(
                call -> {
                    if (nested[0]) {
                        return false;
                    }
                    nested[0] = true;
                    try {
                        read();
                    } catch (IOException e) {
                        throw new UncheckedIOException(e);
                    }
                    return true;
                },
                Fault.AWAY);
        assertThatThrownBy(this::read).isInstanceOf(StoreUnavailableException.class);
        assertThat(reads.failures()).isEmpty();
    }
}
