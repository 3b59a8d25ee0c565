package dev.stoker.metadata.index.build;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.gc.Orphan;
import dev.stoker.metadata.index.IndexedDataset;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.metadata.recovery.Recovery;
import dev.stoker.metadata.verify.Problem;
import dev.stoker.metadata.verify.Verification;
import dev.stoker.metadata.verify.VerificationReport;
import dev.stoker.schemas.attack.ByteAttacks;
import dev.stoker.schemas.errors.FormatTooNewException;
import dev.stoker.storage.InMemoryObjectStore;
import dev.stoker.storage.ObjectInfo;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What builds, garbage collection, recovery and verification do with the files of the index. */
class IndexUpkeepTest {

    private final InMemoryObjectStore store = new InMemoryObjectStore();
    private IndexedDataset dataset;

    @BeforeEach
    void create() throws IOException {
        dataset = IndexedDataset.create(store);
    }

    private void append(String... keys) throws IOException {
        Map<String, byte[]> samples = new TreeMap<>();
        for (String key : keys) {
            samples.put(key, key.getBytes(StandardCharsets.UTF_8));
        }
        dataset.append(samples);
    }

    private IndexBuild.Result build() throws Exception {
        return new IndexBuild(dataset.dataset(), BuildThreads.ofCaller(), read -> {}).update();
    }

    private List<String> runs() throws IOException {
        return store.list(DatasetLayout.INDEX).toList().stream()
                .map(ObjectInfo::name)
                .sorted()
                .toList();
    }

    private static String run(long first, long last) {
        return new IndexRange(first, last).name();
    }

    @Test
    void aBuildWritesARunForNewVersionsAndMergesFour() throws Exception {
        append("a");
        append("b");
        build();
        assertThat(runs()).containsExactly(run(1, 2));
        append("c");
        build();
        append("d");
        build();
        assertThat(runs()).containsExactly(run(1, 2), run(3, 3), run(4, 4));
        append("e");
        IndexBuild.Result result = build();
        assertThat(runs()).containsExactly(run(1, 5));
        assertThat(result.rows()).isEqualTo(5);
        assertThat(build().written()).isZero();
    }

    @Test
    void theNumberOfRunsStaysSmall() throws Exception {
        for (int version = 1; version <= 40; version++) {
            append("key " + version);
            build();
            assertThat(runs()).hasSizeLessThan(4);
        }
        SampleIndex index =
                SampleIndex.open(dataset.dataset(), dataset.dataset().snapshot());
        assertThat(index.chunksWithoutRun()).isZero();
    }

    @Test
    void aBuildFillsTheGapThatALostRunHasLeft() throws Exception {
        append("a");
        build();
        append("b");
        build();
        append("c");
        build();
        store.delete(run(2, 2));
        assertThat(build().written()).isEqualTo(1);
        assertThat(runs()).containsExactly(run(1, 1), run(2, 2), run(3, 3));
    }

    @Test
    void versionsWithoutChunksNeedNoRun() throws Exception {
        append("a", "b");
        build();
        dataset.remove(List.of("a"));
        assertThat(build().written()).isZero();
        SampleIndex index =
                SampleIndex.open(dataset.dataset(), dataset.dataset().snapshot());
        assertThat(index.stat("a")).isEmpty();
        assertThat(index.stat("b")).isPresent();
        assertThat(index.chunksWithoutRun()).isZero();
    }

    @Test
    void aRunOfOtherChunksIsNotUsed() throws Exception {
        append("a");
        build();
        byte[] ofOther = store.readAll(run(1, 1), 1 << 20);
        InMemoryObjectStore second = new InMemoryObjectStore();
        IndexedDataset other = IndexedDataset.create(second);
        Map<String, byte[]> twoChunks = new TreeMap<>();
        for (int i = 0; i < 8; i++) {
            twoChunks.put("other " + i, new byte[1]);
        }
        other.append(twoChunks);
        other.append(Map.of("more", new byte[1]));
        second.createIfAbsent(run(1, 1), ofOther);
        second.createIfAbsent(run(2, 9), ofOther);

        SampleIndex index = SampleIndex.open(other.dataset(), other.dataset().snapshot());
        assertThat(index.stat("a")).isEmpty();
        assertThat(index.stat("more")).isPresent();
        assertThat(index.chunksWithoutRun()).isPositive();
    }

    @Test
    void aRunThatADamagedOneSupersedesIsUsed() throws Exception {
        append("a");
        build();
        byte[] first = store.readAll(run(1, 1), 1 << 20);
        append("b");
        new IndexBuild(dataset.dataset(), BuildThreads.ofCaller(), read -> {}).rebuild();
        store.createIfAbsent(run(1, 1), first);
        store.corrupt(run(1, 2), new byte[3]);

        SampleIndex index =
                SampleIndex.open(dataset.dataset(), dataset.dataset().snapshot());
        assertThat(index.runs()).isEqualTo(1);
        assertThat(index.chunksWithoutRun()).isEqualTo(1);
        assertThat(index.stat("a")).isPresent();
        assertThat(index.stat("b")).isPresent();
    }

    @Test
    void aBuildLeavesTheIndexOfANewerStokerAlone() throws Exception {
        append("a");
        build();
        byte[] newer = new String(store.readAll(run(1, 1), 1 << 20), StandardCharsets.ISO_8859_1)
                .replace("1\0\0\0\r\0\0\0stoker.format", "2\0\0\0\r\0\0\0stoker.format")
                .getBytes(StandardCharsets.ISO_8859_1);
        int at = newer.length - 10;
        int length = 10 + (newer[at] & 0xFF) + ((newer[at + 1] & 0xFF) << 8);
        byte[] tail = Arrays.copyOfRange(newer, newer.length - length, newer.length);
        System.arraycopy(ByteAttacks.reseal(tail), 0, newer, newer.length - length, length);
        store.corrupt(run(1, 1), newer);

        assertThatThrownBy(this::build).isInstanceOf(FormatTooNewException.class);
        assertThat(runs()).containsExactly(run(1, 1));
        assertThat(SampleIndex.open(dataset.dataset(), dataset.dataset().snapshot())
                        .stat("a"))
                .isPresent();
    }

    @Test
    void collectionDeletesSupersededRunsOnly() throws Exception {
        append("a");
        build();
        byte[] first = store.readAll(run(1, 1), 1 << 20);
        append("b");
        new IndexBuild(dataset.dataset(), BuildThreads.ofCaller(), read -> {}).rebuild();
        assertThat(runs()).containsExactly(run(1, 2));
        store.createIfAbsent(run(1, 1), first);

        List<Orphan> deleted = GarbageCollection.plan(dataset.dataset(), Duration.ZERO, Clock.systemUTC())
                .apply();
        assertThat(deleted).extracting(Orphan::name).containsExactly(run(1, 1));
        assertThat(runs()).containsExactly(run(1, 2));
    }

    @Test
    void recoveryFromHeadsDeletesTheRunsOfRecoveredVersions() throws Exception {
        append("a");
        build();
        append("b");
        build();
        store.delete(DatasetLayout.logEntry(2));
        for (ObjectInfo copy : store.list(DatasetLayout.INGESTS).toList()) {
            store.delete(copy.name());
        }
        Recovery.plan(store, "ada").apply();

        assertThat(runs()).containsExactly(run(1, 1));
        Dataset recovered = Dataset.open(store);
        assertThat(SampleIndex.open(recovered, recovered.snapshot()).stat("b")).isPresent();
    }

    @Test
    void verificationReadsEveryByteOfTheRuns() throws Exception {
        append("a");
        build();
        byte[] run = store.readAll(run(1, 1), 1 << 20);
        run[run.length / 2] ^= 1;
        store.corrupt(run(1, 1), run);

        VerificationReport report = new Verification(dataset.dataset(), Runnable::run, 1, read -> {})
                .run(dataset.dataset().snapshot());
        assertThat(report.problems()).extracting(Problem::file).containsExactly(store.describe(run(1, 1)));
    }
}
