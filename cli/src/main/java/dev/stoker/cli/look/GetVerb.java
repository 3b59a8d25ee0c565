package dev.stoker.cli.look;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.output.Columns;
import dev.stoker.cli.output.CommandException;
import dev.stoker.cli.output.Errors;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.output.StandardOutput;
import dev.stoker.cli.output.Terminal;
import dev.stoker.cli.samples.ContentBytes;
import dev.stoker.cli.samples.KeyFiles;
import dev.stoker.cli.samples.KeyedSamples;
import dev.stoker.cli.samples.ReadSample;
import dev.stoker.cli.samples.SampleJson;
import dev.stoker.cli.samples.WantedKeys;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.path.DirectoryPaths;
import dev.stoker.schemas.text.Units;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code stoker get}: reads samples by key. */
@Command(
        name = "get",
        header = {
            "Examples:",
            "  stoker get ./data/photos cats/1.jpg > 1.jpg",
            "  stoker get ./data/photos --keys-from wanted.txt --to ./wanted",
            "  stoker get ./data/photos cats/1.jpg cats/2.jpg --json",
            "  stoker get --feed photos cats/1.jpg > 1.jpg"
        },
        description = {
            "Reads and verifies samples by key. Prints the content of one sample, writes a file for each, or prints"
                    + " JSON. A key that the version does not have is reported, and the others are read.",
            "Does not print binary data to a terminal. Uses the sample index; see stoker index."
        },
        sortOptions = false)
public final class GetVerb implements Callable<Integer> {

    /** Samples that are in memory at a time. */
    private static final int TOGETHER = 64;

    @Spec
    private CommandSpec spec;

    @Mixin
    private WantedKeys wanted = new WantedKeys();

    @Option(
            names = "--to",
            paramLabel = "DIRECTORY",
            description = "Write the payload of each sample to a file below this directory, named by its key.")
    private @Nullable Path to;

    @Option(
            names = "--field",
            paramLabel = "NAME",
            description =
                    "Field to print or write: payload, binary or text. Default: the only payload field, or the only"
                            + " field of bytes or text.")
    private @Nullable String field;

    @Option(names = "--json", description = "Print all fields as JSON, one line for each key; payload in Base64.")
    private boolean json;

    private final OutputStream raw;
    private final BooleanSupplier isTerminal;

    public GetVerb() {
        this(new StandardOutput(new FileOutputStream(FileDescriptor.out)), Terminal::isOutput);
    }

    /**
     * @param raw receives the payload of one sample
     * @param isTerminal whether this is a terminal
     */
    public GetVerb(OutputStream raw, BooleanSupplier isTerminal) {
        this.raw = raw;
        this.isTerminal = isTerminal;
    }

    @Override
    public Integer call() throws IOException {
        List<String> keys = wanted.all();
        if (json && to != null) {
            throw new IllegalArgumentException("--json and --to exclude each other");
        }
        if (!json && to == null && keys.size() != 1) {
            throw new IllegalArgumentException("several samples need --to DIRECTORY or --json");
        }
        try (KeyedSamples samples = wanted.open()) {
            if (json) {
                return printJson(samples, keys);
            }
            int payload = ContentBytes.choose(samples.fields(), field);
            return to == null ? printRaw(samples, keys.get(0), payload) : writeFiles(samples, keys, payload, to);
        }
    }

    private int printRaw(KeyedSamples samples, String key, int payload) throws IOException {
        Optional<ReadSample> sample = samples.get(List.of(key)).get(0);
        if (sample.isEmpty()) {
            throw new CommandException("version " + samples.version() + " has no sample with the key "
                    + KeyText.line(key) + KeyText.endNote(key));
        }
        ByteBuffer content = ContentBytes.of(sample.get(), payload);
        if (isTerminal.getAsBoolean() && !CatVerb.isText(content)) {
            throw new CommandException("the sample " + KeyText.line(key) + " has "
                    + Units.bytes(content.remaining())
                    + " of binary data, which can make a terminal unusable; write it to a file with > FILE, or use"
                    + " stoker cat --force");
        }
        ContentBytes.write(content, raw);
        raw.flush();
        return 0;
    }

    private int printJson(KeyedSamples from, List<String> keys) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        Columns<StatVerb.Answer> columns = StatVerb.columns(from);
        for (int first = 0; first < keys.size() && !out.checkError(); first += TOGETHER) {
            List<String> some = keys.subList(first, Math.min(keys.size(), first + TOGETHER));
            List<Optional<ReadSample>> samples = from.get(some);
            for (int i = 0; i < some.size(); i++) {
                ObjectNode node = columns.put(
                        Json.object(),
                        new StatVerb.Answer(some.get(i), samples.get(i).map(ReadSample::stat)));
                if (samples.get(i).isPresent()) {
                    node.set("fields", SampleJson.fields(samples.get(i).get()));
                }
                out.println(node);
            }
        }
        return 0;
    }

    private int writeFiles(KeyedSamples from, List<String> keys, int payload, Path directory) throws IOException {
        PrintWriter err = spec.commandLine().getErr();
        KeyFiles files = new KeyFiles(
                directory,
                new DirectoryPaths(key -> from.stat(List.of(key)).get(0).isPresent()));
        int missing = 0;
        int refused = 0;
        long bytes = 0;
        int written = 0;
        for (int first = 0; first < keys.size(); first += TOGETHER) {
            List<String> some = keys.subList(first, Math.min(keys.size(), first + TOGETHER));
            List<Optional<ReadSample>> samples = from.get(some);
            for (int i = 0; i < some.size(); i++) {
                String key = some.get(i);
                if (samples.get(i).isEmpty()) {
                    missing++;
                    err.println("not found: " + KeyText.line(key) + KeyText.endNote(key));
                    continue;
                }
                try {
                    ByteBuffer value = ContentBytes.of(samples.get(i).get(), payload);
                    int length = value.remaining();
                    files.write(key, value);
                    bytes += length;
                    written++;
                } catch (CommandException e) {
                    refused++;
                    err.println("stoker: " + e.getMessage());
                }
            }
        }
        spec.commandLine()
                .getOut()
                .println("wrote " + Units.plural(written, "file") + ", " + Units.bytes(bytes) + ", to " + directory
                        + (missing == 0 ? "" : "; " + Units.plural(missing, "key") + " not found")
                        + (refused == 0 ? "" : "; " + Units.plural(refused, "sample") + " not written"));
        return refused == 0 ? 0 : Errors.FAILED;
    }
}
