package dev.stoker.mount.tree;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.samples.HeadCache;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.server.chunks.ChunkSource;
import dev.stoker.server.chunks.ChunkSources;
import dev.stoker.server.chunks.HeldChunks;
import dev.stoker.server.chunks.OriginReads;
import dev.stoker.server.tiers.ChunkCache;
import dev.stoker.server.tiers.DirectBudget;
import dev.stoker.server.tiers.TierStatus;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One dataset, or several in separate directories, as a tree of files. Thread-safe. One thread looks for new
 * versions of datasets that are not pinned, and one reads samples ahead.
 */
public final class MountTree implements AutoCloseable {

    /** How long a reader of a tree that is not immutable may remember what it was told of a path. */
    public static final Duration REMEMBERED = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(MountTree.class);

    /** Chunks for which working memory suffices by default. */
    private static final int CHUNKS_IN_MEMORY = 8;

    private static final long LEAST_WORKING_BYTES = 64L << 20;

    /** Mapped files are only held by tiers; the kernel allows about 65,000 in a process. */
    private static final int MAPPINGS = 16_384;

    private final OriginReads reads = new OriginReads();
    private final HeldChunks mappings = new HeldChunks(MAPPINGS);
    private final ChunkCache cache;
    private final ChunkSources sources;
    private final Map<String, DatasetTree> trees = new LinkedHashMap<>();
    private final ScheduledExecutorService follower;
    /** Reads samples ahead. */
    private final ExecutorService background;

    private MountTree(TreeOptions options) {
        this.cache = new ChunkCache(options.tiers(), mappings, reads);
        this.sources = new ChunkSources(mappings, reads, cache);
        this.follower = Executors.newSingleThreadScheduledExecutor(task -> thread(task, "stoker-follow"));
        this.background = Executors.newSingleThreadExecutor(task -> thread(task, "stoker-read-ahead"));
    }

    private static Thread thread(Runnable task, String name) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        return thread;
    }

    /**
     * Opens the datasets, and closes their stores if that fails.
     *
     * @param mount a new id, under which versions are used
     * @param datasets one without a name, or several with different names
     * @throws IllegalArgumentException if a dataset has no field that can be the content of files
     */
    public static MountTree open(UUID mount, List<MountedDataset> datasets, TreeOptions options) throws IOException {
        MountTree tree = new MountTree(options);
        List<MountedDataset> left = new ArrayList<>(datasets);
        try {
            HeadCache heads = new HeadCache(options.headBytes());
            while (!left.isEmpty()) {
                MountedDataset next = left.get(0);
                ChunkSource source = tree.sources.of(next.store());
                left.remove(0);
                tree.add(mount, next, source, heads, options);
            }
            tree.start(mount, options);
            return tree;
        } catch (IOException | RuntimeException e) {
            for (MountedDataset unopened : left) {
                unopened.store().close();
            }
            tree.close();
            throw e;
        }
    }

    private void add(UUID mount, MountedDataset given, ChunkSource source, HeadCache heads, TreeOptions options)
            throws IOException {
        Dataset dataset = Dataset.open(sources.counted(given.store()));
        OpenVersion.Shared shared =
                new OpenVersion.Shared(dataset, source, heads, new CommitTimes(dataset), background);
        DatasetTree tree = new DatasetTree(mount, shared, sources, given, options.listsVersions());
        trees.put(given.name(), tree);
    }

    private void start(UUID mount, TreeOptions options) throws IOException {
        if (cache.isUsed()) {
            Set<UUID> ours = new HashSet<>();
            long largest = 0;
            for (DatasetTree tree : trees.values()) {
                ChunkTable table = tree.shown().snapshot().table();
                for (int i = 0; i < table.size(); i++) {
                    if (table.isLive(i)) {
                        ours.add(table.id(i));
                        largest = Math.max(largest, table.length(i));
                    }
                }
            }
            long working = options.workingBytes() > 0
                    ? options.workingBytes()
                    : Math.max(LEAST_WORKING_BYTES, CHUNKS_IN_MEMORY * largest);
            cache.start(mount, ours, working, DirectBudget.here());
            if (options.tiers().warm()) {
                trees.values().forEach(tree -> tree.shown().warm());
            }
        }
        long everyMs = Math.max(1, options.interval().toMillis());
        if (!isImmutable()) {
            ScheduledFuture<?> unused =
                    follower.scheduleWithFixedDelay(this::follow, everyMs, everyMs, TimeUnit.MILLISECONDS);
        }
    }

    private void follow() {
        for (DatasetTree tree : trees.values()) {
            try {
                tree.follow();
            } catch (IOException | RuntimeException e) {
                LOG.warn(
                        "{} still shows version {}: {}",
                        tree.dataset().where(),
                        tree.shown().number(),
                        e instanceof IOException known ? ErrorText.of(known) : e.toString());
            }
        }
    }

    /** Returns whether the tree never changes, because all datasets are pinned to a version. */
    public boolean isImmutable() {
        return trees.values().stream().allMatch(DatasetTree::isPinned);
    }

    /** Returns the version that is shown of each dataset, by name. */
    public Map<String, Long> versions() {
        return map(tree -> tree.shown().number());
    }

    /** Returns the number of samples of each dataset, by name. */
    public Map<String, Long> samples() {
        return map(tree -> tree.shown().snapshot().table().liveRows());
    }

    private Map<String, Long> map(Function<DatasetTree, Long> value) {
        return trees.entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, tree -> value.apply(tree.getValue()), (a, b) -> a, LinkedHashMap::new));
    }

    /** Returns the bytes of all chunks that are shown. */
    public long bytes() {
        return trees.values().stream()
                .mapToLong(tree -> tree.shown().snapshot().table().liveBytes())
                .sum();
    }

    /** Returns the reads of chunks and other requests to the datasets' stores. */
    public OriginReads reads() {
        return reads;
    }

    /** Returns the status of the tiers. */
    public List<TierStatus> tiers() {
        return cache.status();
    }

    /**
     * Returns what a path names; empty if nothing.
     *
     * @param path absolute, with single slashes
     */
    public Optional<Node> find(String path) throws IOException {
        List<String> names =
                path.equals("/") ? List.of() : List.of(path.substring(1).split("/", -1));
        DatasetTree only = trees.get("");
        if (only != null) {
            return only.find(names);
        }
        if (names.isEmpty()) {
            long newest = trees.values().stream()
                    .mapToLong(tree -> tree.shown().committedMs())
                    .max()
                    .orElse(0);
            return Optional.of(new FixedDirectory(
                    trees.keySet().stream().map(name -> new Listed(name, true)).toList(), newest));
        }
        DatasetTree tree = trees.get(names.get(0));
        return tree == null ? Optional.empty() : tree.find(names.subList(1, names.size()));
    }

    @Override
    public void close() {
        follower.shutdownNow();
        background.shutdownNow();
        trees.values().forEach(DatasetTree::close);
        cache.close();
        sources.close();
    }
}
