package dev.stoker.metadata.index;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.SampleDatasets;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** A dataset that changes, and the samples of all its versions by key. */
public final class IndexedDataset {

    private static final int CHUNK_ROWS = 7;

    private final ObjectStore store;
    private final Dataset dataset;
    private final List<Map<String, byte[]>> versions = new ArrayList<>(List.of(Map.of()));
    /** By key the ordinal of the chunk with the sample. */
    private final Map<String, Long> places = new HashMap<>();

    private int chunks;
    private long nextOrdinal;

    private IndexedDataset(ObjectStore store, Dataset dataset) {
        this.store = store;
        this.dataset = dataset;
    }

    public static IndexedDataset create(ObjectStore store) throws IOException {
        return new IndexedDataset(store, Dataset.create(store, SampleDatasets.info()));
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    public Dataset dataset() {
        return dataset;
    }

    public long version() {
        return versions.size() - 1L;
    }

    /** The samples of a version. */
    Map<String, byte[]> samples(long version) {
        return versions.get((int) version);
    }

    private Map<String, byte[]> newest() {
        return new TreeMap<>(samples(version()));
    }

    private String ingest(String prefix) {
        return prefix + versions.size();
    }

    public void append(Map<String, byte[]> samples) throws IOException {
        String ingest = ingest("ingest-");
        commit(VersionRequest.append(ingest, write(ingest, samples), Map.of(), Map.of()));
        Map<String, byte[]> next = newest();
        next.putAll(samples);
        versions.add(next);
    }

    public void replace(Map<String, byte[]> samples) throws IOException {
        String ingest = ingest("ingest-");
        places.clear();
        commit(VersionRequest.replace(ingest, write(ingest, samples), Map.of(), Map.of()));
        versions.add(new TreeMap<>(samples));
    }

    public void remove(List<String> keys) throws IOException {
        commit(VersionRequest.remove(ingest("remove-"), SampleRemoval.ofKeys(dataset, keys), Map.of()));
        Map<String, byte[]> next = newest();
        keys.forEach(next::remove);
        keys.forEach(places::remove);
        versions.add(next);
    }

    /** Writes some chunks again. */
    void compact(Random random) throws IOException {
        if (version() == 0) {
            return;
        }
        Snapshot snapshot = dataset.snapshot();
        List<RemovedRows> removed = new ArrayList<>();
        Map<String, byte[]> moved = new TreeMap<>();
        for (int i = 0; i < snapshot.table().size(); i++) {
            long ordinal = snapshot.table().ordinal(i);
            if (snapshot.table().isLive(i) && random.nextInt(3) == 0) {
                removed.add(RemovedRows.wholeChunk(ordinal));
                places.forEach((key, place) -> {
                    if (place == ordinal) {
                        moved.put(key, newest().get(key));
                    }
                });
            }
        }
        String ingest = ingest("compact-");
        commit(VersionRequest.compact(ingest, write(ingest, moved), base -> removed, Map.of(), Map.of()));
        versions.add(newest());
    }

    private void commit(VersionRequest request) throws IOException {
        SampleDatasets.committer(dataset).commit(request);
    }

    private List<ChunkSummary> write(String ingest, Map<String, byte[]> samples) throws IOException {
        List<ChunkSummary> written = new ArrayList<>();
        Map<String, byte[]> chunk = new TreeMap<>();
        List<String> keys = new ArrayList<>(samples.keySet());
        for (int i = 0; i < keys.size(); i++) {
            chunk.put(keys.get(i), samples.get(keys.get(i)));
            places.put(keys.get(i), nextOrdinal);
            if (chunk.size() == CHUNK_ROWS || i == keys.size() - 1) {
                String split = chunks % 3 == 0 ? "val" : "train";
                written.add(SampleDatasets.write(store, SampleDatasets.id(chunks++), ingest, split, chunk));
                nextOrdinal++;
                chunk.clear();
            }
        }
        return written;
    }
}
