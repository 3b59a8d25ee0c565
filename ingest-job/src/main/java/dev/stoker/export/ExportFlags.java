package dev.stoker.export;

import dev.stoker.flink.arguments.JobOption;
import dev.stoker.flink.arguments.OptionHeading;
import dev.stoker.flink.arguments.OrderFlags;
import java.util.List;
import org.apache.flink.configuration.MemorySize;

/** The command-line options of an export. {@code export.shard-size} is {@code --shard-size} on the command line. */
public final class ExportFlags {
    /** Common prefix of the keys. */
    public static final String PREFIX = "export.";

    private static final OptionHeading EXPORT = new OptionHeading(PREFIX, "Export");

    public static final JobOption<String> FORMAT = EXPORT.text("format", "FORMAT")
            .withDescription(
                    "Format of the files: parquet, arrow, webdataset, tfrecord, avro, jsonl, or files for one file"
                            + " for each sample. Required.");

    public static final JobOption<String> VERSION = EXPORT.text("version", "NAME")
            .withDescription("Version to export, instead of @version: a number or a tag. Default: the newest.");

    public static final JobOption<String> AS_OF = EXPORT.text("as-of", "TIME")
            .withDescription("Export the newest version of a time: 2026-11-20, 2026-11-20T10:00,"
                    + " 2026-11-20T10:00Z, or a time ago: 36h, 7d.");

    public static final JobOption<List<String>> COLUMNS = EXPORT.texts("columns", "COLUMN,…")
            .withDescription("Columns to write, with commas between them: key and fields of the dataset. Can be"
                    + " repeated. Default: all.");

    public static final JobOption<List<String>> RENAME = EXPORT.texts("rename", "COLUMN=NAME")
            .withDescription("A column and its name in the files, as column=name. Can be repeated.");

    public static final JobOption<String> WHERE = EXPORT.text("where", "CONDITION")
            .withDescription("Condition that samples must satisfy, as in SQL: \"age >= 18 AND label IN ('cat',"
                    + " 'dog')\". It can use the key and all fields. Default: all samples.");

    public static final JobOption<String> COMPRESSION = EXPORT.text("compression", "CODEC")
            .withDescription("Compression of the files: none, zstd, gzip, snappy or deflate, if the format has it."
                    + " Default: zstd for parquet, none for others. Binary payload in Parquet is never compressed.");

    public static final JobOption<String> LAYOUT = EXPORT.choice("layout", ExportOptions.Layout.class)
            .defaultValue("stoker")
            .withDescription("Layout of Parquet files: stoker, of which an ingest gives the same fields, or"
                    + " huggingface, of which the datasets library gives images and classes.");

    public static final JobOption<Integer> SHARDS = EXPORT.number("shards")
            .within(1, 100_000)
            .withDescription("Number of files of each split. Default: by --shard-size.");

    public static final JobOption<MemorySize> SHARD_SIZE = EXPORT.size("shard-size")
            .defaultValue(MemorySize.ofMebiBytes(256))
            .withDescription("Size of the stored samples of a file, before conversion.");

    public static final JobOption<Boolean> OVERWRITE = EXPORT.flag("overwrite")
            .withDescription("Replace an earlier export at the target. Other directories are never replaced.");

    public static final JobOption<String> ORDER = EXPORT.text("order", "ORDER")
            .defaultValue("stored")
            .withDescription("Order of the samples: stored, or epoch:N for the order of epoch N of a feed with the"
                    + " options below.");

    public static final JobOption<Integer> PARALLELISM = EXPORT.number("parallelism")
            .within(1, 32_768)
            .withDescription("Number of subtasks that write files. Default: Flink's configured parallelism.");

    public static final JobOption<Boolean> DRY_RUN =
            EXPORT.flag("dry-run").withDescription("Print the plan of the export, and write nothing.");

    static final OptionHeading OF_EPOCHS = new OptionHeading(PREFIX, "Order of an epoch");

    public static final JobOption<Integer> BATCH_SIZE = OrderFlags.batchSize(OF_EPOCHS);

    public static final JobOption<Long> SEED = OrderFlags.seed(OF_EPOCHS);

    public static final JobOption<Integer> LANES = OrderFlags.lanes(OF_EPOCHS, "Lanes of the order.");

    public static final JobOption<MemorySize> SHUFFLE_WINDOW = OrderFlags.shuffleWindow(OF_EPOCHS);

    public static final JobOption<String> SHUFFLE = OrderFlags.shuffle(OF_EPOCHS);

    public static final JobOption<String> LANE_ORDER = OrderFlags.laneOrder(OF_EPOCHS);

    private ExportFlags() {}

    /** Returns all options under their headings. */
    public static List<OptionHeading> headings() {
        return List.of(EXPORT, OF_EPOCHS);
    }

    /** Returns all options. */
    public static List<JobOption<?>> all() {
        return OptionHeading.options(headings());
    }
}
