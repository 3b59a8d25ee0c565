package dev.stoker.metadata;

import dev.stoker.schemas.dataset.Lease;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.storage.NoSuchObjectException;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.UnknownOutcomeException;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Manages the leases of a dataset. A writer takes a lease before its first chunk and releases it after its commit.
 * Garbage collection keeps the chunks of every lease. A lease never expires. Thread-safe.
 */
public final class Leases {

    private static final Logger LOG = LoggerFactory.getLogger(Leases.class);
    private static final int READ_BACKS = 5;

    private final Dataset dataset;
    private final ObjectStore store;

    public Leases(Dataset dataset) {
        this.dataset = dataset;
        this.store = dataset.store();
    }

    /**
     * Takes the lease of an ingest, or continues with the lease of an earlier attempt under the same id.
     *
     * @param by user and host, for people
     * @param process the process that packs, from {@link WriterProcess#current}; empty if several processes may pack,
     *     or another one will
     * @throws AbandonedException if the ingest was abandoned
     */
    public void take(String ingest, InstantSource clock, String by, String process) throws IOException {
        String name = DatasetLayout.lease(ingest);
        Lease lease =
                new Lease(dataset.info().id(), ingest, clock.instant().truncatedTo(ChronoUnit.MILLIS), by, process);
        create(name, lease);
        // Check after the lease exists: a process that abandons an ingest writes to the log before it removes the
        // lease and the chunks.
        try {
            new Committer(dataset, clock, by).find(ingest);
        } catch (AbandonedException e) {
            release(ingest);
            throw e;
        }
    }

    private void create(String name, Lease lease) throws IOException {
        IOException unknown = null;
        for (int attempt = 0; attempt <= READ_BACKS; attempt++) {
            try {
                store.createIfAbsent(name, lease.encode());
            } catch (UnknownOutcomeException e) {
                unknown = e;
            }
            Optional<Lease> found = read(name);
            if (found.isEmpty()) {
                continue;
            }
            if (!found.get().process().equals(lease.process())
                    && WriterProcess.hasEnded(found.get().process())) {
                // An earlier attempt's lease, whose process has ended. The next round creates the lease of this
                // attempt.
                store.delete(name);
                continue;
            }
            return;
        }
        throw new IOException(store.describe(name) + " was written, but is not there", unknown);
    }

    /**
     * Takes the lease of an ingest that creates the first version of its dataset. Fails if another writer is running. A
     * writer that starts later is rejected in its turn.
     *
     * @throws LeaseHeldException if another writer is running, or may be
     * @throws DatasetExistsException if another writer has committed in the meantime
     */
    public void takeAlone(String ingest, InstantSource clock, String by, String process) throws IOException {
        take(ingest, clock, by, process);
        for (Map.Entry<String, Lease> other : all().entrySet()) {
            if (!other.getKey().equals(ingest)
                    && !WriterProcess.hasEnded(other.getValue().process())
                    && new Committer(dataset, clock, by)
                            .standing(other.getKey())
                            .isEmpty()) {
                release(ingest);
                throw new LeaseHeldException(dataset.where(), other.getValue());
            }
        }
        // Check after the leases: a writer releases its lease after its commit.
        if (dataset.latest().table().size() > 0) {
            release(ingest);
            throw new DatasetExistsException(dataset.where());
        }
    }

    /**
     * Returns whether the writer has certainly ended. This is only a hint for people, because a later writer may
     * continue under its id.
     */
    public static boolean isOfEndedProcess(Lease lease) {
        return WriterProcess.hasEnded(lease.process());
    }

    /**
     * Releases the lease of an ingest that has committed, or never will. If the lease cannot be deleted, `stoker gc`
     * deletes it.
     */
    public void release(String ingest) {
        try {
            store.delete(DatasetLayout.lease(ingest));
        } catch (IOException e) {
            LOG.warn(
                    "The lease {} was not removed; `stoker gc` lists it: {}",
                    store.describe(DatasetLayout.lease(ingest)),
                    e.toString());
        }
    }

    /** Returns all leases, by ingest. A lease that cannot be read counts by its name, so its chunks are kept. */
    public Map<String, Lease> all() throws IOException {
        Map<String, Lease> leases = new TreeMap<>();
        for (ObjectInfo object : store.list(DatasetLayout.LEASES).toList()) {
            Optional<String> ingest = DatasetLayout.ingestOfLease(object.name());
            if (ingest.isEmpty()) {
                continue;
            }
            try {
                read(object.name()).ifPresent(lease -> leases.put(ingest.get(), lease));
            } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
                LOG.warn("The lease {} counts although it cannot be read: {}", object.name(), e.getMessage());
                leases.put(
                        ingest.get(),
                        new Lease(
                                dataset.info().id(),
                                ingest.get(),
                                Instant.ofEpochMilli(object.modifiedMs()),
                                "an unknown writer",
                                ""));
            }
        }
        return leases;
    }

    private Optional<Lease> read(String name) throws IOException {
        String file = store.describe(name);
        byte[] content;
        try {
            content = store.readAll(name, Lease.MAX_BYTES);
        } catch (NoSuchObjectException e) {
            return Optional.empty();
        }
        Lease lease = Lease.decode(content, file);
        if (!lease.dataset().equals(dataset.info().id())
                || !DatasetLayout.lease(lease.ingest()).equals(name)) {
            throw new ForeignFileException(
                    file,
                    "a lease of dataset " + dataset.info().id(),
                    "it is the lease of ingest " + lease.ingest() + " of dataset " + lease.dataset());
        }
        return Optional.of(lease);
    }
}
