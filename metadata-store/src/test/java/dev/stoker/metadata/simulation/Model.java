package dev.stoker.metadata.simulation;

import dev.stoker.metadata.Dataset;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.UnaryOperator;

/** What the samples of each version must be, according to the commands that were given. Knows no chunks. */
final class Model {

    private final List<Map<String, Sample>> versions = new ArrayList<>(List.of(Map.of()));
    private final Map<String, UnaryOperator<Map<String, Sample>>> commands = new HashMap<>();
    private final Set<String> committed = new TreeSet<>();
    private final Set<String> erased = new TreeSet<>();

    /** Says what the version that an ingest id commits makes of the version before it. */
    void command(String ingest, UnaryOperator<Map<String, Sample>> change) {
        commands.put(ingest, change);
    }

    /** Adds the versions that the dataset has got. Versions of unknown ids must not change a sample. */
    void observe(Dataset dataset) throws IOException {
        for (long version = versions.size(); version <= dataset.latestVersion(); version++) {
            LogEntry entry = dataset.entry(version);
            if (!committed.add(entry.ingest())) {
                throw new AssertionError("versions " + version + " and an earlier one are of " + entry.ingest());
            }
            Map<String, Sample> before = versions.get(versions.size() - 1);
            UnaryOperator<Map<String, Sample>> change = commands.get(entry.ingest());
            boolean isUnchanged = change == null || entry.operation() == Operation.ABANDON;
            versions.add(isUnchanged ? before : change.apply(new TreeMap<>(before)));
        }
    }

    long version() {
        return versions.size() - 1L;
    }

    boolean isCommitted(String ingest) {
        return committed.contains(ingest);
    }

    Map<String, Sample> newest() {
        return versions.get(versions.size() - 1);
    }

    /** The samples of a version. */
    Map<String, Sample> version(long version) {
        return versions.get((int) version);
    }

    /** Records that an erasure of these keys has ended. */
    void erased(Set<String> keys) {
        erased.addAll(keys);
    }

    /** Records that a key is used again. */
    void usedAgain(String key) {
        erased.remove(key);
    }

    /** The keys of which no file may have a trace. */
    Set<String> erased() {
        return erased;
    }
}
