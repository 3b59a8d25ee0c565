package dev.stoker.cli.keep;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.Table;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.gc.GarbageCollection;
import dev.stoker.metadata.gc.Leftover;
import dev.stoker.metadata.gc.Orphan;
import dev.stoker.metadata.index.run.IndexRange;
import dev.stoker.metadata.lease.Leases;
import dev.stoker.metadata.verify.DamagedErasures;
import dev.stoker.metadata.verify.Problem;
import dev.stoker.schemas.dataset.Lease;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.log.Operation;
import dev.stoker.schemas.text.ShellText;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker gc}: lists the remains of dead ingests, and deletes them with {@code --yes}. */
@Command(
        name = "gc",
        header = {"Examples:", "  stoker gc ./data/photos", "  stoker gc ./data/photos --yes"},
        description = {
            "Lists or deletes the files that no version needs. These are files that interrupted ingests left behind,"
                    + " chunks that only expired versions have, and the ledgers of ended feeds of such versions. With"
                    + " --yes it deletes them.",
            "It keeps the files of an ingest that has a lease, however old they are: a writer takes a lease before its"
                    + " first chunk and releases it after its commit. --break ends the lease of a dead writer."
        })
public final class GcVerb implements Callable<Integer> {

    /** The id of a copy or of a garbage collection. */
    private static final Pattern PROCESS = Pattern.compile("(copy|gc)-[0-9a-f-]{36}");

    @Spec
    private CommandSpec spec;

    @Parameters(paramLabel = "DATASET", description = "Directory or URI of the dataset.")
    private String path;

    @Option(
            names = "--older-than",
            paramLabel = "TIME",
            description = "Minimum age of the files, and minimum time since the expiry of their versions, such as"
                    + " 90m, 24h, 7d. Default: 24h.")
    private String olderThan = "24h";

    @Option(
            names = "--break",
            paramLabel = "ID",
            description =
                    "End the ingest with this ID: it can no longer commit. Deletes its files and its lease. Or end"
                            + " the copy with this ID, whose process is dead.")
    private @Nullable String ended;

    @Option(names = "--yes", description = "Delete the files.")
    private boolean yes;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        Duration limit = Units.parseTime("--older-than", olderThan);
        try (OpenDataset open = OpenDataset.open(path)) {
            PrintWriter out = spec.commandLine().getOut();
            if (ended != null && PROCESS.matcher(ended).matches()) {
                return endProcess(ended, open.dataset(), out);
            }
            for (Problem damaged : DamagedErasures.find(open.dataset())) {
                spec.commandLine().getErr().println("stoker: warning: " + damaged.message());
            }
            GarbageCollection collection = GarbageCollection.plan(open.dataset(), limit, Clock.systemUTC());
            if (ended != null) {
                return end(ended, open.dataset(), collection, out);
            }
            List<Orphan> deleted = yes ? collection.apply() : List.of();
            if (json) {
                out.println(toJson(collection, deleted));
            } else {
                print(collection, deleted, limit, out);
            }
            return 0;
        }
    }

    private int end(String ingest, Dataset dataset, GarbageCollection collection, PrintWriter out) throws IOException {
        Leftover leftover = collection.leftovers().stream()
                .filter(l -> l.ingest().equals(ingest))
                .findFirst()
                .orElseThrow(() -> new CommandException("no ingest " + ingest + " is running on " + path
                        + " or left files there; see stoker gc " + ShellText.word(path)));
        String files = Units.plural(leftover.files().size(), "file") + ", " + Units.bytes(leftover.bytes());
        if (!yes) {
            out.println("would end ingest " + ingest + holder(leftover) + " and delete " + files
                    + "; a commit of it fails from then on; run with --yes to do so");
            return 0;
        }
        LogEntry entry = GarbageCollection.end(dataset, ingest, Clock.systemUTC(), System.getProperty("user.name"));
        if (entry.operation() == Operation.ABANDON) {
            out.println("ended ingest " + ingest + " (version " + entry.version()
                    + ", which changes no sample); deleted " + files);
        } else {
            out.println("ingest " + ingest + " had committed version " + entry.version()
                    + " meanwhile, which stays; its lease is deleted");
        }
        return 0;
    }

    private int endProcess(String id, Dataset dataset, PrintWriter out) throws IOException {
        if (!yes) {
            out.println("would end " + id + "; run with --yes to do so, if its process is dead");
            return 0;
        }
        if (!GarbageCollection.endProcess(dataset, id)) {
            throw new CommandException(
                    "no process " + id + " works on " + path + "; see stoker gc " + ShellText.word(path));
        }
        out.println("ended " + id);
        return 0;
    }

    private static String holder(Leftover leftover) {
        return leftover.lease()
                .map(lease -> " of " + KeyText.line(lease.by()) + ", running since " + lease.created())
                .orElse("");
    }

    private void print(GarbageCollection collection, List<Orphan> deleted, Duration limit, PrintWriter out) {
        for (Lease copy : collection.copies().values()) {
            out.println("chunks are kept: " + copy.ingest() + " of " + KeyText.line(copy.by()) + " is running since "
                    + since(copy) + "; if it is dead, run with --break " + copy.ingest());
        }
        if (collection.leftovers().isEmpty()
                && collection.expired().isEmpty()
                && collection.ofEndedFeeds().isEmpty()) {
            out.println("nothing to delete: every file belongs to a version");
            return;
        }
        Table table = new Table("INGEST", "FILES", "BYTES", "AGE", "");
        for (Leftover leftover : collection.leftovers()) {
            table.add(
                    !leftover.ingest().isEmpty()
                            ? leftover.ingest()
                            : unknown(leftover.files().get(0)),
                    Units.count(leftover.files().size()),
                    Units.bytes(leftover.bytes()),
                    Units.time(leftover.age()),
                    fate(leftover, limit));
        }
        String fate = yes ? "deleted" : "";
        boolean isBesideCopy = !collection.copies().isEmpty();
        add(table, "expired versions", collection.expired(), isBesideCopy ? "kept: a copy is running" : fate);
        add(table, "ended feeds", collection.ofEndedFeeds(), fate);
        table.print(out);
        List<Orphan> plan = planned(collection);
        long bytes = (yes ? deleted : plan).stream().mapToLong(Orphan::length).sum();
        if (yes) {
            out.println("deleted " + Units.plural(deleted.size(), "file") + ", " + Units.bytes(bytes));
        } else if (!plan.isEmpty()) {
            out.println("would delete " + Units.plural(plan.size(), "file") + ", " + Units.bytes(bytes)
                    + "; run with --yes to delete");
        } else {
            out.println("nothing to delete");
        }
        if (collection.leftovers().stream().anyMatch(l -> l.fate() == Leftover.Fate.YOUNG)) {
            out.println("to also delete the younger files, for example after a full disk, run with --older-than 0s;"
                    + " make sure that no writer without a lease is running");
        }
        if (collection.leftovers().stream().anyMatch(l -> l.fate() == Leftover.Fate.LEASED)) {
            out.println("to end the lease of a dead writer, run with --break ID");
        }
    }

    private static void add(Table table, String what, List<Orphan> files, String fate) {
        if (!files.isEmpty()) {
            long bytes = files.stream().mapToLong(Orphan::length).sum();
            table.add(what, Units.count(files.size()), Units.bytes(bytes), "", fate);
        }
    }

    /** Describes a file whose ingest is unknown. */
    private static String unknown(Orphan file) {
        String kind = IndexRange.ofName(file.name()).isPresent() ? "superseded " : "unreadable ";
        return (file.unfinished() ? "unfinished " : kind) + file.name();
    }

    private String fate(Leftover leftover, Duration limit) {
        return switch (leftover.fate()) {
            case DELETE -> yes ? "deleted" : "";
            case YOUNG -> "kept: younger than " + Units.time(limit);
            case BESIDE_WRITERS -> "kept: writers or copies are running";
            case LEASED -> {
                Lease lease = leftover.lease().orElseThrow();
                yield "kept: lease of " + KeyText.line(lease.by()) + " since " + since(lease);
            }
        };
    }

    private static String since(Lease lease) {
        return lease.created() + (Leases.isOfEndedProcess(lease) ? ", whose process has ended" : "");
    }

    /** Returns the files that a collection would delete. */
    public static List<Orphan> planned(GarbageCollection collection) {
        Stream<Orphan> left = collection.leftovers().stream()
                .filter(leftover -> leftover.fate() == Leftover.Fate.DELETE)
                .flatMap(leftover -> leftover.files().stream());
        Stream<Orphan> expired = collection.copies().isEmpty() ? collection.expired().stream() : Stream.empty();
        return Stream.of(left, expired, collection.ofEndedFeeds().stream())
                .flatMap(files -> files)
                .toList();
    }

    private static void put(ArrayNode array, List<Orphan> files, List<Orphan> deleted) {
        for (Orphan file : files) {
            array.addObject()
                    .put("name", file.name())
                    .put("bytes", file.length())
                    .put("deleted", deleted.contains(file));
        }
    }

    private static ObjectNode put(ObjectNode node, String idKey, Lease lease) {
        return node.put(idKey, lease.ingest())
                .put("by", lease.by())
                .put("created", lease.created().toString())
                .put("process_ended", Leases.isOfEndedProcess(lease));
    }

    private ObjectNode toJson(GarbageCollection collection, List<Orphan> deleted) {
        ObjectNode root = Json.object();
        root.putArray("orphans");
        root.putArray("leases");
        collection
                .copies()
                .values()
                .forEach(copy -> put(root.withArray("copies").addObject(), "id", copy));
        put(root.putArray("expired_chunks"), collection.expired(), deleted);
        put(root.putArray("ended_feeds"), collection.ofEndedFeeds(), deleted);
        for (Leftover leftover : collection.leftovers()) {
            for (Orphan orphan : leftover.files()) {
                root.withArray("orphans")
                        .addObject()
                        .put("name", orphan.name())
                        .put("bytes", orphan.length())
                        .put("age_seconds", orphan.age().toSeconds())
                        .put("ingest", leftover.ingest().isEmpty() ? null : leftover.ingest())
                        .put("unfinished", orphan.unfinished())
                        .put("old_enough", leftover.fate() == Leftover.Fate.DELETE)
                        .put("deleted", deleted.contains(orphan));
            }
            leftover.lease()
                    .ifPresent(lease -> put(root.withArray("leases").addObject(), "ingest", lease)
                            .put("files", leftover.files().size())
                            .put("bytes", leftover.bytes()));
        }
        return root;
    }
}
