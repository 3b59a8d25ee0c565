package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.AbandonedException;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.Removal;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.schemas.dataset.ErasedClass;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.dataset.KeyHashes;
import dev.stoker.schemas.log.ErasedClasses;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.table.ClassTable;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Erases class names: commits an entry that gives their ids tombstones from its version on, and replaces the names in
 * older files. The entry decides about concurrent commits: a later version that uses one of the names gives it a new
 * id. For one thread.
 */
final class ClassErasure {

    private static final String SUFFIX = "-classes-";

    private final Dataset dataset;
    private final VersionCommitter committer;
    private final Erasure erasure;

    ClassErasure(Dataset dataset, VersionCommitter committer, Erasure erasure) {
        this.dataset = dataset;
        this.committer = committer;
        this.erasure = erasure;
    }

    /** Returns the id of the entry. */
    static String id(String erasure, int round) {
        return erasure + SUFFIX + round;
    }

    /**
     * Commits the entry, unless it was committed before or no name is erased.
     *
     * @return the classes that are erased
     */
    List<ErasedClass> commit(LastClasses names) throws IOException {
        Optional<LogEntry> before = entry();
        if (before.isPresent()) {
            return classes(before.get());
        }
        if (known(dataset.snapshot(), names).isEmpty()) {
            return List.of();
        }
        Map<LastClasses.Name, String> tombstones = new HashMap<>();
        SecureRandom random = new SecureRandom();
        VersionRequest request = new VersionRequest(
                unusedId(),
                Operation.REMOVE,
                List.of(),
                Removal.NOTHING,
                Map.of(),
                base -> {
                    // Reads the chunks of concurrent commits too: they may use a name again.
                    Map<String, SortedMap<Integer, String>> erased = known(base, names);
                    erased.forEach((field, ids) -> ids.replaceAll((id, name) -> tombstones.computeIfAbsent(
                            new LastClasses.Name(field, name), any -> ErasedClasses.newTombstone(random))));
                    return erased.isEmpty()
                            ? Map.of()
                            : Map.of(
                                    LogEntry.ERASED_CLASSES,
                                    base.classes().erasing(erased).text());
                },
                List.of());
        return classes(committer.commit(request).entry());
    }

    /** Returns the names that a version has and uses no more, by field and id. */
    private static Map<String, SortedMap<Integer, String>> known(Snapshot base, LastClasses names) throws IOException {
        Map<String, SortedMap<Integer, String>> known = new TreeMap<>();
        for (LastClasses.Name name : names.notIn(base)) {
            base.classes()
                    .id(name.field(), name.name())
                    .ifPresent(id -> known.computeIfAbsent(name.field(), field -> new TreeMap<>())
                            .put(id, name.name()));
        }
        return known;
    }

    /** Returns the entry, if it was committed. */
    Optional<LogEntry> entry() throws IOException {
        for (int round = 1; ; round++) {
            try {
                return committer.find(id(erasure.id(), round)).map(Commit::entry);
            } catch (AbandonedException e) {
                // The next round has another id.
            }
        }
    }

    private String unusedId() throws IOException {
        for (int round = 1; ; round++) {
            if (!committer.has(id(erasure.id(), round))) {
                return id(erasure.id(), round);
            }
        }
    }

    private List<ErasedClass> classes(LogEntry entry) throws IOException {
        // The names are replaced only after the record with their hashes exists.
        ClassTable before = dataset.anySnapshot(entry.version() - 1).classes();
        KeyHashes.Hasher hasher = erasure.keys().hasher();
        List<ErasedClass> classes = new ArrayList<>();
        entry.erasedClasses()
                .fields()
                .forEach((field, names) -> names.tombstones()
                        .forEach((id, tombstone) -> classes.add(new ErasedClass(
                                field, id, hasher.hash(before.names(field).get(id)), tombstone))));
        return classes;
    }

    /** Replaces the names in all files. Returns the names of these files. */
    NavigableSet<String> replace(List<ErasedClass> classes) throws IOException {
        if (classes.isEmpty()) {
            return new TreeSet<>();
        }
        long version = entry().orElseThrow().version();
        return new ClassReplacement(dataset, tombstones(erasure.keys(), classes)).run(version);
    }

    /** Returns the tombstones of erased names. */
    static ClassReplacement.Tombstones tombstones(KeyHashes keys, List<ErasedClass> classes) {
        KeyHashes.Hasher hasher = keys.hasher();
        Map<LastClasses.Name, String> byHash = new HashMap<>();
        classes.forEach(erased -> byHash.put(new LastClasses.Name(erased.field(), erased.name()), erased.tombstone()));
        Map<LastClasses.Name, Optional<String>> known = new HashMap<>();
        classes.forEach(erased ->
                known.put(new LastClasses.Name(erased.field(), erased.tombstone()), Optional.of(erased.tombstone())));
        // An entry of the log repeats the names of the entries before.
        return (field, name) -> known.computeIfAbsent(
                new LastClasses.Name(field, name),
                any -> Optional.ofNullable(byHash.get(new LastClasses.Name(field, hasher.hash(name)))));
    }
}
