package dev.stoker.cli.keep;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.options.OwnFlags;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.metadata.recovery.Recovery;
import dev.stoker.metadata.recovery.RecoveryPlan;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.storage.ObjectStore;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker recover}: shows how to restore a lost or damaged commit log, and restores it with {@code --yes}. */
@Command(
        name = "recover",
        header = {"Examples:", "  stoker recover ./data/photos", "  stoker recover ./data/photos --yes"},
        description = {
            "Rebuilds a commit log with lost or damaged entries.",
            "Restores entries from their second copies, or from the heads of the chunks if both are lost. Also"
                    + " restores a dataset.json that is lost or belongs to another dataset.",
            "Without --yes it only prints the plan. Do not run an ingest at the same time."
        })
public final class RecoverVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Option(names = "--yes", description = "Restore the entries.")
    private boolean yes;

    @Option(names = OwnFlags.JSON, description = "Print JSON, on one line.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        try (ObjectStore store = OpenDataset.store(path)) {
            RecoveryPlan plan = Recovery.plan(store, System.getProperty("user.name"));
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                if (yes) {
                    plan.apply();
                }
                out.println(json(plan));
                return 0;
            }
            plan.steps().forEach(out::println);
            plan.notes().forEach(note -> out.println("note: " + note));
            if (plan.isEmpty()) {
                out.println("nothing to recover: the log and dataset.json are whole");
            } else if (yes) {
                plan.apply();
                out.println("recovered; check everything with stoker verify " + ShellText.word(path));
            } else {
                out.println("nothing was changed yet; run with --yes to recover");
            }
            return 0;
        }
    }

    private ObjectNode json(RecoveryPlan plan) {
        ObjectNode result = Json.object();
        result.put("whole", plan.isEmpty());
        result.put("done", yes && !plan.isEmpty());
        plan.steps().forEach(result.putArray("steps")::add);
        plan.notes().forEach(result.putArray("notes")::add);
        return result;
    }
}
