package dev.stoker.metadata.gc;

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
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Finds the files of ended feeds of which all versions were expired: ledgers, delivery signs and epoch choices. Without
 * the versions, no audit is possible. Lists the files first and reads the log and the uses afterwards; a feed takes its
 * use before it writes anything.
 */
final class EndedFeeds {

    private static final Pattern FEED = Pattern.compile(DatasetLayout.FEEDS + "([0-9a-f-]{36})/.+");
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
     * Returns the files.
     *
     * @param olderThan minimum age of all files of a feed, and minimum time since its versions were expired
     */
    static List<ObjectInfo> find(Dataset dataset, Duration olderThan, InstantSource clock) throws IOException {
        Map<String, List<ObjectInfo>> feeds = new TreeMap<>();
        for (ObjectInfo object : dataset.store().list(DatasetLayout.FEEDS).toList()) {
            Matcher matcher = FEED.matcher(object.name());
            if (matcher.matches()) {
                feeds.computeIfAbsent(matcher.group(1), feed -> new ArrayList<>())
                        .add(object);
            }
        }
        ChunkTable newest = dataset.latest().table();
        if (newest.expired().isEmpty()) {
            return List.of();
        }
        Set<String> running = new VersionUses(dataset)
                .all().stream().map(use -> use.feed().toString()).collect(Collectors.toSet());
        EndedFeeds ended = new EndedFeeds(dataset, newest, clock.millis() - olderThan.toMillis());
        List<ObjectInfo> found = new ArrayList<>();
        for (Map.Entry<String, List<ObjectInfo>> feed : feeds.entrySet()) {
            boolean isOld = feed.getValue().stream().allMatch(file -> file.modifiedMs() <= ended.latestMs);
            if (isOld && !running.contains(feed.getKey()) && ended.usedOnlyExpired(feed.getValue())) {
                found.addAll(feed.getValue());
            }
        }
        return found;
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
