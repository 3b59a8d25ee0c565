package dev.stoker.metadata;

import dev.stoker.schemas.dataset.EpochChoice;
import dev.stoker.schemas.dataset.EpochChoiceBlock;
import dev.stoker.schemas.dataset.Tag;
import dev.stoker.schemas.dataset.VersionUse;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.errors.NoSuchObjectException;
import java.io.IOException;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.UUID;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Finds the versions that must not be expired, and whose chunks are kept even if they were: a tag names them, a running
 * feed uses them, or an epoch of a running feed has chosen them. The caller reads the log before. A process that adds a
 * tag or a use checks the log afterwards. So a version that gets its tag or use after this call was not expired.
 */
public final class ProtectedVersions {

    private static final Pattern CHOICE = Pattern.compile("(?:.*/)([0-9]{20})(-[0-9]{20})?\\.json");

    private ProtectedVersions() {}

    /**
     * Returns the reasons by version.
     *
     * @throws dev.stoker.schemas.errors.StokerException if a tag or a choice is damaged, so its version is unknown
     */
    public static NavigableMap<Long, String> read(Dataset dataset) throws IOException {
        NavigableMap<Long, String> reasons = new TreeMap<>();
        for (Tag tag : new Tags(dataset).all().values()) {
            reasons.putIfAbsent(tag.version(), "tag " + tag.name());
        }
        Set<UUID> feeds = new TreeSet<>();
        for (VersionUse use : new VersionUses(dataset).all()) {
            reasons.putIfAbsent(
                    use.version(), "feed " + use.feed() + " of " + use.by() + ", running since " + use.created());
            feeds.add(use.feed());
        }
        for (UUID feed : feeds) {
            choices(dataset.store(), feed, reasons);
        }
        return reasons;
    }

    /** Returns whether a tag names a version, or a running feed uses it. */
    static boolean isProtected(Dataset dataset, long version) throws IOException {
        return new VersionUses(dataset).isUsed(version) || isTagged(dataset, version);
    }

    /** Returns whether a tag names a version. */
    static boolean isTagged(Dataset dataset, long version) throws IOException {
        return new Tags(dataset).all().values().stream().anyMatch(tag -> tag.version() == version);
    }

    private static void choices(ObjectStore store, UUID feed, NavigableMap<Long, String> reasons) throws IOException {
        String reason = "an epoch of the running feed " + feed;
        for (ObjectInfo object :
                store.list(DatasetLayout.FEEDS + feed + "/epochs/").toList()) {
            Matcher matcher = CHOICE.matcher(object.name());
            if (!matcher.matches()) {
                continue;
            }
            String file = store.describe(object.name());
            try {
                if (matcher.group(2) == null) {
                    byte[] content = store.readAll(object.name(), EpochChoice.MAX_BYTES);
                    reasons.putIfAbsent(EpochChoice.decode(content, file).version(), reason);
                } else {
                    byte[] content = store.readAll(object.name(), EpochChoiceBlock.MAX_BYTES);
                    for (long version : EpochChoiceBlock.decode(content, file).versions()) {
                        reasons.putIfAbsent(version, reason);
                    }
                }
            } catch (NoSuchObjectException e) {
                // A block has replaced the choice. It exists before the choice is deleted, but may not be listed.
                choices(store, feed, reasons);
                return;
            }
        }
    }
}
