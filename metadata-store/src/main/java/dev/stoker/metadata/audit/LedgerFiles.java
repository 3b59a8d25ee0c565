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

/** The finished files of a ledger, read as often as it takes: each time the same records, whatever is written meanwhile. */
final class LedgerFiles {

    private static final int BUFFER_BYTES = 1 << 18;

    private final ObjectStore store;
    private final List<ObjectInfo> files;

    /** Takes a record. */
    interface Visitor {
        void visit(LedgerRecord entry) throws IOException;
    }

    /** Hears of a file that is damaged from some place on. */
    interface Damage {
        void damaged(StokerException e);
    }

    private LedgerFiles(ObjectStore store, List<ObjectInfo> files) {
        this.store = store;
        this.files = files;
    }

    /** Lists the finished files; those that are being written have other names. */
    static LedgerFiles list(ObjectStore store) throws IOException {
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
        return new LedgerFiles(store, files);
    }

    int size() {
        return files.size();
    }

    /** Visits all records; of a damaged file, those before the damage. */
    void visit(Visitor visitor, Damage damage) throws IOException {
        for (ObjectInfo file : files) {
            try (InputStream in = new ObjectStream(store, file)) {
                LedgerReader reader = new LedgerReader(in, store.describe(file.name()));
                for (Optional<LedgerRecord> entry = next(reader, damage);
                        entry.isPresent();
                        entry = next(reader, damage)) {
                    visitor.visit(entry.get());
                }
            } catch (StokerException e) {
                damage.damaged(e);
            }
        }
    }

    private static Optional<LedgerRecord> next(LedgerReader reader, Damage damage) throws IOException {
        try {
            return reader.next();
        } catch (StokerException e) {
            damage.damaged(e);
            return Optional.empty();
        }
    }

    /** An object from its first byte to the length that the listing told. */
    private static final class ObjectStream extends RangeStream {
        private final ObjectStore store;
        private final ObjectInfo file;

        ObjectStream(ObjectStore store, ObjectInfo file) {
            super(BUFFER_BYTES);
            this.store = store;
            this.file = file;
        }

        @Override
        protected void read(long offset, ByteBuffer target) throws IOException {
            int count = (int) Math.min(target.remaining(), file.length() - offset);
            if (count > 0) {
                store.read(file.name(), offset, target.limit(target.position() + count));
            }
        }
    }
}
