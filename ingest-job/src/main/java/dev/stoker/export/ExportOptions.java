package dev.stoker.export;

import dev.stoker.export.place.TargetLocation;
import dev.stoker.export.spec.InvalidExportException;
import dev.stoker.export.spec.RowOrder;
import dev.stoker.metadata.version.DatasetReference;
import dev.stoker.schemas.condition.RowExpression;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The valid options of an export. {@link #parse} creates them from arguments.
 *
 * @param source the samples
 * @param target directory or URI: an absolute path or a URI
 * @param existing whether an earlier export at the target is replaced
 * @param files the format and the columns of the files
 * @param order of the samples
 * @param work shards and parallelism
 * @param isDry whether only the plan is wanted
 */
public record ExportOptions(
        Source source,
        String target,
        TargetLocation.Existing existing,
        Files files,
        RowOrder order,
        Work work,
        boolean isDry) {

    /**
     * The samples to export.
     *
     * @param reference the dataset, with an absolute path or a URI; without a version it is the newest one, without a
     *     split it is all splits
     * @param where condition that samples must satisfy; empty for all samples
     */
    public record Source(DatasetReference reference, Optional<RowExpression> where) {

        /** Returns the location of the dataset: an absolute path or a URI. */
        public String dataset() {
            return reference.path();
        }

        /** Returns the split; empty for all. */
        public Optional<String> split() {
            return reference.split();
        }
    }

    /**
     * The files to write.
     *
     * @param format name of the format
     * @param compression of the files; empty for the format's default
     * @param layout of the columns
     * @param columns the columns to write; empty for all
     * @param renamed names in the files by column, if they differ
     */
    public record Files(
            String format,
            Optional<String> compression,
            Layout layout,
            Optional<List<String>> columns,
            Map<String, String> renamed) {}

    /** How columns become columns of files. */
    public enum Layout {
        /** An ingest of the files gives the same fields. */
        STOKER,
        /** The library datasets of Hugging Face gives images and classes; for Parquet. */
        HUGGINGFACE
    }

    /**
     * Shards and parallelism.
     *
     * @param shards files of each split; empty to decide by size
     * @param shardBytes stored bytes of a shard
     * @param parallelism subtasks; by default Flink's configured parallelism
     */
    public record Work(OptionalInt shards, long shardBytes, OptionalInt parallelism) {}

    /**
     * Parses a command line: the samples, the target, and the options of {@link ExportFlags}.
     *
     * @throws InvalidExportException with all problems
     */
    public static ExportOptions parse(String... args) {
        return new ExportOptionsParser(args).parse();
    }
}
