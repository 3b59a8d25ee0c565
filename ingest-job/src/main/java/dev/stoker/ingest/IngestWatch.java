package dev.stoker.ingest;

import dev.stoker.flink.launch.RunningJob;
import dev.stoker.ingest.pack.IngestMeter;
import dev.stoker.ingest.spec.IngestListener;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Waits for the job of an ingest in the process that launched it, and reports its progress. For one thread. */
final class IngestWatch {

    private static final Duration PROGRESS = Duration.ofMillis(500);
    private static final int CANCEL_SECONDS = 30;

    private final IngestListener<IngestProgress> listener;
    private final IngestMeter meter;
    private final long began;

    /** @param began when the ingest began, by {@link System#nanoTime} */
    IngestWatch(IngestListener<IngestProgress> listener, IngestMeter meter, long began) {
        this.listener = listener;
        this.meter = meter;
        this.began = began;
    }

    /**
     * Waits for the end of the job. An interrupt cancels it.
     *
     * @throws ExecutionException if it failed
     */
    void await(RunningJob job) throws ExecutionException, InterruptedException {
        try {
            while (!job.ended(PROGRESS)) {
                report();
            }
        } catch (InterruptedException e) {
            cancel(job, e);
            throw e;
        }
    }

    private static void cancel(RunningJob job, InterruptedException interrupt) {
        try {
            job.cancel().get(CANCEL_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException e) {
            interrupt.addSuppressed(e);
        } catch (InterruptedException e) {
            // A second interrupt: the process ends, and the job with it.
            interrupt.addSuppressed(e);
        }
    }

    private void report() {
        if (meter.firstTaskNanos() == 0) {
            listener.progressed(new IngestProgress(
                    IngestProgress.Phase.STARTING, 0, 0, 0, 0, 0, Duration.ofNanos(System.nanoTime() - began)));
            return;
        }
        boolean isPacking = meter.firstPackNanos() != 0;
        IngestProgress.Phase phase = !isPacking
                ? IngestProgress.Phase.LISTING
                : meter.bytes() < meter.listedBytes() ? IngestProgress.Phase.PACKING : IngestProgress.Phase.COMMITTING;
        long since = isPacking ? meter.firstPackNanos() : meter.firstTaskNanos();
        listener.progressed(new IngestProgress(
                phase,
                meter.listedFiles(),
                meter.listedBytes(),
                meter.samples(),
                meter.bytes(),
                meter.chunks(),
                Duration.ofNanos(System.nanoTime() - since)));
    }
}
