package dev.stoker.ingest.rows;

import dev.stoker.connectors.files.FileTree;
import dev.stoker.flink.arguments.JobArguments;
import dev.stoker.formats.RowFormat;
import dev.stoker.ingest.spec.IngestFlags;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.apache.flink.configuration.ConfigOption;

/** Decides whether a source is packed row by row or file by file. */
public final class RowDetection {
    /** The value of {@code --format} that packs each file as one sample. */
    static final String FILES = "files";

    private static final int SAMPLED_FILES = 32;
    private static final RowIngestOptions.Tree RULES =
            new RowIngestOptions.Tree(FileTree.Hidden.SKIP, FileTree.Links.FOLLOW, FileTree.Errors.SKIP);

    /** Options that only an ingest of files has. */
    private static final List<ConfigOption<?>> ONLY_FILES = List.of(
            IngestFlags.LABEL_FROM,
            IngestFlags.LABEL_FIELD,
            IngestFlags.FIELD,
            IngestFlags.SIDECAR,
            IngestFlags.SPLIT_FROM,
            IngestFlags.LIMIT,
            IngestFlags.EMPTY);

    private RowDetection() {}

    /**
     * Returns whether the arguments of {@code stoker ingest} ask for an ingest of rows: by {@code --format}, by an
     * option that only rows have, or because the first files of the sources have rows. Returns false for arguments that
     * are wrong in another way; the ingest of files reports these.
     */
    public static boolean isRows(String... args) {
        List<ConfigOption<?>> known = new ArrayList<>(IngestFlags.all());
        known.addAll(RowIngestFlags.all());
        JobArguments arguments = JobArguments.parse(args, IngestFlags.PREFIX, known);
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
        if (ONLY_FILES.stream().anyMatch(arguments.options()::contains)) {
            return false;
        }
        Map<String, Integer> found = formats(arguments.positional().get(0));
        return found.size() == 1 && !found.containsKey(FILES);
    }

    /** Returns the arguments without {@code --format files}, which the ingest of files does not know. */
    public static String[] withoutFormat(String... args) {
        List<String> kept = new ArrayList<>();
        for (int i = 0; i < args.length; i++) {
            if (args[i].equals("--format") && i + 1 < args.length) {
                i++;
            } else if (!args[i].startsWith("--format=")) {
                kept.add(args[i]);
            }
        }
        return kept.toArray(new String[0]);
    }

    /** Returns how many of the first files of a source have which format; those without rows count as "files". */
    public static Map<String, Integer> formats(String source) {
        Map<String, Integer> found = new TreeMap<>();
        try {
            List<SourceFile> files = RowSources.list(List.of(RowSources.normalize(source)), RULES, SAMPLED_FILES);
            for (SourceFile file : files) {
                Optional<RowFormat> format = file.length() == 0 ? Optional.empty() : RowSources.detect(file);
                found.merge(format.map(RowFormat::name).orElse(FILES), 1, Integer::sum);
            }
        } catch (IOException | IllegalArgumentException e) {
            // The ingest reports the fault of the source.
            return Map.of();
        }
        return found;
    }
}
