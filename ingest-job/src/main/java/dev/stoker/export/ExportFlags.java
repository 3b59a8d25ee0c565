package dev.stoker.export;

import dev.stoker.flink.arguments.OrderFlags;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** The command-line options of an export. {@code export.shard-size} is {@code --shard-size} on the command line. */
public final class ExportFlags {
    /** Common prefix of the keys. */
    public static final String PREFIX = "export.";

    public static final ConfigOption<String> FORMAT = ConfigOptions.key(PREFIX + "format")
            .stringType()
            .noDefaultValue()
            .withDescription(
                    "Format of the files: parquet, arrow, webdataset, tfrecord, avro, jsonl, or files for one file"
                            + " for each sample. Required.");

    public static final ConfigOption<String> VERSION = ConfigOptions.key(PREFIX + "version")
            .stringType()
            .noDefaultValue()
            .withDescription("Version to export, instead of @version: a number or a tag. Default: the newest.");

    public static final ConfigOption<String> AS_OF = ConfigOptions.key(PREFIX + "as-of")
            .stringType()
            .noDefaultValue()
            .withDescription("Export the newest version of a time: 2026-11-20, 2026-11-20T10:00,"
                    + " 2026-11-20T10:00Z, or a time ago: 36h, 7d.");

    public static final ConfigOption<List<String>> COLUMNS = ConfigOptions.key(PREFIX + "columns")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("Columns to write, with commas between them: key and fields of the dataset. Can be"
                    + " repeated. Default: all.");

    public static final ConfigOption<List<String>> RENAME = ConfigOptions.key(PREFIX + "rename")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A column and its name in the files, as column=name. Can be repeated.");

    public static final ConfigOption<String> WHERE = ConfigOptions.key(PREFIX + "where")
            .stringType()
            .noDefaultValue()
            .withDescription("Condition that samples must satisfy, as in SQL: \"age >= 18 AND label IN ('cat',"
                    + " 'dog')\". It can use the key and all fields. Default: all samples.");

    public static final ConfigOption<String> COMPRESSION = ConfigOptions.key(PREFIX + "compression")
            .stringType()
            .noDefaultValue()
            .withDescription("Compression of the files: none, zstd, gzip, snappy or deflate, if the format has it."
                    + " Default: zstd for parquet, none for others. Binary payload in Parquet is never compressed.");

    public static final ConfigOption<String> LAYOUT = ConfigOptions.key(PREFIX + "layout")
            .stringType()
            .defaultValue("stoker")
            .withDescription("Layout of Parquet files: stoker, of which an ingest gives the same fields, or"
                    + " huggingface, of which the datasets library gives images and classes.");

    public static final ConfigOption<Integer> SHARDS = ConfigOptions.key(PREFIX + "shards")
            .intType()
            .noDefaultValue()
            .withDescription("Number of files of each split. Default: by --shard-size.");

    public static final ConfigOption<MemorySize> SHARD_SIZE = ConfigOptions.key(PREFIX + "shard-size")
            .memoryType()
            .defaultValue(MemorySize.ofMebiBytes(256))
            .withDescription("Size of the stored samples of a file, before conversion.");

    public static final ConfigOption<Boolean> OVERWRITE = ConfigOptions.key(PREFIX + "overwrite")
            .booleanType()
            .defaultValue(false)
            .withDescription("Replace an earlier export at the target. Other directories are never replaced.");

    public static final ConfigOption<String> ORDER = ConfigOptions.key(PREFIX + "order")
            .stringType()
            .defaultValue("stored")
            .withDescription("Order of the samples: stored, or epoch:N for the order of epoch N of a feed with the"
                    + " options below.");

    public static final ConfigOption<Integer> BATCH_SIZE = OrderFlags.batchSize(PREFIX);

    public static final ConfigOption<Long> SEED = OrderFlags.seed(PREFIX);

    public static final ConfigOption<Integer> LANES = OrderFlags.lanes(PREFIX, "Lanes of the order.");

    public static final ConfigOption<MemorySize> SHUFFLE_WINDOW = OrderFlags.shuffleWindow(PREFIX);

    public static final ConfigOption<String> SHUFFLE = OrderFlags.shuffle(PREFIX);

    public static final ConfigOption<String> LANE_ORDER = OrderFlags.laneOrder(PREFIX);

    public static final ConfigOption<Integer> PARALLELISM = ConfigOptions.key(PREFIX + "parallelism")
            .intType()
            .noDefaultValue()
            .withDescription("Number of subtasks that write files. Default: Flink's configured parallelism.");

    public static final ConfigOption<Boolean> DRY_RUN = ConfigOptions.key(PREFIX + "dry-run")
            .booleanType()
            .defaultValue(false)
            .withDescription("Print the plan of the export, and write nothing.");

    private ExportFlags() {}

    /** Returns the options of an order other than the stored one. */
    public static List<ConfigOption<?>> ofEpochs() {
        return List.of(BATCH_SIZE, SEED, LANES, SHUFFLE_WINDOW, SHUFFLE, LANE_ORDER);
    }

    /** Returns the other options, in the order in which they are explained. */
    public static List<ConfigOption<?>> general() {
        return List.of(
                FORMAT,
                VERSION,
                AS_OF,
                COLUMNS,
                RENAME,
                WHERE,
                COMPRESSION,
                LAYOUT,
                SHARDS,
                SHARD_SIZE,
                OVERWRITE,
                ORDER,
                PARALLELISM,
                DRY_RUN);
    }

    /** Returns all options. */
    public static List<ConfigOption<?>> all() {
        return Stream.concat(general().stream(), ofEpochs().stream()).toList();
    }
}
