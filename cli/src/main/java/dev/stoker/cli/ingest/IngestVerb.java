package dev.stoker.cli.ingest;

import dev.stoker.cli.options.JsonFlag;
import dev.stoker.cli.options.NoIndexFlag;
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
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
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

    private final List<String> arguments;

    @Spec
    private CommandSpec spec;

    /** Only for help: the job parses its own arguments. */
    @Option(names = JsonFlag.NAME, description = "Print the result as JSON, on one line.")
    private boolean json;

    @Option(
            names = NoIndexFlag.NAME,
            description = "Do not add the new samples to the sample index; stoker index does so later.")
    private boolean noIndex;

    /** @param arguments of the job */
    public IngestVerb(List<String> arguments) {
        this.arguments = NoIndexFlag.without(JsonFlag.without(arguments));
        this.noIndex = NoIndexFlag.isIn(arguments);
        this.json = JsonFlag.isIn(arguments);
    }

    @Override
    public Integer call() throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        String[] args = arguments.toArray(new String[0]);
        if (TopicIngestOptions.isTopic(args)) {
            return TopicIngestCommand.run(TopicIngestOptions.parse(args), json, out, err);
        }
        if (RowDetection.isRows(args)) {
            RowIngestOptions options = RowIngestOptions.parse(args);
            if (options.isDry()) {
                PlanReport.print(RowIngestJob.plan(options), json, out);
                return 0;
            }
            return run(
                    listener -> RowIngestJob.run(options, RowIngestJob.embedded(options), listener), options.target());
        }
        IngestOptions options = IngestOptions.parse(args);
        if (options.run() == IngestOptions.Run.DRY) {
            show(IngestJob.plan(options), out);
            return 0;
        }
        return run(listener -> IngestJob.run(options, IngestJob.embedded(options), listener), options.target());
    }

    private void show(IngestPlan plan, PrintWriter out) {
        if (json) {
            out.println(IngestReport.json(plan));
        } else {
            plan.lines().forEach(out::println);
        }
    }

    private int run(InterruptibleIngest.Job<IngestResult> job, String target) throws Exception {
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        Optional<IngestResult> result = InterruptibleIngest.run(job, "stoker ingest", err);
        if (result.isEmpty()) {
            return InterruptibleIngest.INTERRUPTED;
        }
        if (json) {
            out.println(IngestReport.json(result.get()));
        } else {
            result.get().lines().forEach(out::println);
        }
        if (!noIndex) {
            IndexUpdate.afterCommit(target, err);
        }
        return 0;
    }
}
