package dev.stoker.feeder.node.tiers;

import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.util.Map;
import java.util.UUID;

/** Where a tier keeps chunks as files, and a claim of this process on it. Thread-safe. */
interface ChunkSpace extends AutoCloseable {
    /** The file of a chunk; what lies between it and the space is one directory, which whoever makes the file makes first. */
    Path path(UUID id);

    /** The chunks that lie there, and their lengths. */
    Map<UUID, Long> list() throws IOException;

    /** Removes what processes that died have not finished; only while nobody else is at work. */
    void removeUnfinished() throws IOException;

    /** Whether others than this claim use the space now. */
    boolean isShared() throws IOException;

    /** Waits until no other process brings a chunk, and keeps others from doing so until the lock is closed. */
    FileLock lockLoad(UUID id) throws IOException;

    /** Whether its files lie in memory, so that writing one takes no time that is worth a thread. */
    boolean isMemory();

    /** Lets go of the space, and removes it if it was of this feed alone. */
    @Override
    void close() throws IOException;
}
