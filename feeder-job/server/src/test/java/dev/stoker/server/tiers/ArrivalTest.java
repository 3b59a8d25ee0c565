package dev.stoker.server.tiers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.DirectMemory;
import dev.stoker.server.chunks.HeldChunks;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.tiers.files.CacheAccess;
import dev.stoker.server.tiers.files.CacheLifetime;
import dev.stoker.server.tiers.files.CacheSpace;
import dev.stoker.server.tiers.files.MemorySpace;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Chunks that are written to a memory tier in parts. */
class ArrivalTest {
    private static final int LENGTH = 5000;
    private static final int HALF = 2000;

    @TempDir
    Path directory;

    private final HeldChunks mappings = new HeldChunks(100);
    private final ChunkMemory memory = new ChunkMemory(0, () -> {});
    private final FaultyFiles files = new FaultyFiles();
    private final byte[] content = new byte[LENGTH];
    private ListedChunk chunk;
    private FileTier tier;
    private Placement placement;

    @BeforeEach
    void setUp() throws IOException {
        new Random(4).nextBytes(content);
        chunk = new ListedChunk(UUID.randomUUID(), "chunks/1", LENGTH, Crc32cs.of(content));
        tier = new FileTier(
                "memory", 10 * LENGTH, CacheLifetime.FEED, MemorySpace.claim(directory), files, mappings, Set.of());
        placement = new Placement(memory, List.of(tier));
    }

    @AfterEach
    void close() {
        placement.close();
        memory.close();
        mappings.close();
        assertThat(directory).as("nothing is left").isEmptyDirectory();
    }

    private Incoming incoming() throws IOException {
        return new Incoming(chunk, placement.reserve(chunk));
    }

    private ByteBuffer part(int from, int to) {
        return ByteBuffer.wrap(content, from, to - from);
    }

    private void arrive(Incoming incoming) {
        incoming.put(0, part(0, HALF));
        incoming.put(HALF, part(HALF, LENGTH));
    }

    private List<Path> filesOfTier() throws IOException {
        try (var found = Files.walk(directory)) {
            return found.filter(file ->
                            Files.isRegularFile(file) && !file.toString().endsWith(".ref"))
                    .toList();
        }
    }

    private void assertServed() {
        Optional<ChunkBytes> held = tier.hold(chunk);
        assertThat(held).isPresent();
        try (ChunkBytes bytes = held.get()) {
            assertThat(bytes.bytes()).isEqualTo(ByteBuffer.wrap(content));
        }
    }

    private void assertTaken(Incoming incoming) throws IOException {
        ByteBuffer taken = incoming.take();
        try {
            assertThat(taken).isEqualTo(ByteBuffer.wrap(content));
        } finally {
            DirectMemory.free(taken);
        }
        assertThat(tier.status().usedBytes()).as("its space is given back").isZero();
        assertThat(filesOfTier()).isEmpty();
    }

    @Test
    void aChunkIsSeenWhenItIsKeptAndNotBefore() throws IOException {
        try (Incoming incoming = incoming()) {
            arrive(incoming);
            assertThat(tier.hold(chunk)).isEmpty();
            assertThat(tier.has(chunk)).isFalse();
            assertThat(filesOfTier()).noneMatch(file -> file.equals(tier.path(chunk)));
            assertThat(incoming.keep()).isTrue();
        }
        assertServed();
        assertThat(filesOfTier()).containsExactly(tier.path(chunk));
        assertThat(tier.status().usedBytes()).isEqualTo(LENGTH);
        assertThat(tier.status().loads()).isOne();
    }

    @Test
    void whatBeginsAnewTakesThePlaceOfWhatCameBefore() throws IOException {
        try (Incoming incoming = incoming()) {
            incoming.put(0, ByteBuffer.allocate(HALF));
            incoming.put(HALF, ByteBuffer.allocate(100));
            arrive(incoming);
            assertThat(incoming.keep()).isTrue();
        }
        assertServed();
    }

    @Test
    void whatIsNotKeptLeavesNothing() throws IOException {
        Optional<Placement.Slot> slot = placement.reserve(chunk);
        try (Incoming incoming = new Incoming(chunk, slot)) {
            arrive(incoming);
        }
        slot.orElseThrow().cancel();
        slot.orElseThrow().cancel();
        assertThat(filesOfTier()).isEmpty();
        assertThat(tier.status().usedBytes()).isZero();
    }

    @Test
    void whatIsFoundDamagedIsHandedOutAndNotPlaced() throws IOException {
        try (Incoming incoming = incoming()) {
            arrive(incoming);
            assertTaken(incoming);
        }
        assertThat(tier.hold(chunk)).isEmpty();
    }

    @Test
    void whenATmpfsIsFullTheChunkGoesOnInMemory() throws IOException {
        files.secondPart = "/dev/shm/x: No space left on device";
        try (Incoming incoming = incoming()) {
            arrive(incoming);
            assertThat(incoming.keep()).isFalse();
            assertThat(tier.status().off()).contains("shared memory is full").contains("No space left on device");
            assertTaken(incoming);
        }
        assertThat(placement.reserve(chunk)).isEmpty();
    }

    @Test
    void whatCannotBeBegunGoesIntoMemory() throws IOException {
        files.write = "Too many open files";
        try (Incoming incoming = incoming()) {
            arrive(incoming);
            assertThat(incoming.keep()).isFalse();
            assertTaken(incoming);
        }
        assertThat(tier.status().failures()).isOne();
    }

    @Test
    void whatCannotAppearIsHandedOut() throws IOException {
        files.publish = "Input/output error";
        try (Incoming incoming = incoming()) {
            arrive(incoming);
            assertThat(incoming.keep()).isFalse();
            assertTaken(incoming);
        }
        assertThat(tier.hold(chunk)).isEmpty();
    }

    @Test
    void aTierThatIsClosedMeanwhileTakesNothingMore() throws IOException {
        try (Incoming incoming = incoming()) {
            incoming.put(0, part(0, HALF));
            placement.close();
            incoming.put(HALF, part(HALF, LENGTH));
            assertThat(incoming.keep()).isFalse();
            assertTaken(incoming);
        }
        assertThat(tier.status().failures()).isZero();
    }

    @Test
    void aDiskIsNotWaitedFor() throws IOException {
        Path disk = Files.createDirectory(directory.resolve("disk"));
        FileTier onDisk = new FileTier(
                "disk",
                10 * LENGTH,
                CacheLifetime.FEED,
                CacheSpace.claim(disk, UUID.randomUUID().toString(), Duration.ofHours(1), CacheAccess.USER),
                files,
                mappings,
                Set.of());
        try (onDisk) {
            assertThat(onDisk.reserve(chunk)).isTrue();
            assertThat(onDisk.receive(chunk)).isEmpty();
        } finally {
            Files.delete(disk.resolve("cache.lock"));
            Files.delete(disk);
        }
        assertThatThrownBy(() -> onDisk.place(chunk, null)).isInstanceOf(IOException.class);
    }
}
