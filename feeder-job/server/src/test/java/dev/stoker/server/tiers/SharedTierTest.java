package dev.stoker.server.tiers;

import static dev.stoker.server.tiers.TierDirectory.HOUR;
import static dev.stoker.server.tiers.TierDirectory.LENGTH;
import static dev.stoker.server.tiers.TierDirectory.feed;
import static dev.stoker.server.tiers.TierDirectory.place;
import static dev.stoker.server.tiers.TierDirectory.serves;
import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.server.tiers.TierDirectory.Made;
import dev.stoker.server.tiers.files.CacheSpace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tiers of several feeds in one directory, apart or in a space that they share. */
class SharedTierTest {
    @TempDir
    Path directory;

    private TierDirectory tiers;

    @BeforeEach
    void open() {
        tiers = new TierDirectory(directory);
    }

    @AfterEach
    void close() {
        tiers.close();
    }

    @Test
    void leftoversOfDeadFeedsAreRemovedAfterAWhile() throws IOException {
        String recent = feed();
        String old = feed();
        tiers.leave(recent, tiers.chunk());
        tiers.leave(old, tiers.chunk());
        Files.setLastModifiedTime(
                directory.resolve(old), FileTime.from(Instant.now().minus(HOUR.plusMinutes(1))));
        try (FileTier tier = tiers.tier(feed())) {
            assertThat(tier.status().usedBytes()).isZero();
            assertThat(directory.resolve(old)).doesNotExist();
            assertThat(directory.resolve(recent)).exists();
        }
    }

    @Test
    void twoFeedsInOneDirectoryDoNotTouchEachOther() throws IOException {
        Made first = tiers.chunk();
        Made second = tiers.chunk();
        FileTier one = tiers.tier(feed());
        try (FileTier other = tiers.tier(feed())) {
            place(one, first);
            place(other, second);
            assertThat(serves(one, second)).isFalse();
            one.close();
            assertThat(serves(other, second)).isTrue();
        }
        assertThat(tiers.chunkFiles()).isEmpty();
    }

    @Test
    void aSharedSpaceServesWhatOthersPlacedAndSurvivesThemAll() throws IOException {
        Made made = tiers.chunk();
        try (FileTier one = tiers.shared(100 * LENGTH, made.chunk.id());
                FileTier other = tiers.shared(100 * LENGTH, made.chunk.id())) {
            place(one, made);
            assertThat(serves(other, made)).isTrue();
            assertThat(other.status().usedBytes()).isEqualTo(LENGTH);
        }
        assertThat(tiers.chunkFiles()).hasSize(1);
        try (FileTier later = tiers.shared(100 * LENGTH, made.chunk.id())) {
            assertThat(serves(later, made)).isTrue();
        }
    }

    @Test
    void inASharedSpaceChunksOfEndedFeedsMakeRoom() throws IOException {
        Made old = tiers.chunk();
        Made mine = tiers.chunk();
        tiers.leave(CacheSpace.NODE, old, mine);
        Made next = tiers.chunk();
        Made more = tiers.chunk();
        try (FileTier tier = tiers.shared(2 * LENGTH, mine.chunk.id(), next.chunk.id(), more.chunk.id())) {
            place(tier, next);
            assertThat(tiers.fileOf(CacheSpace.NODE, old)).doesNotExist();
            assertThat(serves(tier, mine)).isTrue();
            assertThat(tier.reserve(more.chunk))
                    .as("what the feed has is not evicted")
                    .isFalse();
        }
    }

    @Test
    void aSpaceInUseIsNotCleared() throws IOException {
        try (FileTier tier = tiers.shared(100 * LENGTH)) {
            place(tier, tiers.chunk());
            assertThat(CacheSpace.clear(directory, directory.resolve(CacheSpace.NODE)))
                    .isFalse();
            assertThat(tiers.chunkFiles()).hasSize(1);
        }
        assertThat(CacheSpace.clear(directory, directory.resolve(CacheSpace.NODE)))
                .isTrue();
        assertThat(tiers.chunkFiles()).isEmpty();
    }

    @Test
    void erasedChunksAreRemovedWhoeverHasPlacedThem() throws IOException {
        Made erased = tiers.chunk();
        Made other = tiers.chunk();
        try (FileTier one = tiers.shared(100 * LENGTH, erased.chunk.id());
                FileTier two = tiers.shared(100 * LENGTH, erased.chunk.id())) {
            place(one, erased);
            place(one, other);
            // The second tier has not looked for the file yet.
            two.erase(Set.of(erased.chunk.id()));
            one.erase(Set.of(erased.chunk.id()));
            assertThat(serves(one, erased)).isFalse();
            assertThat(serves(two, erased)).isFalse();
            assertThat(serves(two, other)).isTrue();
            assertThat(one.status().usedBytes()).isEqualTo(LENGTH);
            assertThat(tiers.chunkFiles()).hasSize(1);
        }
    }
}
