package dev.stoker.cli.ingest;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.options.OwnFlags;
import dev.stoker.cli.output.ProgressLine;
import dev.stoker.cli.output.Signals;
import dev.stoker.export.ExportJob;
import dev.stoker.export.ExportListener;
import dev.stoker.export.ExportOptions;
import dev.stoker.export.ExportProgress;
import dev.stoker.export.ExportResult;
import dev.stoker.flink.launch.JobLauncher;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stoker export}: writes the samples of a version as files of another format. */
@Command(
        name = "export",
        header = {
            "Examples:",
            "  stoker export ./data/photos ./photos-parquet --format parquet",
            "  stoker export ./data/photos:train ./shards --format webdataset \\",
            "      --rename image=jpg",
            "  stoker export ./data/photos@3:train ./epoch0 --format arrow \\",
            "      --order epoch:0 --seed 7",
            "  stoker export ./data/photos ./cats --format jsonl --columns key,label \\",
            "      --where \"label = 'cat'\""
        },
        description = "Writes the samples of a version as files of another format. The export appears at the"
                + " target when it is complete. After an interruption, nothing appears there.",
        customSynopsis = "stoker export DATASET[@version][:split] TARGET --format FORMAT [OPTION]…",
        sortOptions = false)
public final class ExportVerb implements Callable<Integer> {
    private final List<String> arguments;

    @Spec
    private CommandSpec spec;

    /** Only for help: the job parses its own arguments. */
    @Option(names = OwnFlags.JSON, description = "Print the result as JSON, on one line.")
    private boolean json;

    /** @param arguments of the job */
    public ExportVerb(List<String> arguments) {
        this.arguments = OwnFlags.without(arguments, OwnFlags.JSON);
        this.json = arguments.contains(OwnFlags.JSON);
    }

    @Override
    public Integer call() throws Exception {
        ExportOptions options = ExportOptions.parse(arguments.toArray(new String[0]));
        if (options.isDry()) {
            PlanReport.print(ExportJob.plan(options), json, spec.commandLine().getOut());
            return 0;
        }
        PrintWriter err = spec.commandLine().getErr();
        return Signals.interrupting(() -> run(options, err), e -> {
            err.println("stoker: interrupted; nothing was exported");
            return Signals.INTERRUPTED;
        });
    }

    private int run(ExportOptions options, PrintWriter err) throws Exception {
        try (ProgressLine line = new ProgressLine(err);
                JobLauncher launcher = ExportJob.embedded(options)) {
            ExportResult result = ExportJob.run(options, launcher, new ExportListener() {
                @Override
                public void started(List<String> plan) {
                    plan.forEach(err::println);
                }

                @Override
                public void progressed(ExportProgress progress) {
                    line.show(text(progress));
                }
            });
            line.end();
            print(result);
            return 0;
        }
    }

    private void print(ExportResult result) {
        PrintWriter out = spec.commandLine().getOut();
        if (!json) {
            result.lines().forEach(out::println);
            return;
        }
        ObjectNode root = Json.object();
        root.put("target", result.target()).put("export_id", result.exportId());
        root.put("version", result.version()).put("samples", result.samples());
        root.put("excluded", result.excluded());
        root.put("files", result.files()).put("bytes", result.bytes());
        root.put("seconds", result.duration().toNanos() / 1e9);
        out.println(root);
    }

    private static String text(ExportProgress progress) {
        return progress.elapsed().isZero()
                ? "starting …"
                : "exporting: " + Units.count(progress.rows()) + " of " + Units.plural(progress.allRows(), "sample")
                        + ", " + Units.rate(progress.bytesPerSecond())
                        + progress.remaining()
                                .map(left -> ", " + Units.time(left) + " left")
                                .orElse("");
    }
}
