package dev.stoker.metadata.compaction;

import dev.stoker.schemas.errors.StokerException;
import java.util.List;

/** The version that a commit is tried on has changed the sources of some groups. */
final class ChangedChunksException extends StokerException {

    private static final long serialVersionUID = 1;

    private final long version;
    private final transient List<PackedGroup> groups;

    ChangedChunksException(long version, List<PackedGroup> groups) {
        super("Chunks were changed up to version " + version);
        this.version = version;
        this.groups = List.copyOf(groups);
    }

    long version() {
        return version;
    }

    /** The groups that must not be committed. */
    List<PackedGroup> groups() {
        return groups;
    }
}
