package dev.stoker.cli.ingest;

import dev.stoker.ingest.IngestJob;
import dev.stoker.ingest.IngestOptions;
import dev.stoker.ingest.IngestPlan;
import dev.stoker.ingest.IngestResult;
import dev.stoker.ingest.RowIngestJob;
import dev.stoker.ingest.rows.RowDetection;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.topic.TopicIngestOptions;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/**
 * {@code stoker ingest}: packs the files of a tree into chunks and commits one version, or a topic's records and many.
 */
@Command(
        name = "ingest",
        header = {
            "Examples:",
            "  stoker ingest ./photos ./data/photos --label-from parent-dir",
            "  stoker ingest ./more ./data/photos --label-from parent-dir --append",
            "  stoker ingest 'tables/*.parquet' ./data/tables --key id --label class",
            "  stoker ingest kafka://broker:9092/photos ./data/photos --value json"
        },
        description =
                "Packs files, tables or a Kafka topic into a dataset. Commits one version. Each file of a directory"
                        + " tree becomes a sample, or each row if the files hold rows (Parquet, Avro, JSON lines and"
                        + " others). With a topic as source (kafka://host:port/topic), packs its records and commits a"
                        + " version every --commit-interval.",
        customSynopsis = "stoker ingest SOURCE… TARGET [OPTION]…",
        sortOptions = false)
public final class IngestVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private final IngestCommand command;

    /** @param arguments of the job */
    public IngestVerb(List<String> arguments) {
        this.command = new IngestCommand(arguments);
    }

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        String[] args = command.arguments();
        if (TopicIngestOptions.isTopic(args)) {
            return TopicIngestCommand.run(
                    TopicIngestOptions.parse(args),
                    command.isJson(),
                    out,
                    spec.commandLine().getErr());
        }
        if (RowDetection.isRows(args)) {
            RowIngestOptions options = RowIngestOptions.parse(args);
            if (options.isDry()) {
                PlanReport.print(RowIngestJob.plan(options), command.isJson(), out);
                return 0;
            }
            return run(
                    listener -> RowIngestJob.run(options, RowIngestJob.embedded(options), listener), options.target());
        }
        IngestOptions options = IngestOptions.parse(args);
        if (options.run() == IngestOptions.Run.DRY) {
            command.print(IngestJob.plan(options), IngestReport::json, IngestPlan::lines);
            return 0;
        }
        return run(listener -> IngestJob.run(options, IngestJob.embedded(options), listener), options.target());
    }

    private int run(InterruptibleIngest.Job<IngestResult> job, String target) throws Exception {
        return command.run(job, target, IngestReport::json, IngestResult::lines, result -> true);
    }
}
