package dev.stoker.feeder.simulation;

import dev.stoker.schemas.ledger.LedgerReader;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Receipts;
import dev.stoker.schemas.protocol.AckEntry;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * The ledger's store: slow, at times away, and at times it takes an object without saying so. It outlives all
 * processes.
 */
final class SimulatedStore {
    private record Entry(String stream, String group, int replica, long epoch, long number, int piece, int crc) {}

    private final Simulation simulation;
    /** Named in the order in which they came. */
    private final InMemoryObjectStore files = new InMemoryObjectStore();

    private final Set<String> names = new HashSet<>();
    private final Set<Entry> entries = new HashSet<>();
    private final long longestNanos;
    private final double failures;
    private long awayUntilNanos;

    SimulatedStore(Simulation simulation, long longestNanos, double failures) {
        this.simulation = simulation;
        this.longestNanos = longestNanos;
        this.failures = failures;
    }

    /** Has every request fail for a while. */
    void goAway(long nanos) {
        awayUntilNanos = Math.max(awayUntilNanos, simulation.nowNanos() + nanos);
    }

    /** The files, for an audit. */
    ObjectStore files() {
        return files;
    }

    boolean has(String group, String stream, int replica, long epoch, AckEntry entry) {
        return entries.contains(new Entry(stream, group, replica, epoch, entry.number(), entry.piece(), entry.crc()));
    }

    private boolean take(String name, byte[] bytes) throws IOException {
        if (!names.add(name)) {
            return false;
        }
        // Real names are partly random, which would make the order of the files so.
        files.createIfAbsent(String.format("part-%06d.avro", names.size()), bytes);
        LedgerReader reader = new LedgerReader(new ByteArrayInputStream(bytes), name);
        for (Optional<LedgerRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
            if (next.get() instanceof Receipts receipts) {
                if (receipts.consumer().group().equals(HostileTrainer.GROUP)) {
                    simulation.fail(
                            new AssertionError("the ledger has receipts that no trainer can have: " + receipts));
                }
                receipts.entries()
                        .forEach(receipt -> entries.add(new Entry(
                                receipts.consumer().stream(),
                                receipts.consumer().group(),
                                receipts.consumer().replica(),
                                receipts.epoch(),
                                receipt.number(),
                                receipt.piece(),
                                receipt.crc32c())));
            }
        }
        return true;
    }

    /** The store as a process sees it. */
    ObjectStore of(SimulatedProcess process) {
        return new View(process);
    }

    private final class View implements ObjectStore {
        private final SimulatedProcess process;

        View(SimulatedProcess process) {
            this.process = process;
        }

        @Override
        public boolean createIfAbsent(String name, byte[] content) throws IOException {
            process.sleep(simulation.between(Simulation.MILLI, longestNanos));
            if (simulation.nowNanos() < awayUntilNanos) {
                throw new IOException("the store is away");
            }
            boolean isLost = simulation.chance(failures);
            if (isLost && simulation.chance(0.5)) {
                throw new IOException("the request was lost");
            }
            boolean isNew = take(name, content);
            simulation.trace(
                    process.name(), (isNew ? "publishes " : "has published ") + content.length + " bytes of ledger");
            process.sleep(simulation.between(Simulation.MILLI, longestNanos));
            if (isLost) {
                throw new IOException("the answer was lost");
            }
            return isNew;
        }

        @Override
        public void close() {
            // Nothing is held.
        }

        @Override
        public String describe(String name) {
            return "simulated/" + name;
        }

        @Override
        public void replace(String name, byte[] content) {
            throw new UnsupportedOperationException();
        }

        @Override
        public long length(String name) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void read(String name, long offset, ByteBuffer target) {
            throw new UnsupportedOperationException();
        }

        @Override
        public byte[] readAll(String name, long limitBytes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ObjectWriter write(String name) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ObjectIterator list(String prefix, String after) {
            throw new UnsupportedOperationException();
        }

        @Override
        public ObjectIterator listUnfinished(String prefix) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean delete(String name) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Optional<Path> localPath(String name) {
            return Optional.empty();
        }
    }
}
