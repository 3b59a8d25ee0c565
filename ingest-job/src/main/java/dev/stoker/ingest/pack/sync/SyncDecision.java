package dev.stoker.ingest.pack.sync;

import dev.stoker.connectors.files.FileEntry;
import dev.stoker.ingest.pack.keys.BucketSort;
import dev.stoker.ingest.pack.plan.PackPlan;
import dev.stoker.ingest.pack.plan.SyncRule;
import dev.stoker.ingest.pack.read.Labels;
import dev.stoker.ingest.pack.sync.StoredState.Origin;
import dev.stoker.ingest.pack.sync.SyncChanges.Kind;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/**
 * Decides which files of a source a sync packs, and which samples of the dataset it removes. A pool reads the files
 * that must be read for the decision; the files are passed on in the order of the sort nevertheless. For one thread.
 */
public final class SyncDecision implements BucketSort.Keys {

    /** Reads files in a pool. */
    public interface Checks {
        Future<SampleCheck.Checked> submit(List<SampleCheck.Pair> pairs);
    }

    /** Takes the decisions, in order. */
    public interface Output {
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
     * @param kind the decision; null if it needs the result of a comparison
     */
    private record Pending(
            FileEntry file,
            @Nullable StoredState stored,
            @Nullable Kind kind) {}

    private final PackPlan plan;
    private final SyncRule rule;
    private final FileTimes times;
    private final Optional<Labels> labels;
    private final Checks checks;
    private final boolean isPayload;
    private final int most;
    private final Output output;
    private final SyncChanges changes = new SyncChanges();
    private final Deque<Bucket> buckets = new ArrayDeque<>();
    private List<Pending> files = new ArrayList<>();
    private List<SampleCheck.Pair> pairs = new ArrayList<>();

    /** @param most buckets whose files may be read at a time */
    public SyncDecision(PackPlan plan, SyncRule rule, Optional<Labels> labels, Checks checks, int most, Output output)
            throws IOException {
        this.plan = plan;
        this.rule = rule;
        this.times = new FileTimes(plan.tree(), plan.sidecarList());
        this.labels = labels;
        this.checks = checks;
        this.isPayload = plan.info().fields().stream()
                .anyMatch(field -> field.payload() && field.name().equals(plan.content()));
        this.most = most;
        this.output = output;
    }

    /** Returns the changes that were found so far. */
    public SyncChanges changes() {
        return changes;
    }

    @Override
    public void key(@Nullable FileEntry file, @Nullable FileEntry taken) {
        StoredState stored = taken == null ? null : StoredState.of(taken);
        if (file != null) {
            file(file, stored);
        } else if (taken != null && stored != null) {
            boolean isRemoved = rule.missing() == SyncRule.Missing.REMOVE;
            changes.add(isRemoved ? Kind.REMOVED : Kind.MISSING, taken.path());
            if (isRemoved) {
                output.remove(stored.place());
            }
        }
    }

    private void file(FileEntry file, @Nullable StoredState stored) {
        if (stored == null) {
            files.add(new Pending(file, null, Kind.ADDED));
            return;
        }
        // The file of a sample with values of unknown origin is read, to see which of its fields differ.
        Kind sure = stored.origin() == Origin.MERGED ? null : sureChange(file, stored);
        if (sure != null) {
            files.add(new Pending(file, stored, sure));
        } else if (rule.comparison() == SyncRule.Comparison.TIME && times.areBefore(file, stored.before())) {
            changes.add(Kind.UNCHANGED, file.path());
        } else {
            files.add(new Pending(file, stored, null));
            pairs.add(new SampleCheck.Pair(file, stored));
        }
    }

    /** Returns how a file surely differs from its sample, or null if it must be read for that. */
    private @Nullable Kind sureChange(FileEntry file, StoredState stored) {
        long sidecars = 0;
        for (int i = 0; i < plan.sidecarList().size(); i++) {
            sidecars |= file.sidecars()[i] >= 0 ? 1L << i : 0;
        }
        if (file.size() != stored.length() || sidecars != stored.sidecars()) {
            return kept(stored, Kind.CHANGED);
        }
        // A file without a label is left out, or ends the sync.
        long label = labels.flatMap(of -> of.of(file.path()))
                .map(StoredStates::labelHash)
                .orElse(stored.labelHash());
        return label == stored.labelHash() ? null : kept(stored, Kind.RELABELLED);
    }

    /** Returns what happens to a sample that differs from its file. */
    private Kind kept(StoredState stored, Kind change) {
        boolean stays = stored.origin() != Origin.PACKED && rule.updated() == SyncRule.Updated.STAY;
        return stays ? Kind.UPDATED : change;
    }

    private Kind kind(StoredState stored, SampleCheck.Difference difference) {
        return switch (difference) {
            case NONE -> Kind.UNCHANGED;
            // No update sets payload.
            case CONTENT -> stored.origin() == Origin.MERGED && isPayload ? Kind.CHANGED : kept(stored, Kind.CHANGED);
            case VALUES -> kept(stored, Kind.CHANGED);
        };
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
        List<SampleCheck.Difference> differences = List.of();
        if (bucket.checked() != null) {
            SampleCheck.Checked result = bucket.checked().get();
            output.checked(result);
            differences = result.differences();
        }
        int next = 0;
        for (Pending pending : bucket.files()) {
            StoredState stored = pending.stored();
            Kind kind = pending.kind();
            if (kind == null) {
                kind = kind(
                        Objects.requireNonNull(stored, "a file is compared with a sample"), differences.get(next++));
            }
            changes.add(kind, pending.file().path());
            if (kind != Kind.UNCHANGED && kind != Kind.UPDATED) {
                output.file(pending.file(), stored == null ? null : stored.place());
            }
        }
    }
}
