package dev.stoker.metadata;

import dev.stoker.schemas.dataset.VersionUse;
import dev.stoker.schemas.errors.CorruptDataException;
import dev.stoker.schemas.errors.ForeignFileException;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Manages the uses of versions by running feeds. A feeder creates the use before it opens the version, and the feed
 * deletes its uses when it ends. Normative: {@code docs/formats/dataset.md}, "Uses". Thread-safe.
 */
public final class VersionUses {

    private static final Logger LOG = LoggerFactory.getLogger(VersionUses.class);
    private static final Pattern FILE =
            Pattern.compile(Pattern.quote(DatasetLayout.USES) + "0([0-9]{19})/([0-9a-f-]{36})\\.json");

    private final Dataset dataset;
    private final ObjectStore store;

    public VersionUses(Dataset dataset) {
        this.dataset = dataset;
        this.store = dataset.store();
    }

    /**
     * Says that a feed reads a version. The caller opens the version afterwards.
     *
     * @param by user and host, for people
     * @throws ExpiredVersionException if the version was expired before; its chunks may be gone
     */
    public void take(long version, UUID feed, InstantSource clock, String by) throws IOException {
        VersionUse use = new VersionUse(
                dataset.info().id(), version, feed, clock.instant().truncatedTo(ChronoUnit.MILLIS), by);
        String file = DatasetLayout.USES + VersionUse.file(version, feed);
        if (!store.createIfAbsent(file, use.encode())) {
            return;
        }
        // Check after the use exists: garbage collection reads the uses after the log.
        try {
            dataset.requireNotExpired(version);
        } catch (ExpiredVersionException e) {
            store.delete(file);
            throw e;
        }
    }

    /** Returns whether a feed reads the version. */
    boolean isUsed(long version) throws IOException {
        try (ObjectIterator objects = store.list(DatasetLayout.USES + VersionUse.folder(version))) {
            while (objects.hasNext()) {
                if (FILE.matcher(objects.next().name()).matches()) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Returns all uses. A use that cannot be read counts by its name, so its version is kept. */
    public List<VersionUse> all() throws IOException {
        List<VersionUse> uses = new ArrayList<>();
        for (ObjectInfo object : store.list(DatasetLayout.USES).toList()) {
            Matcher matcher = FILE.matcher(object.name());
            if (!matcher.matches()) {
                continue;
            }
            long version = Long.parseLong(matcher.group(1));
            UUID feed = UUID.fromString(matcher.group(2));
            try {
                VersionUse use = VersionUse.decode(
                        store.readAll(object.name(), VersionUse.MAX_BYTES), store.describe(object.name()));
                uses.add(new VersionUse(use.dataset(), version, feed, use.created(), use.by()));
            } catch (NoSuchObjectException e) {
                LOG.debug("{} is gone", object.name());
            } catch (CorruptDataException | ForeignFileException | FormatTooNewException e) {
                LOG.warn("The use {} counts although it cannot be read: {}", object.name(), e.getMessage());
                uses.add(new VersionUse(
                        dataset.info().id(),
                        version,
                        feed,
                        Instant.ofEpochMilli(object.modifiedMs()),
                        "an unknown feeder"));
            }
        }
        return uses;
    }

    /**
     * Deletes the use of a version that a feed does not read any more.
     *
     * @return whether there was one
     */
    public boolean release(long version, UUID feed) throws IOException {
        return store.delete(DatasetLayout.USES + VersionUse.file(version, feed));
    }

    /**
     * Deletes the uses of a feed that has ended.
     *
     * @return the number of deleted uses
     */
    public int release(UUID feed) throws IOException {
        int deleted = 0;
        for (VersionUse use : all()) {
            if (use.feed().equals(feed) && store.delete(DatasetLayout.USES + VersionUse.file(use.version(), feed))) {
                deleted++;
            }
        }
        return deleted;
    }
}
