package dev.stoker.cli.change;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.ReadProgress;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.ingest.spec.KeyFile;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.commit.Commit;
import dev.stoker.metadata.commit.VersionCommitter;
import dev.stoker.metadata.commit.VersionRequest;
import dev.stoker.metadata.removal.RemovalPlan;
import dev.stoker.metadata.removal.SampleCondition;
import dev.stoker.metadata.removal.SampleRemoval;
import dev.stoker.metadata.removal.SampleRule;
import dev.stoker.metadata.selection.SampleFilter;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.condition.RowExpression;
import dev.stoker.schemas.condition.RowPredicate;
import dev.stoker.schemas.text.Units;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker delete}: commits a version without the selected samples. */
@Command(
        name = "delete",
        header = {
            "Examples:",
            "  stoker delete ./data/photos cat/17.jpg cat/18.jpg --yes",
            "  stoker delete ./data/photos --keys-from withdrawn.txt --dry-run",
            "  stoker delete ./data/photos --where \"label = 'blurred'\" --yes",
            "  stoker delete ./data/photos cat/17.jpg --erase --certificate cat-17.json --yes"
        },
        description = {
            "Commits a version of a dataset without some samples. Without --yes, it only prints the plan.",
            "Older versions keep the samples, and no file is deleted.",
            "With --erase, the samples become unrecoverable: it rewrites their chunks, expires all versions that have"
                    + " them, and deletes the files. An interrupted erasure is finished by the next one."
        },
        sortOptions = false)
public final class DeleteVerb implements Callable<Integer> {

    private static final String ID = "delete-";

    @Spec
    private CommandSpec spec;

    @Parameters(index = "0", paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Parameters(index = "1..*", arity = "0..*", paramLabel = "KEY", description = "Keys of samples to delete.")
    private List<String> keys = List.of();

    @Option(
            names = "--prefix",
            paramLabel = "TEXT",
            description = "Delete the samples whose keys begin with TEXT; can be repeated.")
    private List<String> prefixes = List.of();

    @Option(
            names = "--keys-from",
            paramLabel = "FILE",
            description =
                    "Delete the samples whose keys are in FILE, one a line; - is standard input. A line that begins"
                            + " with a quotation mark is a JSON string.")
    private List<String> keyFiles = List.of();

    @Option(
            names = {"-0", "--null"},
            description = "The keys in FILE end with a NUL instead of a line feed.")
    private boolean nul;

    @Option(
            names = "--where",
            paramLabel = "CONDITION",
            description = "Delete only samples that satisfy a condition as in SQL: \"age < 18 AND label = 'cat'\".")
    private @Nullable String where;

    @Option(names = "--split", paramLabel = "NAME", description = "Delete only samples of this split.")
    private @Nullable String split;

    @Option(names = "--erase", description = "Make the samples unrecoverable, in all versions.")
    private boolean erase;

    @Option(
            names = "--certificate",
            paramLabel = "FILE",
            description = "With --erase: write the certificate also to this file, which must not exist.")
    private @Nullable Path certificate;

    @Mixin
    private ChangeOptions options = new ChangeOptions();

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (certificate != null && !erase) {
            throw new IllegalArgumentException("option --certificate needs --erase");
        }
        String ingest = options.ingestId(ID);
        int parallelism = options.threads(path);
        try (OpenDataset open = OpenDataset.open(path)) {
            open.requireNoVersion("stoker delete");
            Dataset dataset = open.dataset();
            List<Field> fields = dataset.latest().info().fields();
            if (erase) {
                SampleErasure.Request request = new SampleErasure.Request(
                        options.ingestId(),
                        Optional.ofNullable(certificate),
                        options.isReal(),
                        options.next("erase"),
                        parallelism,
                        options.isJson());
                return new SampleErasure(spec, dataset, request)
                        .run(isSelecting() ? Optional.of(rule(fields)) : Optional.empty());
            }
            SampleRule rule = rule(fields);
            VersionCommitter committer =
                    new VersionCommitter(dataset, InstantSource.system(), System.getProperty("user.name"));
            Optional<Commit> before = committer.find(ingest);
            if (before.isPresent()) {
                print(dataset, before.get());
                return 0;
            }
            Snapshot base = dataset.snapshot();
            AtomicInteger read = new AtomicInteger();
            SampleRemoval removal = new SampleRemoval(dataset, rule, parallelism, read::addAndGet);
            RemovalPlan plan;
            int chunks = base.table().liveChunks();
            try (ReadProgress progress = new ReadProgress(
                    spec.commandLine().getErr(),
                    () -> "searching: " + Units.count(read.get()) + " of " + Units.plural(chunks, "chunk"))) {
                plan = removal.plan(base);
                progress.end();
            }
            if (!options.isReal() || plan.removed() == 0) {
                print(dataset, plan);
                return 0;
            }
            if (!options.isJson()) {
                print(dataset, plan);
            }
            Stores.requireAtomicCreate(dataset.store());
            print(dataset, committer.commit(VersionRequest.remove(ingest, removal, Map.of())));
            return 0;
        }
    }

    private boolean isSelecting() {
        return !(keys.isEmpty() && prefixes.isEmpty() && keyFiles.isEmpty() && where == null && split == null);
    }

    private SampleRule rule(List<Field> fields) throws IOException {
        Set<String> all = new LinkedHashSet<>(keys);
        for (String file : keyFiles) {
            KeyFile.read(file, nul ? '\0' : '\n', all);
        }
        if (prefixes.contains("")) {
            throw new IllegalArgumentException("option --prefix: it is empty, and all keys begin with it; to delete all"
                    + " samples of a split, give --split");
        }
        if (nul && keyFiles.isEmpty()) {
            throw new IllegalArgumentException("option --null needs --keys-from");
        }
        if (all.isEmpty() && prefixes.isEmpty() && !keyFiles.isEmpty()) {
            throw new CommandException("there is no key in " + String.join(", ", keyFiles));
        }
        if (all.isEmpty() && prefixes.isEmpty() && where == null && split == null) {
            throw new IllegalArgumentException(
                    "no sample is selected; give keys, --keys-from, --prefix, --where or --split");
        }
        return new SampleRule(
                all,
                prefixes,
                Optional.ofNullable(split),
                Optional.ofNullable(where).map(text -> condition(text, fields)),
                options.missing());
    }

    private static Supplier<SampleCondition> condition(String text, List<Field> fields) {
        try {
            RowPredicate predicate = RowExpression.parse(text).bind(SampleFilter.types(fields));
            return () -> new SampleFilter(predicate, fields);
        } catch (IllegalArgumentException e) {
            // Without the cause, whose message would be printed instead.
            throw new IllegalArgumentException("option --where: " + e.getMessage());
        }
    }

    private void print(Dataset dataset, RemovalPlan plan) {
        PrintWriter out = spec.commandLine().getOut();
        ChangeText text = new ChangeText(plan.splits(), plan.firstKeys(), plan.removed());
        if (options.isJson()) {
            ObjectNode root = ChangeText.json(dataset, plan.version());
            root.put("samples", plan.removed()).put("missing", plan.missing());
            text.addTo(root);
            out.println(root);
            return;
        }
        ChangeText.printMissing(out, plan.missing());
        if (plan.removed() == 0) {
            out.println("nothing to delete: version " + plan.version() + " has none of the samples");
            return;
        }
        text.print(out);
        if (!options.isReal()) {
            out.println("would delete " + Units.plural(plan.removed(), "sample") + " of version " + plan.version()
                    + "; " + options.next("delete"));
        }
    }

    private void print(Dataset dataset, Commit commit) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        long version = commit.version();
        long left = dataset.anySnapshot(version).table().liveRows();
        long samples =
                version == 1 ? 0 : dataset.anySnapshot(version - 1).table().liveRows() - left;
        if (options.isJson()) {
            out.println(ChangeText.json(dataset, commit).put("samples", samples).put("left", left));
            return;
        }
        out.println(ChangeText.version(commit) + Units.plural(samples, "sample") + " deleted, " + Units.count(left)
                + " left");
    }
}
