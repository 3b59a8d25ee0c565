package dev.stoker.storage;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.FaultyObjectStore.Operation;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.IOException;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class FaultyObjectStoreTest extends ObjectStoreContract {

    private final InMemoryObjectStore memory = new InMemoryObjectStore();
    private final FaultyObjectStore store = new FaultyObjectStore(memory);

    @Override
    protected ObjectStore createStore() {
        return new FaultyObjectStore(new InMemoryObjectStore());
    }

    @Test
    void failsBeforeOrAfterTheEffect() throws IOException {
        store.once(call -> call.name().equals("a"), Fault.FAIL_BEFORE);
        store.once(call -> call.name().equals("b"), Fault.FAIL_AFTER);

        assertThatThrownBy(() -> store.createIfAbsent("a", new byte[0])).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> store.createIfAbsent("b", new byte[0])).isInstanceOf(IOException.class);

        assertThat(memory.list("").toList()).extracting(ObjectInfo::name).containsExactly("b");
        assertThat(store.createIfAbsent("a", new byte[0])).isTrue();
    }

    @Test
    void losesReplies() throws IOException {
        store.once(call -> call.name().equals("a"), Fault.UNKNOWN_WITHOUT_EFFECT);
        store.once(call -> call.name().equals("b"), Fault.UNKNOWN_AFTER_EFFECT);

        assertThatThrownBy(() -> store.createIfAbsent("a", new byte[0])).isInstanceOf(UnknownOutcomeException.class);
        assertThatThrownBy(() -> store.createIfAbsent("b", new byte[0])).isInstanceOf(UnknownOutcomeException.class);

        assertThat(memory.list("").toList()).extracting(ObjectInfo::name).containsExactly("b");
    }

    @Test
    void damagesWhatIsRead() throws IOException {
        memory.createIfAbsent("a", new byte[] {1, 2, 3, 4});
        store.once(call -> call.operation() == Operation.READ_ALL, Fault.FLIPPED_BIT);
        store.once(call -> call.operation() == Operation.READ_ALL, Fault.TRUNCATED);
        store.on(call -> call.operation() == Operation.READ, Fault.TRUNCATED);

        assertThat(store.readAll("a", 10)).containsExactly(1, 2, 2, 4);
        assertThat(store.readAll("a", 10)).containsExactly(1, 2);
        assertThat(store.readAll("a", 10)).containsExactly(1, 2, 3, 4);
        assertThatThrownBy(() -> store.read("a", 0, ByteBuffer.allocate(4))).isInstanceOf(CorruptDataException.class);
    }

    @Test
    void isDeadAfterACrash() throws IOException {
        ObjectWriter writer = store.write("x");
        store.once(call -> call.operation() == Operation.CREATE, Fault.CRASH_AFTER);

        assertThatThrownBy(() -> store.createIfAbsent("a", new byte[0]))
                .isInstanceOf(FaultyObjectStore.SimulatedCrash.class);
        assertThatThrownBy(() -> store.length("a")).isInstanceOf(FaultyObjectStore.SimulatedCrash.class);
        writer.close();

        assertThat(memory.length("a")).isZero();
        assertThat(memory.listUnfinished("").toList()).hasSize(1);
        store.reset();
        assertThat(store.length("a")).isZero();
    }
}
