package dev.stoker.mount.tree;

import static dev.stoker.mount.TestMount.images;
import static dev.stoker.mount.TestMount.open;
import static dev.stoker.mount.TestMount.readAll;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.compaction.Compaction;
import dev.stoker.metadata.compaction.CompactionPlan;
import dev.stoker.metadata.compaction.CompactionRules;
import dev.stoker.metadata.compaction.CompactionThreads;
import dev.stoker.metadata.gc.Expiry;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.mount.TestMount;
import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.storage.InMemoryObjectStore;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Compacts a dataset, expires its versions and deletes their files while it is mounted. */
@Timeout(60)
class ChangesUnderneathTest {

    private static final InstantSource LATER = InstantSource.fixed(Instant.parse("2027-01-01T00:00:00Z"));

    private static final CompactionRules RULES = new CompactionRules(8 << 10, 16 << 10, OptionalLong.of(0));

    private final InMemoryObjectStore store = new InMemoryObjectStore(LATER);
    private TestMount made;
    private int runs;

    @BeforeEach
    void create() throws IOException {
        made = new TestMount(store);
        for (int i = 0; i < 6; i++) {
            made.append(images("cat/" + i));
        }
    }

    /** Leaves no file that only an earlier version needs, unless the version is used. */
    private void clear() throws IOException, InterruptedException {
        new Compaction(
                        made.dataset(),
                        VersionRequest.COMPACTION + ++runs,
                        "test",
                        LATER,
                        new CompactionThreads(1, 1, 1 << 24),
                        bytes -> {})
                .run(CompactionPlan.of(made.dataset().snapshot(), RULES));
        Expiry.plan(made.dataset(), new Expiry.Rule(Optional.empty(), OptionalLong.of(1)), LATER)
                .commit("expiry-" + runs, "test");
        GarbageCollection.plan(made.dataset(), Duration.ZERO, LATER).apply();
    }

    private long chunks() throws IOException {
        return store.list(ChunkNames.FOLDER + "/").toList().size();
    }

    @Test
    void keepsTheFilesOfAPinnedVersion() throws Exception {
        try (MountTree tree = open(store, OptionalLong.of(6), TreeOptions.defaults())) {
            Map<String, String> before = readAll(tree, "/");
            clear();
            assertThat(readAll(tree, "/")).isEqualTo(before).hasSize(6);
            assertThat(chunks()).isEqualTo(7);
        }
        // It had protected them.
        made.append(images("cat/7"));
        clear();
        assertThat(chunks()).isEqualTo(1);
    }

    @Test
    void followsToTheCompactedVersion() throws Exception {
        TreeOptions often = TreeOptions.defaults().with(Duration.ofMillis(10));
        try (MountTree tree = open(store, OptionalLong.empty(), often)) {
            Map<String, String> before = readAll(tree, "/");
            clear();
            while (tree.versions().containsValue(6L)) {
                assertThat(readAll(tree, "/")).isEqualTo(before);
            }
            assertThat(readAll(tree, "/")).isEqualTo(before);
        }
    }

    @Test
    void hidesExpiredVersions() throws Exception {
        clear();
        try (MountTree tree = open(store, OptionalLong.empty(), TreeOptions.defaults())) {
            assertThat(TestMount.list(tree, "/.stoker/versions"))
                    .doesNotContain("6/")
                    .isNotEmpty();
            assertThat(tree.find("/.stoker/versions/6")).isEmpty();
        }
    }
}
