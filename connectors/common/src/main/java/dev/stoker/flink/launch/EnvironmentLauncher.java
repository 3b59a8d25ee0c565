package dev.stoker.flink.launch;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Leaves the submission to an environment and talks to the job through Flink's client.
 *
 * @param environment in which the job is built
 * @param mode the relation between this process and the job
 */
record EnvironmentLauncher(StreamExecutionEnvironment environment, Mode mode) implements JobLauncher {

    @Override
    public RunningJob launch(String name) throws Exception {
        return new Job(environment.executeAsync(name), mode);
    }

    @Override
    public void close() {}

    /**
     * The job of a client.
     *
     * @param client of the job
     * @param mode the relation between this process and the job
     */
    private record Job(JobClient client, Mode mode) implements RunningJob {

        private static final int ANSWER_SECONDS = 10;

        @Override
        public CompletableFuture<?> end() {
            return client.getJobExecutionResult();
        }

        /** A client cannot request a checkpoint; the next one follows after the interval. */
        @Override
        public void checkpoint() {}

        @Override
        public CompletableFuture<?> stop() {
            return client.stopWithSavepoint(false, null, SavepointFormatType.CANONICAL);
        }

        @Override
        public CompletableFuture<?> cancel() {
            return client.cancel();
        }

        @Override
        public boolean isOver() {
            try {
                return client.getJobStatus()
                        .get(ANSWER_SECONDS, TimeUnit.SECONDS)
                        .isGloballyTerminalState();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return false;
            } catch (ExecutionException | TimeoutException | RuntimeException e) {
                return mode == Mode.EMBEDDED;
            }
        }
    }
}
