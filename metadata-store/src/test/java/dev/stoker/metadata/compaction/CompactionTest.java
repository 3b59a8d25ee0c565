package dev.stoker.metadata.compaction;

import static dev.stoker.metadata.compaction.Crumbs.CLOCK;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.gc.Orphans;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.log.RemovedRows;
import dev.stoker.schemas.order.Fingerprint;
import dev.stoker.schemas.order.KeyHash;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.order.StreamChunks;
import dev.stoker.schemas.order.StreamOrder;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class CompactionTest {

    static final CompactionThreads THREADS = new CompactionThreads(3, 2, 1 << 24);
    static final CompactionRules RULES = new CompactionRules(8 << 10, 16 << 10, OptionalLong.of(0));

    private final InMemoryObjectStore store = new InMemoryObjectStore(CLOCK);
    private Crumbs crumbs;
    private Dataset dataset;

    @BeforeEach
    void create() throws IOException {
        crumbs = new Crumbs(store, 3);
        dataset = crumbs.dataset();
    }

    static Compaction compaction(Dataset dataset, String name) {
        return new Compaction(dataset, VersionRequest.COMPACTION + name, "test", CLOCK, THREADS, bytes -> {});
    }

    private CompactionResult compact(String name, CompactionRules rules) throws IOException, InterruptedException {
        return compaction(dataset, name).run(CompactionPlan.of(dataset.snapshot(), rules));
    }

    private void smallAndLarge() throws IOException {
        crumbs.ingest("train", 400, 40, 1, 2, 3);
        for (int n = 0; n < 12; n++) {
            crumbs.ingest(n % 4 == 3 ? "val" : "train", 300, 1 + n % 5, 4);
        }
        crumbs.ingest("train", 400, 35);
    }

    private long verified() throws IOException, InterruptedException {
        assertThat(new Verification(dataset, Runnable::run, 1, bytes -> {})
                        .run(dataset.snapshot())
                        .problems())
                .isEmpty();
        assertThat(Orphans.find(dataset, CLOCK)).isEmpty();
        return dataset.latestVersion();
    }

    @Test
    void samplesStayAsTheyAreInFewerChunks() throws Exception {
        smallAndLarge();
        long before = dataset.latestVersion();
        Map<String, String> samples = Crumbs.samples(dataset, before);
        ChunkTable old = dataset.snapshot().table();

        CompactionResult result = compact("a", RULES);

        LogEntry entry = result.entry().orElseThrow();
        assertThat(verified()).isEqualTo(before + 1).isEqualTo(entry.version());
        assertThat(entry.operation()).isEqualTo(Operation.COMPACT);
        assertThat(entry.properties())
                .containsEntry(
                        "compacted.chunks", Integer.toString(entry.removed().size()));
        assertThat(Crumbs.samples(dataset, before + 1)).isEqualTo(samples);
        ChunkTable table = dataset.snapshot().table();
        assertThat(table.liveChunks()).isLessThan(old.liveChunks() / 2);
        // The large chunks still exist, and no written chunk is small.
        assertThat(table.isLive(table.indexOf(0))).isTrue();
        assertThat(entry.added()).allMatch(chunk -> chunk.length() <= RULES.chunkSizeBytes());
        assertThat(dataset.snapshot().classes().names("label"))
                .isEqualTo(dataset.snapshot(before).classes().names("label"));
        assertThat(CompactionPlan.of(dataset.snapshot(), RULES).isEmpty()).isTrue();
    }

    @Test
    void olderVersionsAndLanesOfOtherChunksStayAsTheyAre() throws Exception {
        smallAndLarge();
        long version = dataset.latestVersion();
        OrderSpec spec = new OrderSpec(
                5,
                4,
                6,
                1 << 15,
                OrderSpec.defaults().shuffle(),
                OrderSpec.defaults().laneOrder());
        StreamChunks before = dataset.snapshot(version).stream("train");
        StreamOrder order = new StreamOrder(before, spec);
        Map<Long, Integer> lanes = lanes(order);
        Map<String, byte[]> files = files();

        compact("a", RULES);

        StreamChunks same = dataset.snapshot(version).stream("train");
        assertThat(Fingerprint.of(dataset.info().id(), version, "train", same, spec))
                .isEqualTo(Fingerprint.of(dataset.info().id(), version, "train", before, spec));
        assertThat(epoch(new StreamOrder(same, spec))).isEqualTo(epoch(order));
        files.forEach((name, bytes) -> assertThat(read(name)).as(name).isEqualTo(bytes));
        StreamOrder now = new StreamOrder(dataset.snapshot().stream("train"), spec);
        assertThat(lanes(now)).containsAllEntriesOf(lanes).hasSizeGreaterThan(lanes.size());
    }

    private static Map<Long, Integer> lanes(StreamOrder order) {
        Map<Long, Integer> lanes = new HashMap<>();
        for (int i = 0; i < order.chunks().size(); i++) {
            lanes.put(order.chunks().ordinal(i), order.laneOf(i));
        }
        return lanes;
    }

    private static List<String> epoch(StreamOrder order) {
        List<String> rows = new ArrayList<>();
        for (int lane = 0; lane < order.lanes(); lane++) {
            for (int w = 0; w < order.epoch(2).lane(lane).windows(); w++) {
                var window = order.epoch(2).lane(lane).window(w);
                for (int i = 0; i < window.rows(); i++) {
                    rows.add(lane + " " + order.chunks().ordinal(window.chunkAt(i)) + " " + window.rowAt(i));
                }
            }
        }
        return rows;
    }

    private Map<String, byte[]> files() throws IOException {
        Map<String, byte[]> files = new HashMap<>();
        store.list("").toList().forEach(object -> files.put(object.name(), read(object.name())));
        return files;
    }

    private byte[] read(String name) {
        try {
            return store.readAll(name, Integer.MAX_VALUE);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void removedRowsAreLeftOutAndSparseChunksRewrittenAlone() throws Exception {
        crumbs.ingest("train", 400, 30, 32);
        crumbs.ingest("val", 100, 6, 5);
        int[] rows = new int[18];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = i + 3;
        }
        crumbs.committer()
                .commit(VersionRequest.remove(
                        "r", base -> List.of(RemovedRows.of(0, rows), RemovedRows.of(3, 1, 4)), Map.of()));
        Map<String, String> samples = Crumbs.samples(dataset, 3);

        LogEntry entry = compact("a", RULES).entry().orElseThrow();

        assertThat(entry.removed())
                .containsExactly(RemovedRows.wholeChunk(0), RemovedRows.wholeChunk(2), RemovedRows.wholeChunk(3));
        assertThat(entry.addedRows()).isEqualTo(12 + 6 + 3);
        assertThat(Crumbs.samples(dataset, verified())).isEqualTo(samples);
    }

    @Test
    void rowsAreShuffledByTheirKeysOrKept() throws Exception {
        crumbs.ingest("train", 50, 10, 12);
        crumbs.ingest("train", 50, 9);

        CompactionRules kept = new CompactionRules(8 << 10, 16 << 10, OptionalLong.empty());
        Map<Long, List<String>> keys = Crumbs.keys(dataset, 2);
        List<String> all = new ArrayList<>();
        keys.values().forEach(all::addAll);
        compact("kept", kept);
        assertThat(Crumbs.keys(dataset, 3).get(3L)).isEqualTo(all);

        InMemoryObjectStore other = new InMemoryObjectStore(CLOCK);
        Crumbs same = new Crumbs(other, 3);
        same.ingest("train", 50, 10, 12);
        same.ingest("train", 50, 9);
        compaction(same.dataset(), "shuffled")
                .run(CompactionPlan.of(same.dataset().snapshot(), RULES));
        List<String> shuffled = Crumbs.keys(same.dataset(), 3).get(3L);
        assertThat(shuffled).containsExactlyInAnyOrderElementsOf(all).isNotEqualTo(all);
        List<String> byHash = new ArrayList<>(all);
        byHash.sort((a, b) -> Long.compareUnsigned(hash(a), hash(b)));
        assertThat(shuffled).isEqualTo(byHash);
    }

    private static long hash(String key) {
        return KeyHash.hash(0, key.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void oneVersionIsCommittedUnderOneId() throws Exception {
        smallAndLarge();
        CompactionPlan plan = CompactionPlan.of(dataset.snapshot(), RULES);
        CompactionResult first = compaction(dataset, "a").run(plan);
        CompactionResult again = compaction(dataset, "a").run(plan);

        assertThat(again.isRepeated()).isTrue();
        assertThat(again.entry()).isEqualTo(first.entry());
        assertThat(verified()).isEqualTo(first.entry().orElseThrow().version());
    }

    @Test
    void whatMemoryHoldsIsBounded() throws Exception {
        for (int n = 0; n < 60; n++) {
            crumbs.ingest("train", 600, 2);
        }
        CompactionPlan plan = CompactionPlan.of(dataset.snapshot(), RULES);

        assertThat(plan.groups()).hasSizeGreaterThan(2);
        assertThat(plan.groups()).allMatch(group -> group.bytes() <= 8L * RULES.chunkSizeBytes());
        assertThat(plan.splits()).singleElement().satisfies(split -> {
            assertThat(split.sources()).isEqualTo(60);
            assertThat(split.samples()).isEqualTo(120);
        });
        Map<String, String> samples = Crumbs.samples(dataset, 60);
        CompactionResult result = compaction(dataset, "a").run(plan);
        assertThat(Crumbs.samples(dataset, verified())).isEqualTo(samples);
        assertThat(result.entry().orElseThrow().added().size()).isBetween(6, 20);
    }

    @Test
    void nothingIsDoneWhereNothingIsGained() throws Exception {
        crumbs.ingest("train", 400, 30, 3);
        crumbs.ingest("val", 400, 3);

        CompactionPlan plan = CompactionPlan.of(dataset.snapshot(), RULES);
        assertThat(plan.isEmpty()).isTrue();
        assertThat(compaction(dataset, "a").run(plan).entry()).isEmpty();
        assertThat(verified()).isEqualTo(2);
    }

    @Test
    void aDamagedSampleIsNamedAndNothingCommitted() throws Exception {
        smallAndLarge();
        ChunkTable table = dataset.snapshot().table();
        int damaged = table.indexOf(7);
        String key = Crumbs.keys(dataset, table.version()).get(7L).get(2);
        String name = ChunkNames.path(table.id(damaged));
        byte[] content = read(name);
        var head = ChunkHeads.read(store, table, damaged);
        content[head.payloadPosition(7, 2) + head.payloadLength(7, 2) - 1] ^= 4;
        store.corrupt(name, content);
        Map<String, byte[]> files = files();

        assertThatThrownBy(() -> compact("a", RULES))
                .isInstanceOf(CompactionFailedException.class)
                .hasMessageContainingAll(
                        "Chunk 7 cannot be compacted, and nothing was committed",
                        "/memory/" + name,
                        "field tokens of row 2",
                        "'" + key + "'");
        assertThat(files().keySet()).isEqualTo(files.keySet());

        content[40] ^= 1;
        store.corrupt(name, content);
        assertThatThrownBy(() -> compact("b", RULES)).hasMessageContainingAll("Chunk 7 ", name);
        store.delete(name);
        assertThatThrownBy(() -> compact("c", RULES)).hasMessageContainingAll("Chunk 7 ", name);
        files.remove(name);
        assertThat(files().keySet()).isEqualTo(files.keySet());
    }

    @Test
    void rulesThatCannotBeAreRefused() {
        assertThatThrownBy(() -> new CompactionRules(17, 16, OptionalLong.empty()))
                .hasMessageContaining("below 17");
        assertThatThrownBy(() -> new CompactionRules(0, 16, OptionalLong.empty()))
                .hasMessageContaining("below 0");
        assertThatThrownBy(() -> new CompactionRules(1, 0, OptionalLong.empty()))
                .hasMessageContaining("size of chunks is 0");
        assertThatThrownBy(() -> VersionRequest.compact("x", List.of(), base -> List.of(), Map.of(), Map.of()))
                .hasMessageContaining("begins with compact-");
    }
}
