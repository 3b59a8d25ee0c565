package dev.stoker.cli;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.metadata.index.SampleIndex;
import dev.stoker.metadata.index.StoredSample;
import dev.stoker.schemas.arrow.Field;
import dev.stoker.schemas.text.Units;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
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
            "  stoker get ./data/photos cats/1.jpg cats/2.jpg --json"
        },
        description = {
            "Reads samples by key, verifies them, and prints the payload of one, or writes a file for each, or prints"
                    + " JSON. A key that the version does not have is reported, and the others are read.",
            "Uses the sample index; see stoker index."
        },
        sortOptions = false)
final class GetVerb implements Callable<Integer> {

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

    @Option(names = "--field", paramLabel = "NAME", description = "Payload field to read. Default: the only one.")
    private @Nullable String field;

    @Option(names = "--json", description = "Print all fields as JSON, one line for each key; payload in Base64.")
    private boolean json;

    private final OutputStream raw;

    GetVerb() {
        this(new FileOutputStream(FileDescriptor.out));
    }

    /** @param raw receives the payload of one sample */
    GetVerb(OutputStream raw) {
        this.raw = raw;
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
        try (OpenDataset open = OpenDataset.open(wanted.path, wanted.version)) {
            SampleIndex index = SampleIndex.open(open.dataset(), open.snapshot());
            List<Field> fields = open.dataset().info().fields();
            if (json) {
                return printJson(index, keys);
            }
            int payload = payloadField(fields);
            return to == null ? printRaw(index, keys.get(0), payload) : writeFiles(index, keys, payload, to);
        }
    }

    private int payloadField(List<Field> fields) throws CommandException {
        List<String> payload =
                fields.stream().filter(Field::payload).map(Field::name).toList();
        if (field == null && payload.size() != 1) {
            throw new CommandException("the dataset has " + Units.plural(payload.size(), "payload field")
                    + (payload.isEmpty()
                            ? "; use --json"
                            : "; choose one with --field: " + String.join(", ", payload)));
        }
        String name = field == null ? payload.get(0) : field;
        if (!payload.contains(name)) {
            throw new CommandException("there is no payload field " + name + "; there is " + String.join(", ", payload)
                    + "; use --json for other fields");
        }
        for (int f = 0; f < fields.size(); f++) {
            if (fields.get(f).name().equals(name)) {
                return f;
            }
        }
        throw new IllegalStateException("no field " + name);
    }

    private int printRaw(SampleIndex index, String key, int payload) throws IOException {
        Optional<StoredSample> sample = index.get(key);
        if (sample.isEmpty()) {
            throw new CommandException(
                    "version " + index.version() + " has no sample with the key " + KeyText.line(key));
        }
        write(sample.get().payload(payload), raw);
        raw.flush();
        return 0;
    }

    static void write(ByteBuffer bytes, OutputStream out) throws IOException {
        WritableByteChannel channel = Channels.newChannel(out);
        while (bytes.hasRemaining()) {
            channel.write(bytes);
        }
    }

    private int printJson(SampleIndex index, List<String> keys) throws IOException {
        PrintWriter out = spec.commandLine().getOut();
        for (int from = 0; from < keys.size(); from += TOGETHER) {
            List<String> some = keys.subList(from, Math.min(keys.size(), from + TOGETHER));
            List<Optional<StoredSample>> samples = index.get(some);
            for (int i = 0; i < some.size(); i++) {
                ObjectNode node = StatVerb.json(some.get(i), samples.get(i).map(StoredSample::stat));
                samples.get(i).ifPresent(sample -> node.set("fields", SampleJson.fields(sample)));
                out.println(node);
            }
        }
        return 0;
    }

    private int writeFiles(SampleIndex index, List<String> keys, int payload, Path directory) throws IOException {
        PrintWriter err = spec.commandLine().getErr();
        KeyFiles files = new KeyFiles(directory);
        int missing = 0;
        int refused = 0;
        long bytes = 0;
        int written = 0;
        for (int from = 0; from < keys.size(); from += TOGETHER) {
            List<String> some = keys.subList(from, Math.min(keys.size(), from + TOGETHER));
            List<Optional<StoredSample>> samples = index.get(some);
            for (int i = 0; i < some.size(); i++) {
                String key = some.get(i);
                if (samples.get(i).isEmpty()) {
                    missing++;
                    err.println("not found: " + KeyText.line(key));
                    continue;
                }
                try {
                    ByteBuffer value = samples.get(i).get().payload(payload);
                    bytes += value.remaining();
                    files.write(key, value);
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
