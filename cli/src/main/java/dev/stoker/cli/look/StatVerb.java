package dev.stoker.cli.look;

import dev.stoker.cli.output.Columns;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.ResultPrinter;
import dev.stoker.cli.samples.KeyedSamples;
import dev.stoker.cli.samples.WantedKeys;
import dev.stoker.metadata.index.SampleStat;
import dev.stoker.schemas.arrow.types.Field;
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
            "Looks up samples by key: split, size, checksum, chunk and row. The checksum covers the payload.",
            "Uses the sample index; see stoker index. A key that the version does not have is an answer, not an error."
        },
        sortOptions = false)
public final class StatVerb implements Callable<Integer> {

    /** Keys that are looked up together. */
    private static final int TOGETHER = 1000;

    /** A requested key, and the place of its sample if the version has one. */
    record Answer(String key, Optional<SampleStat> stat) {}

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
            ResultPrinter<Answer> printer = new ResultPrinter<>(columns(samples), json, out);
            for (int first = 0; first < keys.size() && !out.checkError(); first += TOGETHER) {
                List<String> some = keys.subList(first, Math.min(keys.size(), first + TOGETHER));
                List<Optional<SampleStat>> stats = samples.stat(some);
                for (int i = 0; i < some.size(); i++) {
                    printer.add(new Answer(some.get(i), stats.get(i)));
                }
            }
            printer.end();
            return 0;
        }
    }

    /** Returns the columns of answers. The checksum is one of the payload. */
    static Columns<Answer> columns(KeyedSamples samples) {
        Columns<Answer> columns = new Columns<Answer>()
                .text("KEY", "key", Answer::key)
                .key("found", answer -> answer.stat().isPresent())
                .cell(
                        "SPLIT",
                        answer -> answer.stat()
                                .map(SampleStat::split)
                                .orElseGet(() -> "not found" + KeyText.endNote(answer.key())))
                .key("split", answer -> answer.stat().map(SampleStat::split))
                .optional(
                        "BYTES",
                        "bytes",
                        answer -> answer.stat().map(SampleStat::length),
                        length -> Units.count(length));
        if (samples.fields().stream().anyMatch(Field::payload)) {
            columns.optional(
                    "CRC32C", "crc32c", answer -> answer.stat().map(found -> Crc32cs.hex(found.crc32c())), hex -> hex);
        }
        return columns.optional("CHUNK", "chunk", answer -> answer.stat().map(SampleStat::ordinal), Object::toString)
                .optional("ROW", "row", answer -> answer.stat().map(SampleStat::row), Object::toString);
    }
}
