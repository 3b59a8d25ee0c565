package dev.stoker.metadata.commit;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.LogTip;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.TablePolicy;
import dev.stoker.metadata.VersionLog;
import dev.stoker.metadata.VersionSign;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.AddedChunk;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import dev.stoker.storage.errors.UnknownOutcomeException;
import java.io.IOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits versions. A commit creates one log entry with one atomic create-if-absent, so it takes place completely or
 * not at all, and only once for one ingest id. If a commit loses a race, the committer retries it on the winner's
 * version, without touching its chunks. Not thread-safe; any number of committers may work on a dataset at the same
 * time.
 *
 * <p>The steps are: read the newest version; look for the own ingest id; check that the chunk files exist; check that
 * no newer entry is lost; write the sign and the second copy of the newest entry if they are missing, so that all
 * entries but the newest always have them; create the entry; write its sign and its second copy; write a chunk table if
 * one is due. Only the creation of the entry decides: the next commit repairs all later steps that failed.
 */
public final class VersionCommitter {

    private static final Logger LOG = LoggerFactory.getLogger(VersionCommitter.class);

    /** Number of attempts to resolve an unknown outcome before it is reported. */
    private static final int READ_BACKS = 5;

    private final Dataset dataset;
    private final ObjectStore store;
    private final InstantSource clock;
    private final String committedBy;
    private final TablePolicy tables;
    private final long maxEntryBytes;

    /**
     * @param clock provides the time of commits
     * @param committedBy user and host of the committer, for people
     */
    public VersionCommitter(Dataset dataset, InstantSource clock, String committedBy) {
        this(dataset, clock, committedBy, TablePolicy.STANDARD);
    }

    /** Creates a committer with another policy for chunk tables. */
    public VersionCommitter(Dataset dataset, InstantSource clock, String committedBy, TablePolicy tables) {
        this(dataset, clock, committedBy, tables, VersionLog.MAX_ENTRY_BYTES);
    }

    /** @param maxEntryBytes maximum length of a log entry that readers accept */
    public VersionCommitter(
            Dataset dataset, InstantSource clock, String committedBy, TablePolicy tables, long maxEntryBytes) {
        this.dataset = dataset;
        this.store = dataset.store();
        this.clock = clock;
        this.committedBy = Objects.requireNonNull(committedBy, "committedBy");
        this.tables = tables;
        this.maxEntryBytes = maxEntryBytes;
    }

    /**
     * Returns the commit of an ingest, if it took place.
     *
     * @throws AbandonedException if the ingest was abandoned
     * @throws CorruptDataException if the newest version is lost
     */
    public Optional<Commit> find(String ingest) throws IOException {
        long newest = dataset.latestVersion();
        // Before the caller packs anything.
        dataset.log().requireNewest(newest);
        Optional<LogEntry> entry = standing(ingest, newest);
        if (entry.isEmpty()) {
            return Optional.empty();
        }
        requireNotAbandoned(entry.get());
        return Optional.of(new Commit(entry.get(), true));
    }

    /** Returns whether the log contains an ingest id, whatever the operation. */
    public boolean has(String ingest) throws IOException {
        return standing(ingest).isPresent();
    }

    /** Returns the log entry of an ingest id, whatever its operation. */
    public Optional<LogEntry> standing(String ingest) throws IOException {
        return standing(ingest, dataset.latestVersion());
    }

    /**
     * Commits, unless an earlier call has already committed under the same ingest id.
     *
     * @throws AbandonedException if the ingest, or one under whose lease the chunks were written, was abandoned
     * @throws MissingChunksException if a chunk is missing, or differs from the written one
     * @throws CommitUnknownException if the store cannot tell whether the commit took place
     * @throws IOException if the commit did not take place
     */
    public Commit commit(VersionRequest request) throws IOException {
        Commit commit = settle(request);
        requireNotAbandoned(commit.entry());
        return commit;
    }

    /**
     * Abandons an ingest, so that nothing can be committed under its id any more.
     *
     * @return its log entry: {@link Operation#ABANDON}, or the entry that it had committed before
     */
    public LogEntry abandon(String ingest) throws IOException {
        return settle(VersionRequest.abandon(ingest)).entry();
    }

    private Commit settle(VersionRequest request) throws IOException {
        LogTip base = dataset.log().newest();
        Optional<LogEntry> before = standing(request.ingest(), base);
        if (before.isPresent()) {
            return new Commit(before.get(), true);
        }
        for (String lease : request.leases()) {
            Optional<LogEntry> ended = lease.equals(request.ingest()) ? before : standing(lease, base);
            if (ended.isPresent()) {
                requireNotAbandoned(ended.get());
            }
        }
        ChunkFiles.require(store, request.ingest(), request.added());
        while (true) {
            dataset.log().requireNewest(base.version());
            heal(base);
            LogEntry entry = entry(request, new Snapshot(dataset.info(), base.table()));
            if (publish(entry)) {
                afterwards(entry, base);
                return new Commit(entry, false);
            }
            VersionLog.Entries news = dataset.log().entriesAfter(base);
            for (LogEntry other : news.list()) {
                if (other.ingest().equals(request.ingest())) {
                    return new Commit(other, true);
                }
                if (request.leases().contains(other.ingest())) {
                    requireNotAbandoned(other);
                }
            }
            if (news.list().isEmpty()) {
                throw new CorruptDataException("The commit log of " + dataset.where() + " has "
                        + DatasetLayout.logEntry(entry.version()) + ", but its listing does not contain it; check the"
                        + " file system");
            }
            base = base.with(news, base.newestTable());
        }
    }

    private void requireNotAbandoned(LogEntry entry) throws AbandonedException {
        if (entry.operation() == Operation.ABANDON) {
            throw new AbandonedException(dataset.where(), entry.ingest(), entry.version());
        }
    }

    /** @param newest the newest version to consider */
    private Optional<LogEntry> standing(String ingest, long newest) throws IOException {
        if (newest > 0) {
            LogEntry entry = dataset.log().entry(newest);
            if (entry.ingest().equals(ingest)) {
                return Optional.of(entry);
            }
        }
        return copied(ingest);
    }

    /** @param newest the newest version to consider */
    private Optional<LogEntry> standing(String ingest, LogTip newest) throws IOException {
        return newest.ingest().equals(ingest)
                ? Optional.of(dataset.log().decode(newest.version(), newest.content()))
                : copied(ingest);
    }

    private Optional<LogEntry> copied(String ingest) throws IOException {
        LogEntry copy;
        try {
            copy = dataset.log().copy(ingest);
        } catch (NoSuchObjectException e) {
            return Optional.empty();
        }
        LogEntry entry = dataset.log().entry(copy.version());
        if (!entry.ingest().equals(ingest)) {
            throw new CorruptDataException(
                    "Version " + copy.version() + " of " + dataset.where() + " belongs to ingest "
                            + entry.ingest() + " in the log, but to " + ingest + " in " + DatasetLayout.INGESTS
                            + "; run `stoker verify`");
        }
        return Optional.of(entry);
    }

    private LogEntry entry(VersionRequest request, Snapshot base) throws IOException {
        List<AddedChunk> added = new ArrayList<>();
        long ordinal = base.table().lastOrdinal() + 1;
        for (ChunkSummary chunk : request.added()) {
            added.add(new AddedChunk(
                    ordinal++,
                    chunk.id(),
                    chunk.split(),
                    chunk.rows(),
                    chunk.length(),
                    chunk.crc32c(),
                    chunk.headLength(),
                    chunk.headCrc32c(),
                    chunk.largestRow()));
        }
        Update.Changes changes = request.update().from(base);
        requireOverlays(request.ingest(), changes);
        Map<String, List<String>> classes =
                changes.classes().isEmpty() ? request.classes() : VersionRequest.sorted(changes.classes());
        return new LogEntry(
                base.info().id(),
                base.version() + 1,
                request.ingest(),
                request.operation(),
                clock.millis(),
                committedBy,
                added,
                request.removal().from(base),
                changes.chunks(),
                classes,
                LogEntry.properties(request.properties().of(base), changes.added()));
    }

    private void requireOverlays(String ingest, Update.Changes changes) throws IOException {
        try {
            ChunkFiles.requireOverlays(store, ingest, changes.chunks());
        } catch (MissingChunksException e) {
            // The process that abandons an ingest deletes its files, perhaps after the log was read here.
            Optional<LogEntry> ended = standing(ingest);
            if (ended.isPresent()) {
                requireNotAbandoned(ended.get());
            }
            throw e;
        }
    }

    /** Writes the sign and the second copy of the newest entry if they are missing. An entry with a copy has a sign. */
    private void heal(LogTip newest) throws IOException {
        if (newest.version() == 0) {
            return;
        }
        String copy = DatasetLayout.ingestCopy(newest.ingest());
        try {
            store.length(copy);
        } catch (NoSuchObjectException e) {
            VersionSign.leave(store, newest.version(), newest.ingest());
            store.createIfAbsent(copy, newest.content());
        }
    }

    /** Returns whether this entry is in the log. If not, another entry has its number. */
    private boolean publish(LogEntry entry) throws IOException {
        String name = DatasetLayout.logEntry(entry.version());
        byte[] content = entry.encode();
        if (content.length > maxEntryBytes) {
            throw new StokerException("Ingest " + entry.ingest() + " of " + dataset.where()
                    + " cannot be committed: its log entry would have " + content.length
                    + " bytes, the limit is " + maxEntryBytes
                    + "; nothing is committed. Ingest in several parts, or with a larger --chunk-size");
        }
        IOException unknown = null;
        for (int attempt = 0; attempt <= READ_BACKS; attempt++) {
            try {
                if (store.createIfAbsent(name, content)) {
                    return true;
                }
                return unknown != null && Arrays.equals(dataset.log().raw(entry.version()), content);
            } catch (UnknownOutcomeException e) {
                unknown = withSuppressed(e, unknown);
                try {
                    return Arrays.equals(dataset.log().raw(entry.version()), content);
                } catch (NoSuchObjectException absent) {
                    // The object is absent, or not visible yet. Writing the same bytes under the same name again is
                    // harmless.
                } catch (IOException unreadable) {
                    unknown.addSuppressed(unreadable);
                }
            } catch (IOException e) {
                if (unknown == null) {
                    requireAbsent(entry, content, e);
                }
                unknown = withSuppressed(e, unknown);
            }
        }
        throw unknown(entry, Objects.requireNonNull(unknown, "each other outcome returns or throws"));
    }

    /**
     * Throws the failure of a creation again, unless the entry is there: the store may have failed after it had created
     * the entry, and a commit that fails deletes its files.
     *
     * @throws CommitUnknownException if it cannot be told whether the entry is there
     */
    private void requireAbsent(LogEntry entry, byte[] content, IOException failure) throws IOException {
        try {
            if (Arrays.equals(dataset.log().raw(entry.version()), content)) {
                return;
            }
        } catch (NoSuchObjectException absent) {
            // The usual case.
        } catch (IOException unreadable) {
            throw unknown(entry, withSuppressed(failure, unreadable));
        }
        throw failure;
    }

    private CommitUnknownException unknown(LogEntry entry, IOException cause) {
        return new CommitUnknownException(
                entry.ingest(), store.describe(DatasetLayout.logEntry(entry.version())), cause);
    }

    private static IOException withSuppressed(IOException e, @Nullable IOException earlier) {
        if (earlier != null && earlier != e) {
            e.addSuppressed(earlier);
        }
        return e;
    }

    /** Writes the files that make later reads safer and faster. The commit is valid whether this succeeds or not. */
    private void afterwards(LogEntry entry, LogTip base) {
        if (entry.version() == 1) {
            dataset.copyDescription();
        }
        try {
            VersionSign.leave(store, entry.version(), entry.ingest());
            store.createIfAbsent(DatasetLayout.ingestCopy(entry.ingest()), entry.encode());
        } catch (IOException | RuntimeException | VirtualMachineError | LinkageError e) {
            LOG.warn(
                    "The sign or the second copy of log entry {} was not written; the next commit writes it: {}",
                    entry.version(),
                    e.toString());
        }
        try {
            ChunkTable table = base.table().with(entry);
            dataset.log().keep(base.with(entry, table));
            writeTableIfDue(table, base.newestTable());
        } catch (IOException | RuntimeException | VirtualMachineError | LinkageError e) {
            LOG.warn(
                    "No chunk table of version {} was written; a later commit" + " writes one: {}",
                    entry.version(),
                    e.toString());
        }
    }

    /** @param known version of the newest chunk table when the log was read; another process may have written one */
    private void writeTableIfDue(ChunkTable table, long known) throws IOException {
        if (!isDue(table, known)) {
            return;
        }
        Long newest = dataset.log().tables().floor(table.version());
        if (isDue(table, newest == null ? 0 : newest)) {
            store.createIfAbsent(DatasetLayout.table(table.version()), table.encode());
            for (long old : TablePolicy.superseded(dataset.log().tables())) {
                store.delete(DatasetLayout.table(old));
            }
        }
    }

    private boolean isDue(ChunkTable table, long last) {
        long chunks = 0;
        for (int i = table.size() - 1; i >= 0 && table.addedIn(i) > last; i--) {
            chunks++;
        }
        return table.version() - last >= tables.commits() || chunks >= tables.chunks();
    }
}
