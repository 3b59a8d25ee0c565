package dev.stoker.cli.copy;

import dev.stoker.cli.options.ReadThreads;
import dev.stoker.metadata.copy.CopyRule;
import dev.stoker.metadata.copy.CopyRule.Extra;
import java.util.EnumSet;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options that {@code stoker copy} and {@code stoker mirror} share. */
final class CopyOptions {

    @Option(
            names = "--checksum",
            description = "Read the chunks that the target has, and replace damaged ones. By default only their lengths"
                    + " are compared.")
    private boolean checksum;

    @Option(
            names = "--with-ledgers",
            description = "Also copy ledgers and epoch choices of feeds, dead letters, and lists of skipped samples.")
    private boolean ledgers;

    @Option(
            names = "--threads",
            paramLabel = "N",
            description = "Chunks to copy at a time. Default: number of processors; at least 16 for HDFS, S3, ….")
    private @Nullable Integer threads;

    @Option(names = "--dry-run", description = "Print what would be done, and write nothing.")
    private boolean dryRun;

    @Option(names = "--json", description = "Print JSON.")
    private boolean json;

    CopyRule rule(CopyEnds ends, OptionalLong version, Set<Extra> more) {
        EnumSet<Extra> extras = EnumSet.noneOf(Extra.class);
        extras.addAll(more);
        if (checksum) {
            extras.add(Extra.CHECKSUMS);
        }
        if (ledgers) {
            extras.add(Extra.LEDGERS);
        }
        return new CopyRule(version, ReadThreads.of(threads, ends.remoteOne()), extras);
    }

    boolean isDry() {
        return dryRun;
    }

    boolean isJson() {
        return json;
    }
}
