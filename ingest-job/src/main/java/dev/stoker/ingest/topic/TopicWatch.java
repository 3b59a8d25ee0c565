package dev.stoker.ingest.topic;

import dev.stoker.connectors.kafka.source.SourceTopic;
import dev.stoker.flink.failure.Outages;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.flink.launch.RunningJob;
import dev.stoker.ingest.spec.IngestListener;
import dev.stoker.schemas.errors.ErrorText;
import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches a job from the process that submitted it: reports progress, stops the job, and speeds up its end. For one
 * thread.
 */
final class TopicWatch implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(TopicWatch.class);

    private static final Duration TICK = Duration.ofMillis(100);
    private static final long REPORT_NANOS = 500_000_000L;
    private static final long LAG_NANOS = 2_000_000_000L;
    private static final Duration LAG_PATIENCE = Duration.ofSeconds(10);
    /** How long to retry stopping a job cleanly: a restarting job cannot be stopped. */
    private static final Duration STOP_PATIENCE = Duration.ofSeconds(60);
    /** How long the last version may take. */
    private static final Duration LAST_VERSION_PATIENCE = Duration.ofMinutes(10);

    private final TopicIngestOptions options;
    private final TopicPreparation preparation;
    private final TopicMeter meter;
    private final int tasks;
    private final long began = System.nanoTime();
    private final boolean isBounded;

    private @Nullable SourceTopic topic;
    private @Nullable CompletableFuture<Ends> ends;
    private SortedMap<Integer, Long> end;
    private final OpenTransactions open = new OpenTransactions();
    private final PresentRate rate = new PresentRate();
    private long reported = System.nanoTime();
    private long lagAsked = System.nanoTime();
    private @Nullable CompletableFuture<?> stopping;
    private long stopBegan;

    /** How far the topic is, by partition: readable, and written. */
    private record Ends(SortedMap<Integer, Long> readable, SortedMap<Integer, Long> written) {}

    TopicWatch(TopicIngestOptions options, TopicPreparation preparation, TopicMeter meter, int tasks) {
        this.options = options;
        this.preparation = preparation;
        this.meter = meter;
        this.tasks = tasks;
        this.end = preparation.end();
        this.isBounded = options.reach().until() == TopicIngestOptions.Until.LATEST;
    }

    /**
     * Starts the job and waits for its end.
     *
     * @throws ExecutionException if it failed
     * @throws IOException if it cannot be started, or not be stopped cleanly
     */
    void await(JobLauncher launcher, IngestListener<TopicIngestProgress> listener, BooleanSupplier stop, String name)
            throws IOException, InterruptedException, ExecutionException {
        RunningJob job = start(launcher, name);
        try {
            while (!job.ended(TICK)) {
                tick(job, listener, stop.getAsBoolean());
            }
        } catch (InterruptedException e) {
            CompletableFuture<?> unused = job.cancel();
            throw e;
        }
    }

    private static RunningJob start(JobLauncher launcher, String name) throws IOException, InterruptedException {
        try {
            return launcher.launch(name);
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("the job cannot be started: " + e.getMessage(), e);
        }
    }

    private void tick(RunningJob job, IngestListener<TopicIngestProgress> listener, boolean isAsked)
            throws StokerException {
        if (isAsked) {
            stop(job);
        }
        if (isBounded && meter.endedTasks() >= tasks) {
            // Tasks that have read everything wait for a checkpoint, which may be an interval away.
            job.checkpoint();
        }
        long now = System.nanoTime();
        if (!isBounded && now - lagAsked >= LAG_NANOS) {
            lagAsked = now;
            lookAtEnds();
        }
        if (now - reported >= REPORT_NANOS) {
            reported = now;
            listener.progressed(progress(Duration.ofNanos(now - began)));
        }
    }

    private void stop(RunningJob job) throws StokerException {
        long now = System.nanoTime();
        if (stopping == null) {
            stopBegan = now;
            stopping = job.stop();
            return;
        }
        boolean isRefused = stopping.isCompletedExceptionally();
        // A last version may be large; one that waits for an unavailable store or broker may never complete.
        Duration patience = isRefused || !Outages.all().isEmpty() ? STOP_PATIENCE : LAST_VERSION_PATIENCE;
        if (!(stopping.isDone() && !isRefused) && now - stopBegan > patience.toNanos()) {
            CompletableFuture<?> unused = job.cancel();
            throw new StokerException("the job could not be stopped cleanly within " + patience.toSeconds()
                    + " s and was cancelled"
                    + Outages.remark()
                    + "; the same command reads again what is not in a version yet");
        }
        if (isRefused) {
            LOG.debug("the job cannot be stopped now");
            stopping = job.stop();
        }
    }

    private void lookAtEnds() {
        if (ends != null && ends.isDone()) {
            try {
                end = ends.join().readable();
                open.look(end, ends.join().written(), System.nanoTime());
                Outages.clear(this);
            } catch (CompletionException e) {
                Outages.note(this, ErrorText.of(cause(e)));
            }
            ends = null;
        }
        if (ends == null) {
            ends = CompletableFuture.supplyAsync(this::askEnds);
        }
    }

    private static Throwable cause(CompletionException e) {
        return e.getCause() instanceof UncheckedIOException unchecked && unchecked.getCause() != null
                ? unchecked.getCause()
                : e;
    }

    private Ends askEnds() {
        try {
            if (topic == null) {
                topic = new SourceTopic(options.topic(), LAG_PATIENCE);
            }
            int partitions = preparation.shape().partitions();
            // In this order: what is written between the two answers is not taken for hidden.
            SortedMap<Integer, Long> written = topic.written(partitions);
            return new Ends(topic.ends(partitions), written);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private TopicIngestProgress progress(Duration elapsed) {
        List<String> waitsFor = new ArrayList<>(Outages.all());
        open.lasting(System.nanoTime()).ifPresent(waitsFor::add);
        SortedMap<Integer, Long> at = new TreeMap<>(preparation.start());
        at.putAll(meter.next());
        return new TopicIngestProgress(
                meter.versions(),
                meter.newestVersion(),
                meter.samples(),
                meter.bytes(),
                meter.deadLetters(),
                meter.leftOut().values().stream().mapToLong(Long::longValue).sum(),
                TopicPreparation.lag(at, end),
                rate.of(meter.bytes(), elapsed),
                waitsFor);
    }

    @Override
    public void close() {
        Outages.clear(this);
        if (ends != null) {
            // A pending request uses the connection that is closed below.
            ends.handle((found, failure) -> null).join();
        }
        if (topic != null) {
            topic.close();
        }
    }
}
