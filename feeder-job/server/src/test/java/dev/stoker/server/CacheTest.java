package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.server.feed.FeedStatus;
import dev.stoker.server.session.FeedServer;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.tiers.TierSpec;
import dev.stoker.server.tiers.files.CacheLifetime;
import dev.stoker.storage.FaultyObjectStore.Fault;
import dev.stoker.storage.FaultyObjectStore.Operation;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests reads from a remote origin, and the cache. */
class CacheTest {
    @TempDir
    Path directory;

    private FarFeed far;

    @BeforeEach
    void makeDataset() throws IOException {
        far = new FarFeed(directory.resolve("data"));
    }

    private static TierOptions memory(long bytes) {
        return TierOptions.of(TierSpec.parse("memory:" + bytes + "b"));
    }

    private long reads() {
        return far.store.calls().stream()
                .filter(call -> call.operation() == Operation.READ)
                .count();
    }

    @Test
    void withoutOptionsAFarDatasetIsKeptInMemory() throws IOException {
        try (NodeLease node = far.start(TierOptions.defaults())) {
            far.read(node, 0, "default");
            far.read(node, 1, "default");
            assertThat(node.metrics().originBytes()).isEqualTo(far.bytes);
            assertThat(FarFeed.tier(node, "memory").used()).isEqualTo(far.bytes);
        }
    }

    @Test
    void threeGroupsReadEachChunkOnceAndNothingLater() throws IOException {
        try (NodeLease node = far.start(memory(far.bytes))) {
            for (String group : List.of("a", "b", "c")) {
                far.read(node, 0, group);
            }
            assertThat(node.metrics().originBytes()).isEqualTo(far.bytes);
            assertThat(reads()).isEqualTo(FarFeed.CHUNKS);
            int calls = far.store.calls().size();
            long metadata = node.metrics().originMetadata();
            assertThat(metadata).as("the dataset was opened").isPositive();
            for (long epoch = 1; epoch < 4; epoch++) {
                far.read(node, epoch, "a");
            }
            assertThat(node.metrics().originMetadata()).isEqualTo(metadata);
            assertThat(far.store.calls())
                    .as("neither reads nor metadata operations")
                    .hasSize(calls);
            FeedStatus.Cache cache = FarFeed.tier(node, "memory").cache().orElseThrow();
            assertThat(cache.misses()).isEqualTo(FarFeed.CHUNKS);
            assertThat(cache.hits()).isGreaterThanOrEqualTo(3 * FarFeed.CHUNKS);
        }
    }

    @Test
    void aQuotaOf57PercentLeaves45PercentForLaterEpochsAtMost() throws IOException {
        far.epochs = OptionalLong.of(4);
        try (NodeLease node = far.start(memory(far.bytes * 57 / 100), far.bytes)) {
            far.read(node, 0, "default");
            for (long epoch = 1; epoch < 4; epoch++) {
                far.read(node, epoch, "default");
            }
            assertThat(node.metrics().originBytes()).isLessThanOrEqualTo(far.bytes + 3 * far.bytes * 45 / 100);
            FeedStatus.Tier memory = FarFeed.tier(node, "memory");
            assertThat(memory.used()).isLessThanOrEqualTo(memory.limit()).isGreaterThan(memory.limit() * 95 / 100);
        }
    }

    @Test
    void withALittleMemoryEachChunkIsStillReadOnceAnEpoch() throws IOException {
        far.epochs = OptionalLong.of(3);
        try (NodeLease node = far.start(TierOptions.of(), far.bytes)) {
            for (long epoch = 0; epoch < 3; epoch++) {
                far.read(node, epoch, "default");
            }
            assertThat(node.metrics().originBytes()).isLessThanOrEqualTo(3 * far.bytes);
        }
    }

    @Test
    void whatComesDamagedIsReadAgainAndNeverKept() throws IOException {
        for (Fault fault : List.of(Fault.FLIPPED_BIT, Fault.TRUNCATED)) {
            for (int i = 0; i < 6; i++) {
                far.store.reset();
                int number = 5 * i;
                far.store.once(call -> call.number() == number, fault);
                try (NodeLease node = far.start(memory(far.bytes))) {
                    assertThat(far.read(node, 0, "default"))
                            .as("pieces that came damaged")
                            .isZero();
                    assertThat(far.read(node, 1, "default")).isZero();
                    assertThat(reads()).isEqualTo(FarFeed.CHUNKS + 1);
                    assertThat(node.metrics().corrupt()).isZero();
                }
            }
        }
    }

    @Test
    void whatBreaksOffAndIsRepeatedByTheStoreIsWhole() throws IOException {
        far.store.on(call -> call.number() % 3 == 0, Fault.REPEATED);
        for (TierOptions tiers : List.of(memory(far.bytes), TierOptions.of())) {
            far.epochs = OptionalLong.of(1);
            try (NodeLease node = far.start(tiers)) {
                assertThat(far.read(node, 0, "default"))
                        .as("pieces that came damaged")
                        .isZero();
                assertThat(node.metrics().originBytes()).as("read once").isEqualTo(far.bytes);
            }
        }
    }

    @Test
    void anOldVersionOfAnObjectIsNotKept() throws IOException {
        // As long as the new chunk and well-formed, but some bytes belong to another chunk.
        byte[] content = far.remote.readAll(far.name(3), 1 << 20);
        byte[] other = content.clone();
        other[other.length / 2] ^= 1;
        far.remote.corrupt(far.name(3), other);
        try (NodeLease node = far.start(memory(far.bytes))) {
            assertThatThrownBy(() -> far.read(node, 0, "default")).hasMessageContaining("c3/r");
            // A session that looks ahead may be reading it once more.
            Waiting.until(() -> FarFeed.tier(node, "memory").used() <= far.bytes - content.length);
            far.remote.corrupt(far.name(3), content);
            far.read(node, 0, "default");
            assertThat(FarFeed.tier(node, "memory").used()).isEqualTo(far.bytes);
        }
    }

    @Test
    void anOriginThatFailsAtTimesIsAskedAgainForWhatItOwes() throws IOException {
        for (int i = 0; i < 8; i++) {
            int failing = 5 * i;
            far.store.once(call -> call.number() == failing, Fault.FAIL_BEFORE);
        }
        try (NodeLease node = far.start(memory(far.bytes))) {
            far.read(node, 0, "default");
            assertThat(reads()).isBetween(FarFeed.CHUNKS + 1L, FarFeed.CHUNKS + 8L);
        }
    }

    @Test
    void whatIsKeptIsServedWhileTheOriginIsGone() throws IOException {
        try (NodeLease node = far.start(memory(far.bytes))) {
            far.read(node, 0, "default");
            far.store.on(call -> true, Fault.FAIL_BEFORE);
            far.read(node, 1, "default");
        }
    }

    @Test
    void moreMemoryThanThereIsIsRefusedWithTheSettingThatHelps() {
        assertThatThrownBy(() -> far.start(memory(1L << 50)))
                .hasMessageContainingAll("1073741825 MiB of direct memory", "--tier memory:");
    }

    private TierSpec disk(long bytes) {
        return TierSpec.parse("disk:" + directory.resolve("cache") + ":" + bytes + "b");
    }

    private static void awaitPlaced(NodeLease node, long bytes) {
        Waiting.until(() -> FarFeed.tier(node, "disk").used() == bytes
                && FarFeed.tier(node, "disk").cache().orElseThrow().loads() == FarFeed.CHUNKS);
    }

    @Test
    void aDiskTierServesLaterEpochsAlone() throws IOException {
        try (NodeLease node = far.start(TierOptions.of(disk(far.bytes)))) {
            far.read(node, 0, "default");
            awaitPlaced(node, far.bytes);
            int calls = far.store.calls().size();
            far.read(node, 1, "default");
            far.read(node, 2, "default");
            assertThat(far.store.calls()).hasSize(calls);
            assertThat(node.metrics().originBytes()).isEqualTo(far.bytes);
            assertThat(node.metrics().mappings()).isPositive();
        }
        assertThat(directory.resolve("cache").toFile().list())
                .as("the feed has ended")
                .containsExactly("cache.lock");
    }

    @Test
    void theFirstTierIsFilledFirstAndTheNextTakesTheRest() throws IOException {
        long half = far.bytes / 2;
        try (NodeLease node = far.start(TierOptions.of(TierSpec.parse("memory:" + half + "b"), disk(far.bytes)))) {
            far.read(node, 0, "default");
            long memory = FarFeed.tier(node, "memory").used();
            assertThat(memory).isBetween(half * 9 / 10, half);
            Waiting.until(() -> FarFeed.tier(node, "disk").used() == far.bytes - memory);
            far.read(node, 1, "default");
            assertThat(node.metrics().originBytes()).isEqualTo(far.bytes);
        }
    }

    @Test
    void damageOfACachedFileIsFoundAndHealedFromTheOrigin() throws IOException {
        try (NodeLease node = far.start(TierOptions.of(disk(far.bytes)))) {
            far.read(node, 0, "default");
            awaitPlaced(node, far.bytes);
            Path file;
            try (var files = Files.walk(directory.resolve("cache"))) {
                file = files.filter(path -> path.toString().endsWith(".arrow"))
                        .sorted()
                        .findFirst()
                        .orElseThrow();
            }
            byte[] content = Files.readAllBytes(file);
            for (int i = content.length * 2 / 3; i < content.length * 5 / 6; i++) {
                content[i] ^= 1;
            }
            Files.write(file, content);
            assertThat(far.read(node, 1, "default"))
                    .as("pieces that came damaged")
                    .isPositive();
            assertThat(far.read(node, 2, "default")).isZero();
            assertThat(node.metrics().corrupt()).isZero();
            assertThat(node.metrics().originBytes()).isEqualTo(far.bytes + content.length);
        }
    }

    @Test
    void feedsOfAMachineThatShareADirectoryReadEachChunkOnce() throws Exception {
        TierOptions shared = TierOptions.of(disk(far.bytes)).with(CacheLifetime.NODE);
        List<NodeLease> nodes = new ArrayList<>();
        ExecutorService trainers = Executors.newFixedThreadPool(4);
        try {
            List<Future<Integer>> results = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                // The same bytes under the same ids, in a separate feed.
                FarFeed other = new FarFeed(directory.resolve("data-" + i), far.store);
                NodeLease node = other.start(shared);
                nodes.add(node);
                results.add(trainers.submit(() -> other.read(node, 0, "default")));
            }
            for (Future<Integer> result : results) {
                assertThat(result.get(60, TimeUnit.SECONDS)).isZero();
            }
            assertThat(reads()).isEqualTo(FarFeed.CHUNKS);
        } finally {
            trainers.shutdownNow();
            nodes.forEach(NodeLease::close);
        }
        try (NodeLease later = far.start(shared)) {
            far.read(later, 0, "default");
            assertThat(later.metrics().originReads()).isZero();
        }
    }

    @Test
    void aTierThatCannotBeSetUpIsOffAndTheFeedGoesOn() throws IOException {
        Files.writeString(directory.resolve("cache"), "a file");
        try (NodeLease node = far.start(TierOptions.of(disk(far.bytes)))) {
            far.read(node, 0, "default");
            assertThat(FarFeed.tier(node, "disk").cache().orElseThrow().off()).contains("cannot be set up");
        }
    }

    @Test
    void warmingPlacesWhatFitsBeforeAnyoneAsks() throws IOException {
        try (NodeLease node = far.start(memory(far.bytes).warmed())) {
            for (int lane = 0; lane < 3; lane++) {
                node.registerLane("train", lane);
            }
            Waiting.until(
                    () -> FarFeed.tier(node, "memory").cache().orElseThrow().loads() == FarFeed.CHUNKS);
            assertThat(FarFeed.tier(node, "memory").used()).isEqualTo(far.bytes);
            int calls = far.store.calls().size();
            far.read(node, 0, "default");
            assertThat(far.store.calls()).hasSize(calls);
        }
        long quota = far.bytes / 2;
        far.store.reset();
        try (NodeLease node = far.start(memory(quota).warmed())) {
            node.registerLane("train", 0);
            node.registerLane("train", 1);
            node.registerLane("train", 2);
            Waiting.until(() -> FarFeed.tier(node, "memory").used() > quota * 9 / 10);
            far.read(node, 0, "default");
            assertThat(node.metrics().originBytes())
                    .as("what fits nowhere is not read to warm")
                    .isEqualTo(far.bytes);
        }
    }

    @Test
    void feedersThatWarmTheirOwnLanesReadEachChunkOnceTogether() throws IOException {
        // Servers of one feed, like the servers of processes that share only the store.
        List<FeedServer> feeders = new ArrayList<>();
        try {
            for (int i = 0; i < 3; i++) {
                feeders.add(new FeedServer(
                        far.feed.spec(),
                        TestFeed.options()
                                .withLimits(10, 1 << 20, 100, 1 << 16)
                                .withTiers(memory(far.bytes).warmed()),
                        sources -> far.open(sources, far.store)));
            }
            for (int lane = 0; lane < 3; lane++) {
                feeders.get(lane).warm("train", lane);
            }
            Waiting.until(() -> feeders.stream().mapToLong(CacheTest::loads).sum() == FarFeed.CHUNKS);
            assertThat(feeders).allMatch(feeder -> loads(feeder) > 0);
            assertThat(reads()).isEqualTo(FarFeed.CHUNKS);
        } finally {
            feeders.forEach(FeedServer::close);
        }
    }

    private static long loads(FeedServer feeder) {
        return feeder.tiers().stream()
                .flatMap(tier -> tier.cache().stream())
                .mapToLong(FeedStatus.Cache::loads)
                .sum();
    }
}
