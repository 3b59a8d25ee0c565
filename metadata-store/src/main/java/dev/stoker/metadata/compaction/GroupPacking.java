package dev.stoker.metadata.compaction;

import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.work.PieceWork;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.OptionalLong;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Packs the groups of a plan: a piece is one group. */
final class GroupPacking implements PieceWork<WrittenGroup> {

    private static final long serialVersionUID = 1;

    private final long version;
    private final long belowBytes;
    private final int chunkSizeBytes;
    private final @Nullable Long shuffleSeed;
    private final ArrayList<ChunkGroup> groups;
    private final String ingest;
    private final Instant began;
    private final int reads;
    /** Absent where the work was sent to. */
    private final transient @Nullable CompactionPlan plan;

    /** @param reads number of chunks that each worker reads at a time */
    GroupPacking(CompactionPlan plan, String ingest, Instant began, int reads) {
        this.version = plan.version();
        this.belowBytes = plan.rules().belowBytes();
        this.chunkSizeBytes = plan.rules().chunkSizeBytes();
        OptionalLong seed = plan.rules().shuffleSeed();
        this.shuffleSeed = seed.isPresent() ? seed.getAsLong() : null;
        this.groups = new ArrayList<>(plan.groups());
        this.ingest = ingest;
        this.began = began;
        this.reads = reads;
        this.plan = plan;
    }

    @Override
    public Supplier<GroupPacker> open(ObjectStore store) throws IOException {
        Dataset dataset = Dataset.open(store);
        Packing packing = new Packing(dataset, plan == null ? sentPlan(dataset) : plan, ingest, began);
        return () -> new GroupPacker(packing, reads);
    }

    private CompactionPlan sentPlan(Dataset dataset) throws IOException {
        OptionalLong seed = shuffleSeed == null ? OptionalLong.empty() : OptionalLong.of(shuffleSeed);
        CompactionRules rules = new CompactionRules(belowBytes, chunkSizeBytes, seed);
        return CompactionPlan.ofGroups(dataset.anySnapshot(version), groups, rules);
    }
}
