package dev.stoker.cli.look;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.stoker.cli.options.VersionOptions;
import dev.stoker.cli.output.Columns;
import dev.stoker.cli.output.KeyText;
import dev.stoker.cli.samples.FeedOption;
import dev.stoker.cli.samples.KeyedSamples;
import dev.stoker.cli.samples.RedisOption;
import dev.stoker.metadata.index.ListEntry;
import dev.stoker.schemas.json.Json;
import dev.stoker.schemas.text.Units;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code stoker ls}: lists keys. */
@Command(
        name = "ls",
        header = {
            "Examples:",
            "  stoker ls ./data/photos",
            "  stoker ls ./data/photos cats/",
            "  stoker ls ./data/photos --recursive --json",
            "  stoker ls --feed photos cats/"
        },
        description = {
            "Lists the samples of a version by key, like a file system. Keys with a slash after the prefix are listed"
                    + " as one common prefix.",
            "Uses the sample index; see stoker index."
        },
        sortOptions = false)
public final class LsVerb implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "DATASET",
            description =
                    "Directory or URI of the dataset; DATASET@3 names version 3, DATASET@best a tag. Left out with"
                            + " --feed.")
    private @Nullable String path;

    @Parameters(
            index = "1",
            arity = "0..1",
            paramLabel = "PREFIX",
            description = "List only keys that begin with this text.")
    private String prefix = "";

    @Option(names = "--recursive", description = "List all keys, without common prefixes.")
    private boolean recursive;

    @Option(names = "--delimiter", paramLabel = "TEXT", description = "Text at which a common prefix ends. Default: /.")
    private String delimiter = "/";

    @Option(names = "--n", paramLabel = "N", description = "Most entries to list. Default: all.")
    private long most = Long.MAX_VALUE;

    @Mixin
    private FeedOption feed = new FeedOption();

    @Mixin
    private VersionOptions version = new VersionOptions();

    @Option(names = "--json", description = "Print JSON, one line for each entry.")
    private boolean json;

    @Override
    public Integer call() throws IOException {
        String begin = prefix;
        if (feed.isGiven() && path != null) {
            if (!prefix.isEmpty()) {
                throw new IllegalArgumentException("give either a dataset or --feed");
            }
            begin = path;
        }
        try (KeyedSamples samples = feed.open(path, version, new RedisOption())) {
            PrintWriter out = spec.commandLine().getOut();
            Columns<StatVerb.Answer> columns = StatVerb.columns(samples);
            KeyedSamples.Listing listing = samples.list(begin, recursive ? "" : delimiter);
            long left = most;
            for (Optional<ListEntry> entry = next(listing, left);
                    entry.isPresent() && !out.checkError();
                    left--, entry = next(listing, left)) {
                out.println(json ? json(entry.get(), columns) : line(entry.get()));
            }
            return 0;
        }
    }

    private static Optional<ListEntry> next(KeyedSamples.Listing listing, long left) throws IOException {
        return left > 0 ? listing.next() : Optional.empty();
    }

    private static String line(ListEntry entry) {
        String size = entry.sample().map(stat -> Units.bytes(stat.length())).orElse("prefix");
        return String.format(Locale.ROOT, "%10s  %s", size, KeyText.line(entry.name()));
    }

    private static ObjectNode json(ListEntry entry, Columns<StatVerb.Answer> columns) {
        return entry.sample().isPresent()
                ? columns.put(Json.object(), new StatVerb.Answer(entry.name(), entry.sample()))
                : Json.object().put("prefix", entry.name());
    }
}
