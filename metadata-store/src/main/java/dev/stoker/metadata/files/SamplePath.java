package dev.stoker.metadata.files;

import dev.stoker.metadata.index.SampleStat;
import java.util.List;
import java.util.Optional;

/**
 * A file or a directory.
 *
 * @param names the names on its path, from the root on
 * @param sample the sample; empty for a directory
 */
public record SamplePath(List<String> names, Optional<SampleStat> sample) {

    /** Returns the last name. */
    public String name() {
        return names.get(names.size() - 1);
    }

    /** Returns whether it is a directory. */
    public boolean isDirectory() {
        return sample.isEmpty();
    }
}
