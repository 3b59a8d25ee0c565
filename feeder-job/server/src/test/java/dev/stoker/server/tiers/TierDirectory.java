package dev.stoker.server.tiers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.server.chunks.ChunkBytes;
import dev.stoker.server.chunks.HeldChunks;
import dev.stoker.server.chunks.ListedChunk;
import dev.stoker.server.tiers.files.CacheAccess;
import dev.stoker.server.tiers.files.CacheLifetime;
import dev.stoker.server.tiers.files.CacheSpace;
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

/** A directory for tiers, and chunks for them. */
public final class TierDirectory implements AutoCloseable {
    public static final int LENGTH = 5000;
    /** After which what a dead feed has left is removed. */
    static final Duration HOUR = Duration.ofHours(1);

    public final Path directory;
    public final HeldChunks mappings = new HeldChunks(100);
    public final FaultyFiles files = new FaultyFiles();
    private final Random random = new Random(4);

    public TierDirectory(Path directory) {
        this.directory = directory;
    }

    @Override
    public void close() {
        mappings.close();
    }

    /** A chunk with its bytes. */
    public static final class Made implements ChunkBytes {
        public final ListedChunk chunk;
        public final ByteBuffer bytes;

        public Made(ListedChunk chunk, ByteBuffer bytes) {
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

    public Made chunk() {
        byte[] content = new byte[LENGTH];
        random.nextBytes(content);
        ByteBuffer bytes = ByteBuffer.allocateDirect(LENGTH).put(content).flip();
        UUID id = new UUID(random.nextLong(), random.nextLong());
        return new Made(new ListedChunk(id, "chunks/" + id, LENGTH, Crc32cs.of(content)), bytes);
    }

    public FileTier tier(CacheLifetime lifetime, String space, long limit, Set<UUID> ours) throws IOException {
        return new FileTier(
                "disk",
                limit,
                lifetime,
                CacheSpace.claim(directory, space, HOUR, CacheAccess.USER),
                files,
                mappings,
                ours);
    }

    public FileTier tier(String feed) throws IOException {
        return tier(CacheLifetime.FEED, feed, 100 * LENGTH, Set.of());
    }

    FileTier shared(long limit, UUID... ours) throws IOException {
        return tier(CacheLifetime.NODE, CacheSpace.NODE, limit, Set.of(ours));
    }

    public static void place(FileTier tier, Made made) throws IOException {
        assertThat(tier.reserve(made.chunk)).isTrue();
        tier.place(made.chunk, made);
    }

    public static boolean serves(FileTier tier, Made made) {
        Optional<ChunkBytes> held = tier.hold(made.chunk);
        held.ifPresent(bytes -> {
            assertThat(bytes.bytes()).isEqualTo(made.bytes);
            assertThat(bytes.file()).isPresent();
            bytes.close();
        });
        return held.isPresent();
    }

    public List<Path> chunkFiles() throws IOException {
        try (var found = Files.walk(directory)) {
            return found.filter(file -> file.toString().endsWith(".arrow")).toList();
        }
    }

    public static String feed() {
        return UUID.randomUUID().toString();
    }

    /** As a killed process leaves them. */
    public void leave(String space, Made... chunks) throws IOException {
        for (Made made : chunks) {
            Files.createDirectories(fileOf(space, made).getParent());
            byte[] content = new byte[LENGTH];
            made.bytes.duplicate().get(content);
            Files.write(fileOf(space, made), content);
        }
        Files.write(directory.resolve(space).resolve(UUID.randomUUID() + "-1.ref"), new byte[0]);
        Files.write(directory.resolve(space).resolve("loads.lock"), new byte[0]);
    }

    public Path fileOf(String space, Made made) {
        String id = made.chunk.id().toString();
        return directory.resolve(space).resolve(id.substring(34)).resolve(id + ".arrow");
    }
}
