package dev.stoker.flink.embedded;

import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.apache.flink.api.common.JobSubmissionResult;
import org.apache.flink.api.dag.Pipeline;
import org.apache.flink.client.deployment.executors.LocalExecutor;
import org.apache.flink.client.deployment.executors.PipelineExecutorUtils;
import org.apache.flink.configuration.BlobServerOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.configuration.WebOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.PipelineExecutor;
import org.apache.flink.core.execution.PipelineExecutorFactory;
import org.apache.flink.core.execution.PipelineExecutorServiceLoader;
import org.apache.flink.runtime.minicluster.MiniCluster;
import org.apache.flink.runtime.minicluster.MiniClusterConfiguration;
import org.apache.flink.runtime.minicluster.MiniClusterJobClient;
import org.apache.flink.runtime.minicluster.MiniClusterJobClient.JobFinalizationBehavior;
import org.apache.flink.runtime.minicluster.RpcServiceSharing;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.graph.StreamGraph;

/** Runs jobs in this process on a Flink cluster that other processes cannot reach. */
public final class EmbeddedFlink {

    private static final String LOOPBACK = "127.0.0.1";

    private EmbeddedFlink() {}

    /**
     * Returns an environment that runs each job on a separate cluster in this process.
     *
     * @param parallelism the number of subtasks, and of slots of the cluster
     * @param settings further settings of Flink
     */
    public static StreamExecutionEnvironment environment(int parallelism, Configuration settings) {
        Configuration all = closed(settings, parallelism);
        all.set(DeploymentOptions.TARGET, LocalExecutor.NAME);
        all.set(DeploymentOptions.ATTACHED, true);
        StreamExecutionEnvironment env = new StreamExecutionEnvironment(new InProcess(), all, null);
        env.setParallelism(parallelism);
        return env;
    }

    /**
     * Starts a cluster in this process.
     *
     * @param slots the number of slots of its TaskManager
     * @param settings further settings of Flink
     */
    public static MiniCluster start(int slots, Configuration settings) throws Exception {
        MiniCluster cluster = cluster(closed(settings, slots), slots);
        cluster.start();
        return cluster;
    }

    /** Copies settings and adds the ones that keep the cluster inside the process. */
    private static Configuration closed(Configuration settings, int slots) {
        Configuration all = new Configuration(settings);
        all.set(TaskManagerOptions.NUM_TASK_SLOTS, slots);
        // The two servers that Flink cannot start without are bound to loopback until they are closed.
        all.set(JobManagerOptions.ADDRESS, LOOPBACK);
        all.set(JobManagerOptions.BIND_HOST, LOOPBACK);
        all.set(TaskManagerOptions.BIND_HOST, LOOPBACK);
        all.set(RestOptions.ADDRESS, LOOPBACK);
        all.set(RestOptions.BIND_ADDRESS, LOOPBACK);
        all.set(RestOptions.BIND_PORT, "0");
        all.set(RestOptions.SERVER_NUM_THREADS, 1);
        all.set(WebOptions.SUBMIT_ENABLE, false);
        all.set(WebOptions.CANCEL_ENABLE, false);
        all.set(WebOptions.RESCALE_ENABLE, false);
        // The BlobServer is closed, so task descriptions are sent within the messages, whatever their size.
        all.set(BlobServerOptions.OFFLOAD_MINSIZE, Integer.MAX_VALUE);
        return all;
    }

    private static MiniCluster cluster(Configuration settings, int slots) {
        return new ClosedCluster(new MiniClusterConfiguration.Builder()
                .setConfiguration(settings)
                .setNumTaskManagers(0)
                .setNumSlotsPerTaskManager(slots)
                .setRpcServiceSharing(RpcServiceSharing.SHARED)
                .build());
    }

    /** Replaces the executors of the class path with the one of this process. */
    private static final class InProcess implements PipelineExecutorServiceLoader, PipelineExecutorFactory {

        @Override
        public PipelineExecutorFactory getExecutorFactory(Configuration configuration) {
            return this;
        }

        @Override
        public Stream<String> getExecutorNames() {
            return Stream.of(getName());
        }

        @Override
        public String getName() {
            return LocalExecutor.NAME;
        }

        @Override
        public boolean isCompatibleWith(Configuration configuration) {
            return true;
        }

        @Override
        public PipelineExecutor getExecutor(Configuration configuration) {
            // The executor is asked for jobs of the environment that has the same configuration.
            return (pipeline, settings, classes) -> execute(pipeline, configuration, classes);
        }

        /**
         * Submits a job to a cluster that ends with it. Unlike Flink's own executor, returns before the job is
         * initialized, which that one looks for after 50, 150 and 350 ms.
         */
        private static CompletableFuture<JobClient> execute(
                Pipeline pipeline, Configuration settings, ClassLoader classes) throws Exception {
            StreamGraph graph = PipelineExecutorUtils.getStreamGraph(pipeline, settings);
            graph.serializeUserDefinedInstances();
            MiniCluster cluster = cluster(settings, settings.get(TaskManagerOptions.NUM_TASK_SLOTS));
            CompletableFuture<JobSubmissionResult> submission;
            try {
                cluster.start();
                submission = cluster.submitJob(graph);
            } catch (Exception e) {
                try {
                    cluster.close();
                } catch (Exception closing) {
                    e.addSuppressed(closing);
                }
                throw e;
            }
            return submission
                    .<JobClient>thenApply(job -> new MiniClusterJobClient(
                            job.getJobID(), cluster, classes, JobFinalizationBehavior.SHUTDOWN_CLUSTER))
                    .exceptionallyCompose(failure -> cluster.closeAsync()
                            .exceptionally(closing -> null)
                            .thenCompose(closed -> CompletableFuture.failedFuture(failure)));
        }
    }
}
