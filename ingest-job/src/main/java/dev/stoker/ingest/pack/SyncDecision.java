package dev.stoker.ingest.pack;

import dev.stoker.connectors.files.FileEntry;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Decides which files of a source a sync packs, and which samples of the dataset it removes. A pool reads the files
 * that must be read for the decision; the files are passed on in the order of the sort nevertheless. For one thread.
 */
final class SyncDecision implements BucketSort.Keys {

    /** Reads files in a pool. */
    interface Checks {
        Future<SampleCheck.Checked> submit(List<SampleCheck.Pair> pairs);
    }

    /** Takes the decisions, in order. */
    interface Output {
        /** @param replaces the sample of the dataset that the file replaces, if any */
        void file(FileEntry file, @Nullable StoredRow replaces);

        void remove(StoredRow sample);

        void checked(SampleCheck.Checked result);
    }

    /** Files of one bucket in the order of the sort, and the results for those that are compared by content. */
    private record Bucket(List<Pending> files, @Nullable Future<SampleCheck.Checked> checked) {}

    /**
     * A file.
     *
     * @param stored its sample, if there is one
     * @param isChecked whether a result for it is awaited
     */
    private record Pending(FileEntry file, @Nullable StoredState stored, boolean isChecked) {}

    private final PackPlan plan;
    private final SyncRule rule;
    private final FileTimes times;
    private final Optional<Labels> labels;
    private final Checks checks;
    private final int most;
    private final Output output;
    private final SyncChanges changes = new SyncChanges();
    private final Deque<Bucket> buckets = new ArrayDeque<>();
    private List<Pending> files = new ArrayList<>();
    private List<SampleCheck.Pair> pairs = new ArrayList<>();

    /** @param most buckets whose files may be read at a time */
    SyncDecision(PackPlan plan, SyncRule rule, Optional<Labels> labels, Checks checks, int most, Output output) {
        this.plan = plan;
        this.rule = rule;
        this.times = new FileTimes(plan.tree(), plan.sidecarList());
        this.labels = labels;
        this.checks = checks;
        this.most = most;
        this.output = output;
    }

    /** Returns the changes that were found so far. */
    SyncChanges changes() {
        return changes;
    }

    @Override
    public void key(@Nullable FileEntry file, @Nullable FileEntry taken) {
        StoredState stored = taken == null ? null : StoredState.of(taken);
        if (file != null) {
            file(file, stored);
        } else if (taken != null && stored != null) {
            boolean isRemoved = rule.missing() == SyncRule.Missing.REMOVE;
            changes.add(isRemoved ? SyncChanges.Kind.REMOVED : SyncChanges.Kind.MISSING, taken.path());
            if (isRemoved) {
                output.remove(stored.place());
            }
        }
    }

    private void file(FileEntry file, @Nullable StoredState stored) {
        if (stored == null || isSurelyChanged(file, stored)) {
            files.add(new Pending(file, stored, false));
        } else if (rule.comparison() == SyncRule.Comparison.TIME && times.areBefore(file, stored.before())) {
            changes.add(SyncChanges.Kind.UNCHANGED, file.path());
        } else {
            files.add(new Pending(file, stored, true));
            pairs.add(new SampleCheck.Pair(file, stored));
        }
    }

    private boolean isSurelyChanged(FileEntry file, StoredState stored) {
        long sidecars = 0;
        for (int i = 0; i < plan.sidecarList().size(); i++) {
            sidecars |= file.sidecars()[i] >= 0 ? 1L << i : 0;
        }
        // A file without a label is left out, or ends the sync.
        long label = labels.flatMap(of -> of.of(file.path()))
                .map(StoredStates::labelHash)
                .orElse(stored.labelHash());
        return file.size() != stored.length() || sidecars != stored.sidecars() || label != stored.labelHash();
    }

    @Override
    public void endBucket() throws ExecutionException, InterruptedException {
        if (!files.isEmpty()) {
            buckets.add(new Bucket(files, pairs.isEmpty() ? null : checks.submit(pairs)));
            files = new ArrayList<>();
            pairs = new ArrayList<>();
        }
        passUntil(most);
    }

    /** Passes on the files of all buckets. */
    @Override
    public void end() throws ExecutionException, InterruptedException {
        passUntil(0);
    }

    private void passUntil(int left) throws ExecutionException, InterruptedException {
        while (!buckets.isEmpty() && (buckets.size() > left || isDone(buckets.peek()))) {
            pass(buckets.remove());
        }
    }

    private static boolean isDone(Bucket bucket) {
        return bucket.checked() == null || bucket.checked().isDone();
    }

    private void pass(Bucket bucket) throws ExecutionException, InterruptedException {
        List<Boolean> changed = List.of();
        if (bucket.checked() != null) {
            SampleCheck.Checked result = bucket.checked().get();
            output.checked(result);
            changed = result.changed();
        }
        int next = 0;
        for (Pending pending : bucket.files()) {
            boolean isUnchanged = pending.isChecked() && !changed.get(next++);
            SyncChanges.Kind kind = isUnchanged
                    ? SyncChanges.Kind.UNCHANGED
                    : pending.stored() == null ? SyncChanges.Kind.ADDED : SyncChanges.Kind.CHANGED;
            changes.add(kind, pending.file().path());
            if (!isUnchanged) {
                output.file(
                        pending.file(),
                        pending.stored() == null ? null : pending.stored().place());
            }
        }
    }
}
