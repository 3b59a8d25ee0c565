package dev.stoker.flink.launch;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobStatus;
import org.apache.flink.client.deployment.ClusterClientFactory;
import org.apache.flink.client.deployment.ClusterDescriptor;
import org.apache.flink.client.deployment.DefaultClusterClientServiceLoader;
import org.apache.flink.client.deployment.application.executors.EmbeddedExecutor;
import org.apache.flink.client.program.ClusterClient;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks for other jobs on the cluster to which a feed is about to be submitted. */
public final class SharedCluster {
    private static final Logger LOG = LoggerFactory.getLogger(SharedCluster.class);
    private static final long LIMIT_S = 10;

    private SharedCluster() {}

    /**
     * Returns whether this process submits a job to a running cluster. In application mode, Flink runs the job's main
     * method in the JobManager, and again after it has recovered the job.
     */
    public static boolean isRemote(StreamExecutionEnvironment env) {
        return !(env instanceof LocalStreamEnvironment)
                && !EmbeddedExecutor.NAME.equals(env.getConfiguration().get(DeploymentOptions.TARGET));
    }

    /**
     * A warning if other jobs run on a session cluster; empty on a cluster of the feed's own, or if it cannot be asked.
     */
    public static Optional<String> warning(StreamExecutionEnvironment env) {
        try {
            Map<String, String> settings = ((Configuration) env.getConfiguration()).toMap();
            return warning(jobs(Configuration.fromMap(settings)));
        } catch (Exception e) {
            // A feed does not fail because nobody could be asked; application mode has no cluster to ask yet.
            LOG.debug("The jobs of the cluster cannot be listed", e);
            return Optional.empty();
        }
    }

    private static Optional<String> warning(List<JobStatusMessage> jobs) {
        List<String> others = jobs.stream()
                .filter(job -> job.getJobState() == JobStatus.RUNNING)
                .map(JobStatusMessage::getJobName)
                .sorted()
                .toList();
        if (others.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of("warning: this Flink cluster already runs " + String.join(", ", others)
                + "; jobs of one cluster share TaskManagers, so that losing one TaskManager interrupts all of them."
                + " Give each feed a cluster of its own (application mode, flink-conf/README.md)");
    }

    private static List<JobStatusMessage> jobs(Configuration configuration) throws Exception {
        return list(new DefaultClusterClientServiceLoader().getClusterClientFactory(configuration), configuration);
    }

    private static <T> List<JobStatusMessage> list(ClusterClientFactory<T> factory, Configuration configuration)
            throws Exception {
        T cluster = factory.getClusterId(configuration);
        if (cluster == null) {
            return List.of();
        }
        try (ClusterDescriptor<T> descriptor = factory.createClusterDescriptor(configuration);
                ClusterClient<T> client = descriptor.retrieve(cluster).getClusterClient()) {
            return List.copyOf(client.listJobs().get(LIMIT_S, TimeUnit.SECONDS));
        }
    }
}
