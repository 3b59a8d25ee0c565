package dev.stoker.cli.bench;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code stoker bench}: measures storage, feeder and trainer of this machine. */
@Command(
        name = "bench",
        header = {
            "Examples:",
            "  stoker bench storage ./data",
            "  stoker bench feed ./data/photos",
            "  stoker bench report --dataset ./data/photos"
        },
        description = {
            "Measures your storage, feeder and trainer, and finds the limit.",
            "Each measurement prints a table, or with --json its result for stoker bench report."
        },
        synopsisSubcommandLabel = "MEASUREMENT",
        commandListHeading = "%nMeasurements:%n",
        subcommands = {BenchStorageVerb.class, BenchFeedVerb.class, BenchDemandVerb.class, BenchReportVerb.class})
public final class BenchVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        throw new ParameterException(
                spec.commandLine(),
                "missing: " + String.join(", ", spec.subcommands().keySet()));
    }
}
