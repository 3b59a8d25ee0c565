package dev.stoker.metadata.erasure;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.removal.SelectedRows;
import dev.stoker.schemas.arrow.ArrowColumn;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.chunk.ChunkReader;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectRangeReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.IntStream;

/**
 * Plans erasures, without changes. Looks at all chunk files of a dataset: a rule also selects samples that were deleted
 * or replaced, and whose files still exist.
 */
public final class ErasurePlanner {

    private final Dataset dataset;
    private final ErasureWork work;

    public ErasurePlanner(Dataset dataset, ErasureWork work) {
        this.dataset = dataset;
        this.work = work;
    }

    /**
     * Plans the erasure of the samples that a rule selects.
     *
     * @param before an erasure that has just finished; its keys need not exist
     * @throws UnerasableKeyException if no chunk file has one of the keys
     */
    public ErasurePlan plan(SampleRule rule, Optional<Erasure> before) throws IOException {
        Snapshot newest = dataset.snapshot();
        LooseFiles loose = LooseFiles.list(dataset, "", work.clock());
        SelectedRows selected = SelectedRows.find(
                dataset, newest.table(), loose.summaries(dataset.store()), rule, work.reads(), work.progress());
        NavigableSet<String> keys = new TreeSet<>(selected.keys());
        long missing = missing(rule, keys, before);
        long kept = 0;
        if (rule.condition().isPresent() || rule.split().isPresent()) {
            Set<String> others = others(newest.table(), selected, keys);
            kept = others.size();
            keys.removeAll(others);
        }
        if (keys.size() > Erasure.MAX_KEYS) {
            throw new IllegalArgumentException("an erasure of " + keys.size() + " samples is too large; erase at most "
                    + Erasure.MAX_KEYS + " at a time");
        }
        return plan(newest, loose, new ErasurePlan.Keys(keys, missing, kept));
    }

    private long missing(SampleRule rule, Set<String> keys, Optional<Erasure> before) throws IOException {
        Optional<KeyTest> erased =
                before.map(erasure -> KeyTest.of(erasure.keys()).get());
        List<String> missing = new ArrayList<>();
        for (String key : new TreeSet<>(rule.keys())) {
            if (!keys.contains(key) && erased.filter(test -> test.isErased(key)).isEmpty()) {
                missing.add(key);
            }
        }
        // A sample that has the key but does not satisfy the condition is not missing. Its key is unknown here.
        if (rule.condition().isPresent() || rule.split().isPresent()) {
            return 0;
        }
        if (!missing.isEmpty() && rule.missing() == SampleRule.MissingKeys.FAIL) {
            throw new UnerasableKeyException(dataset.info().name(), missing.get(0), missing.size() - 1);
        }
        // Dead letters and lists of skipped samples can name them.
        keys.addAll(missing);
        return missing.size();
    }

    /** Returns the keys whose sample in the newest version is not selected. */
    private Set<String> others(ChunkTable table, SelectedRows selected, Set<String> keys) throws IOException {
        Set<String> copy = Set.copyOf(keys);
        ErasedRows rows = new ErasedRows(dataset, plain(copy), work.reads(), chunk -> {});
        int[] live = IntStream.range(0, table.size()).filter(table::isLive).toArray();
        rows.read(table, live);
        Set<String> others = new TreeSet<>();
        for (int chunk : live) {
            int[] unselected = IntStream.of(rows.of(table.id(chunk)))
                    .filter(row -> table.isLive(chunk, row) && !selected.isSelected(table.id(chunk), row))
                    .toArray();
            if (unselected.length > 0) {
                ArrowColumn column = ChunkReader.readKeys(
                        new ObjectRangeReader(dataset.store(), ChunkNames.path(table.id(chunk))), table.summary(chunk));
                IntStream.of(unselected).forEach(row -> others.add(column.stringAt(row)));
            }
        }
        return others;
    }

    private static Supplier<KeyTest> plain(Set<String> keys) {
        return () -> key -> keys.contains(new String(key, StandardCharsets.UTF_8));
    }

    private ErasurePlan plan(Snapshot newest, LooseFiles loose, ErasurePlan.Keys keys) throws IOException {
        ChunkTable table = newest.table();
        Supplier<KeyTest> test = plain(Set.copyOf(keys.selected()));
        ErasedRows rows = new ErasedRows(dataset, test, work.reads(), chunk -> {});
        int[] all = IntStream.range(0, table.size()).toArray();
        rows.read(table, all);
        int[] affected =
                IntStream.of(all).filter(i -> rows.of(table.id(i)).length > 0).toArray();
        long samples = 0;
        long others = 0;
        int rewritten = 0;
        for (int chunk : affected) {
            long own = IntStream.of(rows.of(table.id(chunk)))
                    .filter(row -> table.isLive(chunk, row))
                    .count();
            samples += own;
            others += rows.of(table.id(chunk)).length - own;
            rewritten += table.liveRows(chunk) > own ? 1 : 0;
        }
        List<LooseFiles.Holder> holding =
                keys.selected().isEmpty() ? List.of() : loose.holding(dataset.store(), test.get());
        NavigableSet<Long> versions = ChunkLives.versions(dataset, table, affected);
        List<String> blockers = new ArrayList<>();
        if (!keys.selected().isEmpty()) {
            blockers.addAll(Protections.of(dataset, versions));
            blockers.addAll(loose.blockers(dataset.where(), holding));
        }
        versions.removeIf(version -> table.expired().contains(version));
        return new ErasurePlan(
                newest.version(),
                keys,
                samples,
                others,
                affected.length + holding.size(),
                rewritten,
                versions,
                blockers);
    }
}
