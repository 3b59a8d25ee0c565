package dev.stoker.metadata.copy;

import dev.stoker.metadata.verify.Problem;
import java.util.List;

/**
 * What a copy has done, or would do.
 *
 * @param before the newest version of the target before
 * @param version the newest version of the target afterwards
 * @param wanted the version that was to be copied; greater than {@code version} if chunks of the source are damaged
 * @param versions number of versions that the target did not have
 * @param copied the chunks that the target did not have, or only damaged
 * @param present number of chunks that the target had
 * @param others other files: chunk tables, runs of the sample index, tags, ledgers
 * @param problems the damaged chunks of the source
 */
public record CopyResult(
        long before,
        long version,
        long wanted,
        long versions,
        Files copied,
        long present,
        Files others,
        List<Problem> problems) {

    /** Files of one kind. */
    public record Files(long count, long bytes) {
        public static final Files NONE = new Files(0, 0);

        public Files plus(Files other) {
            return new Files(count + other.count, bytes + other.bytes);
        }
    }

    public CopyResult {
        problems = List.copyOf(problems);
    }

    /** Returns whether everything was copied. */
    public boolean isComplete() {
        return problems.isEmpty();
    }

    /** Returns whether nothing had to be copied. */
    public boolean isUnchanged() {
        return isComplete() && versions == 0 && copied.count == 0 && others.count == 0;
    }
}
