package dev.stoker.flink.launch;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A job that was launched. For one thread. */
public interface RunningJob {

    /** Completes when the job has ended, exceptionally if it failed. */
    CompletableFuture<?> end();

    /**
     * Waits for the end of the job.
     *
     * @return whether it has ended within the time
     * @throws ExecutionException if it failed
     */
    default boolean ended(Duration limit) throws ExecutionException, InterruptedException {
        try {
            end().get(limit.toMillis(), TimeUnit.MILLISECONDS);
            return true;
        } catch (TimeoutException e) {
            return false;
        }
    }

    /** Requests a checkpoint soon, if possible; a missed one does no harm. */
    void checkpoint();

    /**
     * Stops the job cleanly, with a last checkpoint.
     *
     * @return completed exceptionally if the job cannot be stopped now; the job then continues
     */
    CompletableFuture<?> stop();

    /**
     * Ends the job immediately.
     *
     * @return completed when the cluster has accepted the request
     */
    CompletableFuture<?> cancel();

    /**
     * Returns whether no task of the job can run any more. Waits a few seconds for the cluster's answer; a cluster that
     * does not answer may still run the job, except one in this process, which ends with its job.
     */
    boolean isOver();
}
