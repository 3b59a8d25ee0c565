package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads and writes the records of erasures in a dataset. A record never changes. */
public final class ErasureFiles {

    private static final Logger LOG = LoggerFactory.getLogger(ErasureFiles.class);

    private static final Pattern NAME =
            Pattern.compile(Pattern.quote(DatasetLayout.ERASURES) + "([^/]+)/[a-z]+\\.json");
    private static final int READ_BACKS = 5;

    private final Dataset dataset;
    private final ObjectStore store;

    public ErasureFiles(Dataset dataset) {
        this.dataset = dataset;
        this.store = dataset.store();
    }

    /** Returns the ids of all erasures, ascending. */
    NavigableSet<String> ids() throws IOException {
        TreeSet<String> ids = new TreeSet<>();
        for (ObjectInfo object : store.list(DatasetLayout.ERASURES).toList()) {
            Matcher matcher = NAME.matcher(object.name());
            if (matcher.matches()) {
                ids.add(matcher.group(1));
            }
        }
        return ids;
    }

    /**
     * Returns the newest record of each erasure, in the order of their ids. Leaves out erasures whose newest record is
     * damaged; see {@link dev.stoker.metadata.verify.DamagedErasures}.
     */
    public List<Erasure> all() throws IOException {
        List<Erasure> all = new ArrayList<>();
        for (String id : ids()) {
            try {
                find(id).ifPresent(all::add);
            } catch (StokerException e) {
                LOG.warn("Ignoring erasure {} of {}: {}", id, dataset.where(), ErrorText.of(e));
            }
        }
        return all;
    }

    /** Returns the newest records of the erasures that have not finished. */
    public List<Erasure> unfinished() throws IOException {
        return all().stream()
                .filter(erasure -> erasure.phase() != Erasure.Phase.DONE)
                .toList();
    }

    /** Returns the newest record of an erasure. */
    public Optional<Erasure> find(String id) throws IOException {
        // In this order: the record of a phase is deleted only after the one of the last phase exists.
        for (Erasure.Phase phase : List.of(Erasure.Phase.DONE, Erasure.Phase.DELETING, Erasure.Phase.BEGUN)) {
            Optional<Erasure> found = read(id, phase);
            if (found.isPresent()) {
                return found;
            }
        }
        return read(id, Erasure.Phase.DONE);
    }

    /** Returns the name of a record. */
    public static String name(String id, Erasure.Phase phase) {
        return DatasetLayout.ERASURES + DatasetLayout.checkIngestId(id) + "/" + phase.file();
    }

    /**
     * Writes the record of a phase, unless it exists.
     *
     * @return the stored record, which another process may have written
     */
    Erasure write(Erasure erasure) throws IOException {
        IOException unknown = null;
        for (int attempt = 0; attempt <= READ_BACKS; attempt++) {
            try {
                store.createIfAbsent(name(erasure.id(), erasure.phase()), erasure.encode());
            } catch (UnknownOutcomeException e) {
                unknown = e;
            }
            Optional<Erasure> found = read(erasure.id(), erasure.phase());
            if (found.isPresent()) {
                return found.get();
            }
        }
        throw new IOException(
                store.describe(name(erasure.id(), erasure.phase())) + " was written, but is not there", unknown);
    }

    /** Deletes the records of the first phases. The certificate stays. */
    void tidy(String id) throws IOException {
        store.delete(name(id, Erasure.Phase.DELETING));
        store.delete(name(id, Erasure.Phase.BEGUN));
    }

    private Optional<Erasure> read(String id, Erasure.Phase phase) throws IOException {
        String name = name(id, phase);
        byte[] content;
        try {
            content = store.readAll(name, Erasure.MAX_BYTES);
        } catch (NoSuchObjectException e) {
            return Optional.empty();
        }
        Erasure erasure = Erasure.decode(content, store.describe(name));
        if (!erasure.dataset().equals(dataset.info().id()) || !erasure.id().equals(id) || erasure.phase() != phase) {
            throw new ForeignFileException(
                    store.describe(name),
                    "a record of erasure " + id + " of dataset "
                            + dataset.info().id(),
                    "it is a record of erasure " + erasure.id() + " of dataset " + erasure.dataset());
        }
        return Optional.of(erasure);
    }
}
