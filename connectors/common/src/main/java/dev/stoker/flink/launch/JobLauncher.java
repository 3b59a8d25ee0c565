package dev.stoker.flink.launch;

import dev.stoker.metadata.lease.WriterProcess;
import java.io.IOException;
import org.apache.flink.configuration.DeploymentOptions;
import org.apache.flink.streaming.api.environment.LocalStreamEnvironment;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The place where a job runs: this process, or a cluster. The job is built in its environment. For one thread. */
public interface JobLauncher extends AutoCloseable {

    /** The relation between the launching process and the job. */
    enum Mode {
        /** The job runs in this process and ends with it. */
        EMBEDDED,
        /** The job runs on a cluster, and this process waits for its end. */
        ATTACHED,
        /** The job runs on a cluster, and no client waits: {@code flink run -d}, or a submission over REST. */
        DETACHED
    }

    /** The environment in which to build the job. */
    StreamExecutionEnvironment environment();

    /** The relation between this process and the job. */
    Mode mode();

    /**
     * Returns the name of the only process that writes for the job, which its lease records. It is empty if the job
     * runs on a cluster, where other processes write.
     */
    default String writerProcess() {
        return mode() == Mode.EMBEDDED ? WriterProcess.current() : "";
    }

    /**
     * Starts the job that was built in the environment.
     *
     * @throws Exception if it cannot be started
     */
    RunningJob launch(String name) throws Exception;

    /**
     * Starts the job that was built in the environment, and waits for its end unless it is {@link Mode#DETACHED}.
     * Prints what Flink prints, and ends the job with this process if Flink is configured to do so.
     *
     * @throws Exception if it cannot be started, or failed
     */
    default void run(String name) throws Exception {
        environment().execute(name);
    }

    /** Releases what belongs to the launcher. A job in this process must have ended, or ends now. */
    @Override
    void close() throws IOException;

    /**
     * Returns a launcher for the cluster of an environment: the one that {@code flink run} submits to. An environment
     * without a cluster runs its job in this process.
     */
    static JobLauncher submitting(StreamExecutionEnvironment env) {
        if (env instanceof LocalStreamEnvironment) {
            return new EnvironmentLauncher(env, Mode.EMBEDDED);
        }
        return new EnvironmentLauncher(
                env, env.getConfiguration().get(DeploymentOptions.ATTACHED) ? Mode.ATTACHED : Mode.DETACHED);
    }

    /**
     * Returns a launcher for a cluster in this process that begins and ends with the job.
     *
     * @param env of {@link dev.stoker.flink.embedded.EmbeddedFlink}
     */
    static JobLauncher embedded(StreamExecutionEnvironment env) {
        return new EnvironmentLauncher(env, Mode.EMBEDDED);
    }
}
