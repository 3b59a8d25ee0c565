package dev.stoker.metadata.copy;

import dev.stoker.metadata.Dataset;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Copies a dataset to another store: the same id, log, versions, chunks and tags. Copies only what the target lacks. If
 * the process dies at any moment, the target is intact, and another copy completes it. Writers may work on the source,
 * and other copies on the target. Normative: {@code docs/formats/dataset.md}, "Copies".
 *
 * <p>The order of the steps makes this safe. The leases at both ends keep garbage collection from deleting chunks. Each
 * chunk and each overlay is verified, and complete at the target, before the first log entry that names it is
 * published.
 */
public final class DatasetCopy {

    /** Follows the work; called by several threads. */
    public interface Listener {
        /** The work is known, before the first chunk is copied. */
        void planned(CopyResult plan);

        /** Bytes of chunks were copied since the last call. */
        void copied(long bytes);

        /** Returns whether the copy should end. It ends with an {@link java.io.InterruptedIOException}. */
        default boolean isStopped() {
            return false;
        }
    }

    private final Dataset source;
    private final ObjectStore target;
    private final CopyRule rule;
    private final InstantSource clock;
    private final String by;
    private final Listener listener;

    /** @param by user and host, for people */
    public DatasetCopy(
            Dataset source, ObjectStore target, CopyRule rule, InstantSource clock, String by, Listener listener) {
        this.source = source;
        this.target = target;
        this.rule = rule;
        this.clock = clock;
        this.by = by;
        this.listener = listener;
    }

    /**
     * Checks, without a change, that the source has the version, and that the target has no other dataset.
     *
     * @throws dev.stoker.metadata.copy.CopyRefusedException if the target has another dataset
     * @throws dev.stoker.metadata.UnknownVersionException if there is no such version
     */
    public void check() throws IOException {
        Replica.find(source, target);
        if (rule.version().isPresent()) {
            source.entry(rule.version().getAsLong());
        }
    }

    /**
     * Returns what a copy would do, without a change. Counts chunks and versions only.
     *
     * @throws dev.stoker.metadata.copy.CopyRefusedException if the target has another dataset, or other versions
     */
    public CopyResult plan() throws IOException {
        return described(CopyPlan.of(source, Replica.find(source, target), target, rule));
    }

    private static CopyResult described(CopyPlan plan) {
        int[] absent = plan.absent();
        long bytes = Arrays.stream(absent)
                .mapToLong(chunk -> plan.table().length(chunk))
                .sum();
        return new CopyResult(
                plan.before(),
                plan.last(),
                plan.last(),
                plan.missing().size(),
                new CopyResult.Files(absent.length, bytes),
                (long) plan.needed().length - absent.length,
                CopyResult.Files.NONE,
                List.of());
    }

    /**
     * Copies. If chunks of the source are damaged, copies the others, and publishes no version that needs one.
     *
     * @throws dev.stoker.metadata.copy.CopyRefusedException if the target has another dataset, or other versions
     * @throws dev.stoker.metadata.gc.CollectionRunningException if a garbage collection runs at the target
     */
    public CopyResult run() throws IOException {
        CopyLease there = CopyLease.atSource(source, clock, by);
        try {
            Replica replica = Replica.findOrCreate(source, target);
            try (CopyLease here = CopyLease.atTarget(replica.dataset(), clock, by)) {
                return run(replica, here);
            }
        } finally {
            there.close();
        }
    }

    private CopyResult run(Replica replica, CopyLease here) throws IOException {
        CopyPlan plan = CopyPlan.of(source, Optional.of(replica), target, rule);
        CopyResult planned = described(plan);
        listener.planned(planned);
        ChunkCopies chunks = new ChunkCopies(source.store(), target, plan, listener);
        chunks.run(rule);
        OverlayCopies overlays = new OverlayCopies(source, target, plan);
        long last = overlays.run(rule, plan.visible(chunks.damaged()));
        here.require();
        int versions = new EntryCopies(source, replica, plan, rule.threads()).publish(last);
        long visible = Math.max(last, plan.before());
        CopyResult.Files others = overlays.copied().plus(new CopyResult.Files(replica.copyTables(visible), 0));
        PlainCopies plain = new PlainCopies(source.store(), target);
        others = others.plus(plain.copyIndex(visible));
        int tags = TagCopies.copy(plan, source, replica.dataset(), visible, rule);
        others = others.plus(new CopyResult.Files(tags, 0));
        if (rule.has(CopyRule.Extra.LEDGERS)) {
            others = others.plus(plain.copyLeftFiles());
        }
        return new CopyResult(
                plan.before(),
                visible,
                plan.last(),
                versions,
                chunks.copied(),
                planned.present(),
                others,
                Stream.concat(chunks.problems().stream(), overlays.problems().stream())
                        .toList());
    }
}
