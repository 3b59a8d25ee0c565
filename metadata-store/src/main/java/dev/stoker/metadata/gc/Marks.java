package dev.stoker.metadata.gc;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.ProtectedVersions;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.UpdatedChunk;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectRangeReader;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/**
 * What the versions and feeds of a dataset need, as the log, the tags and the uses said at one time. A plan asks it
 * about each listed file; the deletion reads new marks and asks again.
 *
 * <p>A file must be listed, and the leases read, before the log is read here. The log is read before the tags and uses:
 * a process that adds a tag or a use to a version checks the log after that, and fails if the log has expired the
 * version.
 */
final class Marks {

    /** Says what needs a file. */
    enum Standing {
        /** A version or a feed needs it, or it does not say whose it is. */
        NEEDED,
        /** No version ever contained it. Its ingest may be running, which its lease says. */
        OF_NO_VERSION,
        /** Only expired versions have it. */
        EXPIRED,
        /** It belongs to an ended feed whose versions were all expired. */
        OF_ENDED_FEED
    }

    private final Dataset dataset;
    private final ChunkTable newest;

    /** The chunks of all versions, and the overlays of the newest and of the first of each range of kept versions. */
    private final Set<UUID> known;

    private final Set<UUID> freed;
    private final List<KeptVersions.Kept> kept;
    private final Set<String> ofEndedFeeds;

    private Marks(
            Dataset dataset,
            ChunkTable newest,
            Set<UUID> known,
            Set<UUID> freed,
            List<KeptVersions.Kept> kept,
            Set<String> ofEndedFeeds) {
        this.dataset = dataset;
        this.newest = newest;
        this.known = known;
        this.freed = freed;
        this.kept = kept;
        this.ofEndedFeeds = ofEndedFeeds;
    }

    /**
     * Reads the log. All versions count, also expired ones, and so do all feeds.
     *
     * @throws dev.stoker.schemas.errors.CorruptDataException if the log has lost entries
     */
    static Marks read(Dataset dataset) throws IOException {
        Snapshot latest;
        do {
            latest = dataset.latest();
            // A recovery deletes a damaged entry before it writes it again. Without the entry, its version is not the
            // latest one.
            dataset.log().requireNewest(latest.version());
        } while (dataset.latestVersion() > latest.version());
        ChunkTable table = latest.table();
        Set<UUID> known = new HashSet<>(2 * table.size());
        known.addAll(table.overlays());
        for (int i = 0; i < table.size(); i++) {
            known.add(table.id(i));
        }
        return new Marks(dataset, table, known, Set.of(), List.of(), Set.of());
    }

    /**
     * Reads the tags and uses. Expired versions without one do not count.
     *
     * @param olderThan minimum time since the versions were expired; readers that have opened one before can finish
     */
    Marks withoutExpired(Duration olderThan, InstantSource clock) throws IOException {
        if (newest.expired().isEmpty()) {
            return this;
        }
        Set<Long> guarded = ProtectedVersions.read(dataset).keySet();
        List<KeptVersions.Kept> versions = KeptVersions.read(dataset, newest, guarded, olderThan, clock);
        BitSet live = KeptChunks.in(dataset, newest, versions);
        Set<UUID> gone = new HashSet<>();
        for (int i = live.nextClearBit(0); i < newest.size(); i = live.nextClearBit(i + 1)) {
            gone.add(newest.id(i));
        }
        Set<UUID> used = new HashSet<>(known);
        for (KeptVersions.Kept range : versions) {
            used.addAll(dataset.anySnapshot(range.first()).table().overlays());
        }
        return new Marks(dataset, newest, used, gone, versions, ofEndedFeeds);
    }

    /**
     * Reads the uses and the ledgers. Ended feeds whose versions were all expired do not count.
     *
     * @param files of feeds, listed before
     * @param olderThan minimum age of all files of a feed, and minimum time since its versions were expired
     */
    Marks withoutEndedFeeds(List<ObjectInfo> files, Duration olderThan, InstantSource clock) throws IOException {
        Set<String> ended = EndedFeeds.find(dataset, newest, files, clock.millis() - olderThan.toMillis());
        return new Marks(dataset, newest, known, freed, kept, ended);
    }

    /** Says what needs a file. */
    Standing of(StoredKind kind, String name) throws IOException {
        return switch (kind) {
            case CHUNK -> ofChunk(ChunkNames.idOf(name).orElseThrow());
            case OVERLAY -> ofOverlay(name);
            case SKIP_LIST -> isOfVersion(name) ? Standing.NEEDED : Standing.OF_NO_VERSION;
            case INDEX_RUN, SCRATCH, SELECTION, UNFINISHED -> Standing.OF_NO_VERSION;
            case FEED -> ofEndedFeeds.contains(name) ? Standing.OF_ENDED_FEED : Standing.NEEDED;
        };
    }

    /**
     * Deletes planned files that stand as the plan says.
     *
     * @return the deleted files
     */
    List<Orphan> sweep(Collection<Orphan> planned, Standing standing) throws IOException {
        List<Orphan> deleted = new ArrayList<>();
        for (Orphan file : planned) {
            if (of(StoredKind.of(file), file.name()) == standing
                    && dataset.store().delete(file.name())) {
                deleted.add(file);
            }
        }
        return deleted;
    }

    private Standing ofChunk(UUID id) {
        if (freed.contains(id)) {
            return Standing.EXPIRED;
        }
        return known.contains(id) ? Standing.NEEDED : Standing.OF_NO_VERSION;
    }

    /**
     * A chunk table only has the overlays of its own version. An overlay names its ingest, and the second copy of the
     * ingest's log entry says which version added the overlay.
     */
    private Standing ofOverlay(String name) throws IOException {
        UUID id = ChunkNames.idOfOverlay(name).orElseThrow();
        if (known.contains(id)) {
            return Standing.NEEDED;
        }
        Optional<Long> version;
        try {
            version = addedIn(id, name);
        } catch (NoSuchObjectException e) {
            // Another collection has deleted it.
            return Standing.NEEDED;
        } catch (StokerException e) {
            if (!kept.isEmpty()) {
                throw e;
            }
            // It is damaged and does not say it.
            return Standing.NEEDED;
        }
        if (version.isEmpty()) {
            return Standing.OF_NO_VERSION;
        }
        boolean isKept = kept.isEmpty() || kept.stream().anyMatch(range -> range.has(version.get()));
        return isKept ? Standing.NEEDED : Standing.EXPIRED;
    }

    private Optional<Long> addedIn(UUID id, String name) throws IOException {
        String ingest = ChunkReader.open(new ObjectRangeReader(dataset.store(), name))
                .identity()
                .ingest();
        return entry(ingest).filter(entry -> names(entry, id)).map(LogEntry::version);
    }

    private static boolean names(LogEntry entry, UUID overlay) {
        return entry.updated().stream()
                .map(UpdatedChunk::overlay)
                .anyMatch(found -> found.id().equals(overlay));
    }

    /** Whether a version names a list of skipped samples. A failed attempt of its ingest may have written others. */
    private boolean isOfVersion(String skipList) throws IOException {
        return entry(DatasetLayout.ingestOfSkipList(skipList).orElseThrow())
                .filter(entry -> entry.properties().containsValue(skipList))
                .isPresent();
    }

    private Optional<LogEntry> entry(String ingest) throws IOException {
        return new VersionCommitter(dataset, InstantSource.system(), "").standing(ingest);
    }
}
