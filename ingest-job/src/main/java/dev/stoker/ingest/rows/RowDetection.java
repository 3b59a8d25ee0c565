package dev.stoker.ingest.rows;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.flink.arguments.GivenOptions;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.ingest.rows.options.RowIngestOptions;
import dev.stoker.ingest.rows.options.RowSources;
import dev.stoker.ingest.rows.source.KindFinder;
import dev.stoker.ingest.spec.GivenFlags;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.OptionKinds;
import dev.stoker.ingest.spec.RowIngestFlags;
import dev.stoker.ingest.spec.SourceKinds;
import dev.stoker.storage.SourceTree;
import dev.stoker.storage.Stores;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Decides whether a source is packed row by row or file by file. */
public final class RowDetection {
    /** The value of {@code --format} that packs each file as one sample. */
    static final String FILES = "files";

    /** If none of these has rows, the others are taken for files. */
    private static final int FIRST_FILES = 1000;

    /** Options that only an ingest of files has. */
    private static final List<JobOption<?>> ONLY_FILES = List.of(
            IngestFlags.LABEL_FROM,
            IngestFlags.LABEL_FIELD,
            IngestFlags.FIELD,
            IngestFlags.SIDECAR,
            IngestFlags.SPLIT_FROM,
            IngestFlags.LIMIT);

    private RowDetection() {}

    /**
     * Returns whether the arguments of {@code stoker ingest} ask for an ingest of rows: by {@code --format}, by an
     * option that only rows have, or because the files of the source have rows. Returns false for arguments that are
     * wrong in another way; the ingest of files reports these.
     *
     * @throws InvalidIngestException if files of the source disagree, so that Stoker cannot tell
     */
    public static boolean isRows(String... args) {
        List<JobOption<?>> known = new ArrayList<>(IngestFlags.all());
        known.addAll(RowIngestFlags.all());
        JobArguments arguments = JobArguments.parse(args, known, OptionKinds.others(OptionKinds.Kind.ROWS));
        Optional<String> format = arguments.options().getOptional(RowIngestFlags.FORMAT);
        if (format.isPresent()) {
            return !format.get().equals(FILES);
        }
        if (arguments.positional().size() < 2) {
            return false;
        }
        if (arguments.positional().size() > 2
                || RowIngestFlags.all().stream().anyMatch(arguments.options()::contains)) {
            return true;
        }
        String source = arguments.positional().get(0);
        if (isFiles(arguments.options()) && !isOneFile(source)) {
            return false;
        }
        Optional<RowIngestOptions.Tree> rules = rules(arguments);
        return rules.isPresent()
                && kinds(source, rules.get())
                        .map(kinds -> kinds.choose(source, rules.get().errors()) == SourceKinds.Choice.ROWS)
                        .orElse(false);
    }

    /** Returns whether a source is a file, which has rows if it can be ingested at all. */
    private static boolean isOneFile(String source) {
        try {
            String location = Stores.normalize(source);
            if (!Stores.isRemote(location)) {
                return Files.isRegularFile(Stores.local(location));
            }
            try (SourceTree tree = Stores.openTree(location)) {
                return tree.find("")
                        .filter(entry -> entry.kind() == SourceTree.Kind.FILE)
                        .isPresent();
            }
        } catch (IOException | IllegalArgumentException e) {
            // The ingest of files reports the fault of the source.
            return false;
        }
    }

    /** Returns the rules for the tree; empty if an option is wrong, which the ingest of files reports. */
    private static Optional<RowIngestOptions.Tree> rules(JobArguments arguments) {
        List<String> problems = new ArrayList<>(arguments.problems());
        GivenFlags flags = new GivenFlags(arguments.options(), problems::add);
        RowIngestOptions.Tree rules = new RowIngestOptions.Tree(
                flags.choice(FileTree.Hidden.class, IngestFlags.HIDDEN),
                flags.choice(FileTree.Links.class, IngestFlags.LINKS),
                flags.choice(FileTree.Errors.class, IngestFlags.ON_ERROR),
                flags.names());
        return problems.isEmpty() ? Optional.of(rules) : Optional.empty();
    }

    /**
     * Returns the canonical form of a source, which can be a pattern.
     *
     * @throws IllegalArgumentException if it is neither a path nor a URI
     */
    public static String location(String source) {
        return RowSources.normalize(source);
    }

    /** Returns whether the user asks for one sample for each file. */
    public static boolean isFiles(GivenOptions options) {
        return options.getOptional(RowIngestFlags.FORMAT).filter(FILES::equals).isPresent()
                || ONLY_FILES.stream().anyMatch(options::contains);
    }

    /**
     * Returns what the files of a source are. Stops early in a tree whose first files have no rows; the ingest of files
     * looks at all names.
     *
     * @return empty if the source cannot be listed, which the ingest of files reports
     */
    private static Optional<SourceKinds> kinds(String source, RowIngestOptions.Tree rules) {
        KindFinder finder = new KindFinder();
        long[] files = {0};
        try {
            RowSources.visit(
                    RowSources.normalize(source),
                    rules,
                    file -> {
                        files[0]++;
                        finder.add(file);
                    },
                    () -> files[0] < FIRST_FILES || finder.hasRows());
            return Optional.of(finder.kinds());
        } catch (InvalidIngestException e) {
            throw e;
        } catch (IOException | UncheckedIOException | IllegalArgumentException e) {
            // The ingest reports the fault of the source.
            return Optional.empty();
        }
    }
}
