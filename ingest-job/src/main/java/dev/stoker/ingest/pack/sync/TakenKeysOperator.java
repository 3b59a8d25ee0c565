package dev.stoker.ingest.pack.sync;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.connectors.files.PathBundle;
import dev.stoker.connectors.files.source.reader.ShuffledBundler;
import dev.stoker.flink.cleanup.ClassLoaderCleanup;
import dev.stoker.ingest.pack.plan.PackPlan;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.storage.ObjectStore;
import java.nio.charset.StandardCharsets;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.jspecify.annotations.Nullable;

/**
 * Reads the keys of a version's chunks, so that the sort compares them with the new ones. Its input is indexes in the
 * chunk table. It holds one head at a time, and no payload. The size of an entry is the ordinal of the sample's chunk,
 * the time its row; a sync needs more, see {@link StoredState}. Runs on the task's thread.
 */
public final class TakenKeysOperator extends AbstractStreamOperator<PathBundle>
        implements OneInputStreamOperator<Long, PathBundle>, BoundedOneInput {

    private static final long serialVersionUID = 1;
    private static final long[] NO_SIDECARS = {};

    private final SampleAccess access;
    private final String target;
    private final long version;
    private final long seed;
    private final @Nullable PackPlan sync;

    private transient ObjectStore store;
    private transient ChunkTable table;
    private transient ShuffledBundler bundler;
    private transient @Nullable StoredStates states;

    /**
     * @param access opens the dataset
     * @param target directory of the dataset
     * @param version whose keys are read
     * @param seed of the shuffle
     */
    public TakenKeysOperator(SampleAccess access, String target, long version, long seed) {
        this(access, target, version, seed, null);
    }

    private TakenKeysOperator(SampleAccess access, String target, long version, long seed, @Nullable PackPlan sync) {
        this.access = access;
        this.target = target;
        this.version = version;
        this.seed = seed;
        this.sync = sync;
    }

    /**
     * Returns an operator that also describes the samples, if the plan is one of a sync.
     *
     * @param version whose samples are read
     */
    public static TakenKeysOperator of(PackPlan plan, long version, long seed) {
        return new TakenKeysOperator(plan.access(), plan.target(), version, seed, plan.sync() == null ? null : plan);
    }

    @Override
    public void open() throws Exception {
        super.open();
        ClassLoaderCleanup.atUnload(getRuntimeContext());
        store = access.store().open(target);
        Dataset dataset = Dataset.open(store);
        table = dataset.anySnapshot(version).table();
        states = sync == null ? null : new StoredStates(sync, dataset, version);
        bundler =
                new ShuffledBundler(seed, PathBundle.Kind.TAKEN, bundle -> output.collect(new StreamRecord<>(bundle)));
    }

    @Override
    public void processElement(StreamRecord<Long> element) throws Exception {
        int index = Math.toIntExact(element.getValue());
        if (!table.isLive(index)) {
            return;
        }
        ChunkHead head = ChunkHeads.readStored(store, table, index);
        ChunkHead current = states == null ? head : ChunkHeads.current(store, table, index, head);
        int[] removed = table.removedRows(index);
        int next = 0;
        for (int row = 0; row < head.rows(); row++) {
            if (next < removed.length && removed[next] == row) {
                next++;
                continue;
            }
            byte[] key = head.key(row).getBytes(StandardCharsets.UTF_8);
            long ordinal = table.ordinal(index);
            long[] numbers = states == null
                    ? NO_SIDECARS
                    : states.of(head, current, table.addedIn(index), new StoredRow(ordinal, row))
                            .numbers();
            bundler.add("", key, key.length, ordinal, row, numbers);
        }
    }

    /** Returns the place of a sample that this operator has emitted. */
    public static StoredRow place(FileEntry taken) {
        return new StoredRow(taken.size(), (int) taken.modifiedMs());
    }

    @Override
    public void endInput() {
        bundler.flush();
    }

    @Override
    public void close() throws Exception {
        if (store != null) {
            store.close();
        }
        super.close();
    }
}
