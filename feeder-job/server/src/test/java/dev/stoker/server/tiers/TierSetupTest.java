package dev.stoker.server.tiers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.text.Units;
import dev.stoker.server.chunks.HeldChunks;
import dev.stoker.server.tiers.files.CacheAccess;
import dev.stoker.server.tiers.files.CacheFiles;
import dev.stoker.server.tiers.files.MemorySpace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.Test;

class TierSetupTest {
    private static final long PLENTY = 1L << 50;

    private List<Tier> setUp(Path tmpfs, DirectBudget budget, String... tiers) throws IOException {
        TierOptions options = TierOptions.defaults().with(TierSpec.parse(List.of(tiers)));
        return new TierSetup(
                        options,
                        new ChunkMemory(0, () -> {}),
                        new HeldChunks(10),
                        new CacheFiles.Nio(CacheAccess.USER),
                        tmpfs)
                .tiers(UUID.randomUUID(), Set.of(), 1 << 20, budget);
    }

    private Tier memory(Path tmpfs, DirectBudget budget, String tier) throws IOException {
        return setUp(tmpfs, budget, tier).get(0);
    }

    @Test
    void withoutATmpfsChunksLieInDirectMemoryAndItIsSaidWhy() throws IOException {
        try (Tier tier = memory(Path.of("/proc"), new DirectBudget(PLENTY, PLENTY), "memory:5m")) {
            assertThat(tier.hasFiles()).isFalse();
            assertThat(tier.status().name()).isEqualTo("memory");
            assertThat(tier.status().limitBytes()).isEqualTo(5 << 20);
            assertThat(tier.status().off()).isEmpty();
            assertThat(tier.status().note()).contains("direct memory", "over the socket", "/proc is not a tmpfs");
        }
    }

    @Test
    void aTmpfsThatIsTooSmallIsLeftAlone() throws IOException {
        long more = MemorySpace.room(MemorySpace.TMPFS) * 2 + (1 << 20);
        try (Tier tier = memory(MemorySpace.TMPFS, new DirectBudget(PLENTY, PLENTY), "memory:" + more + "b")) {
            assertThat(tier.hasFiles()).isFalse();
            assertThat(tier.status().note()).contains("/dev/shm has room for ", "not for " + Units.mebibytes(more));
        }
        // Direct memory would hold so much more than a small tmpfs that files are not worth it.
        long direct = MemorySpace.room(MemorySpace.TMPFS) * 3 + (1 << 20);
        try (Tier tier = memory(MemorySpace.TMPFS, new DirectBudget(direct, PLENTY), "memory:auto")) {
            assertThat(tier.hasFiles()).isFalse();
            assertThat(tier.status().limitBytes()).isEqualTo(direct - (1 << 20));
        }
    }

    @Test
    void filesNeedNoDirectMemoryButMemoryOfTheMachine() throws IOException {
        DirectBudget budget = new DirectBudget(2 << 20, 12 << 20);
        try (Tier tier = memory(MemorySpace.TMPFS, budget, "memory:10m")) {
            assertThat(tier.hasFiles()).isTrue();
            assertThat(tier.isInstant()).isTrue();
            assertThat(tier.status().name()).isEqualTo("memory");
            assertThat(tier.status().note()).isEmpty();
        }
        try (Tier tier = memory(MemorySpace.TMPFS, budget, "memory:auto")) {
            assertThat(tier.hasFiles()).isTrue();
            assertThat(tier.status().limitBytes())
                    .as("half of the machine, less what is in use")
                    .isEqualTo(5 << 20);
        }
        assertThatThrownBy(() -> memory(MemorySpace.TMPFS, budget, "memory:12m"))
                .isInstanceOf(InsufficientMemoryException.class)
                .hasMessageContainingAll("13 MiB of memory", "1 MiB to work with", "12 MiB left", "--tier memory:");
        assertThatThrownBy(() -> memory(Path.of("/proc"), budget, "memory:10m"))
                .isInstanceOf(InsufficientMemoryException.class)
                .hasMessageContainingAll("11 MiB of direct memory", "-XX:MaxDirectMemorySize");
        assertThatThrownBy(() -> setUp(MemorySpace.TMPFS, new DirectBudget(1 << 19, PLENTY), "none"))
                .as("working memory is checked whatever the tiers")
                .isInstanceOf(InsufficientMemoryException.class);
    }

    @Test
    void whatKilledFeedersLeftIsRemovedBeforeMemoryIsCounted() throws IOException {
        Path left = Files.createDirectory(MemorySpace.TMPFS.resolve("stoker-tier-" + UUID.randomUUID()));
        DirectBudget.here();
        assertThat(left).doesNotExist();
    }
}
