package dev.stoker.server.window;

import dev.stoker.metadata.follow.EpochVersions;
import java.io.IOException;
import java.util.OptionalLong;

/** The versions that groups read of a stream that follows its dataset, epoch by epoch. Thread-safe. */
public interface StreamVersions {
    /**
     * The version of a group's epoch; chosen now, if nobody has needed the epoch before.
     *
     * @param wanted the version that the trainer's state names
     * @throws dev.stoker.metadata.follow.OtherVersionException if another was chosen
     * @throws dev.stoker.metadata.UnknownVersionException if the dataset has no such version
     * @throws IOException if the choice is damaged, or the store fails
     */
    default long choose(String group, long epoch, OptionalLong wanted) throws IOException {
        return choose(group, epoch, wanted, version -> {});
    }

    /**
     * As {@link #choose(String, long, OptionalLong)}.
     *
     * @param check asked of a version before it is chosen
     */
    long choose(String group, long epoch, OptionalLong wanted, EpochVersions.Check check) throws IOException;

    /** The newest version. */
    long newest() throws IOException;

    /** The version of a group's epoch, if one was chosen. */
    OptionalLong find(String group, long epoch) throws IOException;

    /**
     * The stream at a version.
     *
     * @throws IOException if it cannot be opened
     */
    ServedStream open(long version) throws IOException;
}
