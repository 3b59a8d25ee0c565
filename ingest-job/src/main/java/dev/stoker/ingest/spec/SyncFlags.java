package dev.stoker.ingest.spec;

import java.util.List;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.ConfigOptions;

/** The command-line options of a sync. It shares most of them with an ingest of files. */
public final class SyncFlags {

    public static final ConfigOption<Boolean> DELETE = ConfigOptions.key(IngestFlags.PREFIX + "delete")
            .booleanType()
            .defaultValue(false)
            .withDescription("Remove samples whose files are gone. By default, they stay.");

    public static final ConfigOption<Boolean> CHECKSUM = ConfigOptions.key(IngestFlags.PREFIX + "checksum")
            .booleanType()
            .defaultValue(false)
            .withDescription("Read all files and compare their contents. By default, files that have not changed since"
                    + " they were packed are not read.");

    public static final ConfigOption<Boolean> REPLACE_UPDATED = ConfigOptions.key(
                    IngestFlags.PREFIX + "replace-updated")
            .booleanType()
            .defaultValue(false)
            .withDescription("Replace samples with values of stoker update if their files have changed. By default,"
                    + " these samples stay and are counted.");

    private SyncFlags() {}

    /** Returns the options that only a sync has. */
    public static List<ConfigOption<?>> own() {
        return List.of(DELETE, CHECKSUM, REPLACE_UPDATED);
    }

    /** Returns the options that an ingest of files has, too. */
    public static List<ConfigOption<?>> shared() {
        return List.of(
                IngestFlags.LABEL_FROM,
                IngestFlags.LABEL_FIELD,
                IngestFlags.FIELD,
                IngestFlags.SIDECAR,
                IngestFlags.SPLIT,
                IngestFlags.SPLIT_FROM,
                IngestFlags.SEED,
                IngestFlags.CHUNK_SIZE,
                IngestFlags.ON_ERROR,
                IngestFlags.LINKS,
                IngestFlags.HIDDEN,
                IngestFlags.EMPTY,
                IngestFlags.INCLUDE,
                IngestFlags.EXCLUDE,
                IngestFlags.EXCLUDE_KEYS_FROM,
                IngestFlags.DRY_RUN,
                IngestFlags.INGEST_ID,
                IngestFlags.PARALLELISM,
                IngestFlags.READ_THREADS,
                IngestFlags.READ_AHEAD);
    }
}
