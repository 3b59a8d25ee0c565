package dev.stoker.ingest.spec;

import dev.stoker.flink.arguments.JobOption;
import dev.stoker.flink.arguments.OptionHeading;
import java.util.List;

/** The command-line options of a sync. It shares most of them with an ingest of files. */
public final class SyncFlags {

    private static final OptionHeading COMPARISON = new OptionHeading(IngestFlags.PREFIX, "Comparison");

    public static final JobOption<Boolean> DELETE =
            COMPARISON.flag("delete").withDescription("Remove samples whose files are gone. By default, they stay.");

    public static final JobOption<Boolean> CHECKSUM = COMPARISON
            .flag("checksum")
            .withDescription("Read all files and compare their contents. By default, files that have not changed since"
                    + " they were packed are not read.");

    public static final JobOption<Boolean> REPLACE_UPDATED = COMPARISON
            .flag("replace-updated")
            .withDescription("Replace samples with values of stoker update if their files have changed. By default,"
                    + " these samples stay and are counted.");

    private SyncFlags() {}

    /** Returns the options of a sync under their headings. It shares most of them with an ingest of files. */
    public static List<OptionHeading> headings() {
        return List.of(
                COMPARISON,
                IngestFlags.FIELDS.without(IngestFlags.PAYLOAD),
                IngestFlags.SPLITS.without(IngestFlags.ORDER).named("Splits and chunks"),
                IngestFlags.TREE.without(IngestFlags.LIMIT).named("Files to compare"),
                IngestFlags.RUN);
    }

    /** Returns all options of a sync. */
    public static List<JobOption<?>> all() {
        return OptionHeading.options(headings());
    }
}
