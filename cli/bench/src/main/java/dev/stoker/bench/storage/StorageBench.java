package dev.stoker.bench.storage;

import dev.stoker.bench.measure.Latencies;
import dev.stoker.bench.measure.Machine;
import dev.stoker.bench.measure.Progress;
import dev.stoker.bench.measure.Rounds;
import dev.stoker.metadata.Dataset;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;

/**
 * Measures one store. Each round measures all cells one after the other, so that a change of the machine's speed
 * affects all of them. For one thread, which starts as many others as there are reads at a time.
 */
public final class StorageBench {

    /** The share of the time for metadata operations. */
    private static final double METADATA_SHARE = 0.15;

    private static final long LEAST_CELL_NANOS = 5_000_000;

    private final String target;
    private final StorageOptions options;
    private final Progress progress;
    private final List<String> notes = new ArrayList<>();
    private final Map<ReadCase.Cache, BlockSource> sources = new EnumMap<>(ReadCase.Cache.class);
    private final Map<ReadCase, List<ReadRun.Outcome>> outcomes = new LinkedHashMap<>();
    private final Limits limits;
    private @Nullable LocalBlocks cached;
    /** The files that are read through the page cache. */
    private List<TestFile> cachedFiles = List.of();

    /** @param target directory or URI of a place for test files, or of a dataset */
    public StorageBench(String target, StorageOptions options, Progress progress) {
        this(target, options, progress, Limits.ofThisMachine());
    }

    StorageBench(String target, StorageOptions options, Progress progress, Limits limits) {
        this.limits = limits;
        this.target = target;
        this.options = options;
        this.progress = progress;
    }

    /**
     * Measures, and removes all files that it has written, also after a failure or a stop.
     *
     * @return the cells that were measured before the time was over or the user stopped
     */
    public StorageResult run() throws IOException, InterruptedException {
        if (!Stores.isRemote(target)) {
            TestFiles.requireDirectory(Stores.local(target));
        }
        try (ObjectStore store = Stores.open(Stores.normalize(target))) {
            Optional<Dataset> dataset = Dataset.find(store);
            if (dataset.isEmpty() && !Stores.isRemote(target)) {
                TestFiles.requireSpace(Stores.local(target), options.sizeBytes());
            }
            try (TestFiles files =
                    dataset.isPresent() ? TestFiles.ofDataset(dataset.get()) : TestFiles.inFolder(store)) {
                if (files.areOwn()) {
                    progress.doing("writing test files");
                    files.write(options.sizeBytes(), options.fileBytes(), progress);
                }
                return measure(store, files);
            }
        }
    }

    private StorageResult measure(ObjectStore store, TestFiles files) throws IOException, InterruptedException {
        ExecutorService threads = Executors.newFixedThreadPool(options.greatestDepth());
        MetadataRun metadata = new MetadataRun(store, files, progress);
        try {
            open(store, files);
            rounds(cases(files.files()), files, metadata, threads);
        } finally {
            threads.shutdownNow();
            closeSources();
        }
        int rounds = outcomes.values().stream().mapToInt(List::size).min().orElse(options.rounds());
        if (rounds < options.rounds()) {
            notes.add("the time sufficed for " + rounds + " of " + options.rounds() + " rounds");
        }
        Machine.note(progress.loadBefore()).ifPresent(notes::add);
        return new StorageResult(
                target,
                new StorageResult.Files(
                        files.areOwn() ? "test file" : "chunk", files.files().size(), files.bytes()),
                files.writeRate(),
                reads(),
                metadata.results(),
                notes);
    }

    private void open(ObjectStore store, TestFiles files) throws IOException, InterruptedException {
        Optional<List<Path>> paths = files.paths();
        if (files.files().isEmpty()) {
            return;
        }
        if (paths.isEmpty()) {
            sources.put(ReadCase.Cache.REMOTE, new StoreBlocks(store, files.files()));
            notes.add("remote: each read is a request; nothing on this machine is cached, but the store can cache");
            return;
        }
        try {
            LocalBlocks.requireDisk(paths.get().get(0));
            sources.put(ReadCase.Cache.COLD, LocalBlocks.direct(paths.get()));
            notes.add("cold: reads bypass the page cache (O_DIRECT) and its read-ahead; the disk, its controller or a"
                    + " hypervisor can still cache");
        } catch (IOException | UnsupportedOperationException e) {
            notes.add("cold: not measured, because this file system is in memory, or does not support reads that bypass"
                    + " the page cache (O_DIRECT)");
        }
        cachedFiles = fitting(files.files());
        cached = LocalBlocks.cached(paths.get().subList(0, cachedFiles.size()));
        sources.put(ReadCase.Cache.WARM, cached);
        notes.add("warm: "
                + (cachedFiles.size() == files.files().size()
                        ? "all files"
                        : "only the first " + cachedFiles.size() + " of "
                                + files.files().size() + " files, which fit in half of the available memory,")
                + " were read before, and are in the page cache if memory suffices");
    }

    /** Returns the first files that the page cache keeps; at least one. */
    private List<TestFile> fitting(List<TestFile> files) {
        long bytes = files.get(0).length();
        int count = 1;
        while (count < files.size() && bytes + files.get(count).length() <= limits.cachedBytes()) {
            bytes += files.get(count++).length();
        }
        return files.subList(0, count);
    }

    private List<TestFile> files(ReadCase.Cache cache, List<TestFile> files) {
        return cache == ReadCase.Cache.WARM ? cachedFiles : files;
    }

    private List<ReadCase> cases(List<TestFile> files) {
        List<ReadCase> cases = new ArrayList<>();
        for (ReadCase.Cache cache : ReadCase.Cache.values()) {
            for (ReadCase.Pattern pattern : ReadCase.Pattern.values()) {
                for (int block : options.blockBytes()) {
                    if (sources.containsKey(cache) && new Blocks(files(cache, files), block).count() > 0) {
                        options.depths().stream()
                                .filter(depth -> hasBuffers(block, depth))
                                .forEach(depth -> cases.add(new ReadCase(pattern, cache, block, depth)));
                    }
                }
            }
        }
        for (int block : options.blockBytes()) {
            if (new Blocks(files, block).count() == 0) {
                notes.add("no file has a block of " + StorageOptions.block(block));
            }
            options.depths().stream()
                    .filter(depth -> !hasBuffers(block, depth))
                    .forEach(depth -> notes.add(StorageOptions.block(block) + ", " + depth
                            + " at a time: not measured, because the buffers do not fit in Java's memory; give it more,"
                            + " for example with STOKER_JAVA_OPTS=-Xmx2g"));
        }
        return cases;
    }

    private boolean hasBuffers(int block, int depth) {
        return (long) block * depth <= limits.bufferBytes();
    }

    private void rounds(List<ReadCase> cases, TestFiles files, MetadataRun metadata, ExecutorService threads)
            throws IOException, InterruptedException {
        long began = System.nanoTime();
        long readNanos = (long) (options.time().toNanos() * (1 - METADATA_SHARE));
        Duration metadataTime = Duration.ofNanos((options.time().toNanos() - readNanos) / options.rounds() / 2);
        long cells = (long) cases.size() * options.rounds();
        long spentElsewhere = 0;
        for (int round = 0; round < options.rounds(); round++) {
            long paused = System.nanoTime();
            // The first round is complete even if the time is over, so that no cell is empty.
            if (round > 0 && (progress.isStopped() || paused - began - spentElsewhere >= readNanos)) {
                break;
            }
            if (cached != null) {
                progress.doing("reading all files into the page cache");
                cached.warm(progress);
            }
            spentElsewhere += System.nanoTime() - paused;
            for (ReadCase one : cases) {
                long left = readNanos - (System.nanoTime() - began - spentElsewhere);
                if (progress.isStopped() || (left <= 0 && round > 0)) {
                    break;
                }
                progress.doing("round " + (round + 1) + " of " + options.rounds() + ": " + one);
                Duration time = Duration.ofNanos(Math.max(LEAST_CELL_NANOS, left / cells));
                outcomes.computeIfAbsent(one, key -> new ArrayList<>())
                        .add(new ReadRun(
                                        one,
                                        files(one.cache(), files.files()),
                                        Objects.requireNonNull(sources.get(one.cache())),
                                        progress)
                                .run(time, round, threads));
                cells--;
            }
            long before = System.nanoTime();
            for (int depth : new TreeSet<>(List.of(1, options.greatestDepth()))) {
                if (!progress.isStopped()) {
                    progress.doing("round " + (round + 1) + ": metadata operations, " + depth + " at a time");
                    metadata.round(round, depth, metadataTime, threads);
                }
            }
            spentElsewhere += System.nanoTime() - before;
        }
    }

    private List<StorageResult.Read> reads() {
        List<StorageResult.Read> reads = new ArrayList<>();
        outcomes.forEach((of, rounds) -> {
            Latencies latencies = new Latencies();
            rounds.forEach(round -> latencies.add(round.latencies()));
            reads.add(new StorageResult.Read(
                    of,
                    new Rounds(
                            rounds.stream().map(ReadRun.Outcome::bytesPerSecond).toList()),
                    latencies.quantile(0.5),
                    latencies.quantile(0.99)));
        });
        return reads;
    }

    private void closeSources() throws IOException {
        for (BlockSource source : sources.values()) {
            source.close();
        }
    }

    /** Blocks of objects, each with one request to the store, as feeders read parts of chunks. */
    private static final class StoreBlocks implements BlockSource {
        private final ObjectStore store;
        private final List<TestFile> files;

        /** @param store stays open */
        StoreBlocks(ObjectStore store, List<TestFile> files) {
            this.store = store;
            this.files = List.copyOf(files);
        }

        @Override
        public Reader reader(int blockBytes) {
            ByteBuffer buffer = ByteBuffer.allocate(blockBytes);
            return block -> store.read(files.get(block.file()).name(), block.offset(), buffer.clear());
        }

        @Override
        public void close() {}
    }
}
