package dev.stoker.ingest;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.dataset.sink.committer.CommitDrivers;
import dev.stoker.ingest.BesideOperations.Slot;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.removal.RowsByChunk;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The ingests of {@link BesideOperations}, without the job: they pack one chunk.
 *
 * @param sources has a directory {@code a} and a directory {@code b} of one file each
 */
record BesideIngests(Path sources) {

    void ingest(ObjectStore store, Slot slot, IngestRun.Effect effect, String... mode) throws IOException {
        ingest(store, slot, effect, OnDuplicate.FAIL, BesideState.KEYS.get(slot.ingest()), List.of(), mode);
    }

    /** Adds a sample and replaces two, which others remove, move or replace at the same time. */
    void appendReplacing(ObjectStore store, Slot slot) throws IOException {
        List<String> keys = new ArrayList<>(BesideState.KEYS.get(slot.ingest()));
        keys.addAll(BesideState.REPLACED);
        ingest(
                store,
                slot,
                IngestRun.Effect.APPEND,
                OnDuplicate.REPLACE,
                keys,
                List.of(),
                "--append",
                "--on-duplicate",
                "replace");
    }

    /** Adds a sample, replaces another one, and removes a third one, whose file is gone. */
    void sync(ObjectStore store, Slot slot) throws IOException {
        List<String> keys = new ArrayList<>(BesideState.KEYS.get(slot.ingest()));
        keys.add(BesideState.REPLACED.get(0));
        ingest(
                store,
                slot,
                IngestRun.Effect.SYNC,
                OnDuplicate.REPLACE,
                keys,
                List.of(BesideState.REPLACED.get(1)),
                "--append");
    }

    private void ingest(
            ObjectStore store,
            Slot slot,
            IngestRun.Effect effect,
            OnDuplicate onDuplicate,
            List<String> keys,
            List<String> gone,
            String... mode)
            throws IOException {
        DatasetStore stores = target -> store;
        String[] args = {
            sources.resolve(slot.source()).toString(),
            "/beside",
            "--label-from",
            "parent-dir",
            "--payload",
            "image",
            "--ingest-id",
            slot.ingest()
        };
        String[] all = Stream.of(args, mode).flatMap(Arrays::stream).toArray(String[]::new);
        IngestOptions options = IngestOptions.parse(all);
        Preparation found = Preparation.of(options, stores);
        if (found.committed().isPresent()) {
            return;
        }
        Preparation preparation = found.create(options, stores, slot.ingest(), "");
        options.into(stores).lease(preparation.info(), slot.ingest(), "");
        ChunkSummary chunk = BesideState.chunk(store, preparation.info(), slot.chunk(), slot.ingest(), keys);
        long base = preparation.base().version();
        List<RemovedRows> missing = rows(store, base, gone);
        RowsByChunk removed = new RowsByChunk();
        removed.addAll(missing);
        if (onDuplicate == OnDuplicate.REPLACE) {
            removed.addAll(rows(store, base, keys));
        }
        CommitDrivers.ingest(
                new IngestRun(
                        stores,
                        "/beside",
                        preparation.info().id().toString(),
                        slot.ingest(),
                        effect,
                        onDuplicate,
                        base,
                        new TreeMap<>(
                                Map.of("keys", String.join(" ", keys), "gone", missing.isEmpty() ? "" : gone.get(0)))),
                List.of(chunk),
                removed.list(),
                BesideState.labels(keys));
    }

    /** Finds the rows of samples, as the packing tasks do. */
    private static List<RemovedRows> rows(ObjectStore store, long version, List<String> keys) throws IOException {
        RowsByChunk rows = new RowsByChunk();
        if (version == 0) {
            return rows.list();
        }
        ChunkTable table = Dataset.open(store).anySnapshot(version).table();
        for (int i = 0; i < table.size(); i++) {
            if (table.isLive(i)) {
                ChunkHead head = ChunkHeads.read(store, table, i);
                for (int row = 0; row < head.rows(); row++) {
                    if (table.isLive(i, row) && keys.contains(head.key(row))) {
                        rows.add(table.ordinal(i), row);
                    }
                }
            }
        }
        return rows.list();
    }
}
