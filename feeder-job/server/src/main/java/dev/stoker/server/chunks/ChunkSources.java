package dev.stoker.server.chunks;

import dev.stoker.schemas.chunk.ChunkNames;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Chooses how the chunks of a dataset are read. Thread-safe. */
public final class ChunkSources implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ChunkSources.class);

    /**
     * File systems that are not mapped, because reading their pages may fail or hang with the network. FUSE is checked
     * separately.
     */
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
    private final RemoteChunks far;
    private final Collection<ObjectStore> stores = new ConcurrentLinkedQueue<>();

    /**
     * @param mappings mapped chunk files of all datasets
     * @param reads counts reads from mapped files and requests to datasets
     * @param far serves chunks that are not mapped in place
     */
    public ChunkSources(HeldChunks mappings, OriginReads reads, RemoteChunks far) {
        this.mappings = mappings;
        this.reads = reads;
        this.far = far;
    }

    /** Returns the same store, with all requests other than chunk reads counted. */
    public ObjectStore counted(ObjectStore store) {
        return reads.counting(store);
    }

    /**
     * Takes over a store, which is closed together with these sources.
     *
     * <p>Plain files of a local file system are mapped in place unless the tiers cache them. Other chunks are read
     * whole.
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
     * Drops chunks that were erased from their dataset: mappings of their deleted files, and copies in tiers.
     *
     * @param store the dataset's store
     */
    public void erase(ObjectStore store, Set<UUID> chunks) {
        for (UUID chunk : chunks) {
            store.localPath(ChunkNames.path(chunk)).ifPresent(mappings::forget);
        }
        far.erase(chunks);
    }

    /**
     * Returns the type of a path's file system, if files of that type must not be mapped. The path need not exist yet.
     *
     * @throws IOException if the type cannot be determined
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

    /** Returns the number of mapped files. */
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
