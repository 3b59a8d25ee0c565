package dev.stoker.ingest.spec;

import dev.stoker.flink.arguments.JobOption;
import dev.stoker.flink.arguments.OptionHeading;
import dev.stoker.ingest.spec.OptionKinds.Kind;
import java.util.List;
import org.apache.flink.configuration.MemorySize;

/** The command-line options of an ingest of rows. An ingest of files shares the others. */
public final class RowIngestFlags {
    private static final OptionHeading ROWS = new OptionHeading(
                    IngestFlags.PREFIX, "Rows (Parquet, Avro, CSV, …)", Kind.ROWS)
            .instead(Kind.FILES, "leave out --format files to pack rows");

    public static final JobOption<String> FORMAT = ROWS.text("format", "FORMAT")
            .of(Kind.FILES, Kind.ROWS)
            .instead(Kind.TOPIC, "--value FORMAT names the format of the records")
            .withDescription(
                    "Format of the source: parquet, avro, arrow, jsonl, csv, webdataset, tfrecord, mds, or files"
                            + " to pack each file as one sample. Default: detected by content.");

    public static final JobOption<List<String>> COLUMNS = ROWS.texts("columns", "COLUMN,…")
            .instead(Kind.TOPIC, "--schema FIELD:TYPE names the fields and their types")
            .withDescription("Columns of the source that become fields, with commas between them. A name with a comma"
                    + " has double quotes. Can be repeated. Default: all.");

    public static final JobOption<List<String>> WITHOUT = ROWS.texts("without", "COLUMN")
            .instead(Kind.TOPIC, "--schema FIELD:TYPE names the fields and their types")
            .withDescription("A column of the source that becomes no field. Can be repeated.");

    public static final JobOption<List<String>> RENAME = ROWS.texts("rename", "COLUMN=NAME")
            .withDescription("A column and the name of its field, as column=field. Can be repeated.");

    public static final JobOption<String> LABEL = ROWS.text("label", "COLUMN")
            .instead(Kind.TOPIC, "--schema FIELD:categorical makes a field the class")
            .withDescription("Column with the class of a sample. Its field becomes categorical.");

    public static final JobOption<List<String>> TYPE = ROWS.texts("type", "COLUMN=TYPE")
            .instead(Kind.TOPIC, "--schema FIELD:TYPE names the fields and their types")
            .withDescription("A column and the type of its field, as column=type, such as age=int8. Can be repeated.");

    public static final JobOption<List<String>> READ = ROWS.texts("read", "COLUMN=FIELD")
            .withDescription("A column with paths of files, and a field for their content, as column=field: --read"
                    + " path=image. The field is binary, or text with --type field=utf8. Can be repeated.");

    public static final JobOption<String> READ_ROOT = ROWS.text("read-root", "DIRECTORY")
            .withDescription("Directory or URI of the files that --read names; paths cannot leave it. Default: the"
                    + " directory of the file with the paths.");

    public static final JobOption<String> SPLIT_BY = ROWS.text("split-by", "COLUMN")
            .instead(Kind.TOPIC, "--split NAME=SHARE divides the samples")
            .withDescription("Column whose value is the name of a sample's split.");

    public static final JobOption<String> WHERE = ROWS.text("where", "CONDITION")
            .withDescription("Condition that rows must satisfy, as in SQL: \"age >= 18 AND label IN ('cat', 'dog')\"."
                    + " Default: all rows.");

    public static final JobOption<MemorySize> MEMORY = ROWS.size("part-memory")
            .defaultValue(MemorySize.parse("1 gb"))
            .withDescription(
                    "Memory that one task may use for the selected columns of one row group or block. The default"
                            + " is at most a quarter of the Java heap.");

    public static final JobOption<MemorySize> SORT_MEMORY = ROWS.size("sort-memory")
            .withDescription("Memory for the rows that the order shuffled sorts in this process. A larger source is"
                    + " sorted on disk. Default: half of the memory outside the heap that Java may use.");

    private static final OptionHeading KEYS = new OptionHeading(IngestFlags.PREFIX, "Keys of rows", Kind.ROWS);

    public static final JobOption<List<String>> KEY = KEYS.texts("key", "KEY")
            .withDescription(
                    "Columns that name a sample; the values of several are joined by /. __file__ stands for the path"
                            + " of the file. Default: the position in the source, as file#row.");

    private RowIngestFlags() {}

    /** Returns the options of rows as help lists them: without {@link #KEY}, which topics have too. */
    public static List<OptionHeading> headings() {
        return List.of(ROWS);
    }

    /** Returns all options of rows besides the shared ones. */
    public static List<JobOption<?>> all() {
        return OptionHeading.options(List.of(ROWS, KEYS));
    }
}
