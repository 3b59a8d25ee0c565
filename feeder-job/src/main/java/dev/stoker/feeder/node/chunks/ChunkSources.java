package dev.stoker.feeder.node.chunks;

import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Chooses how a dataset's chunks are read, and counts the reads. Thread-safe. */
public final class ChunkSources implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ChunkSources.class);

    /** File systems whose pages may fail or hang with the network, so that they are not mapped; FUSE comes beside. */
    private static final Set<String> REMOTE = Set.of(
            "nfs",
            "nfs4",
            "cifs",
            "smb2",
            "smb3",
            "smbfs",
            "lustre",
            "gpfs",
            "beegfs",
            "ceph",
            "glusterfs",
            "afs",
            "9p",
            "virtiofs",
            "orangefs",
            "panfs",
            "wekafs");

    private final HeldChunks mappings;
    private final HeldChunks read;
    private final OriginReads reads = new OriginReads();

    /**
     * @param maxMappings chunk files mapped at a time, over all datasets
     * @param readLimitBytes chunks kept in memory that cannot be mapped
     */
    public ChunkSources(int maxMappings, long readLimitBytes) {
        mappings = new HeldChunks(maxMappings);
        read = new HeldChunks(readLimitBytes);
    }

    /** Plain files of a local file system are mapped in place; any other chunks are read whole. */
    public ChunkSource of(ObjectStore store) throws IOException {
        Optional<Path> folder = store.localPath("chunks");
        if (folder.isEmpty()) {
            return new ReadChunks(store, read, reads);
        }
        String type = Files.getFileStore(existing(folder.get())).type();
        if (isRemote(type)) {
            LOG.info("{} is on {}: chunks are read into working memory instead of mapped", folder.get(), type);
            return new ReadChunks(store, read, reads);
        }
        return new MappedChunks(store, mappings, reads);
    }

    private static Path existing(Path path) {
        Path known = path;
        while (!Files.exists(known) && known.getParent() != null) {
            known = known.getParent();
        }
        return known;
    }

    static boolean isRemote(String fileSystem) {
        String type = fileSystem.toLowerCase(Locale.ROOT);
        return REMOTE.contains(type) || type.startsWith("fuse");
    }

    /** Reads from the origin. */
    public long reads() {
        return reads.reads();
    }

    /** Bytes of those. */
    public long readBytes() {
        return reads.bytes();
    }

    /** Mapped files now. */
    public int mapped() {
        return mappings.size();
    }

    /** Bytes of chunks that were read because they cannot be mapped. */
    public long heldBytes() {
        return read.used();
    }

    @Override
    public void close() {
        mappings.close();
        read.close();
    }
}
