package dev.stoker.storage;

import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.storage.errors.NoSpaceException;
import dev.stoker.storage.errors.StoreUnavailableException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Decorates a store: calls fail as the test requests, and all calls are recorded. Thread-safe; one call at a time
 * decides on faults.
 *
 * <p>A crash ends the life of the process that uses the store: the call throws {@link SimulatedCrash}, and so does
 * every call after it, whatever {@code finally} blocks still try.
 */
public final class FaultyObjectStore implements ObjectStore {

    /** The called method. */
    public enum Operation {
        LENGTH,
        READ,
        READ_ALL,
        CREATE,
        REPLACE,
        OPEN_WRITER,
        WRITE,
        COMMIT_WRITER,
        LIST,
        DELETE;

        /** Whether the store is changed by it. */
        public boolean changes() {
            return switch (this) {
                case CREATE, REPLACE, OPEN_WRITER, WRITE, COMMIT_WRITER, DELETE -> true;
                case LENGTH, READ, READ_ALL, LIST -> false;
            };
        }
    }

    /** The possible faults. */
    public enum Fault {
        /** Fails without effect. */
        FAIL_BEFORE,
        /** Has its effect, and fails. */
        FAIL_AFTER,
        /** The outcome is unknown; there was no effect. */
        UNKNOWN_WITHOUT_EFFECT,
        /** The outcome is unknown; there was the effect. */
        UNKNOWN_AFTER_EFFECT,
        /** The disk is full. */
        NO_SPACE,
        /** The store does not answer; there was no effect. */
        AWAY,
        /** A read returns too few bytes. */
        TRUNCATED,
        /** A read returns its bytes with the middle bit flipped. */
        FLIPPED_BIT,
        /** A read in parts fails halfway, and the store retries it automatically. */
        REPEATED,
        /** The process dies before the call has an effect. */
        CRASH_BEFORE,
        /** The process dies after the effect. */
        CRASH_AFTER
    }

    /**
     * One call.
     *
     * @param number from 0, over all calls
     * @param operation what
     * @param name on which object, or the prefix of a listing
     */
    public record Call(int number, Operation operation, String name) {}

    /** The end of the process. */
    public static final class SimulatedCrash extends Error {
        private static final long serialVersionUID = 1L;

        SimulatedCrash(Call call) {
            super("Crashed at " + call);
        }
    }

    private record Rule(Predicate<Call> when, Fault fault) {}

    private interface Action<T> {
        T run() throws IOException;
    }

    /** Small, so that a chunk of a test arrives in several parts. */
    private static final int PART_BYTES = 1000;

    private final ObjectStore delegate;
    private final List<Call> calls = new ArrayList<>();
    private final List<Rule> rules = new ArrayList<>();
    private boolean crashed;

    public FaultyObjectStore(ObjectStore delegate) {
        this.delegate = delegate;
    }

    /** Every matching call fails; the first matching rule applies. */
    public synchronized FaultyObjectStore on(Predicate<Call> when, Fault fault) {
        rules.add(new Rule(when, fault));
        return this;
    }

    /** Only the next matching call fails. */
    public FaultyObjectStore once(Predicate<Call> when, Fault fault) {
        boolean[] used = {false};
        return on(
                call -> {
                    boolean fits = !used[0] && when.test(call);
                    used[0] |= fits;
                    return fits;
                },
                fault);
    }

    /** All calls so far. */
    public synchronized List<Call> calls() {
        return List.copyOf(calls);
    }

    /** Forgets faults and calls. */
    public synchronized void reset() {
        rules.clear();
        calls.clear();
        crashed = false;
    }

    private synchronized Optional<Fault> begin(Operation operation, String name) {
        Call call = new Call(calls.size(), operation, name);
        if (crashed) {
            throw new SimulatedCrash(call);
        }
        calls.add(call);
        Optional<Fault> fault = rules.stream()
                .filter(rule -> rule.when.test(call))
                .map(Rule::fault)
                .findFirst();
        if (fault.equals(Optional.of(Fault.CRASH_BEFORE))) {
            crashed = true;
            throw new SimulatedCrash(call);
        }
        return fault;
    }

    private synchronized boolean isCrashed() {
        return crashed;
    }

    private <T> T call(Operation operation, String name, Action<T> action) throws IOException {
        return call(operation, name, action, (fault, outcome) -> outcome);
    }

    private <T> T call(Operation operation, String name, Action<T> action, BiFunction<Fault, T, T> change)
            throws IOException {
        Optional<Fault> fault = begin(operation, name);
        if (fault.isEmpty()) {
            return action.run();
        }
        switch (fault.get()) {
            case FAIL_BEFORE -> throw new IOException("Injected failure of " + operation + " " + name);
            case NO_SPACE -> throw new NoSpaceException(name, new IOException("No space left on device"));
            case AWAY -> throw new StoreUnavailableException("Injected outage before " + operation + " " + name, null);
            case UNKNOWN_WITHOUT_EFFECT -> throw unknown(name);
            case FAIL_AFTER -> {
                action.run();
                throw new IOException("Injected failure after " + operation + " " + name);
            }
            case UNKNOWN_AFTER_EFFECT -> {
                action.run();
                throw unknown(name);
            }
            case CRASH_AFTER -> {
                action.run();
                synchronized (this) {
                    crashed = true;
                }
                throw new SimulatedCrash(calls().get(calls().size() - 1));
            }
            default -> {
                return change.apply(fault.get(), action.run());
            }
        }
    }

    private UnknownOutcomeException unknown(String name) {
        return new UnknownOutcomeException(name, new IOException("the reply was lost"));
    }

    @Override
    public String describe(String name) {
        return delegate.describe(name);
    }

    @Override
    public long length(String name) throws IOException {
        return call(Operation.LENGTH, name, () -> delegate.length(name));
    }

    @Override
    public void read(String name, long offset, ByteBuffer target) throws IOException {
        target.put(read(name, offset, target.remaining()).content);
    }

    @Override
    public void read(String name, long offset, int length, PartSink sink) throws IOException {
        Read read = read(name, offset, length);
        if (read.repeated) {
            handOn(read.content, offset, length / 2, sink);
        }
        handOn(read.content, offset, length, sink);
    }

    private static void handOn(byte[] content, long offset, int length, PartSink sink) {
        for (int at = 0; at < length; at += PART_BYTES) {
            sink.put(offset + at, ByteBuffer.wrap(content, at, Math.min(PART_BYTES, length - at)));
        }
    }

    private record Read(byte[] content, boolean repeated) {}

    private Read read(String name, long offset, int length) throws IOException {
        boolean[] repeated = new boolean[1];
        byte[] read = reading(
                Operation.READ,
                name,
                () -> {
                    byte[] content = new byte[length];
                    delegate.read(name, offset, ByteBuffer.wrap(content));
                    return content;
                },
                fault -> repeated[0] = fault == Fault.REPEATED);
        if (read.length < length) {
            throw new CorruptDataException(describe(name) + " ends early");
        }
        return new Read(read, repeated[0]);
    }

    @Override
    public byte[] readAll(String name, long limitBytes) throws IOException {
        return reading(Operation.READ_ALL, name, () -> delegate.readAll(name, limitBytes), fault -> {});
    }

    private byte[] reading(Operation operation, String name, Action<byte[]> action, Consumer<Fault> seen)
            throws IOException {
        return call(operation, name, action, (fault, content) -> {
            seen.accept(fault);
            if (fault == Fault.TRUNCATED) {
                return Arrays.copyOf(content, content.length / 2);
            }
            if (fault == Fault.FLIPPED_BIT && content.length > 0) {
                content[content.length / 2] ^= 1;
            }
            return content;
        });
    }

    @Override
    public boolean createIfAbsent(String name, byte[] content) throws IOException {
        return call(Operation.CREATE, name, () -> delegate.createIfAbsent(name, content));
    }

    @Override
    public void replace(String name, byte[] content) throws IOException {
        call(Operation.REPLACE, name, () -> {
            delegate.replace(name, content);
            return null;
        });
    }

    @Override
    public ObjectWriter write(String name) throws IOException {
        ObjectWriter writer = call(Operation.OPEN_WRITER, name, () -> delegate.write(name));
        return new ObjectWriter() {
            @Override
            public void write(ByteBuffer bytes) throws IOException {
                call(Operation.WRITE, name, () -> {
                    writer.write(bytes);
                    return null;
                });
            }

            @Override
            public long position() {
                return writer.position();
            }

            @Override
            public void commit() throws IOException {
                call(Operation.COMMIT_WRITER, name, () -> {
                    writer.commit();
                    return null;
                });
            }

            @Override
            public void close() throws IOException {
                // A dead process cleans nothing up.
                if (!isCrashed()) {
                    writer.close();
                }
            }
        };
    }

    @Override
    public ObjectIterator list(String prefix, String after) throws IOException {
        return call(Operation.LIST, prefix, () -> delegate.list(prefix, after));
    }

    @Override
    public ObjectIterator listUnfinished(String prefix) throws IOException {
        return call(Operation.LIST, prefix, () -> delegate.listUnfinished(prefix));
    }

    @Override
    public boolean delete(String name) throws IOException {
        return call(Operation.DELETE, name, () -> delegate.delete(name));
    }

    @Override
    public Optional<Path> localPath(String name) {
        return delegate.localPath(name);
    }

    @Override
    public void close() throws IOException {
        delegate.close();
    }
}
