package dev.stoker.feeder.ledger;

import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How far a task's receipts have been written to the ledger, told by the sink to the source in front of it: both are parts of
 * one task. Any thread.
 */
public final class LedgerProgress {

    private record Task(UUID feed, int subtask) {}

    private static final Map<Task, LedgerProgress> TASKS = new ConcurrentHashMap<>();

    private final Task task;
    private volatile long published;

    private LedgerProgress(Task task) {
        this.task = task;
    }

    /** The progress of a task that begins; takes the place of an earlier attempt's. */
    static LedgerProgress begin(UUID feed, int subtask) {
        LedgerProgress progress = new LedgerProgress(new Task(feed, subtask));
        TASKS.put(progress.task, progress);
        return progress;
    }

    /**
     * The checkpoint up to which everything that a task had emitted before it is in the ledger.
     *
     * @return 0 if there is none
     */
    public static long published(UUID feed, int subtask) {
        LedgerProgress progress = TASKS.get(new Task(feed, subtask));
        return progress == null ? 0 : progress.published;
    }

    void reached(long checkpoint) {
        published = Math.max(published, checkpoint);
    }

    void end() {
        TASKS.remove(task, this);
    }
}
