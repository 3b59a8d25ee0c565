package dev.stoker.metadata.audit;

import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.ledger.LedgerReader;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.RangeStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Reads the finished files of a ledger any number of times. Each time returns the same records, even if a feed writes
 * more in the meantime. A feed writes many small files, so the first bytes of several files are read in parallel.
 */
final class LedgerFiles {

    private static final int BUFFER_BYTES = 1 << 18;

    private final ObjectStore store;
    private final List<ObjectInfo> files;
    private final Reads reads;

    /** Receives a record. */
    interface Visitor {
        void visit(LedgerRecord entry) throws IOException;
    }

    /** Receives the error of a file that is damaged from some position on. */
    interface Damage {
        void damaged(StokerException e);
    }

    private LedgerFiles(ObjectStore store, List<ObjectInfo> files, Reads reads) {
        this.store = store;
        this.files = files;
        this.reads = reads;
    }

    /** Lists the finished files. Unfinished files have other names. */
    static LedgerFiles list(ObjectStore store, Reads reads) throws IOException {
        List<ObjectInfo> files = new ArrayList<>();
        try (ObjectIterator objects = store.list("part-")) {
            while (objects.hasNext()) {
                ObjectInfo object = objects.next();
                if (object.name().endsWith(".avro") && object.name().indexOf('/') < 0) {
                    files.add(object);
                }
            }
        }
        files.sort(Comparator.comparing(ObjectInfo::name));
        return new LedgerFiles(store, files, reads);
    }

    Set<String> names() {
        return files.stream().map(ObjectInfo::name).collect(Collectors.toSet());
    }

    int size() {
        return files.size();
    }

    /** Visits all records. In a damaged file, visits those before the damage. */
    void visit(Visitor visitor, Damage damage) throws IOException {
        reads.inOrder(files, this::start, (file, start) -> {
            try (InputStream in = new ObjectStream(store, file, start.get())) {
                LedgerReader reader = new LedgerReader(in, store.describe(file.name()));
                for (Optional<LedgerRecord> entry = next(reader, damage);
                        entry.isPresent();
                        entry = next(reader, damage)) {
                    visitor.visit(entry.get());
                }
            } catch (StokerException e) {
                damage.damaged(e);
            }
        });
    }

    /** Returns the first bytes of a file, usually all of them. */
    private ByteBuffer start(ObjectInfo file) throws IOException {
        ByteBuffer start = ByteBuffer.allocate((int) Math.min(BUFFER_BYTES, file.length()));
        if (start.hasRemaining()) {
            store.read(file.name(), 0, start);
        }
        return start.flip();
    }

    private static Optional<LedgerRecord> next(LedgerReader reader, Damage damage) throws IOException {
        try {
            return reader.next();
        } catch (StokerException e) {
            damage.damaged(e);
            return Optional.empty();
        }
    }

    /** Reads an object from its first byte to its listed length. */
    private static final class ObjectStream extends RangeStream {
        private final ObjectStore store;
        private final ObjectInfo file;
        private final ByteBuffer start;

        ObjectStream(ObjectStore store, ObjectInfo file, ByteBuffer start) {
            super(Math.max(1, start.remaining()));
            this.store = store;
            this.file = file;
            this.start = start;
        }

        @Override
        protected void read(long offset, ByteBuffer target) throws IOException {
            int count = (int) Math.min(target.remaining(), file.length() - offset);
            if (offset == 0) {
                target.put(start);
            } else if (count > 0) {
                store.read(file.name(), offset, target.limit(target.position() + count));
            }
        }
    }
}
