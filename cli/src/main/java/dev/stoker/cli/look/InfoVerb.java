package dev.stoker.cli.look;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.options.ReadThreads;
import dev.stoker.cli.options.VersionOptions;
import dev.stoker.cli.output.Columns;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.metadata.Dataset;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.mixing.Mixing;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.dataset.DatasetInfo;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.log.LogEntry;
import dev.stoker.schemas.order.OrderSpec;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker info}: what a version of a dataset holds; reads no sample, and some chunk heads. */
@Command(
        name = "info",
        header = {
            "Examples:",
            "  stoker info ./data/photos",
            "  stoker info ./data/photos --samples",
            "  stoker info s3a://bucket/photos@3 --json"
        },
        description = {
            "Prints splits, samples, chunks, fields and classes of a dataset.",
            "With --samples, reads the heads of all chunks and also prints the number of samples of each class, the"
                    + " sizes of the samples, and how well a feed with the default options mixes the classes."
        })
public final class InfoVerb implements Callable<Integer> {

    private static final Logger LOG = LoggerFactory.getLogger(InfoVerb.class);
    private static final int CLASSES_SHOWN = 20;

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "DATASET",
            description = "Directory or URI of the dataset; DATASET@3 names version 3, DATASET@best a tag.")
    private String path;

    @Mixin
    private VersionOptions version = new VersionOptions();

    @Option(names = "--chunks", description = "Also list the chunks.")
    private boolean chunks;

    @Option(
            names = "--samples",
            description = "Also count the samples of each class and their sizes. Reads the heads of all chunks.")
    private boolean samples;

    @Option(names = "--threads", paramLabel = "N", description = "Heads to read at a time with --samples.")
    private @Nullable Integer threads;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    /** The contents of a split. */
    private static final class Split {
        final String name;
        long samples;
        long chunks;
        long bytes;

        Split(String name) {
            this.name = name;
        }
    }

    private static final Columns<Split> SPLITS = new Columns<Split>()
            .cell("SPLIT", split -> split.name)
            .count("SAMPLES", "samples", split -> split.samples)
            .count("CHUNKS", "chunks", split -> split.chunks)
            .bytes("BYTES", "bytes", split -> split.bytes);

    @Override
    public Integer call() throws IOException {
        try (OpenDataset open = OpenDataset.open(path, version)) {
            Snapshot snapshot = open.snapshot();
            long newest = open.dataset().latestVersion();
            LogEntry entry = open.dataset().entry(snapshot.version(), newest);
            PrintWriter out = spec.commandLine().getOut();
            Map<String, List<Mixing>> mixing = mixing(open.dataset(), snapshot);
            Optional<CensusText> census = samples
                    ? Optional.of(CensusText.of(
                            open,
                            snapshot,
                            ReadThreads.of(threads, open.location()),
                            spec.commandLine().getErr()))
                    : Optional.empty();
            if (json) {
                ObjectNode root = toJson(open.dataset().where(), snapshot, newest, entry);
                if (census.isPresent()) {
                    root.setAll(census.get().json());
                }
                out.println(root.set("mixing", toJson(mixing)).toString());
            } else {
                print(open.dataset().where(), snapshot, newest, entry, out);
                census.ifPresent(text -> text.print(out));
                warn(mixing, out);
            }
            return 0;
        }
    }

    /** How feeds with the default options mix the classes of each split. */
    private static Map<String, List<Mixing>> mixing(Dataset dataset, Snapshot snapshot) {
        Map<String, List<Mixing>> mixing = new LinkedHashMap<>();
        for (String split : snapshot.splits()) {
            try {
                mixing.put(split, Mixing.of(dataset.store(), snapshot, split, OrderSpec.defaults()));
            } catch (IOException e) {
                // What is wrong with a chunk is for stoker verify to say.
                LOG.debug("The classes of split {} were not looked at", split, e);
            }
        }
        return mixing;
    }

    private static void warn(Map<String, List<Mixing>> mixing, PrintWriter out) {
        mixing.forEach((split, fields) -> fields.stream()
                .filter(Mixing::isPoor)
                .forEach(field -> out.println("warning: split " + split + ": " + field.warning())));
    }

    private static ObjectNode toJson(Map<String, List<Mixing>> mixing) {
        ObjectNode root = Json.object();
        mixing.forEach((split, fields) -> fields.forEach(field -> root.withArray(split)
                .addObject()
                .put("field", field.field())
                .put("dataset_classes", field.datasetClasses())
                .put("window_classes", field.windowClasses())
                .put("window_chunks", field.windowChunks())
                .put("poor", field.isPoor())
                .put("warning", field.isPoor() ? field.warning() : null)));
        return root;
    }

    private static Map<String, Split> splits(Snapshot snapshot) {
        Map<String, Split> splits = new LinkedHashMap<>();
        snapshot.splits().forEach(name -> splits.put(name, new Split(name)));
        ChunkTable table = snapshot.table();
        for (int i = 0; i < table.size(); i++) {
            if (table.isLive(i)) {
                Split split = Objects.requireNonNull(splits.get(table.split(i)), "each chunk is in a split");
                split.samples += table.liveRows(i);
                split.chunks++;
                split.bytes += table.length(i);
            }
        }
        return splits;
    }

    private void print(String where, Snapshot snapshot, long newest, LogEntry entry, PrintWriter out) {
        DatasetInfo info = snapshot.info();
        ChunkTable table = snapshot.table();
        out.println("dataset  " + KeyText.line(info.name()) + ", " + info.id() + ", created "
                + Units.date(info.created().toEpochMilli()));
        out.println("path     " + where);
        out.println("version  " + snapshot.version() + (snapshot.version() == newest ? "" : " of " + newest) + ", "
                + entry.operation().code() + " of " + Units.date(entry.committedMs()) + " by "
                + KeyText.line(entry.committedBy()));
        out.println("samples  " + Units.count(table.liveRows()) + " in " + Units.plural(table.liveChunks(), "chunk")
                + ", " + Units.bytes(table.liveBytes()));
        out.println("fields   "
                + info.fields().stream().map(field -> describe(field, snapshot)).collect(Collectors.joining(", ")));
        for (Field field : info.fields()) {
            List<String> names = snapshot.classes().names(field.name());
            if (!names.isEmpty()) {
                out.println("classes  " + field.name() + ": "
                        + names.stream().limit(CLASSES_SHOWN).map(KeyText::line).collect(Collectors.joining(", "))
                        + (names.size() > CLASSES_SHOWN
                                ? " and " + (names.size() - CLASSES_SHOWN) + " more (all of them: --json)"
                                : ""));
            }
        }
        out.println();
        SPLITS.print(splits(snapshot).values(), out);
        if (chunks) {
            out.println();
            chunks(table).print(live(table), out);
        }
    }

    private static String describe(Field field, Snapshot snapshot) {
        int classes = snapshot.classes().names(field.name()).size();
        return field.name() + ": " + field.type().canonical()
                + (classes > 0 ? " (" + Units.plural(classes, "class") + ")" : "")
                + (field.nullable() ? " (nullable)" : "") + (field.payload() ? " (payload)" : "");
    }

    /** Returns the columns of chunks, which are their indexes in the table. */
    private static Columns<Integer> chunks(ChunkTable table) {
        return new Columns<Integer>()
                .number("CHUNK", "ordinal", table::ordinal)
                .text("ID", "id", chunk -> table.id(chunk).toString())
                .text("SPLIT", "split", table::split)
                .number("VERSION", "added_in", table::addedIn)
                .key("rows", table::rows)
                .count("SAMPLES", "live_rows", table::liveRows)
                .cell("REMOVED", chunk -> Units.count(table.rows(chunk) - table.liveRows(chunk)))
                .count("BYTES", "bytes", table::length)
                .count("HEAD", "head_bytes", table::headLength);
    }

    private static List<Integer> live(ChunkTable table) {
        return IntStream.range(0, table.size()).filter(table::isLive).boxed().toList();
    }

    private ObjectNode toJson(String where, Snapshot snapshot, long newest, LogEntry entry) {
        DatasetInfo info = snapshot.info();
        ChunkTable table = snapshot.table();
        ObjectNode root = Json.object();
        root.put("name", info.name()).put("id", info.id().toString()).put("path", where);
        root.put("created", info.created().toString());
        root.put("version", snapshot.version()).put("newest_version", newest);
        root.put("committed_ms", entry.committedMs()).put("committed_by", entry.committedBy());
        root.put("operation", entry.operation().code()).put("ingest", entry.ingest());
        root.put("samples", table.liveRows()).put("chunks", table.liveChunks()).put("bytes", table.liveBytes());
        ObjectNode splits = root.putObject("splits");
        splits(snapshot).forEach((name, split) -> SPLITS.put(splits.putObject(name), split));
        for (Field field : info.fields()) {
            ObjectNode node = root.withArray("fields").addObject();
            node.put("name", field.name()).put("type", field.type().canonical());
            node.put("nullable", field.nullable()).put("payload", field.payload());
        }
        ObjectNode classes = root.putObject("classes");
        snapshot.classes().names().forEach((field, names) -> names.forEach(classes.putArray(field)::add));
        root.set("options", Json.PLAIN.valueToTree(info.options()));
        if (chunks) {
            Columns<Integer> columns = chunks(table);
            live(table)
                    .forEach(chunk -> columns.put(root.withArray("chunk_list").addObject(), chunk));
        }
        return root;
    }
}
