package dev.stoker.server;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.erasure.ErasurePlanner;
import dev.stoker.metadata.erasure.ErasureRun;
import dev.stoker.metadata.erasure.ErasureWork;
import dev.stoker.metadata.index.build.BuildThreads;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.schemas.dataset.ErasedChunk;
import dev.stoker.schemas.dataset.Erasure;
import dev.stoker.server.feed.FeedSpec;
import dev.stoker.server.feed.StreamSpec;
import dev.stoker.server.tiers.TierOptions;
import dev.stoker.server.tiers.TierSpec;
import dev.stoker.server.tiers.files.CacheDirectory;
import dev.stoker.server.tiers.files.CacheLifetime;
import dev.stoker.storage.LocalObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tiers drop the chunks that an erasure has deleted from the dataset. */
class ErasedCopiesTest {

    private static final FileAttribute<?> PRIVATE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------"));

    @TempDir
    private Path directory;

    private TestDataset dataset;
    private TestFeed feed;
    private Path tier;
    private final List<Path> copies = new ArrayList<>();

    @BeforeEach
    void create() throws IOException {
        dataset = TestDataset.create(directory.resolve("data"), 7, 300, 5, 6, 7);
        feed = new TestFeed(dataset, "{\"batch_size\":6,\"lanes\":1,\"shuffle_window\":24000,\"seed\":5}");
        tier = Files.createDirectory(directory.resolve("tier"), PRIVATE);
        Path space = Files.createDirectory(tier.resolve("node"), PRIVATE);
        Files.createFile(space.resolve("loads.lock"));
        for (int chunk = 0; chunk < 3; chunk++) {
            Path original = dataset.file(chunk);
            Path folder = space.resolve(original.getParent().getFileName());
            if (!Files.exists(folder)) {
                Files.createDirectory(folder, PRIVATE);
            }
            copies.add(Files.copy(original, folder.resolve(original.getFileName())));
        }
    }

    private Erasure erase(String key) throws Exception {
        Dataset opened = Dataset.open(new LocalObjectStore(dataset.path()));
        ErasureWork work = new ErasureWork(
                new CompactionRules(1 << 16, 1 << 16, OptionalLong.empty()),
                new CompactionThreads(1, 1, 1 << 24),
                BuildThreads.ofCaller(),
                InstantSource.system(),
                "eve",
                chunk -> {});
        ErasureRun run = new ErasureRun(opened, work);
        return run.finish(run.begin(
                "erase-1", new ErasurePlanner(opened, work).plan(SampleRule.ofKeys(List.of(key)), Optional.empty())));
    }

    @Test
    void aFeedThatStartsDropsErasedChunksOfItsTier() throws Exception {
        erase(dataset.samples(1).get(2).key());
        long newest = Dataset.open(new LocalObjectStore(dataset.path())).latestVersion();
        FeedSpec plain = feed.spec();
        StreamSpec stream = plain.streams().get(0);
        FeedSpec spec = new FeedSpec(
                plain.id(),
                plain.name(),
                List.of(new StreamSpec(stream.name(), stream.path(), stream.dataset(), newest, stream.split())),
                plain.order(),
                plain.groups(),
                plain.epochs(),
                plain.onCorrupt());
        TierOptions tiers =
                TierOptions.of(TierSpec.parse("disk:" + tier + ":1m")).with(CacheLifetime.NODE);

        try (NodeLease node = FeedNode.acquire(
                spec, TestFeed.options().withTiers(tiers), new DatasetStreams(spec.id(), spec.streams()))) {
            assertThat(copies.get(1)).doesNotExist();
            assertThat(copies.get(0)).exists();
            assertThat(copies.get(2)).exists();
            assertThat(FarFeed.tier(node, "disk").used())
                    .isEqualTo(Files.size(copies.get(0)) + Files.size(copies.get(2)));
        }
    }

    @Test
    void aDirectoryIsPurgedByHand() throws Exception {
        Erasure certificate = erase(dataset.samples(0).get(0).key());
        Set<UUID> chunks = Set.copyOf(certificate.result().orElseThrow().removed().stream()
                .map(ErasedChunk::id)
                .toList());

        assertThat(new CacheDirectory(tier).files(chunks)).containsExactly(copies.get(0));
        assertThat(copies.get(0)).exists();
        assertThat(new CacheDirectory(tier).purge(chunks)).containsExactly(copies.get(0));

        assertThat(copies.get(0)).doesNotExist();
        assertThat(copies.get(1)).exists();
        assertThat(new CacheDirectory(tier).purge(chunks)).isEmpty();
    }
}
