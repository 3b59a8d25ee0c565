package dev.stoker.feeder.node.tiers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.feeder.node.chunks.ChunkBytes;
import dev.stoker.feeder.node.chunks.ChunkFile;
import dev.stoker.feeder.node.chunks.HeldChunks;
import dev.stoker.schemas.crc.Crc32cs;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FileTierTest {
    private static final int LENGTH = 5000;
    private static final Duration HOUR = Duration.ofHours(1);

    @TempDir
    Path directory;

    private final HeldChunks mappings = new HeldChunks(100);
    private final FaultyFiles files = new FaultyFiles();
    private final Random random = new Random(4);

    /** A chunk with its bytes. */
    private static final class Made implements ChunkBytes {
        final ChunkFile chunk;
        final ByteBuffer bytes;

        Made(ChunkFile chunk, ByteBuffer bytes) {
            this.chunk = chunk;
            this.bytes = bytes;
        }

        @Override
        public ByteBuffer bytes() {
            return bytes;
        }

        @Override
        public void close() {}
    }

    @AfterEach
    void close() {
        mappings.close();
    }

    private Made chunk() {
        byte[] content = new byte[LENGTH];
        random.nextBytes(content);
        ByteBuffer bytes = ByteBuffer.allocateDirect(LENGTH).put(content).flip();
        UUID id = new UUID(random.nextLong(), random.nextLong());
        return new Made(new ChunkFile(id, "chunks/" + id, LENGTH, Crc32cs.of(content)), bytes);
    }

    private FileTier tier(CacheLifetime lifetime, String space, long limit, Set<UUID> ours) throws IOException {
        return new FileTier("disk", limit, lifetime, CacheSpace.claim(directory, space, HOUR), files, mappings, ours);
    }

    private FileTier tier(String feed) throws IOException {
        return tier(CacheLifetime.FEED, feed, 100 * LENGTH, Set.of());
    }

    private FileTier shared(long limit, UUID... ours) throws IOException {
        return tier(CacheLifetime.NODE, CacheSpace.NODE, limit, Set.of(ours));
    }

    private static void place(FileTier tier, Made made) throws IOException {
        assertThat(tier.reserve(made.chunk)).isTrue();
        tier.place(made.chunk, made);
    }

    private static boolean serves(FileTier tier, Made made) {
        Optional<ChunkBytes> held = tier.hold(made.chunk);
        held.ifPresent(bytes -> {
            assertThat(bytes.bytes()).isEqualTo(made.bytes);
            assertThat(bytes.file()).isPresent();
            bytes.close();
        });
        return held.isPresent();
    }

    private List<Path> chunkFiles() throws IOException {
        try (var found = Files.walk(directory)) {
            return found.filter(file -> file.toString().endsWith(".arrow")).toList();
        }
    }

    private static String feed() {
        return UUID.randomUUID().toString();
    }

    @Test
    void mapsWhatItKeepsAndStaysWithinItsQuota() throws IOException {
        try (FileTier tier = tier(CacheLifetime.FEED, feed(), 3 * LENGTH + 10, Set.of())) {
            List<Made> made = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                made.add(chunk());
                place(tier, made.get(i));
            }
            Made fourth = chunk();
            assertThat(tier.reserve(fourth.chunk)).isFalse();
            Made small = new Made(new ChunkFile(UUID.randomUUID(), "small", 10, 0), ByteBuffer.allocate(10));
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
        try (FileTier tier = tier(feed())) {
            place(tier, chunk());
            assertThat(chunkFiles()).hasSize(1);
        }
        assertThat(chunkFiles()).isEmpty();
        assertThat(foreign).exists();
        assertThat(folder).exists();
        assertThat(CacheSpace.spaces(directory)).isEmpty();
    }

    @Test
    void whatADeadProcessLeftIsAdoptedByTheSameFeedAndCheckedAtFirstUse() throws IOException {
        String feed = feed();
        Made good = chunk();
        Made flipped = chunk();
        Made cut = chunk();
        leave(feed, good, flipped, cut);
        byte[] content = Files.readAllBytes(fileOf(feed, flipped));
        content[LENGTH / 2] ^= 1;
        Files.write(fileOf(feed, flipped), content);
        Files.write(fileOf(feed, cut), new byte[LENGTH - 1]);
        Files.write(fileOf(feed, cut).resolveSibling(".tmp-" + UUID.randomUUID()), new byte[10]);
        try (FileTier tier = tier(feed)) {
            assertThat(tier.status().usedBytes()).isEqualTo(3 * LENGTH - 1);
            assertThat(tier.has(good.chunk)).as("not checked yet").isFalse();
            assertThat(serves(tier, good)).isTrue();
            assertThat(tier.has(good.chunk)).isTrue();
            assertThat(serves(tier, flipped)).isFalse();
            assertThat(serves(tier, cut)).isFalse();
            assertThat(chunkFiles()).containsExactly(fileOf(feed, good));
            assertThat(tier.status().failures()).isEqualTo(2);
            assertThat(tier.status().off()).isEmpty();
            place(tier, flipped);
            assertThat(serves(tier, flipped)).isTrue();
        }
        assertThat(chunkFiles()).isEmpty();
    }

    /** As a killed process leaves them. */
    private void leave(String space, Made... chunks) throws IOException {
        for (Made made : chunks) {
            Files.createDirectories(fileOf(space, made).getParent());
            byte[] content = new byte[LENGTH];
            made.bytes.duplicate().get(content);
            Files.write(fileOf(space, made), content);
        }
        Files.write(directory.resolve(space).resolve(UUID.randomUUID() + "-1.ref"), new byte[0]);
        Files.write(directory.resolve(space).resolve("loads.lock"), new byte[0]);
    }

    private Path fileOf(String space, Made made) {
        String id = made.chunk.id().toString();
        return directory.resolve(space).resolve(id.substring(34)).resolve(id + ".arrow");
    }

    @Test
    void leftoversOfDeadFeedsAreRemovedAfterAWhile() throws IOException {
        String recent = feed();
        String old = feed();
        leave(recent, chunk());
        leave(old, chunk());
        Files.setLastModifiedTime(
                directory.resolve(old), FileTime.from(Instant.now().minus(HOUR.plusMinutes(1))));
        try (FileTier tier = tier(feed())) {
            assertThat(tier.status().usedBytes()).isZero();
            assertThat(directory.resolve(old)).doesNotExist();
            assertThat(directory.resolve(recent)).exists();
        }
    }

    @Test
    void twoFeedsInOneDirectoryDoNotTouchEachOther() throws IOException {
        Made first = chunk();
        Made second = chunk();
        FileTier one = tier(feed());
        try (FileTier other = tier(feed())) {
            place(one, first);
            place(other, second);
            assertThat(serves(one, second)).isFalse();
            one.close();
            assertThat(serves(other, second)).isTrue();
        }
        assertThat(chunkFiles()).isEmpty();
    }

    @Test
    void aSharedSpaceServesWhatOthersPlacedAndSurvivesThemAll() throws IOException {
        Made made = chunk();
        try (FileTier one = shared(100 * LENGTH, made.chunk.id());
                FileTier other = shared(100 * LENGTH, made.chunk.id())) {
            place(one, made);
            assertThat(serves(other, made)).isTrue();
            assertThat(other.status().usedBytes()).isEqualTo(LENGTH);
        }
        assertThat(chunkFiles()).hasSize(1);
        try (FileTier later = shared(100 * LENGTH, made.chunk.id())) {
            assertThat(serves(later, made)).isTrue();
        }
    }

    @Test
    void inASharedSpaceChunksOfEndedFeedsMakeRoom() throws IOException {
        Made old = chunk();
        Made mine = chunk();
        leave(CacheSpace.NODE, old, mine);
        Made next = chunk();
        Made more = chunk();
        try (FileTier tier = shared(2 * LENGTH, mine.chunk.id(), next.chunk.id(), more.chunk.id())) {
            place(tier, next);
            assertThat(fileOf(CacheSpace.NODE, old)).doesNotExist();
            assertThat(serves(tier, mine)).isTrue();
            assertThat(tier.reserve(more.chunk))
                    .as("what the feed has is not evicted")
                    .isFalse();
        }
    }

    @Test
    void aSpaceInUseIsNotCleared() throws IOException {
        try (FileTier tier = shared(100 * LENGTH)) {
            place(tier, chunk());
            assertThat(CacheSpace.clear(directory, directory.resolve(CacheSpace.NODE)))
                    .isFalse();
            assertThat(chunkFiles()).hasSize(1);
        }
        assertThat(CacheSpace.clear(directory, directory.resolve(CacheSpace.NODE)))
                .isTrue();
        assertThat(chunkFiles()).isEmpty();
    }

    @Test
    void aFullDiskTurnsPlacingOffAndServesWhatItHas() throws IOException {
        try (FileTier tier = tier(feed())) {
            Made first = chunk();
            place(tier, first);
            files.write = "/nvme/x: No space left on device";
            Made second = chunk();
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
        try (FileTier tier =
                new FileTier("memory", 100 * LENGTH, CacheLifetime.FEED, space, files, mappings, Set.of())) {
            assertThat(tier.isInstant()).isTrue();
            Made first = chunk();
            place(tier, first);
            files.write = "/dev/shm/x: No space left on device";
            assertThatThrownBy(() -> place(tier, chunk())).hasMessageContaining("No space");
            assertThat(tier.status().off()).contains("shared memory is full").contains("No space left on device");
            assertThat(serves(tier, first)).isTrue();
        }
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void theEndWaitsForWhatIsBeingWritten() throws Exception {
        CountDownLatch writes = new CountDownLatch(1);
        CountDownLatch ends = new CountDownLatch(1);
        files.beforeWrite = () -> {
            writes.countDown();
            assertThat(ends.await(60, TimeUnit.SECONDS)).isTrue();
            return null;
        };
        FileTier tier = new FileTier(
                "memory", 100 * LENGTH, CacheLifetime.FEED, MemorySpace.claim(directory), files, mappings, Set.of());
        List<String> events = Collections.synchronizedList(new ArrayList<>());
        Thread writer = new Thread(() -> {
            try {
                place(tier, chunk());
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
        ends.countDown();
        writer.join(60_000);
        closer.join(60_000);
        assertThat(events).containsExactly("written", "closed");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void oneFailureIsAnAccidentAndThreeAreNot() throws IOException {
        try (FileTier tier = tier(feed())) {
            Made made = chunk();
            for (int i = 0; i < 3; i++) {
                files.write = i == 2 ? "" : "Too many open files";
                assertThat(tier.reserve(made.chunk)).isTrue();
                if (i < 2) {
                    assertThatThrownBy(() -> tier.place(made.chunk, made)).hasMessageContaining("Too many");
                } else {
                    tier.place(made.chunk, made);
                }
            }
            assertThat(tier.status().off()).isEmpty();
            files.write = "Read-only file system";
            for (int i = 0; i < 3; i++) {
                Made other = chunk();
                assertThat(tier.reserve(other.chunk)).isTrue();
                assertThatThrownBy(() -> tier.place(other.chunk, other)).hasMessageContaining("Read-only");
            }
            assertThat(tier.status().off()).contains("cannot be written").contains("Read-only file system");
            assertThat(tier.reserve(chunk().chunk)).isFalse();
            assertThat(serves(tier, made)).isTrue();
        }
    }

    @Test
    void aDiskThatCannotBeReadIsLeftAlone() throws IOException {
        String feed = feed();
        List<Made> made = List.of(chunk(), chunk(), chunk(), chunk());
        leave(feed, made.toArray(Made[]::new));
        try (FileTier tier = tier(feed)) {
            files.read = "Input/output error";
            assertThat(made.subList(0, 3)).noneMatch(one -> serves(tier, one));
            assertThat(tier.status().off()).contains("cannot be read").contains("Input/output error");
            files.read = "";
            assertThat(serves(tier, made.get(3))).isFalse();
            assertThat(tier.mayHave(made.get(3).chunk)).isFalse();
        }
    }

    @Test
    void aVanishedDirectoryIsAFailureLikeOthers() throws IOException {
        String feed = feed();
        FileTier tier = tier(feed);
        List<Made> made = List.of(chunk(), chunk(), chunk());
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
        try (FileTier tier = tier(feed())) {
            Made made = chunk();
            place(tier, made);
            try (ChunkBytes held = tier.hold(made.chunk).orElseThrow()) {
                tier.forget(made.chunk);
                assertThat(chunkFiles()).isEmpty();
                assertThat(held.bytes()).isEqualTo(made.bytes);
            }
            assertThat(tier.status().usedBytes()).isZero();
            place(tier, made);
            assertThat(serves(tier, made)).isTrue();
        }
    }
}
