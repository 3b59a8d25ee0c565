package dev.stoker.cli.samples;

import dev.stoker.cli.options.VersionOptions;
import dev.stoker.ingest.spec.KeyFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The keys that a command line names, and the version in which they are looked up. */
public final class WantedKeys {

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "DATASET",
            description =
                    "Directory or URI of the dataset; DATASET@3 names version 3, DATASET@best a tag. Left out with"
                            + " --feed.")
    private @Nullable String path;

    @Parameters(index = "1..*", arity = "0..*", paramLabel = "KEY", description = "Keys of samples.")
    private List<String> keys = List.of();

    @Option(
            names = "--keys-from",
            paramLabel = "FILE",
            description = "Also the keys in FILE, one a line; - is standard input. A line that begins with a quotation"
                    + " mark is a JSON string.")
    private List<String> files = List.of();

    @Option(
            names = {"-0", "--null"},
            description = "The keys in FILE end with a NUL instead of a line feed.")
    private boolean nul;

    @Mixin
    private FeedOption feed = new FeedOption();

    @Mixin
    private VersionOptions version = new VersionOptions();

    @Mixin
    private RedisOption redis = new RedisOption();

    /** Opens the dataset or feed. */
    public KeyedSamples open() throws IOException {
        return feed.open(path, version, redis);
    }

    public List<String> all() throws IOException {
        List<String> all = new ArrayList<>();
        if (feed.isGiven() && path != null) {
            all.add(path);
        }
        all.addAll(keys);
        for (String file : files) {
            KeyFile.read(file, nul ? '\0' : '\n', all);
        }
        if (nul && files.isEmpty()) {
            throw new IllegalArgumentException("option --null needs --keys-from");
        }
        if (all.isEmpty() && files.isEmpty()) {
            throw new IllegalArgumentException("name at least one key, or a file of keys with --keys-from");
        }
        return all;
    }
}
