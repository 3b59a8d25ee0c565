package dev.stoker.ingest.rows.options;

import dev.stoker.ingest.spec.IngestFlags;
import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** The command-line options of an ingest of rows. An ingest of files shares the others. */
public final class RowIngestFlags {
    public static final ConfigOption<String> FORMAT = ConfigOptions.key(IngestFlags.PREFIX + "format")
            .stringType()
            .noDefaultValue()
            .withDescription(
                    "Format of the source: parquet, avro, arrow, jsonl, csv, webdataset, tfrecord, mds, or files"
                            + " to pack each file as one sample. Default: detected by content.");

    public static final ConfigOption<List<String>> COLUMNS = ConfigOptions.key(IngestFlags.PREFIX + "columns")
            .stringType()
            .asList()
            .noDefaultValue()
            .withDescription("Columns of the source that become fields, with commas between them. A name with a comma"
                    + " has double quotes. Can be repeated. Default: all.");

    public static final ConfigOption<List<String>> WITHOUT = ConfigOptions.key(IngestFlags.PREFIX + "without")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A column of the source that becomes no field. Can be repeated.");

    public static final ConfigOption<List<String>> RENAME = ConfigOptions.key(IngestFlags.PREFIX + "rename")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A column and the name of its field, as column=field. Can be repeated.");

    public static final ConfigOption<List<String>> KEY = ConfigOptions.key(IngestFlags.PREFIX + "key")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription(
                    "Columns that name a sample; the values of several are joined by /. __file__ stands for the path"
                            + " of the file. Default: the position in the source, as file#row.");

    public static final ConfigOption<String> LABEL = ConfigOptions.key(IngestFlags.PREFIX + "label")
            .stringType()
            .noDefaultValue()
            .withDescription("Column with the class of a sample. Its field becomes categorical.");

    public static final ConfigOption<List<String>> TYPE = ConfigOptions.key(IngestFlags.PREFIX + "type")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A column and the type of its field, as column=type, such as age=int8. Can be repeated.");

    public static final ConfigOption<String> SPLIT_BY = ConfigOptions.key(IngestFlags.PREFIX + "split-by")
            .stringType()
            .noDefaultValue()
            .withDescription("Column whose value is the name of a sample's split.");

    public static final ConfigOption<String> WHERE = ConfigOptions.key(IngestFlags.PREFIX + "where")
            .stringType()
            .noDefaultValue()
            .withDescription("Condition that rows must satisfy, as in SQL: \"age >= 18 AND label IN ('cat', 'dog')\"."
                    + " Default: all rows.");

    public static final ConfigOption<List<String>> READ = ConfigOptions.key(IngestFlags.PREFIX + "read")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A column with paths of files, and a field for their content, as column=field: --read"
                    + " path=image. The field is binary, or text with --type field=utf8. Can be repeated.");

    public static final ConfigOption<String> READ_ROOT = ConfigOptions.key(IngestFlags.PREFIX + "read-root")
            .stringType()
            .noDefaultValue()
            .withDescription("Directory or URI of the files that --read names; paths cannot leave it. Default: the"
                    + " directory of the file with the paths.");

    public static final ConfigOption<MemorySize> MEMORY = ConfigOptions.key(IngestFlags.PREFIX + "part-memory")
            .memoryType()
            .defaultValue(MemorySize.parse("1 gb"))
            .withDescription(
                    "Memory that one task may use for the selected columns of one row group or block. The default"
                            + " is at most a quarter of the Java heap.");

    public static final ConfigOption<MemorySize> SORT_MEMORY = ConfigOptions.key(IngestFlags.PREFIX + "sort-memory")
            .memoryType()
            .noDefaultValue()
            .withDescription("Memory for the rows that the order shuffled sorts in this process. A larger source is"
                    + " sorted on disk. Default: half of the memory outside the heap that Java may use.");

    private RowIngestFlags() {}

    /** Returns the options that only rows have; {@link #KEY} is not one, because records of topics have it too. */
    public static List<ConfigOption<?>> own() {
        return List.of(
                FORMAT, COLUMNS, WITHOUT, RENAME, LABEL, TYPE, READ, READ_ROOT, SPLIT_BY, WHERE, MEMORY, SORT_MEMORY);
    }

    /** Returns all options of rows besides the shared ones. */
    public static List<ConfigOption<?>> all() {
        return List.of(
                FORMAT,
                COLUMNS,
                WITHOUT,
                RENAME,
                KEY,
                LABEL,
                TYPE,
                READ,
                READ_ROOT,
                SPLIT_BY,
                WHERE,
                MEMORY,
                SORT_MEMORY);
    }

    /** Returns the options of an ingest of files that an ingest of rows has too. */
    public static List<ConfigOption<?>> shared() {
        return List.of(
                IngestFlags.PAYLOAD,
                IngestFlags.SPLIT,
                IngestFlags.ORDER,
                IngestFlags.SEED,
                IngestFlags.CHUNK_SIZE,
                IngestFlags.NAME,
                IngestFlags.APPEND,
                IngestFlags.REPLACE,
                IngestFlags.ON_DUPLICATE,
                IngestFlags.INGEST_ID,
                IngestFlags.DRY_RUN,
                IngestFlags.ON_ERROR,
                IngestFlags.LINKS,
                IngestFlags.HIDDEN,
                IngestFlags.EMPTY,
                IngestFlags.INCLUDE,
                IngestFlags.EXCLUDE,
                IngestFlags.PARALLELISM);
    }
}
