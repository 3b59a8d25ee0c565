package dev.stoker.feeder;

import org.apache.flink.runtime.client.JobStatusMessage;
import org.apache.flink.runtime.minicluster.MiniCluster;

/** What tests leave behind on a cluster that they share. */
public final class RunningJobs {
    private RunningJobs() {}

    /** Cancels all, and waits until they have ended. */
    public static void cancel(MiniCluster cluster) throws Exception {
        for (JobStatusMessage job : cluster.listJobs().get()) {
            if (!job.getJobState().isGloballyTerminalState()) {
                cluster.cancelJob(job.getJobId()).get();
                cluster.requestJobResult(job.getJobId()).get();
            }
        }
    }
}
