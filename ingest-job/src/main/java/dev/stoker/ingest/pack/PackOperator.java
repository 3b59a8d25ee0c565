package dev.stoker.ingest.pack;

import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.PackReport;
import dev.stoker.connectors.dataset.TakenKeyException;
import dev.stoker.connectors.files.FileEntries;
import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.SkipCounts;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.flink.failure.FailureKind;
import dev.stoker.flink.failure.Patience;
import dev.stoker.ingest.pack.keys.BucketSort;
import dev.stoker.ingest.pack.keys.KeyRefusals;
import dev.stoker.ingest.pack.plan.PackPlan;
import dev.stoker.ingest.pack.plan.SyncRule;
import dev.stoker.ingest.pack.read.Labels;
import dev.stoker.ingest.pack.read.ReadAhead;
import dev.stoker.ingest.pack.read.SampleFields;
import dev.stoker.ingest.pack.read.SourceReads;
import dev.stoker.ingest.pack.sync.Packed;
import dev.stoker.ingest.pack.sync.SampleCheck;
import dev.stoker.ingest.pack.sync.StoredRow;
import dev.stoker.ingest.pack.sync.SyncChanges;
import dev.stoker.ingest.pack.sync.SyncDecision;
import dev.stoker.metadata.chunks.UsedClasses;
import dev.stoker.metadata.removal.RowsByChunk;
import dev.stoker.schemas.chunk.ChunkSummary;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;

/**
 * Packs sorted paths into chunks. The task's thread plans chunks and reports finished ones in the order of planning.
 * The threads of a pool read and write one chunk each.
 */
public final class PackOperator extends AbstractStreamOperator<PackReport>
        implements OneInputStreamOperator<PathBundle, PackReport>, BoundedOneInput {

    private static final long serialVersionUID = 1;

    /** Buckets whose files a sync compares at a time: a bucket may have few files. */
    private static final int BUCKETS_PER_THREAD = 4;

    private final PackPlan plan;

    private transient ObjectStore store;
    private transient @Nullable SourceTree source;
    private transient ExecutorService pool;
    private transient @Nullable ExecutorService readPool;
    private transient BlockingQueue<ChunkPacker> packers;
    private transient BlockingQueue<SampleCheck> checks;
    private transient @Nullable SyncDecision sync;
    private transient Queue<Future<Packed>> inWork;
    private transient ChunkPlanner planner;
    private transient BucketSort buckets;
    private transient List<FileEntry> listed;
    private transient byte[] lastKey;
    private transient SkipCounts skipped;
    private transient RowsByChunk removed;
    private transient UsedClasses classes;
    private transient int chunks;
    private transient Optional<IngestMeter> meter;
    private transient Counter sampleCounter;
    private transient Counter byteCounter;
    private transient Counter chunkCounter;

    public PackOperator(PackPlan plan) {
        this.plan = plan;
    }

    @Override
    public void open() throws Exception {
        super.open();
        ClassLoaderCleanup.atUnload(getRuntimeContext());
        Patience patience = Patience.ofBatch();
        store = plan.access().store().open(plan.target());
        DatasetInfo info = plan.info();
        Optional<Labels> labels = Optional.empty();
        if (plan.labelled().isPresent()) {
            labels = Optional.of(Labels.of(plan.labelled().get().rule()));
        }
        if (plan.tree().isRemote()) {
            source = Stores.openTree(plan.tree().root());
            readPool = pool(plan.readAhead(), "stoker-read-");
        }
        packers = new ArrayBlockingQueue<>(plan.threads());
        checks = new ArrayBlockingQueue<>(plan.threads());
        for (int i = 0; i < plan.threads(); i++) {
            packers.add(new ChunkPacker(
                    plan, info, store, new SampleFields(plan, info.fields(), reads(), labels), patience));
        }
        pool = pool(plan.threads(), "stoker-pack-");
        inWork = new ArrayDeque<>();
        planner = new ChunkPlanner(new Splits(plan.splitRule()), plan.chunkSizeBytes(), this::submit);
        long seed = plan.order() instanceof WalkOrder.Shuffled shuffled ? shuffled.seed() : 0;
        listed = new ArrayList<>();
        lastKey = new byte[0];
        skipped = new SkipCounts();
        removed = new RowsByChunk();
        sync = plan.sync() == null ? null : sync(plan.sync(), labels, info, patience);
        buckets = new BucketSort(
                seed,
                sync == null
                        ? new DuplicateRule(plan.onDuplicate(), KeyRefusals.OF_FILES, skipped, planner::add)
                        : sync);
        classes = new UsedClasses();
        chunks = 0;
        meter = IngestMeter.find(plan.ingest());
        sampleCounter = getMetricGroup().counter("samples");
        byteCounter = getMetricGroup().counter("sampleBytes");
        chunkCounter = getMetricGroup().counter("chunks");
    }

    private SyncDecision sync(SyncRule rule, Optional<Labels> labels, DatasetInfo info, Patience patience)
            throws IOException {
        for (int i = 0; i < plan.threads(); i++) {
            checks.add(new SampleCheck(plan, info, new SampleFields(plan, info.fields(), reads(), labels), patience));
        }
        boolean isReal = rule.run() == SyncRule.Run.REAL;
        return new SyncDecision(
                plan, rule, labels, this::check, BUCKETS_PER_THREAD * plan.threads(), new SyncDecision.Output() {
                    @Override
                    public void file(FileEntry file, @Nullable StoredRow replaces) {
                        if (isReal) {
                            planner.add(file, replaces);
                        }
                    }

                    @Override
                    public void remove(StoredRow sample) {
                        if (isReal) {
                            removed.add(sample.ordinal(), sample.row());
                        }
                    }

                    @Override
                    public void checked(SampleCheck.Checked result) {
                        skipped.add(result.skipped());
                    }
                });
    }

    private Future<SampleCheck.Checked> check(List<SampleCheck.Pair> pairs) {
        return pool.submit(() -> {
            SampleCheck check = checks.take();
            try {
                return check.check(pairs);
            } finally {
                checks.add(check);
            }
        });
    }

    private SourceReads reads() {
        return source == null || readPool == null
                ? new SourceReads.Local(plan.tree(), plan.access().files())
                : new ReadAhead(source, readPool, plan.readAhead());
    }

    private ExecutorService pool(int threads, String name) {
        int task = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        AtomicInteger number = new AtomicInteger();
        return Executors.newFixedThreadPool(threads, work -> {
            Thread thread = new Thread(work, name + task + "-" + number.getAndIncrement());
            thread.setDaemon(true);
            return thread;
        });
    }

    @Override
    public void processElement(StreamRecord<PathBundle> element) throws Exception {
        PathBundle bundle = element.getValue();
        try {
            if (bundle.kind() == PathBundle.Kind.COUNTS) {
                skipped.add(SkipCounts.fromBytes(bundle.data()));
            } else if (plan.order() instanceof WalkOrder.Listed) {
                addListed(bundle);
            } else {
                sort(bundle);
            }
            reportUntil(plan.threads());
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
    }

    private void sort(PathBundle bundle) throws Exception {
        try {
            buckets.add(bundle);
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }

    private void addListed(PathBundle bundle) throws IOException {
        FileEntries.decode(bundle, listed);
        for (FileEntry file : listed) {
            if (Arrays.equals(lastKey, file.key())) {
                throw TakenKeyException.listedTwice(file.path());
            }
            lastKey = file.key();
            planner.add(file);
        }
        listed.clear();
    }

    private void submit(PlannedChunk planned) {
        meter.ifPresent(IngestMeter::packing);
        inWork.add(pool.submit(() -> {
            ChunkPacker packer = packers.take();
            try {
                return packer.pack(planned);
            } finally {
                packers.add(packer);
            }
        }));
        meter.ifPresent(IngestMeter::packing);
    }

    /** Reports chunks in order, and waits until no more than {@code most} are in progress. */
    private void reportUntil(int most) throws Exception {
        while (!inWork.isEmpty() && (inWork.size() > most || inWork.peek().isDone())) {
            Packed packed;
            try {
                packed = inWork.remove().get();
            } catch (ExecutionException e) {
                throw failure(e);
            }
            report(packed);
        }
    }

    private static Exception failure(ExecutionException e) {
        if (e.getCause() instanceof OutOfMemoryError memory) {
            return outOfMemory(memory);
        }
        return e.getCause() instanceof Exception failure ? failure : e;
    }

    private static Exception outOfMemory(OutOfMemoryError error) {
        return new SuppressRestartsException(new IOException(
                "Out of memory while packing (" + error.getMessage()
                        + "): lower --read-threads or --chunk-size, or raise"
                        + " taskmanager.memory.task.off-heap.size (in a cluster) or -XX:MaxDirectMemorySize",
                error));
    }

    private void report(Packed packed) {
        int task = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        for (ChunkSummary chunk : packed.chunks()) {
            output.collect(new StreamRecord<>(new PackReport.Chunk(task, chunks++, chunk)));
        }
        classes.add(packed.classes());
        skipped.add(packed.skipped());
        packed.replaced().forEach(row -> removed.add(row.ordinal(), row.row()));
        sampleCounter.inc(packed.samples());
        byteCounter.inc(packed.bytes());
        chunkCounter.inc(packed.chunks().size());
        meter.ifPresent(m -> m.packed(packed));
    }

    @Override
    public void endInput() throws Exception {
        try {
            flushBuckets();
            planner.flush();
            reportUntil(0);
        } catch (IOException | RuntimeException e) {
            FailureKind.endIfFinal(e);
            throw e;
        }
        meter.ifPresent(m -> m.skipped(skipped));
        SyncDecision decided = sync;
        if (decided != null) {
            meter.ifPresent(m -> m.changes().addAll(decided.changes()));
        }
        int task = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        removed.list().forEach(rows -> output.collect(new StreamRecord<>(new PackReport.Removed(task, rows))));
        Map<String, Long> notes = MissingClasses.notes(classes.missing());
        if (decided != null) {
            notes.put(IngestRun.REMOVED, decided.changes().count(SyncChanges.Kind.REMOVED));
        }
        Map<String, String> examples = new TreeMap<>();
        skipped.byReason().forEach((reason, count) -> {
            notes.put(reason.note(), count);
            examples.put(
                    SkipNotes.EXAMPLE_PREFIX + reason.name().toLowerCase(Locale.ROOT),
                    skipped.example(reason).orElse(""));
        });
        output.collect(new StreamRecord<>(new PackReport.Done(
                task,
                getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks(),
                chunks,
                classes.names(),
                notes,
                examples)));
    }

    private void flushBuckets() throws Exception {
        try {
            buckets.flush();
        } catch (ExecutionException e) {
            throw failure(e);
        }
    }

    @Override
    public void close() throws Exception {
        try {
            // The report of a thread that still writes would be lost, and the thread must not outlive the store.
            for (ExecutorService threads : Arrays.asList(pool, readPool)) {
                if (threads != null) {
                    threads.shutdownNow();
                    threads.awaitTermination(30, TimeUnit.SECONDS);
                }
            }
        } finally {
            IOUtils.closeAll(source, store, super::close);
        }
    }
}
