package dev.stoker.server.tiers;

import static dev.stoker.server.tiers.TierDirectory.LENGTH;
import static dev.stoker.server.tiers.TierDirectory.feed;
import static dev.stoker.server.tiers.TierDirectory.place;
import static dev.stoker.server.tiers.TierDirectory.serves;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.tiers.TierDirectory.Made;
import dev.stoker.server.tiers.files.CacheLifetime;
import dev.stoker.server.tiers.files.CacheSpace;
import dev.stoker.server.tiers.files.MemorySpace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One tier of files: its content, files that a dead process left, and disks that fail. */
class FileTierTest {
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
    void mapsWhatItKeepsAndStaysWithinItsQuota() throws IOException {
        try (FileTier tier = tiers.tier(CacheLifetime.FEED, feed(), 3 * LENGTH + 10, Set.of())) {
            List<Made> made = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                made.add(tiers.chunk());
                place(tier, made.get(i));
            }
            Made fourth = tiers.chunk();
            assertThat(tier.reserve(fourth.chunk)).isFalse();
            Made small = new Made(new ListedChunk(UUID.randomUUID(), "small", 10, 0), ByteBuffer.allocate(10));
            assertThat(tier.reserve(small.chunk))
                    .as("smaller ones may still enter")
                    .isTrue();
            assertThat(made).allMatch(one -> serves(tier, one));
            assertThat(serves(tier, fourth)).isFalse();
            tier.cancel(small.chunk);
            assertThat(tier.status().usedBytes()).isEqualTo(3 * LENGTH);
        }
    }

    @Test
    void theFeedsEndRemovesItsFilesAndNothingElse() throws IOException {
        Path foreign = Files.writeString(directory.resolve("notes.txt"), "mine");
        Path folder = Files.createDirectories(directory.resolve(feed() + "/aa"));
        Files.setLastModifiedTime(folder.getParent(), FileTime.from(Instant.EPOCH));
        try (FileTier tier = tiers.tier(feed())) {
            place(tier, tiers.chunk());
            assertThat(tiers.chunkFiles()).hasSize(1);
        }
        assertThat(tiers.chunkFiles()).isEmpty();
        assertThat(foreign).exists();
        assertThat(folder).exists();
        assertThat(CacheSpace.spaces(directory)).isEmpty();
    }

    @Test
    void whatADeadProcessLeftIsAdoptedByTheSameFeedAndCheckedAtFirstUse() throws IOException {
        String feed = feed();
        Made good = tiers.chunk();
        Made flipped = tiers.chunk();
        Made cut = tiers.chunk();
        tiers.leave(feed, good, flipped, cut);
        byte[] content = Files.readAllBytes(tiers.fileOf(feed, flipped));
        content[LENGTH / 2] ^= 1;
        Files.write(tiers.fileOf(feed, flipped), content);
        Files.write(tiers.fileOf(feed, cut), new byte[LENGTH - 1]);
        Files.write(tiers.fileOf(feed, cut).resolveSibling(".tmp-" + UUID.randomUUID()), new byte[10]);
        try (FileTier tier = tiers.tier(feed)) {
            assertThat(tier.status().usedBytes()).isEqualTo(3 * LENGTH - 1);
            assertThat(tier.has(good.chunk)).as("not checked yet").isFalse();
            assertThat(serves(tier, good)).isTrue();
            assertThat(tier.has(good.chunk)).isTrue();
            assertThat(serves(tier, flipped)).isFalse();
            assertThat(serves(tier, cut)).isFalse();
            assertThat(tiers.chunkFiles()).containsExactly(tiers.fileOf(feed, good));
            assertThat(tier.status().failures()).isEqualTo(2);
            assertThat(tier.status().off()).isEmpty();
            place(tier, flipped);
            assertThat(serves(tier, flipped)).isTrue();
        }
        assertThat(tiers.chunkFiles()).isEmpty();
    }

    @Test
    void aFullDiskTurnsPlacingOffAndServesWhatItHas() throws IOException {
        try (FileTier tier = tiers.tier(feed())) {
            Made first = tiers.chunk();
            place(tier, first);
            tiers.files.write = "/nvme/x: No space left on device";
            Made second = tiers.chunk();
            assertThatThrownBy(() -> place(tier, second)).hasMessageContaining("No space");
            assertThat(tier.status().off()).contains("the disk is full").contains("No space left on device");
            assertThat(tier.status().usedBytes()).as("its space is given back").isEqualTo(LENGTH);
            assertThat(tier.reserve(second.chunk)).isFalse();
            assertThat(serves(tier, first)).isTrue();
        }
    }

    @Test
    void aFullTmpfsTurnsPlacingOffAndServesWhatItHas() throws IOException {
        MemorySpace space = MemorySpace.claim(directory);
        try (FileTier tier = new FileTier(
                "memory", 100 * LENGTH, CacheLifetime.FEED, space, tiers.files, tiers.mappings, Set.of())) {
            assertThat(tier.isInstant()).isTrue();
            Made first = tiers.chunk();
            place(tier, first);
            tiers.files.write = "/dev/shm/x: No space left on device";
            assertThatThrownBy(() -> place(tier, tiers.chunk())).hasMessageContaining("No space");
            assertThat(tier.status().off()).contains("shared memory is full").contains("No space left on device");
            assertThat(serves(tier, first)).isTrue();
        }
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void theEndWaitsForWhatIsBeingWritten() throws Exception {
        CountDownLatch writes = new CountDownLatch(1);
        CountDownLatch ends = new CountDownLatch(1);
        tiers.files.beforeWrite = () -> {
            writes.countDown();
            assertThat(ends.await(60, TimeUnit.SECONDS)).isTrue();
            return null;
        };
        FileTier tier = new FileTier(
                "memory",
                100 * LENGTH,
                CacheLifetime.FEED,
                MemorySpace.claim(directory),
                tiers.files,
                tiers.mappings,
                Set.of());
        List<String> events = Collections.synchronizedList(new ArrayList<>());
        Thread writer = new Thread(() -> {
            try {
                place(tier, tiers.chunk());
                events.add("written");
            } catch (IOException e) {
                events.add(e.toString());
            }
        });
        Thread closer = new Thread(() -> {
            tier.close();
            events.add("closed");
        });
        writer.start();
        assertThat(writes.await(60, TimeUnit.SECONDS)).isTrue();
        closer.start();
        while (closer.isAlive() && closer.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        assertThat(events).isEmpty();
        ends.countDown();
        writer.join(60_000);
        closer.join(60_000);
        assertThat(events).containsExactlyInAnyOrder("written", "closed");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void oneFailureIsAnAccidentAndThreeAreNot() throws IOException {
        try (FileTier tier = tiers.tier(feed())) {
            Made made = tiers.chunk();
            for (int i = 0; i < 3; i++) {
                tiers.files.write = i == 2 ? "" : "Too many open files";
                assertThat(tier.reserve(made.chunk)).isTrue();
                if (i < 2) {
                    assertThatThrownBy(() -> tier.place(made.chunk, made)).hasMessageContaining("Too many");
                } else {
                    tier.place(made.chunk, made);
                }
            }
            assertThat(tier.status().off()).isEmpty();
            tiers.files.write = "Read-only file system";
            for (int i = 0; i < 3; i++) {
                Made other = tiers.chunk();
                assertThat(tier.reserve(other.chunk)).isTrue();
                assertThatThrownBy(() -> tier.place(other.chunk, other)).hasMessageContaining("Read-only");
            }
            assertThat(tier.status().off()).contains("cannot be written").contains("Read-only file system");
            assertThat(tier.reserve(tiers.chunk().chunk)).isFalse();
            assertThat(serves(tier, made)).isTrue();
        }
    }

    @Test
    void aDiskThatCannotBeReadIsLeftAlone() throws IOException {
        String feed = feed();
        List<Made> made = List.of(tiers.chunk(), tiers.chunk(), tiers.chunk(), tiers.chunk());
        tiers.leave(feed, made.toArray(Made[]::new));
        try (FileTier tier = tiers.tier(feed)) {
            tiers.files.read = "Input/output error";
            assertThat(made.subList(0, 3)).noneMatch(one -> serves(tier, one));
            assertThat(tier.status().off()).contains("cannot be read").contains("Input/output error");
            tiers.files.read = "";
            assertThat(serves(tier, made.get(3))).isFalse();
            assertThat(tier.mayHave(made.get(3).chunk)).isFalse();
        }
    }

    @Test
    void aVanishedDirectoryIsAFailureLikeOthers() throws IOException {
        String feed = feed();
        FileTier tier = tiers.tier(feed);
        List<Made> made = List.of(tiers.chunk(), tiers.chunk(), tiers.chunk());
        for (Made one : made) {
            place(tier, one);
        }
        try (var all = Files.walk(directory.resolve(feed))) {
            List<Path> found = new ArrayList<>(all.toList());
            for (int i = found.size() - 1; i >= 0; i--) {
                Files.delete(found.get(i));
            }
        }
        assertThat(made).noneMatch(one -> serves(tier, one));
        assertThat(tier.status().off()).contains("cannot be read");
        assertThat(tier.status().usedBytes()).isZero();
        tier.close();
    }

    @Test
    void aChunkThatIsForgottenIsUnlinkedWhileItsMappingStays() throws IOException {
        try (FileTier tier = tiers.tier(feed())) {
            Made made = tiers.chunk();
            place(tier, made);
            try (ChunkBytes held = tier.hold(made.chunk).orElseThrow()) {
                tier.forget(made.chunk);
                assertThat(tiers.chunkFiles()).isEmpty();
                assertThat(held.bytes()).isEqualTo(made.bytes);
            }
            assertThat(tier.status().usedBytes()).isZero();
            place(tier, made);
            assertThat(serves(tier, made)).isTrue();
        }
    }
}
