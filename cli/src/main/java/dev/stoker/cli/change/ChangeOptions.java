package dev.stoker.cli.change;

import dev.stoker.cli.options.ReadThreads;
import dev.stoker.metadata.removal.SampleRule;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of a verb that changes samples by key: it prints a plan, and commits a version with {@code --yes}. */
public final class ChangeOptions {

    @Option(
            names = "--missing",
            description = "What to do if no sample has a given key: fail, or ignore the key. Default: fail.")
    private Missing missing = Missing.FAIL;

    @Option(names = "--dry-run", description = "Print the plan, and write nothing.")
    private boolean dryRun;

    @Option(names = "--yes", description = "Change the samples. Without it, only the plan is printed.")
    private boolean yes;

    @Option(
            names = "--ingest-id",
            paramLabel = "ID",
            description = "ID that commits at most one version, or of an erasure. Default: a random ID.")
    private @Nullable String ingestId;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Chunks to read at a time. Default: number of processors; at least 16 for HDFS, S3, ….")
    private @Nullable Integer threads;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    /** As typed and as completed by a shell. */
    enum Missing {
        FAIL(SampleRule.MissingKeys.FAIL),
        IGNORE(SampleRule.MissingKeys.IGNORE);

        private final SampleRule.MissingKeys rule;

        Missing(SampleRule.MissingKeys rule) {
            this.rule = rule;
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    SampleRule.MissingKeys missing() {
        return missing.rule;
    }

    /** Returns whether to change the dataset, or only to print the plan. */
    boolean isReal() {
        return yes && !dryRun;
    }

    /** Returns how to do what the plan says. */
    String next(String purpose) {
        return next(yes, dryRun, purpose);
    }

    /** Returns how to do what a plan says, for verbs that write with {@code --yes} and without {@code --dry-run}. */
    public static String next(boolean yes, boolean dryRun, String purpose) {
        String how = !dryRun ? "with --yes" : yes ? "without --dry-run" : "with --yes and without --dry-run";
        return "run " + how + " to " + purpose;
    }

    /** Returns the id that the user gave. */
    Optional<String> ingestId() {
        return Optional.ofNullable(ingestId);
    }

    /** Returns the id that the user gave, or a random one. */
    String ingestId(String prefix) {
        return ingestId == null ? prefix + UUID.randomUUID() : ingestId;
    }

    /** Returns how many chunks of a dataset to read at a time. */
    int threads(String path) {
        return ReadThreads.of(threads, path);
    }

    boolean isJson() {
        return json;
    }
}
