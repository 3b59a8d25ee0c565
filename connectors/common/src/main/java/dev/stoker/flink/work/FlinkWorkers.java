package dev.stoker.flink.work;

import dev.stoker.flink.failure.FailureText;
import dev.stoker.metadata.work.PieceWork;
import dev.stoker.metadata.work.Workers;
import dev.stoker.schemas.errors.StokerException;
import java.io.IOException;
import java.io.Serializable;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.PrimitiveArrayTypeInfo;
import org.apache.flink.configuration.BatchExecutionOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.InstantiationUtil;
import org.apache.flink.util.ShutdownHookUtil;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tasks of a Flink cluster. Each run is a batch job, which this process waits for. The results arrive after the
 * last piece is done, so a task that fails and begins again does no harm.
 *
 * @param location directory or URI of the dataset or ledger, which all machines of the cluster can read and write
 * @param name of the jobs
 * @param parallelism number of tasks
 * @param environments makes the environment of a job
 * @param progress of a job
 */
public record FlinkWorkers(
        String location,
        String name,
        int parallelism,
        Supplier<StreamExecutionEnvironment> environments,
        Progress progress)
        implements Workers {

    /** Receives the progress of a job from time to time, on any thread. */
    @FunctionalInterface
    public interface Progress {

        /**
         * Some pieces are done.
         *
         * @param done number of pieces that are done
         * @param pieces number of all pieces
         */
        void progressed(int done, int pieces);
    }

    private static final Logger LOG = LoggerFactory.getLogger(FlinkWorkers.class);

    private static final int RESTARTS = 10;
    private static final int CANCEL_SECONDS = 30;
    private static final int PROGRESS_SECONDS = 2;

    @Override
    public <R extends Serializable> void run(int pieces, PieceWork<R> work, Consumer<? super R> results)
            throws IOException, InterruptedException {
        if (pieces == 0) {
            return;
        }
        StreamExecutionEnvironment env = environments.get();
        configure(env);
        int tasks = Math.min(parallelism, pieces);
        CloseableIterator<byte[]> done = env.fromSource(
                        new PieceNumbers(pieces), WatermarkStrategy.noWatermarks(), "pieces")
                .uid("pieces")
                .setParallelism(tasks)
                .transform(
                        "work",
                        PrimitiveArrayTypeInfo.BYTE_PRIMITIVE_ARRAY_TYPE_INFO,
                        new PieceOperator(location, work))
                .uid("work")
                .setParallelism(tasks)
                // The sink must not be a part of a task that can begin again.
                .rebalance()
                .collectAsync();
        JobClient job = start(env);
        Future<?> taken = take(done, result -> results.accept(read(result, work)));
        // If the process ends before, so does the job.
        Thread hook = ShutdownHookUtil.addShutdownHook(() -> job.cancel().get(1, TimeUnit.SECONDS), name, LOG);
        try {
            await(taken, job, pieces);
        } catch (InterruptedException e) {
            cancel(job, e);
            throw e;
        } catch (ExecutionException e) {
            throw failure(job, e);
        } finally {
            ShutdownHookUtil.removeShutdownHook(hook, name, LOG);
        }
    }

    private JobClient start(StreamExecutionEnvironment env) throws IOException {
        try {
            return env.executeAsync(name);
        } catch (IOException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IOException("The job " + name + " was not started: " + FailureText.of(e), e);
        }
    }

    /** Takes the results with a separate thread, because Flink's iterator ignores interrupts. */
    private static Future<?> take(CloseableIterator<byte[]> done, Consumer<byte[]> results) {
        CompletableFuture<Void> taken = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try (done) {
                        done.forEachRemaining(results);
                        taken.complete(null);
                    } catch (Exception e) {
                        taken.completeExceptionally(e);
                    }
                },
                "stoker-results");
        thread.setDaemon(true);
        thread.start();
        return taken;
    }

    private static <R extends Serializable> R read(byte[] result, PieceWork<R> work) {
        try {
            return InstantiationUtil.deserializeObject(result, work.getClass().getClassLoader());
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException("The cluster has sent what this process cannot read", e);
        }
    }

    private void await(Future<?> taken, JobClient job, int pieces) throws ExecutionException, InterruptedException {
        while (true) {
            try {
                taken.get(PROGRESS_SECONDS, TimeUnit.SECONDS);
                return;
            } catch (TimeoutException e) {
                CompletableFuture<?> counted = job.getAccumulators()
                        .thenAccept(counters ->
                                progress.progressed((int) counters.getOrDefault(PieceOperator.DONE, 0), pieces));
                // A missing answer costs only one line of progress.
                counted.exceptionally(missing -> null);
            }
        }
    }

    private static void cancel(JobClient job, InterruptedException interrupt) {
        try {
            job.cancel().get(CANCEL_SECONDS, TimeUnit.SECONDS);
            // After that no task writes any more.
            job.getJobExecutionResult().get(CANCEL_SECONDS, TimeUnit.SECONDS);
        } catch (CancellationException | ExecutionException | TimeoutException e) {
            interrupt.addSuppressed(e);
        } catch (InterruptedException e) {
            // A second interrupt: the process ends.
            interrupt.addSuppressed(e);
        }
    }

    /** Returns the reason for which the job failed, or else the one for which its results could not be taken. */
    private IOException failure(JobClient job, ExecutionException taking) throws InterruptedException {
        Throwable failure = Objects.requireNonNull(taking.getCause(), "a failed future has a cause");
        try {
            job.getJobExecutionResult().get(CANCEL_SECONDS, TimeUnit.SECONDS);
        } catch (CancellationException | ExecutionException e) {
            failure = e;
        } catch (TimeoutException e) {
            failure.addSuppressed(e);
        }
        Throwable reason = FailureText.reason(failure);
        return reason instanceof StokerException own
                ? own
                : new IOException("The job " + name + " failed: " + FailureText.of(failure), failure);
    }

    private static void configure(StreamExecutionEnvironment env) {
        env.setRuntimeMode(RuntimeExecutionMode.BATCH);
        Configuration own = new Configuration();
        own.set(BatchExecutionOptions.ADAPTIVE_AUTO_PARALLELISM_ENABLED, false);
        if (!env.getConfiguration()
                .getOptional(RestartStrategyOptions.RESTART_STRATEGY)
                .isPresent()) {
            own.set(RestartStrategyOptions.RESTART_STRATEGY, "exponential-delay");
            own.set(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_ATTEMPTS, RESTARTS);
        }
        env.configure(own);
    }
}
