package dev.stoker.export;

import com.fasterxml.jackson.databind.JsonNode;
import dev.stoker.export.place.ExportTarget;
import dev.stoker.export.spec.InvalidExportException;
import dev.stoker.export.task.ExportMeter;
import dev.stoker.flink.failure.FailureText;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.flink.launch.JobMain;
import dev.stoker.flink.launch.RunningJob;
import dev.stoker.ingest.IngestJob;
import dev.stoker.schemas.errors.StokerException;
import dev.stoker.schemas.json.Json;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;

/** The export: writes the samples of a version as files of another format. Entry point of {@code flink run -c}. */
public final class ExportJob {
    private static final Duration PROGRESS = Duration.ofMillis(500);
    private static final int CANCEL_SECONDS = 30;

    private ExportJob() {}

    /** Runs on the cluster that {@code flink run} submits to; detached, it returns when the job is submitted. */
    public static void main(String[] args) throws Exception {
        JobMain.run(() -> submit(args));
    }

    private static void submit(String[] args) throws Exception {
        ExportOptions options = ExportOptions.parse(args);
        if (options.isDry()) {
            plan(options).forEach(System.out::println);
            return;
        }
        ExportListener printing = new ExportListener() {
            @Override
            public void started(List<String> plan) {
                plan.forEach(System.out::println);
            }
        };
        try (JobLauncher launcher = JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment())) {
            if (launcher.mode() == JobLauncher.Mode.DETACHED) {
                ExportPlan plan = prepare(options, printing);
                start(plan, launcher);
                System.out.println("the export continues in the cluster; it is complete when "
                        + plan.work().target().location() + "/" + ExportTarget.SUCCESS + " exists");
            } else {
                run(options, launcher, printing).lines().forEach(System.out::println);
            }
        }
    }

    /** Returns a launcher that runs the job in this process. */
    public static JobLauncher embedded(ExportOptions options) {
        return IngestJob.embedded(options.work().parallelism());
    }

    /**
     * Inspects dataset and target, and returns the plan as text; writes nothing.
     *
     * @throws InvalidExportException if the export is not possible
     */
    public static List<String> plan(ExportOptions options) throws IOException {
        ExportPreparation preparation = ExportPreparation.of(options);
        preparation.checkTarget();
        List<String> lines = new ArrayList<>(preparation.plan("none").lines());
        lines.addAll(preparation.preview());
        return lines;
    }

    /**
     * Runs an export until it is complete. An interrupted thread cancels the job.
     *
     * @throws InvalidExportException if the export cannot be started with these options
     * @throws StokerException if it is not complete; it has then left nothing at the target
     */
    public static ExportResult run(ExportOptions options, JobLauncher launcher, ExportListener listener)
            throws IOException, InterruptedException {
        long began = System.nanoTime();
        ExportPlan plan = prepare(options, listener);
        try (ExportMeter meter = ExportMeter.open(plan.work().target().export());
                ExportTarget target = plan.work().target().open()) {
            RunningJob job = null;
            try {
                job = start(plan, launcher);
                await(job, meter, plan, listener);
            } catch (InterruptedException e) {
                abandon(job, target, e);
                throw e;
            } catch (ExecutionException e) {
                Throwable failure = Objects.requireNonNull(e.getCause(), "a failed future has a cause");
                abandon(job, target, e);
                throw new StokerException(FailureText.of(failure) + " (nothing was exported)", failure);
            } catch (IOException e) {
                abandon(job, target, e);
                throw e;
            }
            long started = meter.firstTaskNanos() == 0 ? began : meter.firstTaskNanos();
            Duration duration = Duration.ofNanos(System.nanoTime() - started);
            JsonNode done = Json.PLAIN.readTree(target.committed()
                    .orElseThrow(() -> new StokerException("the job ended, but " + ExportTarget.SUCCESS + " is not at "
                            + plan.work().target().location() + "; run the export again")));
            return new ExportResult(
                    plan.work().target().location(),
                    plan.work().target().export(),
                    plan.work().version(),
                    done.path("samples").asLong(),
                    done.path("excluded").asLong(),
                    done.path("files").asLong(),
                    done.path("bytes").asLong(),
                    duration);
        }
    }

    private static ExportPlan prepare(ExportOptions options, ExportListener listener) throws IOException {
        ExportPreparation preparation = ExportPreparation.of(options);
        ExportPlan plan = preparation.plan(UUID.randomUUID().toString());
        List<String> lines = new ArrayList<>(plan.lines());
        try (ExportTarget target = plan.work().target().open()) {
            target.begin();
            for (String other : target.others()) {
                lines.add(
                        "beside the target: " + other + " of another export; delete it unless that export still runs");
            }
        }
        listener.started(lines);
        return plan;
    }

    private static RunningJob start(ExportPlan plan, JobLauncher launcher) throws IOException, InterruptedException {
        new ExportGraph(plan).addTo(launcher.environment());
        try {
            return launcher.launch("stoker export " + plan.work().target().export());
        } catch (IOException | InterruptedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new StokerException(FailureText.of(e) + " (nothing was exported)", e);
        }
    }

    private static void await(RunningJob job, ExportMeter meter, ExportPlan plan, ExportListener listener)
            throws ExecutionException, InterruptedException {
        try {
            while (!job.ended(PROGRESS)) {
                long first = meter.firstTaskNanos();
                Duration elapsed = first == 0 ? Duration.ZERO : Duration.ofNanos(System.nanoTime() - first);
                listener.progressed(new ExportProgress(meter.rows(), plan.rows(), meter.bytes(), elapsed));
            }
        } catch (InterruptedException e) {
            cancel(job, e);
            throw e;
        }
    }

    private static void cancel(RunningJob job, InterruptedException interrupt) {
        try {
            job.cancel().get(CANCEL_SECONDS, TimeUnit.SECONDS);
            // Files can be deleted only when no task writes any more.
            job.end().get(CANCEL_SECONDS, TimeUnit.SECONDS);
        } catch (CancellationException | ExecutionException | TimeoutException e) {
            interrupt.addSuppressed(e);
        } catch (InterruptedException e) {
            // A second interrupt: the process ends, and the job with it.
            interrupt.addSuppressed(e);
        }
    }

    /** Deletes the files of a failed export, unless a task may still write. */
    private static void abandon(@Nullable RunningJob job, ExportTarget target, Exception failure) {
        if (job != null && !job.isOver()) {
            return;
        }
        try {
            target.abandon();
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }
}
