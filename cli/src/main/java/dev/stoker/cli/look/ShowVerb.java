package dev.stoker.cli.look;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.image.ImageOptions;
import dev.stoker.cli.options.VersionOptions;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.SafeOutput;
import dev.stoker.cli.output.Table;
import dev.stoker.cli.samples.OpenDataset;
import dev.stoker.cli.samples.SampleJson;
import dev.stoker.metadata.Snapshot;
import dev.stoker.metadata.chunks.ChunkHeads;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.chunk.ChunkHead;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.table.ChunkTable;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker show}: the first samples of a split or those with some keys, without their payload or as images. */
@Command(
        name = "show",
        header = {
            "Examples:",
            "  stoker show ./data/photos --split val --n 5",
            "  stoker show ./data/photos cats/1.jpg --image",
            "  stoker show ./data/photos cats/1.jpg --image -o 1.jpg"
        },
        description = {
            "Prints the first samples of a split, or those with some keys. It prints keys, labels, small fields and"
                    + " sizes.",
            "With --image, draws their images in the terminal."
        },
        sortOptions = false)
public final class ShowVerb implements Callable<Integer> {

    private static final int CELL = 48;

    @Spec
    private CommandSpec spec;

    @Parameters(
            index = "0",
            paramLabel = "DATASET",
            description = "Directory or URI of the dataset; DATASET@3 names version 3, DATASET@best a tag.")
    private String path;

    @Parameters(index = "1..*", arity = "0..*", paramLabel = "KEY", description = "Keys of samples of any split.")
    private List<String> keys = List.of();

    @Option(names = "--n", paramLabel = "N", description = "Number of samples. Default: 10.", defaultValue = "10")
    private long count;

    @Option(names = "--split", paramLabel = "NAME", description = "Split to read. Default: train, or else the first.")
    private @Nullable String split;

    @Mixin
    private VersionOptions version = new VersionOptions();

    @Mixin
    private ImageOptions images = new ImageOptions();

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    /** A sample that is shown. */
    private record Shown(ChunkHead chunk, int row) {}

    @Override
    public Integer call() throws IOException {
        if (images.isWanted() && json) {
            throw new IllegalArgumentException("--image and --json exclude each other");
        }
        if (!keys.isEmpty() && split != null) {
            throw new IllegalArgumentException("--split and KEY exclude each other");
        }
        try (OpenDataset open = OpenDataset.open(path, version)) {
            Snapshot snapshot = open.snapshot();
            PrintWriter out = spec.commandLine().getOut();
            String chosen = chosenSplit(snapshot);
            List<Shown> samples = keys.isEmpty() ? first(open, snapshot, chosen) : ofKeys(open, snapshot);
            if (images.isWanted()) {
                List<String> shown = samples.stream()
                        .map(sample -> sample.chunk().key(sample.row()))
                        .toList();
                images.show(open, shown, out);
                return 0;
            }
            print(snapshot, samples, out);
            if (!json && keys.isEmpty()) {
                long all = snapshot.splits().isEmpty()
                        ? 0
                        : snapshot.stream(chosen).liveRows();
                out.println(Units.count(samples.size()) + " of " + Units.plural(all, "sample") + " of split " + chosen);
            }
            return 0;
        }
    }

    private List<Shown> ofKeys(OpenDataset open, Snapshot snapshot) throws IOException {
        SampleIndex index = SampleIndex.open(open.dataset(), snapshot);
        List<Shown> samples = new ArrayList<>();
        for (String key : keys) {
            SampleStat stat = index.stat(key)
                    .orElseThrow(() -> new CommandException(
                            "version " + index.version() + " has no sample with the key " + KeyText.line(key)));
            ChunkTable table = snapshot.table();
            ChunkHead head = ChunkHeads.read(open.dataset().store(), table, table.indexOf(stat.ordinal()));
            samples.add(new Shown(head, stat.row()));
        }
        return samples;
    }

    private List<Shown> first(OpenDataset open, Snapshot snapshot, String chosen) throws IOException {
        List<Shown> samples = new ArrayList<>();
        if (!snapshot.splits().isEmpty()) {
            // Throws an exception with the known splits if this one does not exist.
            snapshot.stream(chosen);
        }
        ChunkTable chunks = snapshot.table();
        for (int i = 0; i < chunks.size() && samples.size() < count; i++) {
            if (!chunks.isLive(i) || !chunks.split(i).equals(chosen)) {
                continue;
            }
            ChunkHead chunk = ChunkHeads.read(open.dataset().store(), chunks, i);
            int[] removed = chunks.removedRows(i);
            for (int row = 0; row < chunk.rows() && samples.size() < count; row++) {
                if (Arrays.binarySearch(removed, row) < 0) {
                    samples.add(new Shown(chunk, row));
                }
            }
        }
        return samples;
    }

    private void print(Snapshot snapshot, List<Shown> samples, PrintWriter out) throws IOException {
        List<Field> fields = snapshot.info().fields();
        List<String> head = new ArrayList<>(List.of("KEY"));
        fields.forEach(field -> head.add(SafeOutput.escape(field.name())));
        Table table = new Table(head.toArray(String[]::new));
        ArrayNode array = Json.array();
        for (Shown sample : samples) {
            add(sample.chunk(), sample.row(), fields, table, array);
        }
        if (json) {
            out.println(array);
        } else {
            table.print(out);
        }
    }

    private String chosenSplit(Snapshot snapshot) {
        if (split != null) {
            return split;
        }
        List<String> splits = snapshot.splits();
        return splits.isEmpty() || splits.contains("train") ? "train" : splits.get(0);
    }

    private static void add(ChunkHead chunk, int row, List<Field> fields, Table table, ArrayNode array)
            throws IOException {
        String[] cells = new String[fields.size() + 1];
        cells[0] = KeyText.line(chunk.key(row));
        ObjectNode node = array.addObject();
        node.put("key", chunk.key(row));
        for (int f = 0; f < fields.size(); f++) {
            Field field = fields.get(f);
            if (field.payload() && chunk.column(f).isNull(row)) {
                cells[f + 1] = "-";
                node.putNull(field.name());
            } else if (field.payload()) {
                cells[f + 1] = Units.bytes(chunk.payloadLength(f, row));
                node.putObject(field.name()).put("bytes", chunk.payloadLength(f, row));
            } else {
                JsonNode value = SampleJson.value(chunk, f, row);
                cells[f + 1] = text(value);
                node.set(field.name(), value);
            }
        }
        table.add(cells);
    }

    private static String text(JsonNode value) throws IOException {
        if (value.isNull()) {
            return "-";
        }
        return value.isBinary()
                ? Units.bytes(value.binaryValue().length)
                : cut(value.isTextual() ? value.asText() : value.toString());
    }

    private static String cut(String text) {
        String line = SafeOutput.escape(text.replaceAll("\\s+", " "));
        return line.length() <= CELL ? line : line.substring(0, CELL - 1) + "…";
    }
}
