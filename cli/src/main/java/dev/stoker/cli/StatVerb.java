package dev.stoker.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.crc.Crc32cs;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
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
            "Looks up samples by key: split, size, checksum of the payload, and where the sample is stored.",
            "Uses the sample index; see stoker index. A key that the version does not have is an answer, not an error."
        },
        sortOptions = false)
final class StatVerb implements Callable<Integer> {

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
            Table table = new Table("KEY", "SPLIT", "BYTES", "CRC32C", "CHUNK", "ROW");
            for (int first = 0; first < keys.size() && !out.checkError(); first += TOGETHER) {
                List<String> some = keys.subList(first, Math.min(keys.size(), first + TOGETHER));
                List<Optional<SampleStat>> stats = samples.stat(some);
                for (int i = 0; i < some.size(); i++) {
                    if (json) {
                        out.println(json(some.get(i), stats.get(i)));
                    } else {
                        add(table, some.get(i), stats.get(i));
                    }
                }
            }
            if (!json) {
                table.print(out);
            }
            return 0;
        }
    }

    private static void add(Table table, String key, Optional<SampleStat> stat) {
        if (stat.isEmpty()) {
            table.add(KeyText.line(key), "not found", "", "", "", "");
            return;
        }
        SampleStat found = stat.get();
        table.add(
                KeyText.line(key),
                found.split(),
                Units.count(found.length()),
                Crc32cs.hex(found.crc32c()),
                Long.toString(found.ordinal()),
                Integer.toString(found.row()));
    }

    /** Returns the answer for a key as JSON. */
    static ObjectNode json(String key, Optional<SampleStat> stat) {
        ObjectNode node = Json.object().put("key", key).put("found", stat.isPresent());
        stat.ifPresent(found -> node.put("split", found.split())
                .put("bytes", found.length())
                .put("crc32c", Crc32cs.hex(found.crc32c()))
                .put("chunk", found.ordinal())
                .put("row", found.row()));
        return node;
    }
}
