package dev.stoker.ingest.spec;

import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;
import org.apache.flink.configuration.MemorySize;

/** The command-line options of an ingest. {@code ingest.chunk-size} is {@code --chunk-size} on the command line. */
public final class IngestFlags {

    /** Common prefix of the keys. */
    public static final String PREFIX = "ingest.";

    public static final ConfigOption<String> LABEL_FROM = ConfigOptions.key(PREFIX + "label-from")
            .stringType()
            .noDefaultValue()
            .withDescription("Source of a sample's class: parent-dir, regex:<expression> (its group 'label', or its"
                    + " first group, found in the key) or csv:<file> (lines key,class).");

    public static final ConfigOption<String> LABEL_FIELD = ConfigOptions.key(PREFIX + "label-field")
            .stringType()
            .defaultValue("label")
            .withDescription("Name of the field for the class.");

    public static final ConfigOption<String> FIELD = ConfigOptions.key(PREFIX + "field")
            .stringType()
            .noDefaultValue()
            .withDescription("Name of the field for a file's bytes, as name or name:type with the type binary or"
                    + " utf8. Default: image, audio, text or data, according to the files' extensions.");

    public static final ConfigOption<List<String>> SIDECAR = ConfigOptions.key(PREFIX + "sidecar")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A file next to each sample with the value of a further field, as ending=field:type,"
                    + " such as .txt=caption:utf8. Can be repeated.");

    public static final ConfigOption<List<String>> PAYLOAD = ConfigOptions.key(PREFIX + "payload")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A payload field, which is served without being copied, or none. Can be repeated."
                    + " Default: the fields above 1 KiB on average in the first 1,000 samples.");

    public static final ConfigOption<List<String>> SPLIT = ConfigOptions.key(PREFIX + "split")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("A split and its share of the samples, such as val=0.05. Can be repeated. All other"
                    + " samples are in train. A key is in the same split in every ingest.");

    public static final ConfigOption<String> SPLIT_FROM = ConfigOptions.key(PREFIX + "split-from")
            .stringType()
            .noDefaultValue()
            .withDescription("top-dir: the first directory of a sample's path is the name of its split.");

    public static final ConfigOption<String> ORDER = ConfigOptions.key(PREFIX + "order")
            .stringType()
            .defaultValue("shuffled")
            .withDescription("Order of the samples in the chunks: shuffled, or listed for the order of the tree.");

    public static final ConfigOption<Long> SEED = ConfigOptions.key(PREFIX + "ingest-seed")
            .longType()
            .defaultValue(0L)
            .withDescription("Seed of the shuffle.");

    public static final ConfigOption<MemorySize> CHUNK_SIZE = ConfigOptions.key(PREFIX + "chunk-size")
            .memoryType()
            .defaultValue(MemorySize.ofMebiBytes(8))
            .withDescription("Size of a chunk. A larger sample gets its own chunk.");

    public static final ConfigOption<String> NAME = ConfigOptions.key(PREFIX + "name")
            .stringType()
            .noDefaultValue()
            .withDescription("Name of a new dataset. Default: the name of its directory.");

    public static final ConfigOption<Boolean> APPEND = ConfigOptions.key(PREFIX + "append")
            .booleanType()
            .defaultValue(false)
            .withDescription("Add to a dataset that already has a version. See --on-duplicate for keys that it already"
                    + " contains.");

    public static final ConfigOption<Boolean> REPLACE = ConfigOptions.key(PREFIX + "replace")
            .booleanType()
            .defaultValue(false)
            .withDescription("Commit a version that contains only the samples of this ingest. Older versions do not"
                    + " change.");

    public static final ConfigOption<String> ON_DUPLICATE = ConfigOptions.key(PREFIX + "on-duplicate")
            .stringType()
            .defaultValue("fail")
            .withDescription(
                    "What to do if a key occurs twice or the dataset already contains it: fail; skip to keep the"
                            + " sample that came first; replace to keep the one that came last; first or last to choose"
                            + " between samples of the source, but fail for keys of the dataset. From a topic with"
                            + " --key record: fail for dead letters, skip, or replace.");

    public static final ConfigOption<String> INGEST_ID = ConfigOptions.key(PREFIX + "ingest-id")
            .stringType()
            .noDefaultValue()
            .withDescription("ID of an interrupted ingest to resume. One ID commits at most one version.");

    public static final ConfigOption<Boolean> DRY_RUN = ConfigOptions.key(PREFIX + "dry-run")
            .booleanType()
            .defaultValue(false)
            .withDescription("Print what the ingest would do, and write nothing.");

    public static final ConfigOption<Long> LIMIT = ConfigOptions.key(PREFIX + "limit")
            .longType()
            .noDefaultValue()
            .withDescription("Maximum number of samples to ingest, from the start of the tree.");

    public static final ConfigOption<String> ON_ERROR = ConfigOptions.key(PREFIX + "on-error")
            .stringType()
            .defaultValue("fail")
            .withDescription("What to do with samples that cannot be read, are too large or have no label: fail, or"
                    + " skip and count them.");

    public static final ConfigOption<String> LINKS = ConfigOptions.key(PREFIX + "links")
            .stringType()
            .defaultValue("follow")
            .withDescription("Symbolic links: follow, or skip.");

    public static final ConfigOption<String> HIDDEN = ConfigOptions.key(PREFIX + "hidden")
            .stringType()
            .defaultValue("skip")
            .withDescription("Files and directories whose names start with a dot: skip, or include.");

    public static final ConfigOption<String> EMPTY = ConfigOptions.key(PREFIX + "empty")
            .stringType()
            .defaultValue("skip")
            .withDescription("Empty files: skip, or include. With --read: an error, or included.");

    public static final ConfigOption<List<String>> INCLUDE = ConfigOptions.key(PREFIX + "include")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("Pattern of files to take, such as '*.jpg', or 'raw/**' for paths below the source."
                    + " Can be repeated. Default: all.");

    public static final ConfigOption<List<String>> EXCLUDE = ConfigOptions.key(PREFIX + "exclude")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("Pattern of files and directories to leave out, such as Thumbs.db. Can be repeated.");

    public static final ConfigOption<List<String>> EXCLUDE_KEYS_FROM = ConfigOptions.key(PREFIX + "exclude-keys-from")
            .stringType()
            .asList()
            .defaultValues()
            .withDescription("File of keys that are left out, one a line, as stoker delete --keys-from reads it."
                    + " Can be repeated.");

    public static final ConfigOption<Integer> PARALLELISM = ConfigOptions.key(PREFIX + "parallelism")
            .intType()
            .noDefaultValue()
            .withDescription("Number of subtasks that list and pack. Default: Flink's configured parallelism.");

    public static final ConfigOption<Integer> READ_THREADS = ConfigOptions.key(PREFIX + "read-threads")
            .intType()
            .defaultValue(4)
            .withDescription("Chunks that one subtask reads and writes at a time. Use more if the storage has a high"
                    + " latency.");

    public static final ConfigOption<Integer> READ_AHEAD = ConfigOptions.key(PREFIX + "read-ahead")
            .intType()
            .defaultValue(32)
            .withDescription("Files that one subtask reads at a time from a source on another file system (HDFS, S3,"
                    + " …). A subtask holds at most 16 MiB for each of its read threads.");

    private IngestFlags() {}

    /** All options, in the order in which they are explained. */
    public static List<ConfigOption<?>> all() {
        return List.of(
                LABEL_FROM,
                LABEL_FIELD,
                FIELD,
                SIDECAR,
                PAYLOAD,
                SPLIT,
                SPLIT_FROM,
                ORDER,
                SEED,
                CHUNK_SIZE,
                NAME,
                APPEND,
                REPLACE,
                ON_DUPLICATE,
                INGEST_ID,
                DRY_RUN,
                LIMIT,
                ON_ERROR,
                LINKS,
                HIDDEN,
                EMPTY,
                INCLUDE,
                EXCLUDE,
                EXCLUDE_KEYS_FROM,
                PARALLELISM,
                READ_THREADS,
                READ_AHEAD);
    }
}
