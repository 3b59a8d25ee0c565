package dev.stoker.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The keys that a command line names, and the version in which they are looked up. */
final class WantedKeys {

    @Parameters(
            index = "0",
            paramLabel = "DATASET",
            description = "Directory or URI of the dataset; DATASET@3 names version 3.")
    String path;

    @Parameters(index = "1..*", arity = "0..*", paramLabel = "KEY", description = "Keys of samples.")
    private List<String> keys = List.of();

    @Option(
            names = "--keys",
            paramLabel = "FILE",
            description =
                    "File with further keys, one a line. A line that begins with a quotation mark is a JSON string.")
    private @Nullable Path file;

    @Option(names = "--version", paramLabel = "N", description = "Version to read (default: the newest).")
    @Nullable
    Long version;

    List<String> all() throws IOException {
        List<String> all = new ArrayList<>(keys);
        if (file != null) {
            all.addAll(KeyText.read(file));
        }
        if (all.isEmpty() && file == null) {
            throw new IllegalArgumentException("name at least one key, or a file of keys with --keys");
        }
        return all;
    }
}
