package dev.stoker.feeder.node.chunks;

import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Chooses how a dataset's chunks are read. Thread-safe. */
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
    private final OriginReads reads;
    private final FarChunks far;
    private final Collection<ObjectStore> stores = new ConcurrentLinkedQueue<>();

    /**
     * @param mappings mapped chunk files, over all datasets
     * @param reads counts what is read from mapped files, and what is asked of datasets
     * @param far serves what is not mapped in place
     */
    public ChunkSources(HeldChunks mappings, OriginReads reads, FarChunks far) {
        this.mappings = mappings;
        this.reads = reads;
        this.far = far;
    }

    /** The same store, of which what is asked besides chunks is counted. */
    public ObjectStore counted(ObjectStore store) {
        return reads.counting(store);
    }

    /**
     * Takes over a store, which is closed with the sources.
     *
     * <p>Plain files of a local file system are mapped in place unless they are to be cached; other chunks are read whole.
     */
    public ChunkSource of(ObjectStore store) throws IOException {
        stores.add(store);
        Optional<Path> folder = store.localPath("chunks");
        if (folder.isEmpty() || far.servesFiles()) {
            return far.of(store);
        }
        Optional<String> network = network(folder.get());
        if (network.isPresent()) {
            LOG.info("{} is on {}: chunks are read instead of mapped", folder.get(), network.get());
            return far.of(store);
        }
        return new MappedChunks(store, mappings, reads);
    }

    /**
     * The type of the file system that a path lies on, or will lie on, if files of it must not be mapped.
     *
     * @throws IOException if it cannot be found out
     */
    public static Optional<String> network(Path path) throws IOException {
        return Optional.of(Files.getFileStore(existing(path.toAbsolutePath())).type())
                .filter(ChunkSources::isRemote);
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

    /** Mapped files now. */
    public int mapped() {
        return mappings.size();
    }

    @Override
    public void close() {
        mappings.close();
        for (ObjectStore store : stores) {
            try {
                store.close();
            } catch (IOException e) {
                LOG.warn("The store {} was not closed: {}", store, e.toString());
            }
        }
    }
}
