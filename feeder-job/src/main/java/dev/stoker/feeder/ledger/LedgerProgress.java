package dev.stoker.feeder.ledger;

import dev.stoker.flink.failure.Outages;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How far a task's receipts have been written to the ledger, told by the sink to the source in front of it: both are
 * parts of one task. Any thread.
 */
public final class LedgerProgress {

    private record Task(UUID feed, int subtask) {}

    /** The attempts of each task that have not ended. A set is never changed. */
    private static final Map<Task, Set<LedgerProgress>> TASKS = new ConcurrentHashMap<>();

    private final Task task;
    private volatile long published;
    /** Why the ledger cannot be written; empty if it can. */
    private volatile String trouble = "";

    private LedgerProgress(Task task) {
        this.task = task;
    }

    /** The progress of an attempt of a task that begins. */
    static LedgerProgress begin(UUID feed, int subtask) {
        LedgerProgress progress = new LedgerProgress(new Task(feed, subtask));
        TASKS.compute(progress.task, (task, attempts) -> {
            Set<LedgerProgress> all = attempts == null ? new HashSet<>() : new HashSet<>(attempts);
            all.add(progress);
            return all;
        });
        return progress;
    }

    /**
     * The checkpoint up to which everything that a task had emitted before it is in the ledger. An attempt that was
     * cancelled may begin or end beside its successor; checkpoints that it took part in are earlier ones.
     *
     * @return 0 if there is none
     */
    public static long published(UUID feed, int subtask) {
        return TASKS.getOrDefault(new Task(feed, subtask), Set.of()).stream()
                .mapToLong(attempt -> attempt.published)
                .max()
                .orElse(0);
    }

    /** Returns why the ledger of a feed in this process cannot be written at present. */
    public static Optional<String> trouble(UUID feed) {
        return TASKS.entrySet().stream()
                .filter(entry -> entry.getKey().feed().equals(feed))
                .flatMap(entry -> entry.getValue().stream())
                .map(attempt -> attempt.trouble)
                .filter(why -> !why.isEmpty())
                .findFirst();
    }

    void cannotWrite(String why) {
        trouble = why;
        Outages.note(this, why);
    }

    void canWrite() {
        trouble = "";
        Outages.clear(this);
    }

    void reached(long checkpoint) {
        published = Math.max(published, checkpoint);
    }

    void end() {
        Outages.clear(this);
        TASKS.computeIfPresent(task, (ended, attempts) -> {
            Set<LedgerProgress> others = new HashSet<>(attempts);
            others.remove(this);
            return others.isEmpty() ? null : others;
        });
    }
}
