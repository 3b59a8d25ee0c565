package dev.stoker.cli.change;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.ReadProgress;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.formats.detection.Formats;
import dev.stoker.ingest.rows.update.UpdateTable;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.update.NewValues;
import dev.stoker.metadata.update.SampleUpdate;
import dev.stoker.metadata.update.UpdatePlan;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.arrow.types.FieldType;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.InstantSource;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker update}: commits a version in which samples have other values of small fields. */
@Command(
        name = "update",
        header = {
            "Examples:",
            "  stoker update ./data/photos labels.csv                     # prints the plan",
            "  stoker update ./data/photos labels.csv --yes",
            "  stoker update ./data/photos scores.parquet --key path --column score --yes",
            "  stoker update ./data/photos quality.csv --add quality --yes"
        },
        description = {
            "Commits a version with values of small fields from a table. The table names the samples by key, and can"
                    + " add fields. Payload is not rewritten, and older versions keep their values. Without --yes, it"
                    + " only prints the plan."
        },
        sortOptions = false)
public final class UpdateVerb implements Callable<Integer> {

    private static final String ID = "update-";

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Parameters(
            index = "1",
            paramLabel = "TABLE",
            description = "File with keys and values: Parquet, CSV, JSON lines, Arrow, Avro, …; or a directory or"
                    + " pattern of such files.")
    private String table;

    @Option(names = "--key", paramLabel = "COLUMN", description = "Column with the keys. Default: key.")
    private String key = "key";

    @Option(
            names = "--column",
            paramLabel = "NAME",
            description = "Set only this field, from the column of its name; can be repeated. Default: all columns.")
    private List<String> columns = List.of();

    @Option(
            names = "--add",
            paramLabel = "NAME[=TYPE]",
            description = "Add this field if the dataset does not have it, with the type of the column or with TYPE,"
                    + " such as categorical; can be repeated. Samples without a value have null.")
    private List<String> added = List.of();

    @Option(names = "--format", paramLabel = "FORMAT", description = "Format of TABLE. Default: detected.")
    private @Nullable String format;

    @Mixin
    private ChangeOptions options = new ChangeOptions();

    @Override
    public Integer call() throws IOException {
        String ingest = options.ingestId(ID);
        int parallelism = options.threads(path);
        try (OpenDataset open = OpenDataset.open(path)) {
            open.requireNoVersion("stoker update");
            Dataset dataset = open.dataset();
            VersionCommitter committer =
                    new VersionCommitter(dataset, InstantSource.system(), System.getProperty("user.name"));
            Optional<Commit> before = committer.find(ingest);
            if (before.isPresent()) {
                print(dataset, before.get());
                return 0;
            }
            Snapshot base = dataset.snapshot();
            NewValues values = UpdateTable.read(request(), base.info());
            AtomicInteger read = new AtomicInteger();
            SampleUpdate update = new SampleUpdate(dataset, values, options.missing(), parallelism, read::addAndGet);
            UpdatePlan plan;
            int chunks = base.table().liveChunks();
            try (ReadProgress progress = new ReadProgress(
                    spec.commandLine().getErr(),
                    () -> "searching: " + Units.count(read.get()) + " of " + Units.plural(chunks, "chunk"))) {
                plan = update.plan(base);
                progress.end();
            }
            if (!options.isReal() || plan.updated() == 0) {
                print(dataset, values, plan);
                return 0;
            }
            if (!options.isJson()) {
                print(dataset, values, plan);
            }
            Stores.requireAtomicCreate(dataset.store());
            print(dataset, update.commit(ingest, InstantSource.system(), System.getProperty("user.name")));
            return 0;
        }
    }

    private UpdateTable.Request request() {
        if (format != null) {
            // Throws an exception with all names if there is none.
            Formats.named(format);
        }
        return new UpdateTable.Request(
                table, Optional.ofNullable(format), key, new LinkedHashSet<>(columns), addedTypes());
    }

    private Map<String, Optional<FieldType>> addedTypes() {
        Map<String, Optional<FieldType>> types = new LinkedHashMap<>();
        for (String given : added) {
            int equals = given.indexOf('=');
            String name = equals < 0 ? given : given.substring(0, equals);
            Optional<FieldType> type = Optional.empty();
            if (equals >= 0) {
                try {
                    type = Optional.of(FieldType.parse(given.substring(equals + 1)));
                } catch (IllegalArgumentException e) {
                    // Without a cause, whose message the command would print instead.
                    throw new IllegalArgumentException("option --add " + given + ": " + e.getMessage());
                }
            }
            if (types.put(name, type) != null) {
                throw new IllegalArgumentException("option --add names " + name + " twice");
            }
        }
        return types;
    }

    private void print(Dataset dataset, NewValues values, UpdatePlan plan) {
        PrintWriter out = spec.commandLine().getOut();
        ChangeText text = new ChangeText(plan.splits(), plan.firstKeys(), plan.updated());
        List<String> fields = values.fields().stream().map(Field::name).toList();
        if (options.isJson()) {
            ObjectNode root = ChangeText.json(dataset, plan.version());
            fields.forEach(root.putArray("fields")::add);
            plan.added().forEach(root.putArray("added_fields")::add);
            root.put("samples", plan.updated()).put("unchanged", plan.same()).put("missing", plan.missing());
            text.addTo(root);
            out.println(root);
            return;
        }
        ChangeText.printMissing(out, plan.missing());
        if (plan.same() > 0) {
            out.println("unchanged: " + Units.plural(plan.same(), "sample") + (plan.same() == 1 ? " has" : " have")
                    + " the values already");
        }
        if (plan.updated() == 0) {
            out.println("nothing to update: version " + plan.version() + " has these values");
            return;
        }
        if (!plan.added().isEmpty()) {
            out.println("adds: "
                    + values.added().fields().stream()
                            .filter(field -> plan.added().contains(field.name()))
                            .map(field -> field.name() + " (" + field.type().canonical() + ")")
                            .collect(Collectors.joining(", ")));
        }
        text.print(out);
        if (!options.isReal()) {
            out.println("would set " + String.join(", ", fields) + " of " + Units.plural(plan.updated(), "sample")
                    + " of version " + plan.version() + "; " + options.next("set the values"));
        }
    }

    private void print(Dataset dataset, Commit commit) {
        PrintWriter out = spec.commandLine().getOut();
        int chunks = commit.entry().updated().size();
        if (options.isJson()) {
            out.println(ChangeText.json(dataset, commit).put("chunks", chunks));
            return;
        }
        out.println(ChangeText.version(commit) + "new values in " + Units.plural(chunks, "chunk"));
    }
}
