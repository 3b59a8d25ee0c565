package dev.stoker.ingest;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.ingest.pack.plan.SampleAccess;
import dev.stoker.ingest.pack.plan.SampleFiles;
import dev.stoker.ingest.spec.IngestListener;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** Runs ingests on the cluster of the test's environment. */
final class Ingests {
    private static final Configuration NO_RESTART =
            new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, "none");

    private Ingests() {}

    static IngestResult run(Path source, Path target, String... options) throws IOException, InterruptedException {
        return run(SampleFiles.LOCAL, source, target, options);
    }

    static IngestResult run(SampleFiles files, Path source, Path target, String... options)
            throws IOException, InterruptedException {
        return run(new SampleAccess(files, DatasetStore.BY_LOCATION), source, target, options);
    }

    static IngestResult run(SampleAccess access, Path source, Path target, String... options)
            throws IOException, InterruptedException {
        return IngestJob.run(
                options(source, target, options),
                JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment()),
                IngestListener.silent(),
                access);
    }

    /** Runs an ingest whose job ends at its first failure. */
    static IngestResult runWithoutRestarts(DatasetStore store, Path source, Path target, String... options)
            throws IOException, InterruptedException {
        return IngestJob.run(
                options(source, target, options),
                JobLauncher.submitting(StreamExecutionEnvironment.getExecutionEnvironment(NO_RESTART)),
                IngestListener.silent(),
                new SampleAccess(SampleFiles.LOCAL, store));
    }

    static IngestOptions options(Path source, Path target, String... options) {
        List<String> args = new ArrayList<>(List.of(source.toString(), target.toString()));
        args.addAll(List.of(options));
        return IngestOptions.parse(args.toArray(String[]::new));
    }
}
