package dev.stoker.server.feed;

import java.util.Objects;
import java.util.UUID;

/**
 * One named stream of a feed: a version of one split of a dataset.
 *
 * @param name the stream's name within the feed
 * @param path where the dataset is: a directory or a URI
 * @param dataset the dataset's id, so that another dataset at the same path is noticed
 * @param version the pinned version, at least 1; of a stream that follows its dataset one that is there when the feed
 *     starts
 * @param split the split served
 * @param follow whether each epoch takes the dataset's newest version
 */
public record StreamSpec(String name, String path, UUID dataset, long version, String split, boolean follow) {
    public StreamSpec {
        Objects.requireNonNull(name, "name");
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(dataset, "dataset");
        Objects.requireNonNull(split, "split");
        if (name.isEmpty()) {
            throw new IllegalArgumentException("a stream needs a name");
        }
        if (version < 1) {
            throw new IllegalArgumentException("stream " + name + ": version " + version + " is not a version");
        }
    }

    /** A stream of a pinned version. */
    public StreamSpec(String name, String path, UUID dataset, long version, String split) {
        this(name, path, dataset, version, split, false);
    }

    /** The same stream, following its dataset. */
    public StreamSpec following() {
        return new StreamSpec(name, path, dataset, version, split, true);
    }
}
