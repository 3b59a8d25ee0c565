package dev.stoker.metadata.copy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.gc.CollectionRunningException;
import dev.stoker.metadata.lease.ProcessLeases;
import dev.stoker.metadata.lease.ProcessLeases.Kind;
import dev.stoker.schemas.dataset.Lease;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The lease of a copy at one of its two ends. While it exists, garbage collection deletes no chunk there. */
final class CopyLease implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(CopyLease.class);

    private final Dataset dataset;
    private final ProcessLeases leases;
    private final Optional<String> id;

    private CopyLease(Dataset dataset, ProcessLeases leases, Optional<String> id) {
        this.dataset = dataset;
        this.leases = leases;
        this.id = id;
    }

    /**
     * Takes the lease at the source, before its log is read. A source that cannot be written, such as a backup, is
     * copied without: if a chunk is deleted meanwhile, the copy fails and can be run again.
     */
    static CopyLease atSource(Dataset source, InstantSource clock, String by) {
        ProcessLeases leases = new ProcessLeases(source, Kind.COPY);
        try {
            String id = leases.take(clock, by);
            CopyLease lease = new CopyLease(source, leases, Optional.of(id));
            leases.releaseEnded();
            return lease;
        } catch (IOException e) {
            LOG.warn(
                    "{} is copied without a lease, so do not run stoker gc there now: {}",
                    source.where(),
                    e.toString());
            return new CopyLease(source, leases, Optional.empty());
        }
    }

    /**
     * Takes the lease at the target, before its chunks are listed.
     *
     * @throws CollectionRunningException if a garbage collection may be deleting chunks
     */
    static CopyLease atTarget(Dataset target, InstantSource clock, String by) throws IOException {
        ProcessLeases leases = new ProcessLeases(target, Kind.COPY);
        CopyLease lease = new CopyLease(target, leases, Optional.of(leases.take(clock, by)));
        try {
            leases.releaseEnded();
            ProcessLeases collections = new ProcessLeases(target, Kind.COLLECTION);
            collections.releaseEnded();
            Optional<Lease> running = collections.all().values().stream().findFirst();
            if (running.isPresent()) {
                throw new CollectionRunningException(target.where(), running.get());
            }
            return lease;
        } catch (IOException e) {
            lease.close();
            throw e;
        }
    }

    /** Checks that nobody has ended the lease. */
    void require() throws IOException {
        if (id.isPresent() && !leases.exists(id.get())) {
            throw new CopyRefusedException("Copy " + id.get() + " to " + dataset.where()
                    + " was ended with stoker gc --break; run the copy again");
        }
    }

    @Override
    public void close() {
        id.ifPresent(leases::release);
    }
}
