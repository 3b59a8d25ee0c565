package dev.stoker.ingest;

import dev.stoker.ingest.pack.plan.SyncRule;
import dev.stoker.ingest.spec.IngestFlags;
import dev.stoker.ingest.spec.SyncFlags;
import java.util.Map;

/**
 * The valid options of a sync. {@link #parse} creates them from arguments.
 *
 * @param ingest how new and changed files are packed
 * @param rule how files are compared, and which changes are made
 */
public record SyncOptions(IngestOptions ingest, SyncRule rule) {

    /**
     * Parses a command line: the source, the dataset, and {@link SyncFlags}. Inspects the two directories, but changes
     * nothing.
     *
     * @throws dev.stoker.ingest.spec.InvalidIngestException with all problems
     */
    public static SyncOptions parse(String... args) {
        IngestOptionsParser parser = new IngestOptionsParser("a sync", SyncFlags.all(), Map.of(), args);
        boolean isDeleting = parser.isGiven(SyncFlags.DELETE);
        if (isDeleting && parser.isSkippingErrors()) {
            parser.report("--delete needs --on-error fail: files of a directory that cannot be read would seem to be"
                    + " gone");
        }
        IngestOptions ingest = parser.parse();
        return new SyncOptions(
                ingest.ofSync(),
                new SyncRule(
                        parser.isGiven(SyncFlags.CHECKSUM) ? SyncRule.Comparison.CONTENT : SyncRule.Comparison.TIME,
                        isDeleting ? SyncRule.Missing.REMOVE : SyncRule.Missing.STAY,
                        parser.isGiven(SyncFlags.REPLACE_UPDATED) ? SyncRule.Updated.REPLACE : SyncRule.Updated.STAY,
                        parser.isGiven(IngestFlags.DRY_RUN) ? SyncRule.Run.DRY : SyncRule.Run.REAL));
    }
}
