package dev.stoker.ingest.rows.options;

import dev.stoker.connectors.dataset.DatasetStore;
import dev.stoker.connectors.dataset.IngestRun;
import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.connectors.files.NameFilter;
import dev.stoker.connectors.files.WalkOrder;
import dev.stoker.ingest.rows.content.FileContents;
import dev.stoker.ingest.spec.IngestTarget;
import dev.stoker.ingest.spec.InvalidIngestException;
import dev.stoker.ingest.spec.RowIngestFlags;
import dev.stoker.ingest.spec.SplitRule;
import dev.stoker.schemas.condition.RowExpression;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/**
 * The valid options of an ingest of rows. {@link #parse} creates them from arguments.
 *
 * @param sources files, directories and patterns: absolute paths or URIs
 * @param target the dataset's location: an absolute path or a URI
 * @param name of a new dataset
 * @param format name of the sources' format; empty to detect it
 * @param columns which columns become which fields
 * @param splitRule assigns samples to splits; empty for the dataset's own rule, or all into {@code train}
 * @param order of the rows in the chunks
 * @param effect on a dataset that has a version
 * @param onDuplicate decides about keys that occur twice or that the dataset already has
 * @param ingestId of an interrupted ingest to resume
 * @param tree which files of a directory are taken
 * @param work parallelism and sizes
 * @param isDry whether only the plan is wanted
 */
public record RowIngestOptions(
        List<String> sources,
        String target,
        String name,
        Optional<String> format,
        Columns columns,
        Optional<SplitRule> splitRule,
        WalkOrder order,
        IngestRun.Effect effect,
        OnDuplicate onDuplicate,
        Optional<String> ingestId,
        Tree tree,
        Work work,
        boolean isDry) {

    /**
     * Which columns become which fields.
     *
     * @param taken names of the columns; empty for all
     * @param without names of columns that become no fields
     * @param renamed fields by column, where the names differ
     * @param key columns that name a sample; empty for the position in the source
     * @param label column with the class
     * @param types canonical types by column, where they differ from the source's
     * @param contents columns with paths of files, whose contents become fields
     * @param payload names of the payload fields; empty to decide by size
     * @param split column with the name of the split
     * @param where condition that rows must satisfy; empty for all rows
     */
    public record Columns(
            Optional<List<String>> taken,
            List<String> without,
            Map<String, String> renamed,
            List<String> key,
            Optional<String> label,
            Map<String, String> types,
            FileContents contents,
            Optional<List<String>> payload,
            Optional<String> split,
            Optional<RowExpression> where) {
        /** Returns whether a column may become a field. */
        public boolean isField(String column) {
            return contents.fields().contains(column)
                    || (!without.contains(column)
                            && (taken.isEmpty() || taken.get().contains(column)));
        }
    }

    /**
     * Which files of a directory are taken.
     *
     * @param hidden files whose names start with a dot
     * @param links symbolic links
     * @param errors files and rows that cannot be read
     * @param names names of files
     */
    public record Tree(FileTree.Hidden hidden, FileTree.Links links, FileTree.Errors errors, NameFilter names) {}

    /**
     * Parallelism and sizes.
     *
     * @param chunkSizeBytes length of a chunk; by default the dataset's, or 8 MiB
     * @param parallelism subtasks; by default Flink's configured parallelism
     * @param memoryBytes memory for one part of a source in one task; 0 for the default
     * @param sortMemoryBytes memory for the rows that are sorted in this process; by default the JVM's limits decide
     */
    public record Work(
            OptionalInt chunkSizeBytes, OptionalInt parallelism, long memoryBytes, OptionalLong sortMemoryBytes) {}

    public IngestTarget into(DatasetStore stores) {
        return new IngestTarget(target, stores, effect);
    }

    /** Returns the options that were given and that only rows have, or topics. */
    List<String> onlyOfRows() {
        Map<String, Boolean> given = new LinkedHashMap<>();
        given.put("--columns", columns.taken().isPresent());
        given.put("--without", !columns.without().isEmpty());
        given.put("--rename", !columns.renamed().isEmpty());
        given.put("--key", !columns.key().isEmpty());
        given.put("--label", columns.label().isPresent());
        given.put("--type", !columns.types().isEmpty());
        given.put("--read", !columns.contents().columns().isEmpty());
        given.put("--split-by", columns.split().isPresent());
        given.put("--where", columns.where().isPresent());
        given.put("--part-memory", work.memoryBytes() > 0);
        given.put("--sort-memory", work.sortMemoryBytes().isPresent());
        return given.entrySet().stream()
                .filter(Map.Entry::getValue)
                .map(Map.Entry::getKey)
                .toList();
    }

    /**
     * Parses a command line: the sources, the target, and the options of {@link RowIngestFlags}.
     *
     * @throws InvalidIngestException with all problems
     */
    public static RowIngestOptions parse(String... args) {
        return new RowIngestOptionsParser(args).parse();
    }
}
