package dev.stoker.metadata.audit;

import dev.stoker.metadata.ledger.LedgerInput;
import dev.stoker.metadata.ledger.LedgerName;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.ledger.LedgerReader;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * Reads the finished files of a ledger any number of times. Each time returns the same records, even if a feed writes
 * more in the meantime. A feed writes many small files, so the first bytes of several files are read in parallel.
 *
 * <p>While files are merged, a part can be in several of them. It is visited once.
 */
final class LedgerFiles {

    private final ObjectStore store;
    private final List<LedgerName> files;
    private final Reads reads;
    /** Names of files that signs name. */
    private final Set<String> signed;
    /** The signed names that were found, as a file or as a part. */
    private final Set<String> found = new HashSet<>();

    /** Receives a record. */
    interface Visitor {
        void visit(LedgerRecord entry) throws IOException;
    }

    /** Receives the error of a file that is damaged from some position on. */
    interface Damage {
        void damaged(StokerException e);
    }

    private LedgerFiles(ObjectStore store, List<LedgerName> files, Set<String> signed, Reads reads) {
        this.store = store;
        this.files = files;
        this.signed = signed;
        this.reads = reads;
    }

    /**
     * Lists the finished files. Unfinished files have other names.
     *
     * @param signed the names to look for
     */
    static LedgerFiles list(ObjectStore store, Set<String> signed, Reads reads) throws IOException {
        return new LedgerFiles(store, LedgerName.list(store), signed, reads);
    }

    /**
     * Returns files that were listed before.
     *
     * @param names of the files, in the order of a listing
     * @throws LedgerChangedException if a file has been merged into another one since
     */
    static LedgerFiles named(ObjectStore store, List<String> names, Reads reads) throws IOException {
        Map<String, LedgerName> listed = new HashMap<>();
        LedgerName.list(store).forEach(file -> listed.put(file.file().name(), file));
        List<LedgerName> files = new ArrayList<>();
        for (String name : names) {
            LedgerName file = listed.get(name);
            if (file == null) {
                throw new LedgerChangedException(new NoSuchObjectException(store.describe(name)));
            }
            files.add(file);
        }
        return new LedgerFiles(store, files, Set.of(), reads);
    }

    /**
     * Checks that all files are still there, after another process could not read them.
     *
     * @throws LedgerChangedException if a file has been merged into another one since the list was made
     */
    void requireAll(IOException failure) throws IOException {
        try {
            named(store, names(), reads);
        } catch (LedgerChangedException e) {
            e.addSuppressed(failure);
            throw e;
        }
    }

    /** Returns the names of the files. */
    List<String> names() {
        return files.stream().map(file -> file.file().name()).toList();
    }

    /** Returns whether a file that a sign names is there. Call this after the first visit. */
    boolean has(String signedName) {
        return found.contains(signedName);
    }

    int size() {
        return files.size();
    }

    /**
     * Visits all records. In a damaged file, visits those before the damage.
     *
     * @throws LedgerChangedException if a file has been merged into another one since the list was made
     */
    void visit(Visitor visitor, Damage damage) throws IOException {
        Parts parts = new Parts();
        reads.inOrder(files, name -> LedgerInput.start(store, name.file()), (name, start) -> {
            parts.begin(name);
            try (InputStream in = new LedgerInput(store, name.file(), start.get())) {
                LedgerReader reader =
                        new LedgerReader(in, store.describe(name.file().name()));
                for (Optional<LedgerRecord> entry = next(reader, damage);
                        entry.isPresent();
                        entry = next(reader, damage)) {
                    if (parts.isNew(name.isMerged() ? reader.part() : name.part())) {
                        visitor.visit(entry.get());
                    }
                }
            } catch (NoSuchObjectException e) {
                throw new LedgerChangedException(e);
            } catch (StokerException e) {
                damage.damaged(e);
            }
        });
    }

    private static Optional<LedgerRecord> next(LedgerReader reader, Damage damage) throws IOException {
        try {
            return reader.next();
        } catch (NoSuchObjectException e) {
            throw new LedgerChangedException(e);
        } catch (StokerException e) {
            damage.damaged(e);
            return Optional.empty();
        }
    }

    /** The parts that were visited, of one day at a time: no two days have a part in common. */
    private final class Parts {
        private final Set<UUID> visited = new HashSet<>();
        private long day = Long.MIN_VALUE;
        private Optional<UUID> current = Optional.empty();
        private boolean isNew = true;

        void begin(LedgerName name) {
            if (name.day() != day) {
                day = name.day();
                visited.clear();
            }
            current = Optional.empty();
            isNew = true;
            note(name.file().name());
        }

        boolean isNew(Optional<UUID> part) {
            if (part.isPresent() && !part.equals(current)) {
                current = part;
                isNew = visited.add(part.get());
                note(LedgerName.ofPart(part.get()));
            }
            return isNew;
        }

        private void note(String name) {
            if (signed.contains(name)) {
                found.add(name);
            }
        }
    }
}
