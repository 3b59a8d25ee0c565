package dev.stoker.metadata.lease;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetExistsException;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.commit.AbandonedException;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.schemas.dataset.Lease;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Manages the leases of a dataset. A writer takes a lease before its first chunk and releases it after its commit.
 * Garbage collection keeps the chunks of every lease. A lease never expires. Thread-safe.
 */
public final class Leases {

    private static final Logger LOG = LoggerFactory.getLogger(Leases.class);
    private static final int READ_BACKS = 5;

    /** Leases that were taken within this time may be of writers that ask at the same time. */
    private static final Duration TOGETHER = Duration.ofSeconds(5);

    private static final Duration PAUSE = Duration.ofMillis(100);
    /** The time that other writers have to find this one, and to release their leases. */
    private static final Duration GIVING_UP = Duration.ofSeconds(3);

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
            new VersionCommitter(dataset, clock, by).find(ingest);
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
     * writer that starts later is rejected in its turn. Of writers that start at the same time, the one with the
     * smallest id waits until the others have released their leases, and continues.
     *
     * @throws LeaseHeldException if another writer is running, or may be
     * @throws DatasetExistsException if another writer has committed in the meantime
     */
    public void takeAlone(String ingest, InstantSource clock, String by, String process) throws IOException {
        take(ingest, clock, by, process);
        Optional<Lease> rival = rival(ingest, new VersionCommitter(dataset, clock, by));
        if (rival.isPresent()) {
            release(ingest);
            throw new LeaseHeldException(dataset.where(), rival.get());
        }
        // Check after the leases: a writer releases its lease after its commit.
        if (dataset.latest().table().size() > 0) {
            release(ingest);
            throw new DatasetExistsException(dataset.where());
        }
    }

    /** Returns the lease that keeps a first writer from its work; empty if it is alone. */
    private Optional<Lease> rival(String ingest, VersionCommitter committer) throws IOException {
        long waited = 0;
        while (true) {
            Map<String, Lease> leases = all();
            Lease own = leases.remove(ingest);
            List<Lease> rivals = new ArrayList<>();
            for (Lease lease : leases.values()) {
                if (!WriterProcess.hasEnded(lease.process())
                        && committer.standing(lease.ingest()).isEmpty()) {
                    rivals.add(lease);
                }
            }
            Optional<Lease> older = rivals.stream()
                    .filter(lease -> own == null || !areTogether(lease, own))
                    .findFirst();
            if (rivals.isEmpty() || older.isPresent()) {
                return older;
            }
            if (rivals.get(0).ingest().compareTo(ingest) < 0 || waited >= GIVING_UP.toNanos()) {
                return Optional.of(rivals.get(0));
            }
            long from = System.nanoTime();
            LockSupport.parkNanos(PAUSE.toNanos());
            if (Thread.currentThread().isInterrupted()) {
                throw new InterruptedIOException("interrupted while another writer may release its lease");
            }
            waited += System.nanoTime() - from;
        }
    }

    private static boolean areTogether(Lease lease, Lease other) {
        return Duration.between(lease.created(), other.created()).abs().compareTo(TOGETHER) <= 0;
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
