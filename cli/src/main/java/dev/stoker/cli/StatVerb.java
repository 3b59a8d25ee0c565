package dev.stoker.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.metadata.index.SampleIndex;
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
        header = {"Example:", "  stoker stat ./data/photos cats/1.jpg cats/2.jpg"},
        description = {
            "Looks up samples by key: split, size, checksum of the payload, and where the sample is stored.",
            "Uses the sample index; see stoker index. A key that the version does not have is an answer, not an error."
        },
        sortOptions = false)
final class StatVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Mixin
    private WantedKeys wanted = new WantedKeys();

    @Option(names = "--json", description = "Print JSON, one line for each key.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        List<String> keys = wanted.all();
        try (OpenDataset open = OpenDataset.open(wanted.path, wanted.version)) {
            SampleIndex index = SampleIndex.open(open.dataset(), open.snapshot());
            PrintWriter out = spec.commandLine().getOut();
            Table table = new Table("KEY", "SPLIT", "BYTES", "CRC32C", "CHUNK", "ROW");
            for (String key : keys) {
                Optional<SampleStat> stat = index.stat(key);
                if (json) {
                    out.println(json(key, stat));
                } else if (stat.isPresent()) {
                    SampleStat found = stat.get();
                    table.add(
                            KeyText.line(key),
                            found.split(),
                            Units.count(found.length()),
                            Crc32cs.hex(found.crc32c()),
                            Long.toString(found.ordinal()),
                            Integer.toString(found.row()));
                } else {
                    table.add(KeyText.line(key), "not found", "", "", "", "");
                }
            }
            if (!json) {
                table.print(out);
            }
            return 0;
        }
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
