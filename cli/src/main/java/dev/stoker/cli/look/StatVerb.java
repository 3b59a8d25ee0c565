package dev.stoker.cli.look;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.Table;
import dev.stoker.cli.samples.KeyedSamples;
import dev.stoker.cli.samples.WantedKeys;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.arrow.types.Field;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stoker stat}: looks up samples by key, without reading them. */
@Command(
        name = "stat",
        header = {
            "Examples:",
            "  stoker stat ./data/photos cats/1.jpg cats/2.jpg",
            "  stoker stat --feed photos cats/1.jpg"
        },
        description = {
            "Looks up samples by key: split, size, checksum, chunk and row. The checksum covers the payload.",
            "Uses the sample index; see stoker index. A key that the version does not have is an answer, not an error."
        },
        sortOptions = false)
public final class StatVerb implements Callable<Integer> {

    /** Keys that are looked up together. */
    private static final int TOGETHER = 1000;

    @Spec
    private CommandSpec spec;

    @Mixin
    private WantedKeys wanted = new WantedKeys();

    @Option(names = "--json", description = "Print JSON, one line for each key.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        List<String> keys = wanted.all();
        try (KeyedSamples samples = wanted.open()) {
            PrintWriter out = spec.commandLine().getOut();
            boolean payload = hasPayload(samples);
            Table table = payload
                    ? new Table("KEY", "SPLIT", "BYTES", "CRC32C", "CHUNK", "ROW")
                    : new Table("KEY", "SPLIT", "BYTES", "CHUNK", "ROW");
            for (int first = 0; first < keys.size() && !out.checkError(); first += TOGETHER) {
                List<String> some = keys.subList(first, Math.min(keys.size(), first + TOGETHER));
                List<Optional<SampleStat>> stats = samples.stat(some);
                for (int i = 0; i < some.size(); i++) {
                    if (json) {
                        out.println(json(some.get(i), stats.get(i), payload));
                    } else {
                        add(table, some.get(i), stats.get(i), payload);
                    }
                }
            }
            if (!json) {
                table.print(out);
            }
            return 0;
        }
    }

    /** Whether there is payload, and so a checksum. */
    static boolean hasPayload(KeyedSamples samples) {
        return samples.fields().stream().anyMatch(Field::payload);
    }

    private static void add(Table table, String key, Optional<SampleStat> stat, boolean payload) {
        List<String> cells = new ArrayList<>(List.of(KeyText.line(key)));
        cells.add(stat.map(SampleStat::split).orElseGet(() -> "not found" + KeyText.endNote(key)));
        cells.add(stat.map(found -> Units.count(found.length())).orElse(""));
        if (payload) {
            cells.add(stat.map(found -> Crc32cs.hex(found.crc32c())).orElse(""));
        }
        cells.add(stat.map(found -> Long.toString(found.ordinal())).orElse(""));
        cells.add(stat.map(found -> Integer.toString(found.row())).orElse(""));
        table.add(cells.toArray(String[]::new));
    }

    /**
     * Returns the answer for a key as JSON.
     *
     * @param payload see {@link #hasPayload}
     */
    public static ObjectNode json(String key, Optional<SampleStat> stat, boolean payload) {
        ObjectNode node = Json.object().put("key", key).put("found", stat.isPresent());
        if (stat.isEmpty()) {
            return node;
        }
        SampleStat found = stat.get();
        node.put("split", found.split()).put("bytes", found.length());
        if (payload) {
            node.put("crc32c", Crc32cs.hex(found.crc32c()));
        }
        return node.put("chunk", found.ordinal()).put("row", found.row());
    }
}
