package dev.stoker.metadata.copy;

import static dev.stoker.metadata.SampleDatasets.CLOCK;
import static dev.stoker.metadata.SampleDatasets.committer;
import static dev.stoker.metadata.SampleDatasets.id;
import static dev.stoker.metadata.SampleDatasets.info;
import static dev.stoker.metadata.SampleDatasets.write;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.ExpiredVersionException;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.gc.Expiry;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.dataset.Tag;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Sources for copies, and the promises that a target keeps at any moment. */
final class CopiedDatasets {

    private CopiedDatasets() {}

    static CopyRule rule(CopyRule.Extra... extras) {
        return new CopyRule(OptionalLong.empty(), 1, Set.of(extras));
    }

    static CopyRule upTo(long version) {
        return new CopyRule(OptionalLong.of(version), 1, Set.of());
    }

    static DatasetCopy copy(ObjectStore source, ObjectStore target, CopyRule rule) throws IOException {
        return new DatasetCopy(Dataset.open(source), target, rule, CLOCK, "ada@host", SampleDatasets.IGNORING);
    }

    static CopyResult run(ObjectStore source, ObjectStore target, CopyRule.Extra... extras) throws IOException {
        return copy(source, target, rule(extras)).run();
    }

    /** A dataset without versions. */
    static InMemoryObjectStore empty() throws IOException {
        InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
        Dataset.create(store, info());
        return store;
    }

    /** Three versions, each with one more chunk; the second has a tag. */
    static InMemoryObjectStore three() throws IOException {
        InMemoryObjectStore source = empty();
        append(source, 1);
        append(source, 2);
        append(source, 3);
        tag(source, "best", 2);
        return source;
    }

    /** The name of the chunk that has this number. */
    static String chunk(int number) {
        return ChunkNames.path(id(number));
    }

    /** Commits a version with one more chunk of two samples. */
    static void append(ObjectStore store, int number) throws IOException {
        String ingest = "ingest-" + number;
        ChunkSummary chunk = write(store, id(number), ingest, "train", "cat/" + number, "cat/" + number + "b");
        committer(Dataset.open(store))
                .commit(VersionRequest.append(ingest, List.of(chunk), Map.of("label", List.of("cat")), Map.of()));
    }

    /** Commits a version that has only a new chunk. */
    static void replace(ObjectStore store, int number) throws IOException {
        String ingest = "ingest-" + number;
        ChunkSummary chunk = write(store, id(number), ingest, "train", "cat/" + number);
        committer(Dataset.open(store))
                .commit(VersionRequest.replace(ingest, List.of(chunk), Map.of("label", List.of("cat")), Map.of()));
    }

    /** Commits an entry that expires all versions before the newest. */
    static void expire(ObjectStore store, int number) throws IOException {
        Expiry.plan(Dataset.open(store), new Expiry.Rule(Optional.empty(), OptionalLong.of(1)), CLOCK)
                .commit("expire-" + number, "ada@host");
    }

    static void tag(ObjectStore store, String name, long version) throws IOException {
        new Tags(Dataset.open(store)).set(name, version, Tags.Mode.MOVE, CLOCK, "ada@host");
    }

    static Map<String, Long> tags(ObjectStore store) throws IOException {
        Map<String, Long> tags = new TreeMap<>();
        for (Tag tag : new Tags(Dataset.open(store)).all().values()) {
            tags.put(tag.name(), tag.version());
        }
        return tags;
    }

    /** Five versions: the first two were expired by the fourth, and their chunks are gone; the third has a tag. */
    static InMemoryObjectStore expired() throws IOException {
        InMemoryObjectStore store = empty();
        replace(store, 1);
        replace(store, 2);
        replace(store, 3);
        tag(store, "best", 3);
        expire(store, 4);
        append(store, 5);
        GarbageCollection.plan(Dataset.open(store), Duration.ZERO, CLOCK).apply();
        assertThat(chunks(store)).hasSize(2);
        return store;
    }

    static Set<String> chunks(ObjectStore store) throws IOException {
        return names(store, "chunks/");
    }

    static Set<String> names(ObjectStore store, String prefix) throws IOException {
        Set<String> names = new TreeSet<>();
        for (ObjectInfo object : store.list(prefix).toList()) {
            names.add(object.name());
        }
        return names;
    }

    /** All objects that the promises are about, by name. */
    static Map<String, String> content(ObjectStore store) throws IOException {
        Map<String, String> content = new TreeMap<>();
        for (String name : names(store, "")) {
            if (!name.startsWith("_stoker/tables/")) {
                content.put(name, Arrays.toString(store.readAll(name, Integer.MAX_VALUE)));
            }
        }
        return content;
    }

    /**
     * Six versions, of which the target has the first. The second and the third were expired, and their chunks are
     * gone.
     */
    static InMemoryObjectStore expiredAfter(ObjectStore target) throws IOException {
        InMemoryObjectStore store = empty();
        append(store, 1);
        tag(store, "best", 1);
        run(store, target);
        replace(store, 2);
        replace(store, 3);
        replace(store, 4);
        tag(store, "best", 4);
        tag(store, "other", 1);
        expire(store, 5);
        append(store, 6);
        GarbageCollection.plan(Dataset.open(store), Duration.ZERO, CLOCK).apply();
        assertThat(chunks(store)).hasSize(3);
        return store;
    }

    /**
     * Checks what a reader of a target may see: the newest version, and each version that was not expired, have all
     * their samples.
     */
    static void requireReadable(ObjectStore store) throws IOException {
        Optional<Dataset> dataset = Dataset.find(store);
        if (dataset.isEmpty()) {
            return;
        }
        long newest = dataset.get().latestVersion();
        for (long version = 1; version <= newest; version++) {
            Snapshot snapshot;
            try {
                snapshot = dataset.get().snapshot(version);
            } catch (ExpiredVersionException e) {
                continue;
            }
            keys(store, snapshot);
        }
    }

    /** Reads the newest version. */
    static void requireNewestReadable(ObjectStore store) throws IOException {
        Optional<Dataset> dataset = Dataset.find(store);
        if (dataset.isPresent() && dataset.get().latestVersion() > 0) {
            keys(store, dataset.get().snapshot());
        }
    }

    static Set<String> keys(ObjectStore store, Snapshot snapshot) throws IOException {
        Set<String> keys = new TreeSet<>();
        for (int i = 0; i < snapshot.table().size(); i++) {
            if (snapshot.table().isLive(i)) {
                assertThat(store.length(ChunkNames.path(snapshot.table().id(i))))
                        .isEqualTo(snapshot.table().length(i));
                ChunkHead head = ChunkHeads.read(store, snapshot.table(), i);
                for (int row = 0; row < head.rows(); row++) {
                    if (!ChunkHeads.isRemoved(snapshot.table(), i, row)) {
                        keys.add(head.key(row));
                    }
                }
            }
        }
        return keys;
    }

    /** Checks that nothing at the target is damaged or missing. */
    static void requireClean(ObjectStore store) throws IOException, InterruptedException {
        Dataset dataset = Dataset.open(store);
        assertThat(new Verification(dataset, Runnable::run, 1, bytes -> {})
                        .run(dataset.snapshot())
                        .problems())
                .isEmpty();
        requireReadable(store);
    }

    /** Checks that the target has the same versions, samples and tags as the source. */
    static void requireEqual(ObjectStore source, ObjectStore target) throws IOException, InterruptedException {
        for (String folder : List.of("log", "ingests", "versions", "tags")) {
            for (String name : names(source, "_stoker/" + folder + "/")) {
                // The newest change of a tag suffices.
                if (!folder.equals("tags")) {
                    assertThat(target.readAll(name, Integer.MAX_VALUE))
                            .as(name)
                            .isEqualTo(source.readAll(name, Integer.MAX_VALUE));
                }
            }
        }
        assertThat(names(target, "_stoker/log/")).isEqualTo(names(source, "_stoker/log/"));
        assertThat(tags(target)).isEqualTo(tags(source));
        Dataset there = Dataset.open(source);
        Dataset here = Dataset.open(target);
        assertThat(here.snapshot().table().encode())
                .isEqualTo(there.snapshot().table().encode());
        assertThat(keys(target, here.snapshot())).isEqualTo(keys(source, there.snapshot()));
        assertThat(names(target, "_stoker/copies/")).isEmpty();
        assertThat(names(source, "_stoker/copies/")).isEmpty();
        requireClean(target);
    }
}
