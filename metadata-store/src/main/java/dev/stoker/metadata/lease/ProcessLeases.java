package dev.stoker.metadata.lease;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.schemas.dataset.Lease;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Map.Entry;
import java.util.Optional;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Manages the leases of copies and of garbage collections. Each has its own id and one process; no later process
 * continues under the id. While a copy has its lease, garbage collection deletes no chunk. A collection takes its lease
 * before it looks for copies, and a copy looks for collections after it has taken its lease, so at least one of the two
 * sees the other. Normative: {@code docs/formats/dataset.md}, "Copies". Thread-safe.
 */
public final class ProcessLeases {

    /** What the process does. */
    public enum Kind {
        COPY(DatasetLayout.COPIES, "copy-"),
        COLLECTION(DatasetLayout.COLLECTIONS, "gc-");

        private final String folder;
        private final String prefix;
        private final Pattern name;

        Kind(String folder, String prefix) {
            this.folder = folder;
            this.prefix = prefix;
            this.name = Pattern.compile(Pattern.quote(folder) + "(" + prefix + "[0-9a-f-]{36})\\.json");
        }
    }

    private static final Logger LOG = LoggerFactory.getLogger(ProcessLeases.class);

    private final Dataset dataset;
    private final ObjectStore store;
    private final Kind kind;

    public ProcessLeases(Dataset dataset, Kind kind) {
        this.dataset = dataset;
        this.store = dataset.store();
        this.kind = kind;
    }

    /**
     * Takes a new lease for this process.
     *
     * @param by user and host, for people
     * @return its id
     */
    public String take(InstantSource clock, String by) throws IOException {
        String id = kind.prefix + UUID.randomUUID();
        byte[] content = new Lease(
                        dataset.info().id(),
                        id,
                        clock.instant().truncatedTo(ChronoUnit.MILLIS),
                        by,
                        WriterProcess.current())
                .encode();
        try {
            store.createIfAbsent(file(id), content);
        } catch (UnknownOutcomeException e) {
            // No other process writes this name.
            store.createIfAbsent(file(id), content);
        }
        return id;
    }

    private String file(String id) {
        return kind.folder + id + ".json";
    }

    /** Returns whether a lease exists. A person may have ended it. */
    public boolean exists(String id) throws IOException {
        try {
            store.length(file(id));
            return true;
        } catch (NoSuchObjectException e) {
            return false;
        }
    }

    /** Releases a lease. If it cannot be deleted, a later process does so, or a person. */
    public void release(String id) {
        try {
            store.delete(file(id));
        } catch (IOException e) {
            LOG.warn(
                    "{} was not deleted; end it with stoker gc DATASET --break {} --yes: {}",
                    file(id),
                    id,
                    e.toString());
        }
    }

    /** Releases the leases of processes of this machine that have certainly ended. */
    public void releaseEnded() throws IOException {
        for (Entry<String, Lease> lease : all().entrySet()) {
            if (WriterProcess.hasEnded(lease.getValue().process())) {
                release(lease.getKey());
            }
        }
    }

    /** Returns all leases, by id. A lease that cannot be read counts by its name. */
    public Map<String, Lease> all() throws IOException {
        Map<String, Lease> leases = new TreeMap<>();
        for (ObjectInfo object : store.list(kind.folder).toList()) {
            Matcher matcher = kind.name.matcher(object.name());
            if (matcher.matches()) {
                String id = matcher.group(1);
                read(object, id).ifPresent(lease -> leases.put(id, lease));
            }
        }
        return leases;
    }

    private Optional<Lease> read(ObjectInfo object, String id) throws IOException {
        try {
            return Optional.of(
                    Lease.decode(store.readAll(object.name(), Lease.MAX_BYTES), store.describe(object.name())));
        } catch (NoSuchObjectException e) {
            return Optional.empty();
        } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
            LOG.warn("{} counts although it cannot be read: {}", object.name(), e.getMessage());
            Instant created = Instant.ofEpochMilli(object.modifiedMs());
            return Optional.of(new Lease(dataset.info().id(), id, created, "an unknown process", ""));
        }
    }
}
