package dev.stoker.cli;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.metadata.ChunkHeads;
import dev.stoker.metadata.Snapshot;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.chunk.ChunkHead;
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

/** {@code stoker show}: the first samples of a split, without their payload. */
@Command(
        name = "show",
        header = {"Example:", "  stoker show ./data/photos --split val --n 5"},
        description = "Prints the first samples of a split: keys, labels, small fields and sizes.")
final class ShowVerb implements Callable<Integer> {

    private static final int CELL = 48;

    @Spec
    private CommandSpec spec;

    @Parameters(
            paramLabel = "DATASET",
            description = "Directory or URI of the dataset; DATASET@3 names version 3, DATASET@best a tag.")
    private String path;

    @Option(names = "--n", paramLabel = "N", description = "Number of samples. Default: 10.", defaultValue = "10")
    private long count;

    @Option(names = "--split", paramLabel = "NAME", description = "Split to read. Default: train, or else the first.")
    private @Nullable String split;

    @Mixin
    private VersionOptions version = new VersionOptions();

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        try (OpenDataset open = OpenDataset.open(path, version)) {
            Snapshot snapshot = open.snapshot();
            PrintWriter out = spec.commandLine().getOut();
            List<Field> fields = snapshot.info().fields();
            List<String> head = new ArrayList<>(List.of("KEY"));
            fields.forEach(field -> head.add(field.name()));
            Table table = new Table(head.toArray(String[]::new));
            ArrayNode array = Json.array();
            String chosen = chosenSplit(snapshot);
            long left = Math.max(0, count);
            if (!snapshot.splits().isEmpty()) {
                // Throws an exception with the known splits if this one does not exist.
                snapshot.stream(chosen);
            }
            ChunkTable chunks = snapshot.table();
            for (int i = 0; i < chunks.size() && left > 0; i++) {
                if (!chunks.isLive(i) || !chunks.split(i).equals(chosen)) {
                    continue;
                }
                ChunkHead chunk = ChunkHeads.read(open.dataset().store(), chunks, i);
                int[] removed = chunks.removedRows(i);
                for (int row = 0; row < chunk.rows() && left > 0; row++) {
                    if (Arrays.binarySearch(removed, row) < 0) {
                        left--;
                        add(chunk, row, fields, table, array);
                    }
                }
            }
            if (json) {
                out.println(array);
            } else {
                table.print(out);
                long samples = snapshot.splits().isEmpty()
                        ? 0
                        : snapshot.stream(chosen).liveRows();
                out.println(Units.count(Math.min(samples, Math.max(0, count))) + " of "
                        + Units.plural(samples, "sample") + " of split " + chosen);
            }
            return 0;
        }
    }

    private String chosenSplit(Snapshot snapshot) {
        if (split != null) {
            return split;
        }
        List<String> splits = snapshot.splits();
        return splits.isEmpty() || splits.contains("train") ? "train" : splits.get(0);
    }

    private static void add(ChunkHead chunk, int row, List<Field> fields, Table table, ArrayNode array) {
        String[] cells = new String[fields.size() + 1];
        cells[0] = chunk.key(row);
        ObjectNode node = array.addObject();
        node.put("key", chunk.key(row));
        for (int f = 0; f < fields.size(); f++) {
            Field field = fields.get(f);
            if (field.payload()) {
                cells[f + 1] = Units.bytes(chunk.payloadLength(f, row));
                node.putObject(field.name()).put("bytes", chunk.payloadLength(f, row));
            } else {
                Object value = SampleJson.value(chunk, f, row);
                cells[f + 1] = value == null ? "-" : cut(value.toString());
                node.set(field.name(), Json.MAPPER.valueToTree(value));
            }
        }
        table.add(cells);
    }

    private static String cut(String text) {
        String line = text.replaceAll("\\s+", " ");
        return line.length() <= CELL ? line : line.substring(0, CELL - 1) + "…";
    }
}
