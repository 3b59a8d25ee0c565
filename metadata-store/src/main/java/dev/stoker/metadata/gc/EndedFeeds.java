package dev.stoker.metadata.gc;

import static java.util.stream.Collectors.toList;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.VersionUses;
import dev.stoker.metadata.ledger.LedgerInput;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.ledger.LedgerReader;
import dev.stoker.schemas.ledger.LedgerRecord;
import dev.stoker.schemas.ledger.Subscription;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.InputStream;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Finds the files of ended feeds of which all versions were expired: ledgers, delivery signs and epoch choices. Without
 * the versions, no audit is possible. The files are listed first, and the log and the uses are read afterwards; a feed
 * takes its use before it writes anything.
 */
final class EndedFeeds {

    private static final Pattern LEDGER = Pattern.compile(".+/ledger/(?:part|merged)-[^/]+\\.avro");

    private final Dataset dataset;
    private final ChunkTable newest;
    private final long latestMs;

    private EndedFeeds(Dataset dataset, ChunkTable newest, long latestMs) {
        this.dataset = dataset;
        this.newest = newest;
        this.latestMs = latestMs;
    }

    /**
     * Returns the names of the files.
     *
     * @param newest the newest table, read after the files were listed
     * @param files of all feeds
     * @param latestMs latest time of all files of a feed, and of the expiry of its versions
     */
    static Set<String> find(Dataset dataset, ChunkTable newest, List<ObjectInfo> files, long latestMs)
            throws IOException {
        if (newest.expired().isEmpty() || files.isEmpty()) {
            return Set.of();
        }
        Map<String, List<ObjectInfo>> feeds =
                files.stream().collect(Collectors.groupingBy(file -> feed(file.name()), TreeMap::new, toList()));
        Set<String> running = new VersionUses(dataset)
                .all().stream().map(use -> use.feed().toString()).collect(Collectors.toSet());
        EndedFeeds ended = new EndedFeeds(dataset, newest, latestMs);
        Set<String> found = new HashSet<>();
        for (Map.Entry<String, List<ObjectInfo>> feed : feeds.entrySet()) {
            boolean isOld = feed.getValue().stream().allMatch(file -> file.modifiedMs() <= latestMs);
            if (isOld && !running.contains(feed.getKey()) && ended.usedOnlyExpired(feed.getValue())) {
                feed.getValue().forEach(file -> found.add(file.name()));
            }
        }
        return found;
    }

    /** Returns the feed of a file. */
    static String feed(String name) {
        return name.substring(DatasetLayout.FEEDS.length(), name.indexOf('/', DatasetLayout.FEEDS.length()));
    }

    /** Returns false also if the ledger is elsewhere, damaged, or about another dataset. */
    private boolean usedOnlyExpired(List<ObjectInfo> files) throws IOException {
        boolean isAny = false;
        for (ObjectInfo file : files) {
            if (LEDGER.matcher(file.name()).matches()) {
                if (!usedOnlyExpired(file)) {
                    return false;
                }
                isAny = true;
            }
        }
        return isAny;
    }

    private boolean usedOnlyExpired(ObjectInfo file) throws IOException {
        ObjectStore store = dataset.store();
        try (InputStream in = new LedgerInput(store, file, LedgerInput.start(store, file))) {
            LedgerReader reader = new LedgerReader(in, store.describe(file.name()));
            for (Optional<LedgerRecord> next = reader.next(); next.isPresent(); next = reader.next()) {
                if (next.get() instanceof Subscription subscription
                        && !(subscription
                                        .source()
                                        .dataset()
                                        .equals(dataset.info().id().toString())
                                && isExpired(subscription.source().version()))) {
                    return false;
                }
            }
            return true;
        } catch (StokerException e) {
            return false;
        }
    }

    private boolean isExpired(long version) throws IOException {
        OptionalLong by = newest.expired().by(version);
        return by.isPresent() && dataset.entry(by.getAsLong(), newest.version()).committedMs() <= latestMs;
    }
}
