package dev.stoker.server.feed;

import java.util.Objects;

/**
 * A group that the feed waits for: the job ends when every declared group has acknowledged its last epoch.
 *
 * @param stream the stream's name
 * @param group the group's name
 */
public record GroupSpec(String stream, String group) {
    /** The group of trainers that name none. */
    public static final String DEFAULT_GROUP = "default";

    public GroupSpec {
        Objects.requireNonNull(stream, "stream");
        Objects.requireNonNull(group, "group");
    }
}
