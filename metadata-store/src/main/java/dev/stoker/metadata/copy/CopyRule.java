package dev.stoker.metadata.copy;

import java.util.OptionalLong;
import java.util.Set;

/**
 * Says what is copied.
 *
 * @param version the last version; empty for the newest one
 * @param threads number of chunks that are copied at a time
 * @param extras what else is done
 */
public record CopyRule(OptionalLong version, int threads, Set<Extra> extras) {

    /** What a copy does only on request. */
    public enum Extra {
        /** Reads the chunks of the target and replaces damaged ones. */
        CHECKSUMS,
        /** Copies the files that feeds and ingests have left beside the versions. */
        LEDGERS,
        /** Undoes changes of tags that were made at the target. */
        TAGS_OF_SOURCE
    }

    public CopyRule {
        extras = Set.copyOf(extras);
        if (threads < 1) {
            throw new IllegalArgumentException("Threads: " + threads);
        }
        if (version.isPresent() && version.getAsLong() < 1) {
            throw new IllegalArgumentException("Version " + version.getAsLong());
        }
    }

    public boolean has(Extra extra) {
        return extras.contains(extra);
    }
}
