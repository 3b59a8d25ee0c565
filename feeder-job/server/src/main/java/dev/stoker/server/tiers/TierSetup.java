package dev.stoker.server.tiers;

import dev.stoker.schemas.text.Units;
import dev.stoker.server.chunks.ChunkSources;
import dev.stoker.server.chunks.HeldChunks;
import dev.stoker.server.tiers.files.CacheFiles;
import dev.stoker.server.tiers.files.CacheLifetime;
import dev.stoker.server.tiers.files.CacheSpace;
import dev.stoker.server.tiers.files.ChunkSpace;
import dev.stoker.server.tiers.files.MemorySpace;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates the configured tiers, to the extent that this machine has what they need. */
final class TierSetup {
    private static final Logger LOG = LoggerFactory.getLogger(TierSetup.class);
    /** A feed that was gone for this time is not expected to return for its chunks. */
    private static final Duration STALE_AFTER = Duration.ofHours(1);

    private static final String MEMORY = "memory";

    private final TierOptions options;
    private final ChunkMemory memory;
    private final HeldChunks mappings;
    private final CacheFiles files;
    private final Path tmpfs;

    /** @param tmpfs where chunks are kept in memory as files, if it is a tmpfs */
    TierSetup(TierOptions options, ChunkMemory memory, HeldChunks mappings, CacheFiles files, Path tmpfs) {
        this.options = options;
        this.memory = memory;
        this.mappings = mappings;
        this.files = files;
        this.tmpfs = tmpfs;
    }

    /**
     * Sets the tiers up, in the order in which they are filled.
     *
     * @param workingBytes limit of working memory, in addition to the memory tier
     * @param budget the available memory
     * @throws IOException if a tier cannot be at its configured place, or memory does not suffice
     */
    List<Tier> tiers(UUID feed, Set<UUID> ours, long workingBytes, DirectBudget budget) throws IOException {
        List<TierSpec> specs = options.tiers().orElse(List.of(TierSpec.autoMemory()));
        if (specs.stream().allMatch(spec -> spec.directory().isPresent())) {
            budget.require(workingBytes, 0, 0);
        }
        List<Tier> tiers = new ArrayList<>();
        try {
            for (TierSpec spec : specs) {
                tiers.add(
                        spec.directory().isEmpty()
                                ? memory(spec, workingBytes, budget)
                                : disk(
                                        Path.of(spec.directory().get()),
                                        spec.bytes().orElseThrow(),
                                        feed,
                                        ours));
            }
        } catch (IOException | RuntimeException e) {
            tiers.forEach(Tier::close);
            throw e;
        }
        return tiers;
    }

    private Tier memory(TierSpec spec, long workingBytes, DirectBudget budget) throws IOException {
        long direct = spec.bytes().orElse(budget.auto(workingBytes));
        try {
            long room = MemorySpace.room(tmpfs);
            long bytes = spec.bytes().orElse(Math.min(room, budget.autoFiles(workingBytes)));
            // Half the size is still worthwhile, because trainers can read these chunks as files.
            if (bytes > room || bytes < direct / 2) {
                throw new IOException(tmpfs + " has room for " + Units.mebibytes(room) + " MiB, not for "
                        + Units.mebibytes(Math.max(bytes, direct)));
            }
            budget.require(workingBytes, 0, bytes);
            ChunkSpace space = MemorySpace.claim(tmpfs);
            try {
                LOG.info("Tier memory keeps up to {} MiB as files in {}", Units.mebibytes(bytes), space);
                return new FileTier(MEMORY, bytes, CacheLifetime.FEED, space, files, mappings, Set.of());
            } catch (IOException e) {
                space.close();
                throw e;
            }
        } catch (InsufficientMemoryException e) {
            throw e;
        } catch (IOException e) {
            String why = "chunks are in direct memory, and trainers on this machine receive them over the socket: "
                    + e.getMessage();
            LOG.warn("Tier memory: {}", why);
            budget.require(workingBytes, direct, 0);
            return new MemoryTier(memory, direct, why);
        }
    }

    private Tier disk(Path directory, long bytes, UUID feed, Set<UUID> ours) throws IOException {
        Optional<String> network = ChunkSources.network(directory);
        if (network.isPresent()) {
            throw new IOException("tier disk:" + directory + " lies on " + network.get()
                    + ", which depends on other machines: give a directory on a local disk");
        }
        String name = "disk:" + directory;
        CacheSpace space = null;
        try {
            space = CacheSpace.claim(
                    directory,
                    options.lifetime() == CacheLifetime.NODE ? CacheSpace.NODE : feed.toString(),
                    STALE_AFTER,
                    options.access());
            return new FileTier(name, bytes, options.lifetime(), space, files, mappings, ours);
        } catch (IOException e) {
            LOG.warn("Tier {} is off; the feed continues without it", name, e);
            if (space != null) {
                space.close();
            }
            return new DisabledTier(name, bytes, "it cannot be set up: " + e);
        }
    }
}
