package dev.stoker.ingest;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.Tags;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.erasure.ErasureCheck;
import dev.stoker.metadata.erasure.ErasureFiles;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.chunk.ChunkBuilder;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkIdentity;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkOverlay;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.chunk.PackedChunk;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.dataset.Tag;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.ObjectWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * The initial state for the operations of {@link BesideOperations}, and the invariants that must be true after them.
 */
final class BesideState {

    /** The ingest that died without a lease. */
    static final String GONE = "gone";
    /** The ingest that died and left its lease. */
    static final String DEAD = "dead";

    /** The ingests of the two at work. A topic's versions have the same and a number, and so has a second version. */
    static final String A = "aaaaaaaa-0000-4000-8000-000000000001";

    static final String B = "bbbbbbbb-0000-4000-8000-000000000001";

    /** Keys that each ingest adds; a letter and a number. */
    static final Map<String, List<String>> KEYS = Map.of(
            "base-1",
            List.of("k/1", "k/2", "k/3"),
            "base-2",
            List.of("k/4"),
            A,
            List.of("a/1"),
            B,
            List.of("b/1"),
            A + "-1",
            List.of("a/1"),
            B + "-1",
            List.of("b/1"),
            A + "-2",
            List.of("a/2"),
            B + "-2",
            List.of("b/2"),
            "last",
            List.of("l/1"));

    /** The key of the sample that updates give their own ids as label. Nothing else changes it or removes it alone. */
    static final String UPDATED = "k/1";

    /** Keys that an ingest replaces, or adds if they are gone. */
    static final List<String> REPLACED = List.of("k/2", "k/4");

    /** The key that an erasure erases. No version with a tag has it. */
    static final String ERASED = "k/4";

    /** Keys of the chunks that were read so far. */
    private static final Map<ChunkSummary, List<String>> HEADS = new ConcurrentHashMap<>();

    private BesideState() {}

    /** No dataset. */
    static InMemoryObjectStore nothing() {
        return new InMemoryObjectStore(SampleDatasets.CLOCK);
    }

    /**
     * Two versions, of which the newest lacks its second copy, and chunks of two dead ingests, one of which has a
     * lease.
     */
    static InMemoryObjectStore twoVersions() throws IOException {
        InMemoryObjectStore store = nothing();
        Dataset dataset = Dataset.create(store, SampleDatasets.info());
        VersionCommitter committer = SampleDatasets.committer(dataset);
        ChunkSummary one = chunk(store, dataset.info(), 1, "base-1", List.of("k/1", "k/2"));
        ChunkSummary two = chunk(store, dataset.info(), 2, "base-1", List.of("k/3"));
        committer.commit(append("base-1", one, two));
        committer.commit(append("base-2", chunk(store, dataset.info(), 3, "base-2", KEYS.get("base-2"))));
        store.delete(DatasetLayout.ingestCopy("base-2"));
        new Tags(dataset).set("kept", 1, Tags.Mode.CREATE, SampleDatasets.CLOCK, "ada@host");
        chunk(store, dataset.info(), 4, GONE, List.of("x/1"));
        new Leases(dataset).take(DEAD, SampleDatasets.CLOCK, "ada@host", "");
        chunk(store, dataset.info(), 5, DEAD, List.of("y/1"));
        return store;
    }

    /** Two versions, the newest of which has only its second copy. */
    static InMemoryObjectStore lostNewest() throws IOException {
        InMemoryObjectStore store = twoVersions();
        String entry = DatasetLayout.logEntry(2);
        store.createIfAbsent(DatasetLayout.ingestCopy("base-2"), store.readAll(entry, 1 << 20));
        store.delete(entry);
        return store;
    }

    /** Returns the same store, but with a truncated log entry. */
    static InMemoryObjectStore tornNewest() throws IOException {
        InMemoryObjectStore store = lostNewest();
        byte[] content = store.readAll(DatasetLayout.ingestCopy("base-2"), 1 << 20);
        store.corrupt(DatasetLayout.logEntry(2), Arrays.copyOf(content, content.length / 2));
        return store;
    }

    static VersionRequest append(String ingest, ChunkSummary... chunks) {
        return VersionRequest.append(ingest, List.of(chunks), Map.of("label", labels(ingest)), Map.of());
    }

    static List<String> labels(String ingest) {
        return labels(KEYS.getOrDefault(ingest, List.of("z/1")));
    }

    static List<String> labels(List<String> keys) {
        return keys.stream().map(key -> key.substring(0, 1)).distinct().toList();
    }

    /** Writes a chunk for any dataset with a label and bytes. */
    static ChunkSummary chunk(ObjectStore store, DatasetInfo info, int number, String ingest, List<String> keys)
            throws IOException {
        ChunkBuilder builder = new ChunkBuilder(info.fields(), 1 << 12);
        int label = info.fields().get(0).name().equals("label") ? 0 : 1;
        // An update may have added a field between them.
        int bytes = label == 0 ? info.fields().size() - 1 : 0;
        for (String key : keys) {
            builder.beginRow(key);
            builder.setClass(label, key.substring(0, 1));
            builder.setBytes(bytes, ByteBuffer.wrap(key.getBytes(StandardCharsets.UTF_8)));
            builder.endRow();
        }
        PackedChunk chunk = builder.finish(
                new ChunkIdentity(info.id(), SampleDatasets.id(number), ingest, "train", SampleDatasets.NOW));
        try (ObjectWriter writer = store.write(ChunkNames.path(chunk.summary().id()))) {
            for (ByteBuffer part : chunk.buffers()) {
                writer.write(part.duplicate());
            }
            writer.commit();
        }
        return chunk.summary();
    }

    /** Reads the keys of a version from the heads of its chunks. */
    static Set<String> keys(ObjectStore store, Snapshot snapshot) throws IOException {
        return keys(snapshot, chunk -> keys(ChunkHeads.read(store, chunk)));
    }

    private static List<String> keys(ChunkHead head) {
        return IntStream.range(0, head.rows()).mapToObj(head::key).toList();
    }

    /** As {@link #keys(ObjectStore, Snapshot)}, but a chunk that was read before is only looked for. */
    private static Set<String> knownKeys(ObjectStore store, Snapshot snapshot) throws IOException {
        return keys(snapshot, chunk -> {
            List<String> known = HEADS.get(chunk);
            ChunkOverlay overlay = chunk.overlay();
            boolean isChanged = store.length(ChunkNames.path(chunk.id())) != chunk.length()
                    || (overlay != null && store.length(ChunkNames.overlayPath(overlay.id())) != overlay.length());
            if (known == null || isChanged) {
                known = keys(ChunkHeads.read(store, chunk));
                HEADS.put(chunk, known);
            }
            return known;
        });
    }

    private interface Heads {
        List<String> keys(ChunkSummary chunk) throws IOException;
    }

    private static Set<String> keys(Snapshot snapshot, Heads heads) throws IOException {
        Set<String> keys = new TreeSet<>();
        for (int i = 0; i < snapshot.table().size(); i++) {
            if (snapshot.table().isLive(i)) {
                List<String> all = heads.keys(snapshot.table().summary(i));
                for (int row = 0; row < all.size(); row++) {
                    if (!ChunkHeads.isRemoved(snapshot.table(), i, row) && !keys.add(all.get(row))) {
                        throw new AssertionError(
                                "The key " + all.get(row) + " is twice in version " + snapshot.version());
                    }
                }
            }
        }
        return keys;
    }

    /**
     * Checks the content of every version against its log entries.
     *
     * @return the ingests that have committed, with their versions
     */
    static Map<String, LogEntry> check(ObjectStore store) throws IOException {
        Map<String, LogEntry> ingests = new TreeMap<>();
        if (Dataset.find(store).isEmpty()) {
            return ingests;
        }
        Dataset dataset = Dataset.open(store);
        Set<String> expected = new TreeSet<>();
        String updated = "";
        long newest = dataset.latestVersion();
        for (long version = 1; version <= newest; version++) {
            LogEntry entry = dataset.entry(version, newest);
            if (ingests.put(entry.ingest(), entry) != null) {
                throw new AssertionError("Ingest " + entry.ingest() + " has two versions");
            }
            int dash = entry.ingest().lastIndexOf("-1");
            LogEntry run = dash < 0 ? null : ingests.get(entry.ingest().substring(0, dash));
            if (run != null && run.operation() == Operation.ABANDON) {
                throw new AssertionError("The topic ingest " + run.ingest() + " was ended, and committed " + version);
            }
            switch (entry.operation()) {
                case INGEST -> {
                    updated = own(entry).contains(UPDATED) ? "" : updated;
                    expected.remove(entry.properties().getOrDefault("gone", ""));
                    expected.addAll(own(entry));
                }
                case REPLACE -> {
                    updated = "";
                    expected = new TreeSet<>(own(entry));
                }
                case REMOVE -> {
                    if (entry.erasedClasses().fields().isEmpty()) {
                        expected.remove(entry.properties().containsKey("erased.keys") ? ERASED : "k/2");
                    }
                }
                case UPDATE -> updated = entry.ingest();
                case COMPACT, ABANDON, EXPIRE -> {}
                case RECOVERED -> throw new AssertionError("Version " + version + " was never lost");
            }
            if (isExpired(dataset, version, newest)) {
                continue;
            }
            Set<String> found = knownKeys(store, dataset.snapshot(version));
            if (!found.equals(expected)) {
                throw new AssertionError("Version " + version + " has " + found + ", expected " + expected);
            }
            if (!updated.isEmpty() && !label(store, dataset.snapshot(version)).equals(updated)) {
                throw new AssertionError("Version " + version + " has lost the update " + updated);
            }
        }
        for (Tag tag : new Tags(dataset).all().values()) {
            if (tag.version() > newest) {
                throw new AssertionError(tag + " names a version that is not there");
            }
        }
        return ingests;
    }

    /** Checks the certificates: nothing is left, except in chunks of failed ingests, which may be newer. */
    static void requireErased(ObjectStore store) throws IOException {
        if (Dataset.find(store).isEmpty()) {
            return;
        }
        Dataset dataset = Dataset.open(store);
        for (Erasure erasure : new ErasureFiles(dataset).all()) {
            if (erasure.phase() == Erasure.Phase.DONE) {
                new ErasureCheck(dataset, erasure, erasure.id(), 1, SampleDatasets.CLOCK, chunk -> {})
                        .run().findings().stream()
                                .filter(finding -> !finding.message().contains("has committed no version"))
                                .findFirst()
                                .ifPresent(finding -> {
                                    throw new AssertionError(finding.toString());
                                });
            }
        }
    }

    /** Returns the label of the updated sample, which is also its note. */
    private static String label(ObjectStore store, Snapshot snapshot) throws IOException {
        for (int i = 0; i < snapshot.table().size(); i++) {
            ChunkHead head = snapshot.table().isLive(i) ? ChunkHeads.read(store, snapshot.table(), i) : null;
            for (int row = 0; head != null && row < head.rows(); row++) {
                if (head.key(row).equals(UPDATED) && snapshot.table().isLive(i, row)) {
                    int label = head.fields().get(0).name().equals("label") ? 0 : 1;
                    String found = head.classes(label).get(head.column(label).intAt(row));
                    ArrowColumn note = head.column(head.fields().indexOf(BesideUpdates.NOTE));
                    if (note.isNull(row) || !note.stringAt(row).equals(found)) {
                        throw new AssertionError("Version " + snapshot.version() + " has lost the added field");
                    }
                    return found;
                }
            }
        }
        throw new AssertionError("Version " + snapshot.version() + " has no " + UPDATED);
    }

    /** Whether a version cannot be opened any more. A version with a tag can always be opened. */
    private static boolean isExpired(Dataset dataset, long version, long newest) throws IOException {
        boolean isTagged = new Tags(dataset).all().values().stream().anyMatch(tag -> tag.version() == version);
        return !isTagged && dataset.snapshot(newest).table().expired().contains(version);
    }

    private static List<String> own(LogEntry entry) {
        String written = entry.properties().get("keys");
        if (written != null) {
            return List.of(written.split(" "));
        }
        List<String> keys = KEYS.get(entry.ingest());
        if (keys == null) {
            throw new AssertionError("Ingest " + entry.ingest() + " was never to commit");
        }
        return keys;
    }
}
