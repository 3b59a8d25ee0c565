package dev.stoker.cli.feed;

import dev.stoker.cli.options.FlinkOptions;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.ProgressLine;
import dev.stoker.cli.running.FeedFile;
import dev.stoker.feeder.plan.StreamArgument;
import dev.stoker.flink.work.FlinkWorkers;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.DatasetLayout;
import dev.stoker.metadata.audit.Audit;
import dev.stoker.metadata.audit.AuditWorkers;
import dev.stoker.metadata.audit.RequiredEpochs;
import dev.stoker.metadata.audit.report.AuditReport;
import dev.stoker.metadata.ledger.DeliverySign;
import dev.stoker.storage.ObjectIterator;
import dev.stoker.storage.ObjectStore;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker audit}: checks from ledger and dataset alone whether each batch was delivered exactly once. */
@Command(
        name = "audit",
        header = {
            "Examples:",
            "  stoker audit photos --epochs 2",
            "  stoker audit photos --epochs 90 --epochs val/default=9",
            "  stoker audit --ledger s3a://bucket/photos/_stoker/feeds/ID/ledger"
        },
        sortOptions = false,
        description = {
            "Checks that a feed delivered each batch exactly once.",
            "Reads the ledger, recomputes every batch from the dataset, and lists batches that are missing,"
                    + " altered or do not belong to the feed. Unfinished epochs can have open batches.",
            "Exits with 1 if it finds an error."
        })
public final class AuditVerb implements Callable<Integer> {

    /** The default place of a feed's ledger. */
    private static final Pattern IN_DATASET = Pattern.compile("(?<dataset>.+)/" + DatasetLayout.FEEDS
            + "(?<feed>[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(/[^/]*)?");

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "NAME",
            arity = "0..1",
            description = "Name of a running or ended feed; stoker ps --all lists the names.")
    private @Nullable String name;

    @Option(names = "--ledger", paramLabel = "DIR", description = "Directory or URI of the ledger, instead of a name.")
    private @Nullable String ledger;

    @Option(
            names = "--dataset",
            paramLabel = "PATH",
            description =
                    "A dataset that the feed serves, as [name=]path. Can be repeated. Not needed if the feed or the"
                            + " ledger's location determines it.")
    private List<String> paths = new ArrayList<>();

    @Option(
            names = "--epochs",
            paramLabel = "[GROUP=]N",
            description =
                    "Require that each group has completed its first N epochs. GROUP=N or STREAM/GROUP=N is for one"
                            + " group. Can be repeated; 0 requires none. By default open batches are no error.")
    private List<String> epochs = new ArrayList<>();

    @Mixin
    private FlinkOptions flink = new FlinkOptions();

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    /** The ledger and datasets to read. */
    private record Target(String ledger, Set<String> datasets, Optional<UUID> feed) {}

    @Override
    public Integer call() throws IOException, InterruptedException {
        if ((name == null) == (ledger == null)) {
            throw new ParameterException(
                    spec.commandLine(),
                    name == null
                            ? "give the name of a feed, or its ledger with --ledger DIR; known feeds: stoker ps --all"
                            : "give the name of a feed or --ledger, not both");
        }
        RequiredEpochs required = required();
        Target target = name == null ? byLedger(Objects.requireNonNull(ledger)) : byName(name);
        List<ObjectStore> stores = new ArrayList<>();
        try (ObjectStore files = Stores.open(target.ledger);
                ProgressLine line = new ProgressLine(spec.commandLine().getErr())) {
            List<DeliverySign> signs = DeliverySign.find(target.ledger, target.feed);
            if (!isThere(target.ledger, files)) {
                if (!signs.isEmpty()) {
                    throw new CommandException("audit failed: there is no ledger at " + target.ledger + ", but "
                            + signs.get(0).where() + " says that feed "
                            + signs.get(0).feed()
                            + " delivered and wrote receipts there; restore the ledger from a copy");
                }
                throw new CommandException("there is no ledger at " + target.ledger
                        + (ledger == null ? ": no trainer of feed " + name + " has consumed anything" : ""));
            }
            List<Dataset> datasets = new ArrayList<>();
            for (String location : target.datasets) {
                ObjectStore store = Stores.open(location);
                stores.add(store);
                datasets.add(Dataset.open(store));
            }
            if (datasets.isEmpty()) {
                throw new ParameterException(
                        spec.commandLine(), "give the dataset that the feed serves with --dataset PATH");
            }
            AuditReport report =
                    audit(target, required, files, datasets, signs, line).run();
            line.end();
            PrintWriter out = spec.commandLine().getOut();
            if (json) {
                out.println(AuditText.json(report, target.ledger));
            } else {
                AuditText.print(report, required, target.ledger, out);
            }
            return report.isClean() ? 0 : Errors.FAILED;
        } finally {
            for (ObjectStore store : stores) {
                store.close();
            }
        }
    }

    private RequiredEpochs required() {
        OptionalLong byDefault = OptionalLong.empty();
        Map<String, Long> byGroup = new HashMap<>();
        for (String text : epochs) {
            int equals = text.lastIndexOf('=');
            String group = text.substring(0, Math.max(0, equals));
            long number = number(text, text.substring(equals + 1));
            boolean isTwice;
            if (equals < 0) {
                isTwice = byDefault.isPresent();
                byDefault = OptionalLong.of(number);
            } else {
                isTwice = byGroup.put(group, number) != null;
            }
            if (isTwice) {
                throw new ParameterException(
                        spec.commandLine(),
                        "option --epochs: there are two numbers for " + (equals < 0 ? "all groups" : "group " + group)
                                + "; give one, or name other groups as GROUP=N");
            }
        }
        return new RequiredEpochs(byDefault, byGroup);
    }

    private long number(String text, String number) {
        boolean isNamed = text.contains("=");
        try {
            long parsed = Long.parseLong(number.strip());
            if (parsed >= (isNamed ? 0 : 1) && !text.startsWith("=")) {
                return parsed;
            }
        } catch (NumberFormatException e) {
            // The error below names the expected form.
        }
        throw new ParameterException(
                spec.commandLine(),
                "option --epochs: " + text
                        + " is not a number of epochs; give a positive number, such as 12, or a number for"
                        + " one group, such as evaluation=1");
    }

    private Audit audit(
            Target target,
            RequiredEpochs complete,
            ObjectStore files,
            List<Dataset> datasets,
            List<DeliverySign> signs,
            ProgressLine line)
            throws IOException, InterruptedException {
        Optional<FlinkWorkers> workers = flink.workers(target.ledger, "stoker audit", null, new LongAdder(), 0);
        return workers.map(cluster -> new Audit(
                        files,
                        datasets,
                        target.feed,
                        complete,
                        signs,
                        line::show,
                        new AuditWorkers(cluster, cluster.parallelism(), List.copyOf(target.datasets))))
                .orElseGet(() -> new Audit(files, datasets, target.feed, complete, signs, line::show));
    }

    private static boolean isThere(String location, ObjectStore files) throws IOException {
        if (!Stores.isRemote(location)) {
            return Files.isDirectory(Stores.local(location));
        }
        try (ObjectIterator objects = files.list("part-")) {
            return objects.hasNext();
        }
    }

    private Target byName(String name) throws IOException {
        FeedFile feed = FeedFile.require(name);
        if (feed.writesToTopic()) {
            throw new CommandException("feed " + name + " writes to " + feed.addresses()
                    + ": its trainers leave no receipts to audit; each of them checks for missing batches");
        }
        Set<String> datasets = given();
        feed.json()
                .path("streams")
                .forEach(stream ->
                        datasets.add(Stores.normalize(stream.path("path").asText())));
        return new Target(
                Stores.normalize(feed.json().path("ledger").asText()),
                datasets,
                Optional.of(UUID.fromString(feed.json().path("id").asText())));
    }

    private Target byLedger(String ledger) {
        String location = Stores.normalize(ledger);
        Set<String> datasets = given();
        Optional<UUID> feed = Optional.empty();
        Matcher matcher = IN_DATASET.matcher(location);
        if (matcher.matches()) {
            feed = Optional.of(UUID.fromString(matcher.group("feed")));
            datasets.add(matcher.group("dataset"));
        }
        return new Target(location, datasets, feed);
    }

    private Set<String> given() {
        Set<String> datasets = new LinkedHashSet<>();
        for (String text : paths) {
            boolean isDirectory = !Stores.isRemote(text) && Files.isDirectory(Path.of(text));
            datasets.add(Stores.normalize(
                    isDirectory ? text : StreamArgument.parse(text).path()));
        }
        return datasets;
    }
}
