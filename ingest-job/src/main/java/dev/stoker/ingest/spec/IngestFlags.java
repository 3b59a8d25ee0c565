package dev.stoker.ingest.spec;

import dev.stoker.connectors.dataset.OnDuplicate;
import dev.stoker.connectors.files.FileTree;
import dev.stoker.flink.arguments.JobOption;
import dev.stoker.flink.arguments.OptionHeading;
import dev.stoker.ingest.spec.OptionKinds.Kind;
import java.util.List;
import org.apache.flink.configuration.MemorySize;

/** The command-line options of an ingest. {@code ingest.chunk-size} is {@code --chunk-size} on the command line. */
public final class IngestFlags {

    /** Common prefix of the keys. */
    public static final String PREFIX = "ingest.";

    static final OptionHeading FIELDS = new OptionHeading(PREFIX, "Fields and labels");

    public static final JobOption<String> LABEL_FROM = FIELDS.text("label-from", "SOURCE")
            .of(Kind.FILES)
            .instead(Kind.ROWS, "--label COLUMN names the column with the class")
            .instead(Kind.TOPIC, "--schema FIELD:categorical makes a field the class")
            .withDescription("Source of a sample's class: parent-dir, regex:<expression> (its group 'label', or its"
                    + " first group, found in the key) or csv:<file> (lines key,class).");

    public static final JobOption<String> LABEL_FIELD = FIELDS.text("label-field", "FIELD")
            .defaultValue("label")
            .of(Kind.FILES)
            .instead(Kind.ROWS, "--rename COLUMN=FIELD names the field of a column")
            .instead(Kind.TOPIC, "--schema FIELD:categorical makes a field the class")
            .withDescription("Name of the field for the class.");

    public static final JobOption<String> FIELD = FIELDS.text("field", "FIELD")
            .of(Kind.FILES, Kind.TOPIC)
            .instead(Kind.ROWS, "--rename COLUMN=FIELD names the field of a column")
            .withDescription("Name of the field for a file's bytes, as name or name:type with the type binary or"
                    + " utf8. Default: image, audio, text or data, according to the files' extensions.");

    public static final JobOption<List<String>> SIDECAR = FIELDS.texts("sidecar", "ENDING=FIELD")
            .of(Kind.FILES)
            .instead(Kind.ROWS, "--read COLUMN=FIELD reads the files that a column names")
            .instead(Kind.TOPIC, "--header NAME=FIELD makes a header of the records a field")
            .withDescription("A file next to each sample with the value of a further field, as ending=field:type,"
                    + " such as .txt=caption:utf8. Can be repeated.");

    public static final JobOption<List<String>> PAYLOAD = FIELDS.texts("payload", "FIELD")
            .withDescription("A payload field, which is served without being copied, or none. Can be repeated."
                    + " Default: the fields above 1 KiB on average in the first 1,000 samples.");

    static final OptionHeading SPLITS = new OptionHeading(PREFIX, "Splits, order and chunks");

    public static final JobOption<List<String>> SPLIT = SPLITS.texts("split", "SPLIT=SHARE")
            .withDescription("A split and its share of the samples, such as val=0.05. Can be repeated. All other"
                    + " samples are in train. A key is in the same split in every ingest.");

    public static final JobOption<String> SPLIT_FROM = SPLITS.choice("split-from", "top-dir")
            .of(Kind.FILES)
            .instead(Kind.ROWS, "--split-by COLUMN names the column with the split")
            .instead(Kind.TOPIC, "--split NAME=SHARE divides the samples")
            .withDescription("top-dir: the first directory of a sample's path is the name of its split.");

    public static final JobOption<String> ORDER = SPLITS.text("order", "ORDER")
            .defaultValue("shuffled")
            .of(Kind.FILES, Kind.ROWS)
            .withDescription("Order of the samples in the chunks: shuffled, or listed for the order of the tree.");

    public static final JobOption<Long> SEED = SPLITS.longNumber("ingest-seed")
            .defaultValue(0L)
            .of(Kind.FILES, Kind.ROWS)
            .withDescription("Seed of the shuffle.");

    public static final JobOption<MemorySize> CHUNK_SIZE = SPLITS.size("chunk-size")
            .defaultValue(MemorySize.ofMebiBytes(8))
            .within(4096, 1L << 30, "is not between 4 kb and 1 gb")
            .withDescription("Size of a chunk. A larger sample gets its own chunk.");

    static final OptionHeading DATASET = new OptionHeading(PREFIX, "Dataset and version");

    public static final JobOption<String> NAME =
            DATASET.text("name", "NAME").withDescription("Name of a new dataset. Default: the name of its directory.");

    public static final JobOption<Boolean> APPEND = DATASET.flag("append")
            .withDescription("Add to a dataset that already has a version. See --on-duplicate for keys that it already"
                    + " contains.");

    public static final JobOption<Boolean> REPLACE = DATASET.flag("replace")
            .of(Kind.FILES, Kind.ROWS)
            .withDescription("Commit a version that contains only the samples of this ingest. Older versions do not"
                    + " change.");

    public static final JobOption<String> ON_DUPLICATE = DATASET.choice("on-duplicate", OnDuplicate.class)
            .defaultValue("fail")
            .withDescription(
                    "What to do if a key occurs twice or the dataset already contains it: fail; skip to keep the"
                            + " sample that came first; replace to keep the one that came last; first or last to choose"
                            + " between samples of the source, but fail for keys of the dataset. From a topic with"
                            + " --key record: fail for dead letters, skip, or replace.");

    static final OptionHeading TREE = new OptionHeading(PREFIX, "Files to ingest");

    public static final JobOption<Long> LIMIT = TREE.longNumber("limit")
            .atLeast(1, "is not at least 1")
            .of(Kind.FILES)
            .instead(Kind.ROWS, "--where CONDITION selects rows")
            .instead(Kind.TOPIC, "--until latest ends at the present end of the topic")
            .withDescription("Maximum number of samples to ingest, from the start of the tree.");

    public static final JobOption<String> ON_ERROR = TREE.choice("on-error", FileTree.Errors.class)
            .defaultValue("fail")
            .of(Kind.FILES, Kind.ROWS)
            .instead(Kind.TOPIC, "--max-dead-letters N sets how many records may fail")
            .withDescription("What to do with samples that cannot be read, are too large or have no label: fail, or"
                    + " skip and count them.");

    public static final JobOption<String> LINKS = TREE.choice("links", FileTree.Links.class)
            .defaultValue("follow")
            .of(Kind.FILES, Kind.ROWS)
            .withDescription("Symbolic links: follow, or skip.");

    public static final JobOption<String> HIDDEN = TREE.choice("hidden", FileTree.Hidden.class)
            .defaultValue("skip")
            .of(Kind.FILES, Kind.ROWS)
            .withDescription("Files and directories whose names start with a dot: skip, or include.");

    public static final JobOption<String> EMPTY = TREE.choice("empty", FileTree.Empty.class)
            .defaultValue("skip")
            .of(Kind.FILES, Kind.ROWS)
            .withDescription("Empty files: skip, or include. With --read: an error, or included.");

    public static final JobOption<List<String>> INCLUDE = TREE.texts("include", "PATTERN")
            .of(Kind.FILES, Kind.ROWS)
            .withDescription("Pattern of files to take, such as '*.jpg', or 'raw/**' for paths below the source."
                    + " Can be repeated. Default: all.");

    public static final JobOption<List<String>> EXCLUDE = TREE.texts("exclude", "PATTERN")
            .of(Kind.FILES, Kind.ROWS)
            .withDescription("Pattern of files and directories to leave out, such as Thumbs.db. Can be repeated.");

    public static final JobOption<List<String>> EXCLUDE_KEYS_FROM = TREE.texts("exclude-keys-from", "FILE")
            .of(Kind.FILES)
            .instead(Kind.ROWS, "--where CONDITION selects rows, as in --where \"id NOT IN (3, 5)\"")
            .withDescription("File of keys that are left out, one a line, as stoker delete --keys-from reads it."
                    + " Can be repeated.");

    static final OptionHeading RUN = new OptionHeading(PREFIX, "Run");

    public static final JobOption<Boolean> DRY_RUN =
            RUN.flag("dry-run").withDescription("Print what the ingest would do, and write nothing.");

    public static final JobOption<String> INGEST_ID = RUN.text("ingest-id", "ID")
            .of(Kind.FILES, Kind.ROWS)
            .instead(
                    Kind.TOPIC,
                    "leave it out: a topic's position is in the dataset, and the same command resumes there")
            .withDescription("ID of an interrupted ingest to resume. One ID commits at most one version.");

    public static final JobOption<Integer> PARALLELISM = RUN.number("parallelism")
            .within(1, 32768)
            .withDescription("Number of subtasks that list and pack. Default: Flink's configured parallelism.");

    public static final JobOption<Integer> READ_THREADS = RUN.number("read-threads")
            .defaultValue(4)
            .within(1, 1024)
            .of(Kind.FILES)
            .instead(Kind.ROWS, "--parallelism N sets the number of tasks")
            .withDescription("Chunks that one subtask reads and writes at a time. Use more if the storage has a high"
                    + " latency.");

    public static final JobOption<Integer> READ_AHEAD = RUN.number("read-ahead")
            .defaultValue(32)
            .within(1, 1024)
            .of(Kind.FILES)
            .instead(Kind.ROWS, "--parallelism N sets the number of tasks")
            .withDescription("Files that one subtask reads at a time from a source on another file system (HDFS, S3,"
                    + " …). A subtask holds at most 16 MiB for each of its read threads.");

    private IngestFlags() {}

    /** Returns all options under their headings. */
    public static List<OptionHeading> headings() {
        return List.of(FIELDS, SPLITS, DATASET, TREE, RUN);
    }

    /** Returns all options. */
    public static List<JobOption<?>> all() {
        return OptionHeading.options(headings());
    }
}
